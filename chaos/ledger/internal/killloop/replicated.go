package killloop

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"commitlab.dev/ledger/internal/replicaset"
	"commitlab.dev/ledger/internal/timeline"
)

// replicated is a source with its replicas, and a script that plays the operator.
type replicated struct {
	*replicaset.Set
	strikes []strike
	// random chooses among them; nil: one after the other.
	random *rand.Rand
}

// NewReplicated prepares a set whose servers are killed in turn and together; with pauses, the source is also stopped, replaced and let go on.
func NewReplicated(set *replicaset.Set, pauses bool) Victim {
	if pauses {
		return replicated{Set: set, strikes: append(slices.Clone(kills), pause)}
	}
	return replicated{Set: set, strikes: kills}
}

// NewRandom is such a set whose faults are drawn: the same source of random numbers draws the same ones.
func NewRandom(set *replicaset.Set, random *rand.Rand) Victim {
	return replicated{Set: set, strikes: append(slices.Clone(kills), pause), random: random}
}

func (r replicated) LogFile() string { return r.Source().LogFile() }

// A strike is one way to hurt the set.
type strike struct {
	name         string
	expectOutage bool
	inject       func(replicated, context.Context, func(timeline.Evidence) error) error
}

var kills = []strike{
	{"source killed, another one takes over", true, replicated.failOver},
	{"source killed and started at once", true, replicated.restart},
	{"replica killed", false, replicated.killReplica},
	{"source killed, and its successor while it takes over", true, replicated.killTwice},
	{"all killed", true, replicated.killAll},
}

// A source that goes on after it was replaced answers reads until it hears of the new epoch, or until its lease is over.
var pause = strike{"source stopped, replaced and let go on", true, replicated.pauseSource}

// NextFault goes through all strikes in turn, for few rounds shall meet each, or draws one.
func (r replicated) NextFault(round int) Fault {
	s := r.strikes[(round-1)%len(r.strikes)]
	if r.random != nil {
		s = r.strikes[r.random.IntN(len(r.strikes))]
	}
	return Fault{
		Name: fmt.Sprintf("%d: %s", round, s.name), ExpectOutage: s.expectOutage,
		Inject: func(ctx context.Context, prove func(timeline.Evidence) error) error { return s.inject(r, ctx, prove) },
	}
}

func (r replicated) failOver(ctx context.Context, prove func(timeline.Evidence) error) error {
	source := r.Source()
	if err := kill(source.Name, source.Server, prove); err != nil {
		return err
	}
	if err := r.FailOver(ctx); err != nil {
		return err
	}
	return r.Rejoin(ctx, source)
}

func (r replicated) restart(ctx context.Context, prove func(timeline.Evidence) error) error {
	source := r.Source()
	if err := kill(source.Name, source.Server, prove); err != nil {
		return err
	}
	if err := source.Start(); err != nil {
		return err
	}
	return r.ElectAll(ctx)
}

func (r replicated) killReplica(ctx context.Context, prove func(timeline.Evidence) error) error {
	replicas := r.Replicas()
	replica := replicas[rand.N(len(replicas))]
	if err := kill(replica.Name, replica.Server, prove); err != nil {
		return err
	}
	return r.Rejoin(ctx, replica)
}

// killTwice kills the first replica while the election goes on; the source comes back, so that enough of them can be asked.
func (r replicated) killTwice(ctx context.Context, prove func(timeline.Evidence) error) error {
	source, replica := r.Source(), r.Replicas()[0]
	if err := kill(source.Name, source.Server, prove); err != nil {
		return err
	}
	elected := make(chan error, 1)
	go func() { elected <- r.FailOver(ctx) }()
	sleep(ctx, rand.N(maxSecondKill))
	err := kill(replica.Name, replica.Server, prove)
	for _, m := range []*replicaset.Member{source, replica} {
		if startErr := m.Start(); err == nil {
			err = startErr
		}
	}
	if electErr := <-elected; err == nil {
		err = electErr
	}
	if err != nil {
		return err
	}
	return r.ElectAll(ctx)
}

func (r replicated) killAll(ctx context.Context, prove func(timeline.Evidence) error) error {
	all := slices.Concat([]*replicaset.Member{r.Source()}, r.Replicas())
	for _, m := range all {
		if err := kill(m.Name, m.Server, prove); err != nil {
			return err
		}
	}
	for _, m := range all {
		if err := m.Start(); err != nil {
			return err
		}
	}
	return r.ElectAll(ctx)
}

func (r replicated) pauseSource(ctx context.Context, prove func(timeline.Evidence) error) error {
	source := r.Source()
	before, err := source.State()
	if err != nil {
		return err
	}
	if err := source.Pause(); err != nil {
		return err
	}
	err = prove(timeline.Evidence{Kind: "process-state", Object: source.Name, Before: before, After: "T", At: time.Now()})
	if err == nil {
		err = r.FailOver(ctx)
	}
	if err = errors.Join(err, source.Resume()); err != nil {
		return err
	}
	sleep(ctx, rand.N(maxPauseAfter))
	return r.Attach(ctx)
}
