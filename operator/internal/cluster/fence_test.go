package cluster

import (
	"slices"
	"strings"
	"testing"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/engine"
)

func (l *lab) fence(name string)   { l.keptOut = with(l.keptOut, name, true) }
func (l *lab) unfence(name string) { l.keptOut = without(l.keptOut, name) }

func (l *lab) role(name string) engine.Role {
	v := l.view()
	return v.server(name).Status.Role
}

// writeWithout has a transaction acknowledged that this server does not have.
func (l *lab) writeWithout(name string) {
	l.world.Isolate(name, true)
	l.written++
	l.world.Write(l.record.Master, l.written)
	l.world.Run()
	l.world.Isolate(name, false)
}

func TestAReplicaThatIsFencedByHandStaysOut(t *testing.T) {
	l := bootstrapped(t, requiredPolicy(2), "c-0", "c-1", "c-2")
	l.fence("c-1")
	l.operate(t)
	v := l.view()
	if l.role("c-1") != engine.RoleFenced || l.record.Master != "c-0" || !Writable(v) || !v.isFencedByHand("c-1") {
		t.Fatalf("%+v\n%s", l.record, l.world)
	}
	if uuid := v.server("c-1").Status.ServerUUID; slices.Contains(l.record.Quorum.Members, uuid) {
		t.Fatalf("it is still counted: %+v", l.record.Quorum)
	}
	epoch := l.record.Epoch
	l.world.Kill("c-1")
	l.world.Start("c-1")
	if l.operate(t); l.role("c-1") == engine.RoleReplica || l.record.Epoch != epoch {
		t.Fatalf("a restart lets it in: %s", l.world)
	}
	l.written++
	l.world.Write("c-0", l.written)
	l.world.Run()
	l.unfence("c-1")
	l.operate(t)
	l.mustServe(t)
	if l.record.Epoch != epoch {
		t.Fatal("letting it in again takes no epoch")
	}
}

func TestFencingTheMasterHasAnotherOneElected(t *testing.T) {
	l := bootstrapped(t, requiredPolicy(2), "c-0", "c-1", "c-2")
	l.write(t)
	l.fence("c-0")
	if p := l.decide().plan; p.Roles["c-0"] != "" || p.Record == nil || p.Record.Election.Reason != ReasonFencedByHand {
		t.Fatalf("%+v", p)
	}
	l.operate(t)
	if l.record.Master == "c-0" || l.role("c-0") != engine.RoleFenced || !Writable(l.view()) {
		t.Fatalf("%+v\n%s", l.record, l.world)
	}
	l.unfence("c-0")
	l.operate(t)
	l.mustServe(t)
	l.write(t)
}

func TestWithoutFailoverNobodyTakesAFencedMastersPlace(t *testing.T) {
	policy := requiredPolicy(2)
	policy.FailoverDisabled = true
	l := bootstrapped(t, policy, "c-0", "c-1", "c-2")
	l.fence("c-0")
	p := l.operate(t)
	if v := l.view(); l.record.Election == nil || !strings.Contains(p.Problems[""], "failover is off") || !v.isFencedByHand("c-0") {
		t.Fatalf("%+v %+v", l.record, p)
	}
	l.unfence("c-0")
	l.operate(t)
	if l.mustServe(t); l.record.Master != "c-0" {
		t.Fatalf("%+v", l.record)
	}
}

// What only the fenced one holds may have been acknowledged: then nobody wins, until it is let in.
func TestWhatAFencedServerHoldsStillCounts(t *testing.T) {
	l := bootstrapped(t, requiredPolicy(2), "c-0", "c-1", "c-2")
	l.writeWithout("c-1")
	l.fence("c-2")
	l.world.Kill("c-0")
	if p := l.operate(t); l.record.Election == nil || !strings.Contains(p.Problems[""], "c-2 is fenced by hand, and may hold") {
		t.Fatalf("%+v %+v", l.record, p)
	}
	l.unfence("c-2")
	l.operate(t)
	if l.record.Master != "c-2" {
		t.Fatalf("%+v", l.record)
	}
	l.world.Start("c-0")
	l.operate(t)
	l.mustServe(t)
}

func TestNoSwitchoverGoesToAFencedServer(t *testing.T) {
	l := bootstrapped(t, requiredPolicy(2), "c-0", "c-1", "c-2")
	l.fence("c-1")
	l.operate(t)
	l.request = &SwitchoverRequest{ID: "1", To: "c-1"}
	l.operate(t)
	if s := l.record.Switchover; s.Phase != v1alpha1.SwitchoverFailed || !strings.Contains(s.Message, "fenced by hand") {
		t.Fatalf("%+v", s)
	}
	l.request = &SwitchoverRequest{ID: "2"}
	if l.operate(t); l.record.Master != "c-2" {
		t.Fatalf("%+v", l.record)
	}
}

// A person wants to look at what it has.
func TestAFencedServersDataAreNotReplaced(t *testing.T) {
	l := bootstrapped(t, requiredPolicy(2), "c-0", "c-1", "c-2")
	l.fence("c-2")
	l.operate(t)
	l.world.Kill("c-2")
	l.world.Wipe("c-2")
	l.world.Start("c-2")
	l.outdated = with(l.outdated, "c-2", true)
	if p := l.operate(t); len(l.record.Clones) > 0 || l.record.Restart != nil || len(p.Commands) > 0 {
		t.Fatalf("%+v %+v", l.record, p)
	}
	l.unfence("c-2")
	l.operate(t)
	l.mustServe(t)
}

func TestFencesThatCannotBeReadAreReported(t *testing.T) {
	c := &v1alpha1.CommitCluster{}
	c.Annotations = map[string]string{v1alpha1.AnnotationFenced: "demo-1"}
	if _, err := FencedOf(c); err == nil {
		t.Fatal("it was read")
	}
	c.Annotations[v1alpha1.AnnotationFenced] = `["demo-1","demo-2"]`
	if fenced, err := FencedOf(c); err != nil || !fenced["demo-1"] || !fenced["demo-2"] || len(fenced) != 2 {
		t.Fatal(fenced, err)
	}
}
