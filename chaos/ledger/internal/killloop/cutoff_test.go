package killloop

import (
	"context"
	"math/rand/v2"
	"testing"

	"commitlab.dev/ledger/internal/dbserver"
	"commitlab.dev/ledger/internal/judge"
	"commitlab.dev/ledger/internal/replicaset"
	"commitlab.dev/ledger/internal/timeline"
)

// cutOff: whoever elects has lost the source, which goes on with the replica that has not heard of its successor yet.
type cutOff struct {
	replicated
	set *replicaset.Set
	// goOn lets the old source acknowledge, or try to.
	goOn func(context.Context, *dbserver.Member) error
	// waitCount of its successor.
	waitCount int
}

func (v cutOff) NextFault(int) Fault {
	return Fault{Name: cut.name, ExpectOutage: cut.expectOutage, Inject: v.inject}
}

func (v cutOff) inject(ctx context.Context, prove func(timeline.Evidence) error) error {
	v.set.WaitFor(v.waitCount)
	return v.cutOffWhile(ctx, prove, func(source *dbserver.Member) error { return v.goOn(ctx, source) })
}

func TestASourceThatIsCutOffFromWhoeverElectsLosesNothing(t *testing.T) {
	c := config(t)
	c.Rounds, c.Disturb = 1, false
	victim, err := NewStruck(newSet(t, replicaset.Config{Dir: c.Dir, WaitCount: 1}), cut.name, 0)
	if err != nil {
		t.Fatal(err)
	}
	if v := runOnce(t, c, victim).Verdict; v.Result != judge.Passed {
		t.Fatalf("%s because %q", v.Result, v.Reasons)
	}
}

func TestTheSameSeedDrawsTheSameFaults(t *testing.T) {
	draw := func(seed uint64) (names string) {
		victim := NewRandom(nil, rand.New(rand.NewPCG(seed, 0)))
		for round := range 30 {
			names += victim.NextFault(round+1).Name + "\n"
		}
		return names
	}
	if first, again, other := draw(7), draw(7), draw(8); first != again || first == other {
		t.Fatalf("seed 7:\n%s\nagain:\n%s\nseed 8:\n%s", first, again, other)
	}
}
