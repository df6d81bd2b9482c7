package cluster

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/engine"
)

// ask is a person's request, which the operator then carries out as far as it can.
func (l *lab) ask(t *testing.T, id, to string) Plan {
	t.Helper()
	l.request = &SwitchoverRequest{ID: id, To: to}
	return l.operate(t)
}

func (l *lab) mustHaveSwitched(t *testing.T, phase, master string) {
	t.Helper()
	if s := l.record.Switchover; s == nil || s.Phase != phase || !s.Ended() || l.record.Master != master {
		t.Fatalf("want %s with master %s: %+v, %+v", phase, master, s, l.record)
	}
}

func TestASwitchoverMovesTheMastershipAndLosesNothing(t *testing.T) {
	for _, names := range [][]string{{"c-0", "c-1"}, {"c-0", "c-1", "c-2"}, {"c-0", "c-1", "c-2", "c-3", "c-4"}} {
		for _, to := range []string{"c-1", names[len(names)-1], ""} {
			l := bootstrapped(t, requiredPolicy(int32(len(names)-1)), names...)
			l.write(t)
			quorum := l.record.Quorum.WaitCount
			l.ask(t, "1", to)
			want := to
			if to == "" {
				want = "c-1"
			}
			l.mustHaveSwitched(t, v1alpha1.SwitchoverSucceeded, want)
			l.mustServe(t)
			l.write(t)
			if q := l.record.Quorum; len(q.Members) != len(names)-1 || q.WaitCount != quorum {
				t.Fatalf("the quorum stayed small: %+v", q)
			}
		}
	}
}

func TestClientsAreLedToADemotedMasterOnlyAsLongAsItSendsThemAway(t *testing.T) {
	l := bootstrapped(t, requiredPolicy(2), "c-0", "c-1", "c-2")
	for what, change := range map[string]func(*View){
		"":                     func(*View) {},
		"an older engine":      func(v *View) { v.server("c-0").Status.SendsClientsAway = false },
		"the deadline is over": func(v *View) { v.Now = v.Record.Switchover.Deadline.Add(time.Second) },
		"it is gone":           func(v *View) { v.server("c-0").Reachable = false },
		"fenced by hand":       func(v *View) { v.KeptOut = map[string]bool{"c-0": true} },
	} {
		v := l.view()
		v.Record.Switchover = &v1alpha1.SwitchoverStatus{ID: "1", From: "c-0", To: "c-1", Phase: v1alpha1.SwitchoverMoving, Deadline: metav1.NewTime(v.Now.Add(time.Minute))}
		v.Record.Epoch, v.Record.Election = 2, &v1alpha1.ElectionStatus{Candidate: "c-1"}
		v.server("c-0").Label = v1alpha1.RoleMaster
		change(&v)
		want := ""
		if what == "" {
			want = "c-0"
		}
		if led := (&Plan{Roles: v.roles()}).Master(); led != want {
			t.Errorf("%s: clients are led to %q, want %q", what, led, want)
		}
	}
}

func TestBeforeTheMasterIsDemotedTheTargetHoldsAllThatIsAcknowledged(t *testing.T) {
	l := bootstrapped(t, requiredPolicy(2), "c-0", "c-1", "c-2")
	l.world.Isolate("c-2", true) // c-1 alone acknowledges
	l.writeWithoutAll(t)
	p := l.ask(t, "1", "c-2")
	if l.record.Election != nil || l.record.Master != "c-0" || p.Waiting == "" {
		t.Fatalf("demoted a master whose target lacks what is acknowledged: %+v", l.record)
	}
	l.world.Isolate("c-2", false)
	l.operate(t)
	l.mustHaveSwitched(t, v1alpha1.SwitchoverSucceeded, "c-2")
	l.mustServe(t)
	if lost := l.world.Lost(); len(lost) > 0 {
		t.Fatal(lost)
	}
}

func TestATargetThatLagsIsNotElected(t *testing.T) {
	l := bootstrapped(t, requiredPolicy(2), "c-0", "c-1", "c-2")
	l.written++
	l.world.Write("c-0", l.written)
	for l.world.Deliver("c-1") || l.world.Acknowledge() { // c-2 is attached, and has not got it
	}
	if len(l.world.Acknowledged) == 0 {
		t.Fatal("c-1 has not acknowledged")
	}
	l.request = &SwitchoverRequest{ID: "1", To: "c-2"}
	for range 20 {
		p := l.decide()
		if p.plan.Record != nil {
			l.persist(p)
		}
		for _, c := range p.plan.Commands {
			l.execute(c)
		}
	}
	if l.record.Election != nil || l.record.Master != "c-0" {
		t.Fatalf("%+v", l.record)
	}
	l.operate(t)
	l.mustHaveSwitched(t, v1alpha1.SwitchoverSucceeded, "c-2")
	l.mustServe(t)
}

// writeWithoutAll has a transaction acknowledged that some server cannot get now.
func (l *lab) writeWithoutAll(t *testing.T) {
	t.Helper()
	l.written++
	before := len(l.world.Acknowledged)
	l.world.Write(l.record.Master, l.written)
	l.world.Run()
	if len(l.world.Acknowledged) == before {
		t.Fatal("not acknowledged")
	}
}

func TestARequestIsCarriedOutOnce(t *testing.T) {
	l := bootstrapped(t, requiredPolicy(2), "c-0", "c-1", "c-2")
	l.ask(t, "a", "c-1")
	l.ask(t, "b", "c-2")
	l.ask(t, "a", "c-1") // applied again by somebody's pipeline
	l.mustHaveSwitched(t, v1alpha1.SwitchoverSucceeded, "c-2")
}

func TestASwitchoverThatCannotBeIsRefusedWithAReason(t *testing.T) {
	for name, c := range map[string]struct {
		replicas int32
		to       string
		phase    string
	}{
		"unknown server":      {2, "c-7", v1alpha1.SwitchoverFailed},
		"the master itself":   {2, "c-0", v1alpha1.SwitchoverSucceeded},
		"nobody to switch to": {0, "", v1alpha1.SwitchoverFailed},
	} {
		names := []string{"c-0", "c-1", "c-2"}[:c.replicas+1]
		l := bootstrapped(t, requiredPolicy(c.replicas), names...)
		epoch := l.record.Epoch
		l.ask(t, "1", c.to)
		l.mustHaveSwitched(t, c.phase, "c-0")
		if l.record.Epoch != epoch || l.record.Switchover.Message == "" {
			t.Errorf("%s: %+v", name, l.record.Switchover)
		}
		l.mustServe(t)
	}
}

func TestASwitchoverIsWithdrawnOrRunsOutOfTime(t *testing.T) {
	for phase, end := range map[string]func(*lab){
		v1alpha1.SwitchoverCancelled: func(l *lab) { l.request = nil },
		v1alpha1.SwitchoverFailed:    func(l *lab) { l.expired = true },
	} {
		l := bootstrapped(t, requiredPolicy(2), "c-0", "c-1", "c-2")
		l.world.Isolate("c-1", true)
		l.ask(t, "1", "c-1")
		end(l)
		l.operate(t)
		l.mustHaveSwitched(t, phase, "c-0")
		l.world.Isolate("c-1", false)
		l.operate(t)
		l.mustServe(t)
		l.write(t)
		if len(l.record.Quorum.Members) != 2 {
			t.Fatalf("%+v", l.record.Quorum)
		}
	}
}

func TestATargetThatDiesWhileItIsPromotedGivesTheMastershipBack(t *testing.T) {
	for _, disabled := range []bool{false, true} {
		policy := requiredPolicy(2)
		policy.FailoverDisabled = disabled
		l := bootstrapped(t, policy, "c-0", "c-1", "c-2")
		l.write(t)
		l.request = &SwitchoverRequest{ID: "1", To: "c-2"}
		for l.record.Election == nil {
			l.step(t)
		}
		l.world.Kill("c-2")
		l.operate(t)
		l.mustHaveSwitched(t, v1alpha1.SwitchoverFailed, "c-0")
		l.world.Start("c-2")
		l.operate(t)
		l.mustServe(t)
		l.write(t)
	}
}

// step is one step of an operator.
func (l *lab) step(t *testing.T) {
	t.Helper()
	l.world.Run()
	p := l.decide()
	if p.plan.Record != nil {
		l.persist(p)
	}
	for _, c := range p.plan.Commands {
		l.execute(c)
	}
}

// An operator may stop, and each statement may be refused, at any step: another one goes on, and nothing is lost.
func TestASwitchoverThatStopsAnywhereIsFinishedByAnother(t *testing.T) {
	for _, fault := range []string{"kill c-0", "kill c-1", "hide c-0", "isolate c-1", "operator stops"} {
		for at := range 12 {
			t.Run(fmt.Sprint(fault, " at step ", at), func(t *testing.T) {
				l := bootstrapped(t, requiredPolicy(2), "c-0", "c-1", "c-2")
				l.write(t)
				l.request = &SwitchoverRequest{ID: "1", To: "c-1"}
				for range at {
					l.step(t)
				}
				switch fault {
				case "kill c-0":
					l.world.Kill("c-0")
				case "kill c-1":
					l.world.Kill("c-1")
				case "hide c-0":
					l.world.Hide("c-0", true)
				case "isolate c-1":
					l.world.Isolate("c-1", true)
				}
				l.operate(t)
				l.expired = true
				l.operate(t)
				mend(l, requiredPolicy(2))
				l.operate(t)
				l.mustServe(t)
				if !l.record.Switchover.Ended() || len(l.world.Lost()) > 0 {
					t.Fatalf("%+v, lost %v", l.record.Switchover, l.world.Lost())
				}
			})
		}
	}
}

func TestScalingDownMovesTheMastershipOffThePodThatGoes(t *testing.T) {
	l := bootstrapped(t, requiredPolicy(2), "c-0", "c-1", "c-2")
	l.ask(t, "1", "c-2")
	l.write(t)
	l.policy.Replicas = 1
	l.operate(t)
	if l.record.Master != "c-0" || l.record.Switchover.Reason != v1alpha1.SwitchoverScaleDown {
		t.Fatalf("%+v", l.record)
	}
	v := l.view()
	if slices.Contains(l.record.Quorum.Members, v.server("c-2").Status.ServerUUID) || len(l.record.PriorQuorums) > 0 {
		t.Fatalf("c-2 is still counted: %+v", l.record)
	}
	l.write(t)
	if len(l.world.Lost()) > 0 {
		t.Fatal(l.world.Lost())
	}
}

// While there is no master, the target does not answer one look.
func TestATargetThatWasReachedAMomentAgoIsWaitedFor(t *testing.T) {
	for what, c := range map[string]struct {
		change func(*Server)
		waits  bool
	}{
		"one look":                {func(*Server) {}, true},
		"for long":                {func(s *Server) { s.UnreachableFor = time.Minute }, false},
		"it does not run":         {func(s *Server) { s.Down = true }, false},
		"it has no address":       {func(s *Server) { s.Address = "" }, false},
		"it refuses the password": {func(s *Server) { s.Denied = true }, false},
	} {
		l := bootstrapped(t, requiredPolicy(2), "c-0", "c-1", "c-2")
		l.request = &SwitchoverRequest{ID: "1", To: "c-1"}
		for l.record.Election == nil || len(l.decide().plan.Commands) > 0 {
			l.world.Run()
			p := l.decide()
			if p.plan.Record != nil {
				l.persist(p)
			}
			for _, command := range p.plan.Commands {
				l.execute(command)
			}
		}
		v := l.view()
		target := v.server("c-1")
		*target = Server{Name: target.Name, Ordinal: target.Ordinal, Address: target.Address, PVCUID: target.PVCUID}
		c.change(target)
		p := Decide(v)
		if waits := p.Record == nil && strings.Contains(p.Waiting, "c-1"); waits != c.waits || (!waits && p.Record.Master != "c-0") {
			t.Errorf("%s: %+v", what, p)
		}
	}
}

func TestNobodyIsSwitchedToWhoCannotApply(t *testing.T) {
	l := bootstrapped(t, requiredPolicy(2), "c-0", "c-1", "c-2")
	for what, change := range map[string]func(*Server){
		"applier stopped": func(s *Server) { s.Status.ApplierState = engine.ApplierStopped },
		"far behind":      func(s *Server) { s.Status.UnappliedTransactions = 1_000_000 },
	} {
		v := l.view()
		change(v.server("c-1"))
		v.Request = &SwitchoverRequest{ID: "1", To: "c-1"}
		v.Record = *Decide(v).Record
		for range 3 {
			if p := Decide(v); p.Record != nil {
				v.Record = *p.Record
			}
		}
		if v.Record.Election != nil {
			t.Errorf("%s: %+v", what, v.Record)
		}
	}
}

func TestTheAnnotationIsRead(t *testing.T) {
	for text, fine := range map[string]bool{
		`{"id":"x"}`:                                   true,
		`{"id":"x","to":"c-1","deadline":"10s"}`:       true,
		`{"id":"x","deadline":"2026-01-31T10:00:00Z"}`: true,
		`{"to":"c-1"}`:                                 false,
		`c-1`:                                          false,
		`{"id":"x","deadline":"soon"}`:                 false,
		`{"id":"x","deadline":"-5s"}`:                  false,
		`{"id":"x","target":"c-1"}`:                    false,
	} {
		c := &v1alpha1.CommitCluster{}
		c.Annotations = map[string]string{v1alpha1.AnnotationSwitchover: text}
		if r, err := SwitchoverOf(c); (err == nil) != fine || (fine && r.ID != "x") {
			t.Errorf("%s: %+v, %v", text, r, err)
		}
	}
	l := bootstrapped(t, requiredPolicy(1), "c-0", "c-1")
	v := l.view()
	v.RequestProblem = fmt.Errorf("nonsense")
	if p := Decide(v); p.Problems[""] == "" {
		t.Errorf("%+v", p)
	}
	if at, err := (&SwitchoverRequest{Deadline: "2026-01-31T10:00:00Z"}).deadline(time.Now()); err != nil || at.Year() != 2026 {
		t.Error(at, err)
	}
}

// A drained node: the pod of the master is being deleted and its server still serves.
func TestTheMastershipLeavesAPodThatIsBeingDeleted(t *testing.T) {
	for _, policy := range []Policy{requiredPolicy(2), withoutFailover(2)} {
		l := bootstrapped(t, policy, "c-0", "c-1", "c-2")
		l.write(t)
		v := l.view()
		v.server("c-0").Leaving, v.server("c-1").Leaving = true, true
		p := Decide(v)
		if p.Record == nil || p.Record.Switchover.To != "c-2" || p.Record.Switchover.Reason != v1alpha1.SwitchoverPodLeaves {
			t.Fatalf("%+v", p.Record)
		}
		l.record = *p.Record
		l.operate(t)
		l.mustHaveSwitched(t, v1alpha1.SwitchoverSucceeded, "c-2")
		l.mustServe(t)
		l.write(t)
	}
	l := bootstrapped(t, requiredPolicy(0), "c-0")
	v := l.view()
	v.server("c-0").Leaving = true
	if p := Decide(v); p.Record != nil || len(p.Commands) > 0 {
		t.Fatalf("nobody can take over: %+v", p)
	}
}

// A planned move cuts no commit off: the master has answered all of them before it is fenced, and took none since.
func TestTheMasterHandsOverBeforeItIsDemoted(t *testing.T) {
	l := bootstrapped(t, requiredPolicy(2), "c-0", "c-1", "c-2")
	l.write(t)
	l.request = &SwitchoverRequest{ID: "1", To: "c-1"}
	var story []string
	for l.record.Switchover == nil || !l.record.Switchover.Ended() {
		l.world.Run()
		p := l.decide()
		if p.plan.Record != nil {
			if e := p.plan.Record.Election; e != nil && l.world.Write("c-0", l.written+1) {
				t.Fatal("epoch 2 is claimed, and the master of epoch 1 takes writes")
			}
			l.persist(p)
		}
		for _, c := range p.plan.Commands {
			if c.Server == "c-0" {
				story = append(story, string(c.Kind))
			}
			l.execute(c)
		}
	}
	if want := []string{"QUORUM", "HANDOVER", "FENCE", "FOLLOW"}; !slices.Equal(story, want) {
		t.Fatalf("%v, want %v", story, want)
	}
	l.operate(t)
	l.mustServe(t)
}

func TestWhatFollowsFromAHandover(t *testing.T) {
	handing := func(v *View, ago time.Duration) {
		at := metav1.NewTime(v.Now.Add(-ago))
		v.Record.Switchover = &v1alpha1.SwitchoverStatus{ID: "1", Reason: v1alpha1.SwitchoverRequested, Phase: v1alpha1.SwitchoverHandingOver,
			From: "c-0", To: "c-1", Deadline: metav1.NewTime(v.Now.Add(time.Hour)), HandoverAt: &at}
		v.Request = &SwitchoverRequest{ID: "1", To: "c-1"}
	}
	handedOver := func(v *View) {
		v.server("c-0").Status.HandedOver, v.server("c-0").Status.WritesBlocked = true, true
	}
	for what, c := range map[string]struct {
		change   func(*View)
		commands []string
		claims   bool
	}{
		"it is asked for":                         {func(v *View) { handing(v, 0) }, []string{"c-0: HANDOVER EPOCH 1"}, false},
		"it is asked for again":                   {func(v *View) { handing(v, handoverPatience) }, []string{"c-0: HANDOVER EPOCH 1"}, false},
		"it is not waited for long":               {func(v *View) { handing(v, 2*handoverPatience) }, nil, true},
		"it is done":                              {func(v *View) { handing(v, 0); handedOver(v) }, nil, true},
		"an engine that does not know it":         {func(v *View) { handing(v, 0); v.server("c-0").Status.CanHandOver = false }, nil, true},
		"the target is gone meanwhile":            {func(v *View) { handing(v, 0); handedOver(v); v.server("c-1").Reachable = false }, []string{"c-0: PROMOTE EPOCH 1"}, false},
		"the target is gone before it":            {func(v *View) { handing(v, 0); v.server("c-1").Reachable = false }, nil, false},
		"nobody has asked for it":                 {handedOver, []string{"c-0: PROMOTE EPOCH 1"}, false},
		"nobody has, and another quorum is to be": {func(v *View) { handedOver(v); v.Record.Quorum.Version++ }, []string{"c-0: QUORUM EPOCH 1"}, false},
	} {
		v := bootstrapped(t, requiredPolicy(1), "c-0", "c-1").view()
		c.change(&v)
		p := Decide(v)
		var commands []string
		for _, command := range p.Commands {
			commands = append(commands, strings.Join(strings.Fields(command.String())[:4], " "))
		}
		if claims := p.Record != nil && p.Record.Election != nil; !slices.Equal(commands, c.commands) || claims != c.claims {
			t.Errorf("%s: %v, %+v", what, commands, p.Record)
		}
	}
}
