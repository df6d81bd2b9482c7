package killloop

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"commitlab.dev/ledger/internal/judge"
	"commitlab.dev/ledger/internal/replicaset"
	"commitlab.dev/ledger/internal/timeline"
)

// cutOff: whoever elects has lost the source, which goes on with the replica that has not heard of its successor yet.
type cutOff struct {
	replicated
	// goOn lets the old source acknowledge, or try to.
	goOn func(context.Context, *replicaset.Member) error
	// waitCount of its successor.
	waitCount int
}

func (v cutOff) NextFault(int) Fault {
	return Fault{Name: "source cut off from whoever elects", ExpectOutage: true, Inject: v.inject}
}

func (v cutOff) inject(ctx context.Context, prove func(timeline.Evidence) error) error {
	source := v.Source()
	v.WaitFor(v.waitCount)
	err := v.FailOverAround(ctx, source, func() error { return v.goOn(ctx, source) })
	if err != nil {
		return err
	}
	if err := prove(timeline.Evidence{Kind: "source", Object: "set", Before: source.Name, After: v.Source().Name, At: time.Now()}); err != nil {
		return err
	}
	return v.Attach(ctx)
}

func TestASourceThatIsCutOffFromWhoeverElectsLosesNothing(t *testing.T) {
	c := config(t)
	c.Rounds, c.Disturb = 1, false
	round := runOnce(t, c, cutOff{replicated{Set: newSet(t, replicaset.Config{Dir: c.Dir, WaitCount: 1})},
		func(ctx context.Context, _ *replicaset.Member) error { // for what must not be acknowledged
			sleep(ctx, 200*time.Millisecond)
			return nil
		}, 1})
	if v := round.Verdict; v.Result != judge.Passed {
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
