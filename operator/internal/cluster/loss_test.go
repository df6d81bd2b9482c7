package cluster

import (
	"slices"
	"strings"
	"testing"
	"time"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/engine"
	"commitlab.dev/operator/internal/engine/fake"
)

func TestAMasterThatItsReplicasDoNotReachIsReplaced(t *testing.T) {
	l := bootstrapped(t, requiredPolicy(2), "c-0", "c-1", "c-2")
	l.write(t)
	l.world.Isolate("c-0", true)
	l.world.Write("c-0", 100) // waits for ever
	l.operate(t)
	if l.record.Master == "c-0" || !Writable(l.view()) {
		t.Fatalf("writes wait until the network is mended: %+v", l.record)
	}
	if !l.world.Write(l.record.Master, 101) {
		t.Fatal("the new master takes no writes")
	}
	l.world.Isolate("c-0", false)
	l.operate(t)
	l.mustServe(t)
	if acknowledged := l.world.Acknowledged; l.world.Lost() != nil || slices.ContainsFunc(acknowledged, isTransaction(100)) || !slices.ContainsFunc(acknowledged, isTransaction(101)) {
		t.Fatalf("%v, lost %v", acknowledged, l.world.Lost())
	}
}

func TestAMasterIsNotReplacedByOneThatWouldBeNoBetter(t *testing.T) {
	for what, c := range map[string]struct {
		replicas int32
		fault    func(*lab)
	}{
		"one replica, which would have nobody to acknowledge": {1, func(l *lab) { l.world.Isolate("c-0", true) }},
		"one of two replicas is cut off":                      {2, func(l *lab) { l.world.Isolate("c-1", true) }},
		"both are down":                                       {2, func(l *lab) { l.world.Kill("c-1"); l.world.Kill("c-2") }},
		"they hear the master and do not acknowledge":         {2, func(l *lab) { l.world.Impatient("c-0", 60); l.world.Write("c-0", 100) }},
	} {
		l := bootstrapped(t, requiredPolicy(c.replicas), []string{"c-0", "c-1", "c-2"}[:c.replicas+1]...)
		epoch := l.record.Epoch
		c.fault(l)
		for range 10 {
			p := l.decide()
			if p.plan.Record != nil {
				l.persist(p)
			}
			for _, command := range p.plan.Commands {
				l.execute(command)
			}
		}
		if l.record.Epoch != epoch {
			t.Errorf("%s: %+v", what, l.record)
		}
	}
}

func TestWithAllLinksDownTheMastershipDoesNotWander(t *testing.T) {
	l := bootstrapped(t, requiredPolicy(2), "c-0", "c-1", "c-2")
	epoch := l.record.Epoch
	for _, name := range l.world.Names() {
		l.world.Isolate(name, true)
	}
	for range 5 {
		l.operate(t)
	}
	if l.record.Epoch > epoch+1 {
		t.Fatalf("epoch %d after %d", l.record.Epoch, epoch)
	}
	for _, name := range l.world.Names() {
		l.world.Isolate(name, false)
	}
	l.operate(t)
	l.mustServe(t)
	l.write(t)
}

func TestTheMasterThatWasCutOffIsElectedWhenTheOthersAreGone(t *testing.T) {
	l := bootstrapped(t, requiredPolicy(2), "c-0", "c-1", "c-2")
	l.world.Isolate("c-0", true)
	for l.record.Election == nil {
		l.step(t)
	}
	l.world.Kill("c-1")
	l.world.Isolate("c-0", false)
	if l.operate(t); l.record.Election == nil {
		t.Fatalf("elected at once: %+v", l.record)
	}
	l.expired = true
	l.operate(t)
	if l.record.Master != "c-0" || !Writable(l.view()) {
		t.Fatalf("%+v", l.record)
	}
	l.world.Start("c-1")
	l.operate(t)
	l.mustServe(t)
}

func TestWithFailoverOffACutOffMasterIsSaid(t *testing.T) {
	policy := requiredPolicy(2)
	policy.FailoverDisabled = true
	l := bootstrapped(t, policy, "c-0", "c-1", "c-2")
	l.world.Isolate("c-0", true)
	if p := l.operate(t); p.Problems[""] == "" || l.record.Master != "c-0" {
		t.Fatalf("%+v %+v", p, l.record)
	}
}

func isTransaction(number int) func(fake.Acknowledgement) bool {
	return func(a fake.Acknowledgement) bool { return a.Tx == number }
}

// Patience is for what may come back as it was. A process that has ended does not.
func TestAMasterWhoseProcessHasEndedIsLostAtOnce(t *testing.T) {
	l := bootstrapped(t, requiredPolicy(2), "c-0", "c-1", "c-2")
	l.world.Kill("c-0")
	v := l.view()
	v.Servers[0].UnreachableFor, v.Servers[0].Ended = time.Millisecond, true
	if p := Decide(v); p.Record == nil {
		t.Errorf("%+v", p)
	}
	v.Servers[1].Reachable, v.Servers[2].Reachable = false, false
	if p := Decide(v); p.Record != nil {
		t.Errorf("nobody is there to be elected: %+v", p.Record)
	}
}

// With two servers, and with a lease, another master would neither take writes nor answer readers before the former one is back.
func TestAMasterThatHasEndedIsWaitedForWhereAnotherOneWouldServeNobody(t *testing.T) {
	both := func(p Policy) Policy {
		p.MinSyncReplicas = 2
		return p
	}
	for what, c := range map[string]struct {
		policy Policy
		gone   string
	}{
		"one replica":                       {policy: leasedPolicy(1)},
		"both replicas must acknowledge":    {policy: both(leasedPolicy(2))},
		"one of two, and both acknowledged": {policy: leasedBoth(), gone: "c-2"},
	} {
		t.Run(what, func(t *testing.T) {
			l := bootstrapped(t, c.policy, []string{"c-0", "c-1", "c-2"}[:c.policy.Replicas+1]...)
			l.write(t)
			epoch := l.record.Epoch
			l.world.Kill("c-0")
			if c.gone != "" {
				l.world.Kill(c.gone)
			}
			p := l.operate(t)
			if l.record.Epoch != epoch || !strings.Contains(p.Waiting, "waited for") {
				t.Fatalf("%+v %+v", p, l.record)
			}
			l.world.Start("c-0")
			l.operate(t)
			if l.record.Master != "c-0" || l.record.Epoch != epoch+1 || !Writable(l.view()) {
				t.Fatalf("it is back: %+v", l.record)
			}
			l.write(t)
		})
	}
}

func leasedBoth() Policy {
	p := waitForBoth()
	p.SourceLease = shortLease
	return p
}

// Whatever makes another master worth having ends the wait.
func TestAMasterThatHasEndedIsWaitedForNoLongerThanThatHelps(t *testing.T) {
	for what, c := range map[string]struct {
		policy        Policy
		waits, writes bool
		then          func(*lab)
	}{
		"preferred: one goes on alone":                               {policy: preferredPolicy(1), writes: true, then: func(*lab) {}},
		"without a lease another one answers readers":                {policy: requiredPolicy(1), then: func(*lab) {}},
		"its volume is empty when it is back":                        {leasedPolicy(1), true, true, func(l *lab) { l.world.Wipe("c-0"); l.start("c-0") }},
		"the spec asks for preferred":                                {leasedPolicy(1), true, true, func(l *lab) { l.policy.Durability = v1alpha1.DurabilityPreferred }},
		"somebody fences it":                                         {leasedPolicy(1), true, false, func(l *lab) { l.fence("c-0") }},
		"the other replica is back":                                  {leasedBoth(), true, true, func(l *lab) { l.start("c-2") }},
		"the other replica is back, and its volume has been emptied": {leasedBoth(), true, true, func(l *lab) { l.world.Wipe("c-2"); l.start("c-2") }},
	} {
		t.Run(what, func(t *testing.T) {
			l := bootstrapped(t, c.policy, []string{"c-0", "c-1", "c-2"}[:c.policy.Replicas+1]...)
			l.write(t)
			l.world.Kill("c-0")
			if c.policy.Replicas > 1 {
				l.world.Kill("c-2")
			}
			if p := l.decide(); (p.plan.Record == nil) != c.waits {
				t.Fatalf("%+v", p.plan)
			}
			c.then(l)
			l.operate(t)
			if l.record.Master != "c-1" || l.world.Broken != "" {
				t.Fatalf("%s%+v", l.world.Broken, l.record)
			}
			if writable := Writable(l.view()); writable != c.writes {
				t.Fatalf("writable: %v, %+v", writable, l.record)
			}
			if lost := l.world.Lost(); len(lost) > 0 {
				t.Fatalf("lost %v", lost)
			}
		})
	}
}

// A larger cluster is how a person gets a server in place of one that will not be back: the new one must be given the data.
func TestANewReplicaEndsTheWaitForAMasterThatHasEnded(t *testing.T) {
	l := bootstrapped(t, leasedPolicy(1), "c-0", "c-1")
	l.write(t)
	l.world.Kill("c-0")
	v := l.view()
	v.Policy.Replicas = 2
	v.Servers = append(v.Servers, Server{Name: "c-2", Ordinal: 2, Address: "c-2", PVCUID: "pvc-c-2-0", Reachable: true, Status: engine.Status{Role: engine.RoleUninitialized}})
	if p := Decide(v); p.Record == nil || p.Record.Election == nil {
		t.Fatalf("%+v", p)
	}
	v.KeptOut = map[string]bool{"c-2": true}
	if p := Decide(v); p.Record != nil {
		t.Fatalf("it is fenced by hand: %+v", p.Record)
	}
}

func TestWithoutALeaseAMasterThatHasEndedIsGivenTheUsualPatience(t *testing.T) {
	l := bootstrapped(t, requiredPolicy(1), "c-0", "c-1")
	l.world.Kill("c-0")
	v := l.view()
	for after, claimed := range map[time.Duration]bool{time.Second: false, 2 * time.Second: true} {
		v.server("c-0").UnreachableFor = after
		if p := Decide(v); (p.Record != nil) != claimed {
			t.Errorf("after %s: %+v", after, p.Record)
		}
	}
}
