//go:build mutants

package cluster

import (
	"testing"

	"commitlab.dev/operator/internal/engine/fake"
)

// hunts are the rules that are taken out, and the model that has to notice.
var hunts = []struct {
	mutation mutation
	server   fake.Mutation
	model    string
}{
	{mutation: forcedUpdates, model: "a late election"},
	{mutation: epochNotRaised, model: "failover"},
	{server: fake.EpochNotChecked, model: "a late follow"},
	{mutation: copiesAreMembers, model: "an older copy of a volume"},
	{mutation: emptiedIsCounted, model: "an emptied holder"},
	{mutation: halfIsEnough, model: "failover"},
	{mutation: priorQuorumsIgnored, model: "a quorum that becomes stronger"},
	{mutation: establishedEarly, model: "a quorum that becomes stronger"},
	{mutation: engineBeforeRecord, model: "preferred, two failures"},
	{mutation: asyncIsCounted, model: "async"},
	{mutation: floorIgnored, model: "failover"},
	{mutation: electionByGTIDAlone, model: "an old log that is longer"},
	{mutation: electionUncovered, model: "failover"},
	{mutation: promotedBeforePersisted, model: "preferred"},
	{mutation: demotingIsFenced, model: "a late claim"},
	{mutation: keptOutIsElected, model: "fenced by hand, and a failure"},
	{mutation: keptOutLogIgnored, model: "fenced by hand, and a failure"},
	{mutation: lossBesideARunningMaster, model: "a loss, and a hidden master"},
	{mutation: lossForgetsTheRest, model: "a loss, and a fenced master"},
	{mutation: operatorAloneLoses, model: "hidden servers"},
	{mutation: endedIsNotAwaited, model: "a master that is waited for"},
	{mutation: waitingIsCutOff, model: "preferred"},
	{server: fake.TailKept, model: "an old log that is longer"},
	{mutation: restartNotAwaited, model: "replicas are restarted"},
	{mutation: countedMayLeave, model: "scaled down, volumes deleted"},
	{mutation: hibernatedIsFailedOver, model: "hibernation"},
	{mutation: leaseNotWaited, model: "a lease"},
	{mutation: lastLeaseOnly, model: "a lease that changes"},
	{mutation: anyHasNotHeard, model: "a replica that has not heard"},
	{mutation: silenceOfFew, model: "a replica that has started again"},
	{mutation: shortenedIsOld, model: "a lease that is told late"},
	{mutation: demotedBeforeCaughtUp, model: "switchover"},
	{mutation: handoverKept, model: "switchover"},
	{server: fake.PromotedUnasked, model: "a late promotion of a copy"},
	{server: fake.ClonedUnasked, model: "a late clone"},
	{server: fake.FloorFromLog, model: "an old log that is longer"},
}

// TestTheModelNoticesEveryMutant: a rule without which nothing goes wrong in the model is one that the model does not test.
func TestTheModelNoticesEveryMutant(t *testing.T) {
	checkStated(t, "rules", int64(len(hunts)))
	defer func() { activeMutation, fake.Mutated = "", "" }()
	for _, h := range hunts {
		t.Run(string(h.mutation)+string(h.server), func(t *testing.T) {
			m, known := models[h.model]
			if !known {
				t.Fatalf("there is no model %q", h.model)
			}
			activeMutation, fake.Mutated = "", ""
			start := m.start(t)
			activeMutation, fake.Mutated = h.mutation, h.server
			e := explore(t, start, m.limits, 16)
			if e.path == nil {
				t.Fatalf("%d states of %q, and nothing is wrong in them", e.states, h.model)
			}
			t.Logf("%s\nafter\n%s", e.broken, e.path)
		})
	}
}
