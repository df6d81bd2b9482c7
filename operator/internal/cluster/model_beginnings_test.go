package cluster

import "testing"

// Beginnings are situations that take many steps and faults to come about: from there few more are needed to see what a rule is for.

// aloneWithoutAcknowledgements: a preferred cluster whose replicas were gone for so long that the master goes on without them. They
// have just come back.
func aloneWithoutAcknowledgements(t *testing.T, l *lab) {
	l.world.Kill("c-1")
	l.world.Kill("c-2")
	l.written++
	l.world.Write("c-0", l.written)
	l.world.Impatient("c-0", 60)
	l.operate(t)
	if q := l.record.Quorum; q.WaitCount != 0 || len(l.world.Acknowledged) < 2 {
		t.Fatalf("%+v", q)
	}
	l.world.Start("c-1")
	l.world.Start("c-2")
}

// anOldLogThatIsLonger: a master has died with transactions that nobody else has; the next one has acknowledged one of its own,
// which only one replica holds, and the former comes back.
func anOldLogThatIsLonger(t *testing.T, l *lab) {
	l.written = 4
	for tx := 1; tx < l.written; tx++ {
		l.world.Write("c-0", tx)
	}
	l.world.Kill("c-0")
	l.operate(t)
	l.world.Write(l.record.Master, l.written)
	l.world.Run()
	l.world.Start("c-0")
}

// anEmptiedHolder: the only replica with what was acknowledged has come back with an empty volume.
func anEmptiedHolder(_ *testing.T, l *lab) {
	l.written = 1
	l.world.Write("c-0", 1)
	for l.world.Deliver("c-1") || l.world.Acknowledge() {
	}
	l.world.Kill("c-1")
	l.world.Wipe("c-1")
	l.world.Start("c-1")
}

// aLateClaim: the replicas hear their master again, and an operator that saw them cut off is about to claim an epoch.
func aLateClaim(t *testing.T, l *lab) {
	l.world.Isolate("c-0", true)
	claim := l.decide()
	if claim.plan.Record == nil || claim.plan.Record.Election == nil {
		t.Fatalf("%+v", claim.plan)
	}
	l.late = action{record: claim.plan.Record, version: claim.version}
	l.world.Isolate("c-0", false)
	l.world.Run()
}

// aLateElection: an operator is paused before it persists who has been elected; since then another server was, in a later epoch.
func aLateElection(t *testing.T, l *lab) {
	l.world.Kill("c-0")
	for l.record.Epoch < 2 || l.record.Election != nil {
		p := l.decide()
		if p.plan.Record != nil {
			l.late = action{record: p.plan.Record, version: p.version}
			l.persist(p)
		}
		for _, c := range p.plan.Commands {
			l.execute(c)
		}
	}
	l.operate(t)
	former := l.record.Master
	l.world.Kill(former)
	l.world.Start("c-0")
	l.operate(t)
	l.world.Start(former)
	l.operate(t)
	l.mustServe(t)
	if l.record.Master == former {
		t.Fatal("the same one was elected again")
	}
}

// aLatePromotion: an operator is paused before it promotes a master that needs no acknowledgements; another one has done it, the
// replicas are back, and the master needs them again.
func aLatePromotion(t *testing.T, l *lab) {
	aloneWithoutAcknowledgements(t, l)
	l.world.Kill("c-1")
	l.world.Kill("c-2")
	l.world.Kill("c-0")
	l.world.Start("c-0")
	for !l.late.isAny() {
		l.world.Run()
		p := l.decide()
		if p.plan.Record != nil {
			l.persist(p)
		}
		for _, c := range p.plan.Commands {
			if c.Kind == CommandPromote {
				l.late = action{command: c}
			}
			l.execute(c)
		}
	}
	l.world.Start("c-1")
	l.world.Start("c-2")
	l.operate(t)
	l.mustServe(t)
}

// aLatePromotionOfACopy: an operator is paused before it promotes a server; another one has done it, and since then that server's
// volume was replaced by a copy from before the epoch, which answers at the same address, and another master serves.
func aLatePromotionOfACopy(t *testing.T, l *lab) {
	l.world.Kill("c-0")
	for l.record.Epoch < 2 || l.record.Election != nil || !l.late.isAny() {
		p := l.decide()
		if p.plan.Record != nil {
			l.persist(p)
		}
		for _, c := range p.plan.Commands {
			if c.Kind == CommandPromote {
				l.late = action{command: c}
			}
			l.execute(c)
		}
	}
	promoted := l.late.command.Server
	l.world.Start("c-0")
	l.operate(t)
	l.mustServe(t)
	l.world.Kill(promoted)
	l.operate(t)
	if !l.world.Restore(promoted, 1) || l.record.Master == promoted {
		t.Fatalf("%+v", l.record)
	}
	l.world.Start(promoted)
}

// aReplicaThatIsBehind: it was down while the others went on.
func aReplicaThatIsBehind(_ *testing.T, l *lab) {
	l.world.Kill("c-2")
	l.kills, l.written = 1, 1
	l.world.Write("c-0", 1)
	l.world.Run()
}

// aLateClone: an operator is paused before it has an emptied server cloned; another one has done it, and since then that server alone
// has acknowledged a transaction, and the master has died.
func aLateClone(t *testing.T, l *lab) {
	l.world.Kill("c-2")
	l.world.Wipe("c-2")
	l.world.Start("c-2")
	for !l.late.isAny() {
		p := l.decide()
		if p.plan.Record != nil {
			l.persist(p)
		}
		for _, c := range p.plan.Commands {
			if c.Kind == CommandClone {
				l.late = action{command: c}
			}
		}
	}
	if l.late.command.Source.UUID == l.record.Quorum.MasterUUID {
		t.Fatalf("the donor is the master: %v", &l.late)
	}
	l.operate(t)
	l.mustServe(t)
	l.written++
	l.world.Write("c-0", l.written)
	for l.world.Deliver("c-2") || l.world.Acknowledge() {
	}
	l.world.Kill("c-0")
}

// aLateFollow: an operator is paused before it has a replica follow a master. That master is cut off since then, another one serves,
// and the link is about to be mended.
func aLateFollow(t *testing.T, l *lab) {
	l.world.Kill("c-2")
	l.world.Start("c-2")
	plan := l.decide().plan
	if len(plan.Commands) != 1 || plan.Commands[0].Kind != CommandFollow {
		t.Fatalf("%+v", plan)
	}
	l.late = action{command: plan.Commands[0]}
	l.operate(t)
	l.isolations, l.hides = 1, 1
	l.world.Isolate("c-0", true)
	l.world.Hide("c-0", true)
	l.operate(t)
	if l.record.Epoch != 2 || l.record.Master != "c-1" {
		t.Fatalf("%+v", l.record)
	}
}

// aLeaseThatIsNotToldYet: a person asks for a shorter lease, it is on record, and the master is cut off from everybody but its
// clients before it is told.
func aLeaseThatIsNotToldYet(t *testing.T, l *lab) {
	l.policy.SourceLease = longLease
	l.operate(t)
	l.policy.SourceLease = shortLease
	l.persist(l.decide())
	if q := l.record.Quorum; termsOf(q).LeaseMilliseconds != shortLease.Milliseconds() || len(l.record.PriorQuorums) != 1 {
		t.Fatalf("%+v", l.record)
	}
	l.isolations, l.hides = 1, 1
	l.world.Isolate("c-0", true)
	l.world.Hide("c-0", true)
}

// aReplicaThatHasNotHeardForLong: c-1 does not hear the master any more, c-2 alone renews its lease.
func aReplicaThatHasNotHeardForLong(_ *testing.T, l *lab) {
	l.isolations = 1
	l.world.Isolate("c-1", true)
	l.world.Pass(longLease)
}

// aLeaseThatIsToldLate: a master without a lease has not been heard for long; now it is told of the one that is on record, and only
// its clients reach it from then on.
func aLeaseThatIsToldLate(t *testing.T, l *lab) {
	l.policy.SourceLease = 0
	l.operate(t)
	l.policy.SourceLease = shortLease
	l.persist(l.decide())
	told := l.decide().plan.Commands
	l.isolations, l.hides = 1, 1
	l.world.Isolate("c-0", true)
	l.world.Pass(longLease)
	for _, c := range told {
		l.execute(c)
	}
	l.world.Hide("c-0", true)
	if q := l.record.Quorum; !q.LeaseShortened || !l.world.Answers("c-0") || l.record.Election != nil {
		t.Fatalf("%+v", l.record)
	}
}

// aLossToAccept: the master is gone, and the only replica with what it has acknowledged; the other one is back, and has less.
func aLossToAccept(t *testing.T, l *lab) {
	l.writeWithout("c-1")
	l.world.Kill("c-0")
	l.world.Kill("c-2")
	if p := l.operate(t); l.record.Epoch != 1 || len(l.world.Lacks("c-1")) == 0 {
		t.Fatalf("%+v %+v", l.record, p)
	}
}

// aFencedMasterIsGone: it is fenced by hand, and a replica is gone as well. The other one is asked to be promoted; what it has was
// acknowledged, and the one that is gone does not have it.
func aFencedMasterIsGone(t *testing.T, l *lab) {
	l.writeWithout("c-2")
	l.world.Kill("c-0")
	l.world.Kill("c-2")
	l.fence("c-0")
	l.operate(t)
	l.promote("c-1")
	if l.record.Election == nil || l.record.Epoch != 2 {
		t.Fatalf("%+v", l.record)
	}
}
