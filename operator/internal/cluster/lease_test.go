package cluster

import (
	"context"
	"strings"
	"testing"
	"time"

	"commitlab.dev/operator/internal/engine"
)

// aloneWithItsClients is a master that neither operators nor replicas reach, and the election that follows from it, as far as it
// comes without time passing.
func aloneWithItsClients(t *testing.T, l *lab) Plan {
	t.Helper()
	l.world.Hide("c-0", true)
	l.world.Isolate("c-0", true)
	return l.withoutTime(t)
}

// withoutTime lets an operator and the servers do what they can while no lease runs out.
func (l *lab) withoutTime(t *testing.T) Plan {
	t.Helper()
	for range 100 {
		l.world.Run()
		p := l.decide()
		switch {
		case p.plan.Record != nil:
			l.persist(p)
		case p.plan.Left > 0 || len(p.plan.Commands) == 0:
			return p.plan
		}
		for _, c := range p.plan.Commands {
			l.execute(c)
		}
	}
	t.Fatalf("the operator never comes to rest: %+v", l.record)
	return Plan{}
}

func TestAMasterThatOnlyItsClientsReachIsReplacedWhenItsLeaseIsOver(t *testing.T) {
	l := bootstrapped(t, leasedPolicy(2), "c-0", "c-1", "c-2")
	l.write(t)
	if p := aloneWithItsClients(t, l); l.record.Election == nil || p.Left != 3300*time.Millisecond || !strings.Contains(p.Waiting, "c-0") {
		t.Fatalf("%+v\n%+v", p, l.record)
	}
	if !l.world.Answers("c-0") {
		t.Fatal("no time has passed, and its readers are closed")
	}
	// What is on record after a tenth less than it takes is not enough, whoever asks.
	l.waited, l.waitedIn = 3299*time.Millisecond, l.record.Epoch
	if p := l.decide().plan; p.Record != nil || p.Left != time.Millisecond {
		t.Fatalf("%+v", p)
	}
	l.operate(t)
	if l.record.Master == "c-0" || !Writable(l.view()) || l.world.Answers("c-0") || l.broken() != "" {
		t.Fatalf("%+v %s", l.record, l.broken())
	}
	l.world.Hide("c-0", false)
	l.world.Isolate("c-0", false)
	l.operate(t)
	l.mustServe(t)
}

func TestAnElectionThatEndsTheOldMasterItselfWaitsForNoLease(t *testing.T) {
	for what, fault := range map[string]func(*lab){
		"its process has ended":               func(l *lab) { l.world.Kill("c-0") },
		"it has started again":                func(l *lab) { l.world.Kill("c-0"); l.world.Start("c-0") },
		"the operator reaches it":             func(l *lab) { l.world.Isolate("c-0", true) },
		"a person moves the mastership":       func(l *lab) { l.request = &SwitchoverRequest{ID: "1", To: "c-1"} },
		"it is fenced by somebody's own hand": func(l *lab) { _ = l.world.Server("c-0").Fence(context.Background(), 7) },
	} {
		l := bootstrapped(t, leasedPolicy(2), "c-0", "c-1", "c-2")
		epoch := l.record.Epoch
		fault(l)
		if p := l.withoutTime(t); p.Left != 0 || l.record.Election != nil || l.record.Epoch == epoch || !Writable(l.view()) {
			t.Errorf("%s: %+v\n%+v", what, p, l.record)
		}
	}
}

func TestAnotherOperatorCountsALeaseAnew(t *testing.T) {
	l := bootstrapped(t, leasedPolicy(2), "c-0", "c-1", "c-2")
	aloneWithItsClients(t, l)
	v := l.view()
	if !v.Covered() {
		t.Fatalf("%+v", v)
	}
	claim := v.Claim()
	// A server promises a later epoch: whatever was counted belongs to the former claim.
	l.waited, l.waitedIn = time.Hour, l.record.Epoch
	if err := l.world.Server("c-1").Fence(t.Context(), 9); err != nil {
		t.Fatal(err)
	}
	if p := l.withoutTime(t); p.Left != 3300*time.Millisecond || l.record.Epoch != 10 {
		t.Fatalf("%+v\n%+v", p, l.record)
	}
	if v := l.view(); v.Claim() == claim {
		t.Errorf("two claims are called %s", claim)
	}
}

// Every way from one lease to another, on a running cluster; and what an election waits for before the master knows of it.
func TestAnotherLeaseIsTakenOver(t *testing.T) {
	for _, from := range []time.Duration{0, shortLease, longLease} {
		for _, to := range []time.Duration{0, shortLease, longLease} {
			policy := requiredPolicy(2)
			policy.SourceLease = from
			l := bootstrapped(t, policy, "c-0", "c-1", "c-2")
			l.policy.SourceLease = to
			if p := l.decide(); from != to && (p.plan.Record == nil || leaseOnRecord(p.plan.Record) != max(from, to)) {
				t.Errorf("from %s to %s: %+v", from, to, p.plan.Record)
			}
			l.operate(t)
			l.mustServe(t)
			if got := l.termsInForce(t).LeaseMilliseconds; got != to.Milliseconds() || leaseOnRecord(&l.record) != to {
				t.Errorf("from %s to %s: %d ms in force, %s on record", from, to, got, leaseOnRecord(&l.record))
			}
		}
	}
}

func TestAPreferredClusterWithoutReplicasServesClientsAgain(t *testing.T) {
	policy := preferredPolicy(2)
	policy.SourceLease = shortLease
	l := bootstrapped(t, policy, "c-0", "c-1", "c-2")
	l.world.Kill("c-1")
	l.world.Kill("c-2")
	l.world.Pass(shortLease)
	if p := l.decide(); l.world.Answers("c-0") || p.plan.Record != nil {
		t.Fatalf("%+v", p.plan)
	}
	l.impatience = 1 // and it stays so
	l.operate(t)
	if l.record.Quorum.WaitCount != 0 || !l.world.Answers("c-0") || !Writable(l.view()) {
		t.Fatalf("nobody is served, and no write can wait: %+v", l.record.Quorum)
	}
}

func TestAnEngineWithoutLeasesIsToldOfNone(t *testing.T) {
	p := leasedPolicy(2)
	if got := p.terms(&engine.Status{}); got != (engine.Terms{}) {
		t.Errorf("%+v", got)
	}
	if got := p.terms(&engine.Status{KnowsLease: true}); got != (engine.Terms{LeaseMilliseconds: 3000}) {
		t.Errorf("%+v", got)
	}
}

// Its members have not heard it for as long as its lease, and a margin, when they are fenced: nothing is left to wait for.
func TestALeaseIsCountedFromWhenTheMasterWasHeardLast(t *testing.T) {
	cutOff := func(l *lab) {
		l.world.Hide("c-0", true)
		l.world.Isolate("c-0", true)
	}
	for what, c := range map[string]struct {
		fault func(*lab)
		left  time.Duration
	}{
		"by both, a lease ago":           {func(l *lab) { cutOff(l); l.world.Pass(shortLease) }, 0},
		"by both, a second ago":          {func(l *lab) { cutOff(l); l.world.Pass(time.Second) }, 2200 * time.Millisecond},
		"by one a lease ago, by one now": {func(l *lab) { l.world.Isolate("c-1", true); l.world.Pass(shortLease); cutOff(l) }, 3300 * time.Millisecond},
		"one has started again since": {func(l *lab) {
			l.world.Kill("c-2")
			l.world.Start("c-2")
			cutOff(l)
			l.world.Pass(shortLease)
		}, 3300 * time.Millisecond},
	} {
		l := bootstrapped(t, leasedPolicy(2), "c-0", "c-1", "c-2")
		c.fault(l)
		if p := l.withoutTime(t); p.Left != c.left || (p.Left == 0) != Writable(l.view()) || l.broken() != "" {
			t.Errorf("%s: %s left, want %s: %+v %s", what, p.Left, c.left, p, l.broken())
		}
	}
}

// The master may hold a lease that became shorter for as long as that, from when it was told.
func TestALeaseThatBecameShorterIsCountedFromTheFencing(t *testing.T) {
	for _, from := range []time.Duration{0, shortLease, longLease} {
		for _, to := range []time.Duration{shortLease, longLease} {
			policy := requiredPolicy(2)
			policy.SourceLease = from
			l := bootstrapped(t, policy, "c-0", "c-1", "c-2")
			l.policy.SourceLease = to
			l.operate(t)
			shorter := from == 0 || from > to
			if l.record.Quorum.LeaseShortened != shorter {
				t.Errorf("from %s to %s: %+v", from, to, l.record.Quorum)
			}
			l.world.Isolate("c-0", true)
			l.world.Hide("c-0", true)
			l.world.Pass(longLease)
			if p := l.withoutTime(t); (p.Left > 0) != shorter {
				t.Errorf("from %s to %s: %s left", from, to, p.Left)
			}
			l.operate(t)
			if l.record.Quorum.LeaseShortened {
				t.Errorf("another mastership, and it is still known: %+v", l.record.Quorum)
			}
		}
	}
}
