package cluster

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

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
		"2/2 AFTER_SYNC error after 1.5s": {Quorum: &v1alpha1.QuorumStatus{WaitCount: 2, Members: []string{"a", "b"},
			OnTimeout: engine.OnTimeoutError, TimeoutMilliseconds: 1500}},
	} {
		v := View{Record: record}
		if got := v.semisync(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestWhatTheEngineIsToldToDoAfterTheTimeout(t *testing.T) {
	for what, c := range map[string]struct {
		durability v1alpha1.Durability
		onTimeout  string
		timeout    time.Duration
		want       engine.Terms
	}{
		"nothing said":                     {v1alpha1.DurabilityRequired, "", time.Second, engine.Terms{}},
		"block":                            {v1alpha1.DurabilityPreferred, "block", time.Second, engine.Terms{}},
		"error":                            {v1alpha1.DurabilityRequired, "error", time.Second, engine.Terms{TimeoutMilliseconds: 1000, OnTimeout: "error"}},
		"async":                            {v1alpha1.DurabilityPreferred, "async", time.Minute, engine.Terms{TimeoutMilliseconds: 60000, OnTimeout: "async"}},
		"async that the API did not check": {v1alpha1.DurabilityRequired, "async", time.Second, engine.Terms{}},
		"no time at all is not for ever":   {v1alpha1.DurabilityRequired, "error", 0, engine.Terms{TimeoutMilliseconds: 1, OnTimeout: "error"}},
	} {
		p := Policy{Durability: c.durability, OnTimeout: c.onTimeout, AckTimeout: c.timeout}
		if got := p.terms(&engine.Status{}); got != c.want {
			t.Errorf("%s: %+v, want %+v", what, got, c.want)
		}
	}
}

func (l *lab) termsInForce(t *testing.T) engine.Terms {
	t.Helper()
	status, err := l.world.Server(l.record.Master).Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return status.Terms
}

// Every way from one onTimeout to another, on a running cluster and across a failover.
func TestAnotherOnTimeoutIsTakenOver(t *testing.T) {
	all := []string{"block", engine.OnTimeoutError, engine.OnTimeoutAsync}
	for _, from := range all {
		for _, to := range all {
			t.Run(from+" to "+to, func(t *testing.T) {
				policy := preferredPolicy(2)
				policy.OnTimeout = from
				l := bootstrapped(t, policy, "c-0", "c-1", "c-2")
				if l.termsInForce(t) != policy.terms(&engine.Status{}) {
					t.Fatalf("%+v", l.termsInForce(t))
				}
				l.policy.OnTimeout = to
				l.operate(t)
				l.mustServe(t)
				if got, want := l.termsInForce(t), l.policy.terms(&engine.Status{}); got != want || termsOf(l.record.Quorum) != want || len(l.record.PriorQuorums) > 0 {
					t.Fatalf("%+v, on record %+v, want %+v", got, l.record.Quorum, want)
				}
				l.write(t)
			})
		}
	}
}

func TestTermsThatWereChangedByHandArePutRight(t *testing.T) {
	for what, terms := range map[string]engine.Terms{
		"async":           {TimeoutMilliseconds: 1, OnTimeout: engine.OnTimeoutAsync},
		"another timeout": {TimeoutMilliseconds: 5000},
	} {
		t.Run(what, func(t *testing.T) {
			l := bootstrapped(t, requiredPolicy(2), "c-0", "c-1", "c-2")
			byHand := asTold(l.record.Quorum)
			byHand.Terms = terms
			// Of the version on record: only the terms differ.
			if err := l.world.Server("c-0").SetQuorum(t.Context(), l.record.Epoch, l.record.Quorum.Version, byHand); err != nil {
				t.Fatal(err)
			}
			p := l.decide()
			if p.plan.Event == nil || p.plan.Event.Reason != ReasonChangedByHand {
				t.Fatalf("%+v", p.plan)
			}
			l.persist(p)
			if onReplicas := coversRecord(setOf(l.record.Quorum.Members), &l.record); onReplicas == (terms.OnTimeout == engine.OnTimeoutAsync) {
				t.Fatalf("looked for on the replicas: %t, %+v", onReplicas, l.record)
			}
			l.operate(t)
			l.mustServe(t)
			if l.termsInForce(t) != (engine.Terms{}) {
				t.Fatalf("%+v", l.termsInForce(t))
			}
		})
	}
}

// givenUp is a master that has acknowledged a transaction by itself: its replicas are gone.
func givenUp(t *testing.T) *lab {
	t.Helper()
	l := bootstrapped(t, asyncPolicy(2), "c-0", "c-1", "c-2")
	l.world.Kill("c-1")
	l.world.Kill("c-2")
	l.world.Write("c-0", 7)
	if !l.world.GiveUp("c-0") || !slices.ContainsFunc(l.world.Acknowledged, isTransaction(7)) {
		t.Fatalf("%v", l.world.Acknowledged)
	}
	return l
}

func TestUnderAsyncNobodyButTheMasterIsElected(t *testing.T) {
	l := givenUp(t)
	if reduced := meta.FindStatusCondition(Summarize(l.view(), Plan{}).Conditions, v1alpha1.ConditionDurabilityReduced); reduced.Reason != "MasterAlone" {
		t.Fatalf("%+v", reduced)
	}
	l.world.Kill("c-0")
	l.world.Start("c-1")
	l.world.Start("c-2")
	plan := l.operate(t)
	if l.record.Epoch != 1 || !strings.Contains(plan.Problems[""], "Bring c-0 back") {
		t.Fatalf("%+v %+v", plan, l.record)
	}
	l.world.Start("c-0")
	l.operate(t)
	l.mustServe(t)
	if lost := l.world.Lost(); l.record.Master != "c-0" || len(lost) > 0 {
		t.Fatalf("%s, lost %v", l.record.Master, lost)
	}
}

// From async to block: until the replicas hold what the master has acknowledged by itself, it is looked for on the master.
func TestBlockIsBelievedOnlyWhenEverythingIsOnTheReplicas(t *testing.T) {
	l := givenUp(t)
	l.policy.OnTimeout = "block"
	l.operate(t)
	if v := l.view(); l.termsInForce(t) != (engine.Terms{}) || !v.mayBeOnTheMasterAlone() {
		t.Fatalf("%+v, %+v", l.termsInForce(t), l.record)
	}
	l.world.Start("c-1")
	l.world.Start("c-2")
	l.operate(t)
	l.mustServe(t)
	l.world.Kill("c-0")
	l.operate(t)
	if lacks := l.world.Lacks(l.record.Master); l.record.Master == "c-0" || len(lacks) > 0 {
		t.Fatalf("%s lacks %v", l.record.Master, lacks)
	}
}

func TestASwitchoverUnderAsyncWaitsForTheTarget(t *testing.T) {
	l := bootstrapped(t, asyncPolicy(2), "c-0", "c-1", "c-2")
	l.request = &SwitchoverRequest{ID: "1", To: "c-1"}
	l.operate(t)
	l.mustServe(t)
	if l.record.Master != "c-1" || l.termsInForce(t) != l.policy.terms(&engine.Status{}) {
		t.Fatalf("%+v", l.record)
	}
}

func TestWritersAreToldThatTheyGetErrors(t *testing.T) {
	policy := requiredPolicy(2)
	policy.OnTimeout = engine.OnTimeoutError
	l := bootstrapped(t, policy, "c-0", "c-1", "c-2")
	l.world.Kill("c-1")
	l.world.Kill("c-2")
	blocked := meta.FindStatusCondition(Summarize(l.view(), Plan{}).Conditions, v1alpha1.ConditionWritesBlocked)
	if blocked.Reason != "TooFewReplicas" || !strings.Contains(blocked.Message, "error after 10s") {
		t.Fatalf("%+v", blocked)
	}
}
