package cluster

import (
	"context"
	"strings"
	"testing"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/engine"
)

// Somebody tells the master by hand to wait for nobody: what is acknowledged then may be on the master alone.
func TestAQuorumThatWasChangedByHandIsPutRightAndNotForgotten(t *testing.T) {
	for name, byHand := range map[string]struct {
		version int64
		members int
	}{
		"with a version far ahead":     {99, 0},
		"with the next version":        {1, 0},
		"the same one, later versions": {7, 2},
	} {
		t.Run(name, func(t *testing.T) {
			l := bootstrapped(t, requiredPolicy(2), "c-0", "c-1", "c-2")
			asked := *l.record.Quorum
			wait := int32(0)
			if byHand.members > 0 {
				wait = asked.WaitCount
			}
			if err := l.world.Server("c-0").SetQuorum(context.Background(), l.record.Epoch, byHand.version,
				engine.Quorum{WaitCount: wait, Members: asked.Members[:byHand.members]}); err != nil {
				t.Fatal(err)
			}
			p := l.decide()
			if p.plan.Event == nil || p.plan.Event.Reason != ReasonChangedByHand {
				t.Fatalf("%+v", p.plan)
			}
			l.persist(p)
			// Until the right one is established, nobody is elected without the master: it alone may hold what was acknowledged.
			others := setOf(asked.Members)
			if byHand.members == 0 && coversRecord(others, &l.record) {
				t.Fatalf("forgotten: %+v", l.record)
			}
			l.operate(t)
			l.mustServe(t)
			if q := l.record.Quorum; !sameQuorum(q, asked.WaitCount, asked.Members) || !coversRecord(others, &l.record) {
				t.Fatalf("%+v", l.record)
			}
			l.write(t)
		})
	}
}

func TestTheConditionsSayWhichReplicaIsMissingAndWhy(t *testing.T) {
	l := bootstrapped(t, waitForBoth(), "c-0", "c-1", "c-2")
	for want, change := range map[string]func(*Server){
		"c-2 cannot be reached":         func(s *Server) { s.Reachable = false },
		"c-2 does not run":              func(s *Server) { s.Reachable, s.Down = false, true },
		"c-2 has no pod":                func(s *Server) { s.Reachable, s.PodUID = false, "" },
		"c-2 refuses":                   func(s *Server) { s.Reachable, s.Denied = false, true },
		"c-2 is new and joins":          func(s *Server) { s.Status = engine.Status{Role: engine.RoleUninitialized} },
		"c-2 is fenced in epoch 7":      func(s *Server) { s.Status.Role, s.Status.Epoch = engine.RoleFenced, 7 },
		"does not receive (error) 1045": func(s *Server) { s.Status.ReceiverState, s.Status.ReceiverError = "error", "1045 denied" },
		"c-2 is not this cluster's":     func(s *Server) { s.PVCUID = "another" },
		"c-2 has not caught up":         func(*Server) {},
	} {
		v := l.view()
		master := v.server("c-0")
		master.Status.SemisyncClients = master.Status.SemisyncClients[:1]
		master.Status.WritesBlocked = true
		change(v.server("c-2"))
		blocked := v.writesBlocked(true, false, Plan{})
		satisfied := v.semisyncSatisfied(true, 1)
		if blocked.Reason != "TooFewReplicas" || !strings.Contains(blocked.Message, want) || !strings.Contains(satisfied.Message, want) {
			t.Errorf("want %q: %+v %+v", want, blocked, satisfied)
		}
	}
}

func TestWhyWritesWait(t *testing.T) {
	v := bootstrapped(t, requiredPolicy(2), "c-0", "c-1", "c-2").view()
	v.server("c-0").Status.WritesBlocked = true
	if c := v.writesBlocked(true, false, Plan{}); c.Reason != "NotAcknowledgedYet" {
		t.Errorf("%+v", c)
	}
	if c := v.writesBlocked(false, false, Plan{Waiting: "for c-7"}); c.Reason != "NoMaster" || c.Message != "for c-7" {
		t.Errorf("%+v", c)
	}
	if c := v.writesBlocked(true, true, Plan{}); c.Reason != "Writable" {
		t.Errorf("%+v", c)
	}
}

func TestTheColumnSaysHowManyAcknowledge(t *testing.T) {
	for want, record := range map[string]v1alpha1.Record{
		"":               {},
		"off":            {Quorum: &v1alpha1.QuorumStatus{}},
		"1/2 AFTER_SYNC": {Quorum: &v1alpha1.QuorumStatus{WaitCount: 1, Members: []string{"a", "b"}}},
	} {
		v := View{Record: record}
		if got := v.semisync(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
