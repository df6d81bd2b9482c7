package killloop

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"commitlab.dev/ledger/internal/dbserver"
	"commitlab.dev/ledger/internal/server"
	"commitlab.dev/ledger/internal/timeline"
)

// Set is a source with its replicas, and the script that decides who is what.
type Set interface {
	Start(ctx context.Context) error
	Stop(patience time.Duration) error
	// DSN leads to whoever is the source.
	DSN(database string) string
	Servers(database string) []server.Named
	Down() error
	UnsyncedWrites() (int, error)

	// Source is who acknowledges now, Replicas are all others.
	Source() *dbserver.Member
	Replicas() dbserver.Members
	// Launch starts a server that has ended, as its machine does.
	Launch(m *dbserver.Member) error
	// Rejoin launches a server and sends it to the source, Attach sends everybody there.
	Rejoin(ctx context.Context, m *dbserver.Member) error
	Attach(ctx context.Context) error
	// FailOver finds a source among those that answer, ElectAll waits for all of them first.
	FailOver(ctx context.Context) error
	ElectAll(ctx context.Context) error
	// FailOverAround finds one while the script cannot reach one server, and lets something happen before the others hear of the new source.
	FailOverAround(ctx context.Context, unreached *dbserver.Member, meanwhile func() error) error
}

// replicated is a set that is hurt.
type replicated struct {
	Set
	strikes []strike
	// random chooses among them; nil: one after the other.
	random *rand.Rand
	// deaf is for how long replicas that hear nothing are left so.
	deaf time.Duration
}

// NewReplicated prepares a set whose servers are killed in turn and together; with pauses, the source is also stopped, replaced and let go on.
func NewReplicated(set Set, pauses bool) Victim {
	if pauses {
		return replicated{Set: set, strikes: append(slices.Clone(kills), pause)}
	}
	return replicated{Set: set, strikes: kills}
}

// NewRandom is such a set whose faults are drawn: the same source of random numbers draws the same ones.
func NewRandom(set Set, random *rand.Rand) Victim {
	return replicated{Set: set, strikes: append(slices.Clone(kills), pause), random: random}
}

// NewStruck is a set to which one thing is done; where replicas stop hearing, they do so for the given time.
func NewStruck(set Set, name string, deaf time.Duration) (Victim, error) {
	for _, s := range everything() {
		if s.name == name {
			return replicated{Set: set, strikes: []strike{s}, deaf: deaf}, nil
		}
	}
	return nil, fmt.Errorf("there is no fault %q, but %q", name, Strikes())
}

// Strikes names everything that can be done to a set.
func Strikes() []string {
	var names []string
	for _, s := range everything() {
		names = append(names, s.name)
	}
	return names
}

func everything() []strike { return slices.Concat(kills, []strike{pause, cut, deafen}) }

func (r replicated) LogFile() string { return r.Source().LogFile() }

// A strike is one way to hurt the set.
type strike struct {
	name         string
	expectOutage bool
	inject       func(replicated, context.Context, func(timeline.Evidence) error) error
}

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
