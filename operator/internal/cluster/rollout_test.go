package cluster

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/engine"
)

// roll has an operator work and lists what it takes down and whom it makes master, in that order.
func (l *lab) roll(t *testing.T) []string {
	t.Helper()
	var story []string
	for range 200 {
		for name := range l.taken {
			l.start(name)
		}
		l.world.Run()
		p := l.decide()
		if p.plan.Record != nil {
			l.persist(p)
			continue
		}
		for _, c := range p.plan.Commands {
			if c.Kind == CommandRestart || c.Kind == CommandPromote {
				story = append(story, c.Server+" "+string(c.Kind))
			}
			l.execute(c)
		}
		if len(p.plan.Commands) == 0 {
			return story
		}
	}
	t.Fatalf("never at rest: %+v", l.record)
	return nil
}

func TestReplicasAreRestartedFirstAndTheMasterAfterASwitchover(t *testing.T) {
	for name, c := range map[string]struct {
		policy Policy
		want   []string
	}{
		"two replicas":    {requiredPolicy(2), []string{"c-2 RESTART", "c-1 RESTART", "c-1 PROMOTE", "c-0 RESTART"}},
		"wait for both":   {waitForBoth(), []string{"c-2 RESTART", "c-1 RESTART", "c-1 PROMOTE", "c-0 RESTART"}},
		"one replica":     {requiredPolicy(1), []string{"c-1 RESTART", "c-1 PROMOTE", "c-0 RESTART"}},
		"preferred":       {preferredPolicy(1), []string{"c-1 RESTART", "c-1 PROMOTE", "c-0 RESTART"}},
		"a master alone":  {requiredPolicy(0), []string{"c-0 RESTART", "c-0 PROMOTE"}},
		"failover is off": {withoutFailover(2), []string{"c-2 RESTART", "c-1 RESTART", "c-1 PROMOTE", "c-0 RESTART"}},
	} {
		t.Run(name, func(t *testing.T) {
			l := bootstrapped(t, c.policy, []string{"c-0", "c-1", "c-2"}[:c.policy.Replicas+1]...)
			l.write(t)
			l.edit()
			if got := l.roll(t); !slices.Equal(got, c.want) {
				t.Errorf("%v, want %v", got, c.want)
			}
			l.mustServe(t)
			l.write(t)
			if len(l.outdated) > 0 || l.record.Restart != nil || len(l.world.Lost()) > 0 {
				t.Errorf("outdated %v, restart %v, lost %v", l.outdated, l.record.Restart, l.world.Lost())
			}
		})
	}
}

func withoutFailover(replicas int32) Policy {
	p := requiredPolicy(replicas)
	p.FailoverDisabled = true
	return p
}

func TestNothingIsRestartedThatTheClusterCannotSpare(t *testing.T) {
	for what, c := range map[string]struct {
		policy  Policy
		trouble func(*lab)
		says    string
	}{
		"another server is down":      {requiredPolicy(2), func(l *lab) { l.world.Kill("c-1") }, "waiting for c-1"},
		"another one lost the master": {requiredPolicy(2), func(l *lab) { l.world.Isolate("c-1", true) }, "waiting for c-1"},
		"it acknowledges, unseen": {requiredPolicy(2), func(l *lab) {
			l.world.Kill("c-1")
			l.world.Hide("c-2", true)
		}, "waiting for c-1"},
	} {
		t.Run(what, func(t *testing.T) {
			l := bootstrapped(t, c.policy, []string{"c-0", "c-1", "c-2"}[:c.policy.Replicas+1]...)
			c.trouble(l)
			last := l.world.Names()[len(l.world.Names())-1]
			l.outdated[last], l.outdated["c-0"] = true, true
			story := l.roll(t)
			if len(story) > 0 {
				t.Errorf("restarted: %v", story)
			}
			if p := l.decide().plan; !strings.Contains(p.Rollout, c.says) {
				t.Errorf("it says %q, want %q", p.Rollout, c.says)
			}
			mend(l, c.policy)
			l.roll(t)
			l.mustServe(t)
			if len(l.outdated) > 0 {
				t.Errorf("never restarted: %v", l.outdated)
			}
		})
	}
}

func TestNothingIsRestartedWhileWritesWaitOrTheQuorumMoves(t *testing.T) {
	for says, change := range map[string]func(*View){
		"waiting until writes are acknowledged":    func(v *View) { v.server("c-0").Status.WritesBlocked = true },
		"waiting until the quorum is established":  func(v *View) { v.Record.PriorQuorums = []v1alpha1.QuorumStatus{*v.Record.Quorum} },
		"waiting for the switchover":               func(v *View) { v.Record.Switchover = &v1alpha1.SwitchoverStatus{} },
		"waiting for c-1 to serve":                 func(v *View) { v.server("c-1").Leaving = true },
		"without c-2 writes would wait: 0 of":      func(v *View) { v.Record.Quorum.Members = []string{v.server("c-2").Status.ServerUUID} },
		"c-2 is restarted (never said: it can be)": nil,
	} {
		v := bootstrapped(t, requiredPolicy(2), "c-0", "c-1", "c-2").view()
		if change != nil {
			change(&v)
		}
		hold := v.cannotSpare(v.server("c-2"), v.server("c-0"))
		if (change != nil && !strings.HasPrefix(hold, says)) || (change == nil && hold != "") {
			t.Errorf("%q, want %q", hold, says)
		}
	}
}

// Who is out already is restarted, however it is with the others: it takes nothing away.
func TestAServerWithoutARoleIsRestartedBeforeOthers(t *testing.T) {
	l := bootstrapped(t, requiredPolicy(2), "c-0", "c-1", "c-2")
	l.world.Isolate("c-1", true)
	l.edit()
	if story := l.roll(t); !slices.Equal(story, []string{"c-1 RESTART"}) {
		t.Fatalf("%v", story)
	}
}

func TestAMasterThatNobodyCanReplaceStaysAndTheReasonIsSaid(t *testing.T) {
	l := bootstrapped(t, requiredPolicy(1), "c-0", "c-1")
	v := l.view()
	v.server("c-0").Outdated = "image"
	v.server("c-1").Status.ApplierState = engine.ApplierStopped
	p := Decide(v)
	if p.Record != nil || !strings.Contains(p.Rollout, "no replica can take over") {
		t.Fatalf("%+v", p)
	}
	if c := v.progressing(p); c.Reason != "RollingRestart" || !strings.Contains(c.Message, "no replica can take over") {
		t.Fatalf("%+v", c)
	}
}

// An operator may stop, and a server fail, at any step: another operator goes on, one server is down at a time by its doing,
// and nothing is lost.
func TestARollingRestartThatStopsAnywhereIsFinishedByAnother(t *testing.T) {
	for _, fault := range []string{"operator stops", "kill c-0", "kill c-1", "kill c-2", "hide c-0", "isolate c-1"} {
		for at := range 30 {
			t.Run(fmt.Sprint(fault, " at step ", at), func(t *testing.T) {
				l := bootstrapped(t, requiredPolicy(2), "c-0", "c-1", "c-2")
				l.write(t)
				l.edit()
				old := l.decide()
				steps := 0
				l.stepUntil(t, func() bool { steps++; return steps > at })
				switch kind, name, _ := strings.Cut(fault, " "); kind {
				case "kill":
					l.world.Kill(name)
				case "hide":
					l.world.Hide(name, true)
				case "isolate":
					l.world.Isolate(name, true)
				}
				l.persist(old) // an operator that has slept since the beginning
				l.operate(t)
				mend(l, requiredPolicy(2))
				l.operate(t)
				l.hours += 24
				l.operate(t)
				l.mustServe(t)
				if len(l.outdated) > 0 || len(l.world.Lost()) > 0 {
					t.Fatalf("outdated %v, lost %v", l.outdated, l.world.Lost())
				}
			})
		}
	}
}

// A better spec must reach servers that the present one keeps from starting.
func TestAServerWhoseProgramDoesNotRunIsReplacedWhateverElseGoesOn(t *testing.T) {
	l := bootstrapped(t, requiredPolicy(2), "c-0", "c-1", "c-2")
	for _, name := range l.world.Names() {
		l.world.Kill(name)
	}
	v := l.view()
	for i := range v.Servers {
		v.Servers[i].Down, v.Servers[i].Outdated = true, "resources"
	}
	v.server("c-1").Leaving = true
	v.server("c-2").Outdated = ""
	p := Decide(v)
	if len(p.Commands) != 1 || p.Commands[0].Kind != CommandRestart || p.Commands[0].Server != "c-0" || p.Commands[0].PodUID != "pod-0" {
		t.Fatalf("%+v", p.Commands)
	}
}

// The pod that came instead is outdated as well and does not start: the spec was changed again.
func TestAServerThatDoesNotComeBackIsRestartedOnceMore(t *testing.T) {
	l := bootstrapped(t, requiredPolicy(2), "c-0", "c-1", "c-2")
	l.edit()
	l.stepUntil(t, func() bool { return l.record.Restart != nil && l.taken["c-2"] })
	if p := l.decide().plan; p.Record != nil || len(p.Commands) > 0 || !strings.Contains(p.Rollout, "does not serve yet") {
		t.Fatalf("%+v", p)
	}
	delete(l.taken, "c-2") // its program ends at once
	l.outdated["c-2"] = true
	l.step(t)
	if r := l.record.Restart; r == nil || r.Name != "c-2" || r.PodUID != "pod-1" {
		t.Fatalf("%+v", l.record.Restart)
	}
}

func TestARestartThatIsNotNeededAnyMoreIsForgotten(t *testing.T) {
	l := bootstrapped(t, requiredPolicy(2), "c-0", "c-1", "c-2")
	l.edit()
	l.stepUntil(t, func() bool { return l.record.Restart != nil })
	clear(l.outdated)
	if story := l.roll(t); len(story) > 0 || l.record.Restart != nil {
		t.Fatalf("%v %+v", story, l.record.Restart)
	}
	l.edit()
	l.stepUntil(t, func() bool { return l.record.Switchover != nil })
	clear(l.outdated)
	l.roll(t)
	if s := l.record.Switchover; s.Reason != v1alpha1.SwitchoverRollingRestart || s.Phase != v1alpha1.SwitchoverCancelled {
		t.Fatalf("%+v", s)
	}
}

// stepUntil has an operator work, and what it takes down start again before its next step.
func (l *lab) stepUntil(t *testing.T, enough func() bool) {
	t.Helper()
	for range 100 {
		if enough() {
			return
		}
		for name := range l.taken {
			l.start(name)
		}
		l.step(t)
	}
	t.Fatalf("it never comes to that: %+v", l.record)
}

// A paused operator is about to delete a pod whose server has become the master since: that server stays the next one to go.
func TestALateRestartNeverTakesASecondServerDown(t *testing.T) {
	l := bootstrapped(t, requiredPolicy(2), "c-0", "c-1", "c-2")
	l.edit()
	l.stepUntil(t, func() bool { return l.record.Restart != nil })
	late := l.decide().plan.Commands[0]
	if late.Kind != CommandRestart || late.Server != "c-2" {
		t.Fatalf("%s", late)
	}
	// c-2 alone holds it, so c-2 is elected.
	l.world.Write("c-0", 1)
	for l.world.Deliver("c-2") || l.world.Acknowledge() {
	}
	l.world.Kill("c-0")
	l.stepUntil(t, func() bool { return l.record.Master == "c-2" && l.record.Election == nil })
	for steps := 0; len(l.outdated) > 0; steps++ {
		if steps > 200 {
			t.Fatalf("never restarted: %v, %+v", l.outdated, l.record)
		}
		l.start("c-0")
		l.world.Run()
		l.step(t)
		if paused := l.clone(); true {
			paused.execute(late)
			if broken := paused.broken(); broken != "" {
				t.Fatalf("step %d: %s", steps, broken)
			}
		}
		for name := range l.taken {
			if steps%3 == 0 {
				l.start(name)
			}
		}
	}
}
