package killloop

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"commitlab.dev/ledger/internal/dbserver"
	"commitlab.dev/ledger/internal/timeline"
)

var kills = []strike{
	{"source killed, another one takes over", true, replicated.failOver},
	{"source killed and started at once", true, replicated.restart},
	{"replica killed", false, replicated.killReplica},
	{"source killed, and its successor while it takes over", true, replicated.killTwice},
	{"all killed", true, replicated.killAll},
}

// A source that goes on after it was replaced answers reads until it hears of the new epoch, or until its lease is over.
var pause = strike{"source stopped, replaced and let go on", true, replicated.pauseSource}

// A source that the script cannot reach goes on with the replicas that it has.
var cut = strike{"source cut off from whoever elects", true, replicated.cutOff}

// What a source acknowledges that nobody hears is lost with it.
var deafen = strike{"replicas deaf, then all killed, and the source stays away", true, replicated.deafReplicas}

// mustWait is how long a source has for what it must not acknowledge.
const mustWait = 200 * time.Millisecond

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
	if err := r.Launch(source); err != nil {
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
	for _, m := range []*dbserver.Member{source, replica} {
		if startErr := r.Launch(m); err == nil {
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
	all := slices.Concat(dbserver.Members{r.Source()}, r.Replicas())
	for _, m := range all {
		if err := kill(m.Name, m.Server, prove); err != nil {
			return err
		}
	}
	for _, m := range all {
		if err := r.Launch(m); err != nil {
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

func (r replicated) cutOff(ctx context.Context, prove func(timeline.Evidence) error) error {
	return r.cutOffWhile(ctx, prove, func(*dbserver.Member) error {
		sleep(ctx, mustWait)
		return nil
	})
}

// cutOffWhile elects without the source, which goes on, and lets it do so for as long as the function takes.
func (r replicated) cutOffWhile(ctx context.Context, prove func(timeline.Evidence) error, goOn func(*dbserver.Member) error) error {
	source := r.Source()
	if err := r.FailOverAround(ctx, source, func() error { return goOn(source) }); err != nil {
		return err
	}
	if err := prove(timeline.Evidence{Kind: "source", Object: "set", Before: source.Name, After: r.Source().Name, At: time.Now()}); err != nil {
		return err
	}
	return r.Attach(ctx)
}

func (r replicated) deafReplicas(ctx context.Context, prove func(timeline.Evidence) error) error {
	return r.deafWhile(ctx, prove, func(*dbserver.Member) error {
		sleep(ctx, r.deaf)
		return nil
	})
}

// deafWhile stops the replicas before the source dies, and kills them before they can read what the network still holds for them: nothing of
// what the source acknowledges meanwhile, without waiting for them, is in their logs. The source comes back when another one has taken over.
func (r replicated) deafWhile(ctx context.Context, prove func(timeline.Evidence) error, write func(source *dbserver.Member) error) error {
	source, replicas := r.Source(), r.Replicas()
	for _, m := range replicas {
		if err := m.Pause(); err != nil {
			return err
		}
	}
	if err := write(source); err != nil {
		return err
	}
	err := kill(source.Name, source.Server, prove)
	for _, m := range replicas {
		err = errors.Join(err, m.Kill(), r.Launch(m))
	}
	if err != nil {
		return err
	}
	if err := r.FailOver(ctx); err != nil {
		return err
	}
	return r.Rejoin(ctx, source)
}
