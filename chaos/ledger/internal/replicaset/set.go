// Package replicaset runs a source and its replicas as processes and decides about their roles as an operator does: by the statements of
// engine/CONTROL.md, one epoch after the other.
package replicaset

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"commitlab.dev/ledger/internal/dbserver"
	"commitlab.dev/ledger/internal/proxy"
)

// Config says what is started.
type Config struct {
	Program string
	// Flags are added to each server's command line.
	Flags string
	// Adapt changes how each server is started; nil leaves it.
	Adapt    func(dbserver.Commands) dbserver.Commands
	Dir      string
	Replicas int
	// WaitCount is how many replicas must hold a commit before it is acknowledged.
	WaitCount int
	// Terms of each promotion, as ON_TIMEOUT 'async' TIMEOUT 100.
	Terms string
	// AnswerWithin is how long a server has to answer before an election goes on without it; 0 is 15 s.
	AnswerWithin time.Duration
	// Careless elections do without one server, whatever it may have acknowledged: of fewer the one that is elected could have less than
	// another one shows, which then follows nobody. For tests of the checker.
	Careless bool
}

// Set is a source, its replicas and the one address that leads to the source.
type Set struct {
	dbserver.Behind
	config  Config
	members []*member
	log     *slog.Logger

	epoch uint64
	// unreached is cut off from whoever elects; meanwhile is what happens between a promotion and what follows it. Both for one election.
	unreached *dbserver.Member
	meanwhile func() error
	// quorums that may have acknowledged something: the last one, and those before it until it holds everything.
	quorums []quorum
}

// New prepares the servers.
func New(config Config, log *slog.Logger) (*Set, error) {
	config.AnswerWithin = cmp.Or(config.AnswerWithin, commandTimeout)
	s := &Set{config: config, log: log}
	for number := range config.Replicas + 1 {
		m, err := newMember(config, number+1)
		if err != nil {
			return nil, err
		}
		s.members, s.Members = append(s.members, m), append(s.Members, m.Member)
	}
	var err error
	s.Proxy, err = proxy.New()
	return s, err
}

// Start starts all servers and makes one of them the source.
func (s *Set) Start(ctx context.Context) error {
	if err := s.Members.Start(); err != nil {
		return err
	}
	if err := s.ElectAll(ctx); err != nil {
		return err
	}
	return s.Source().CreateApplication(ctx, commandTimeout)
}

// ElectAll waits for every server and elects among all of them.
func (s *Set) ElectAll(ctx context.Context) error {
	for _, m := range s.members {
		if err := m.await(ctx); err != nil {
			return err
		}
	}
	return s.elect(ctx)
}

// DSN leads to whoever is the source.
func (s *Set) DSN(database string) string {
	return s.DSNOf(dbserver.Application, database)
}

// Source is who acknowledges now.
func (s *Set) Source() *dbserver.Member { return s.quorums[len(s.quorums)-1].master.Member }

// Replicas are all others.
func (s *Set) Replicas() dbserver.Members { return s.Members.Others(s.Source()) }

// FailOver elects among those that answer.
func (s *Set) FailOver(ctx context.Context) error { return s.elect(ctx) }

// FailOverAround elects while one server cannot be reached by whoever elects, and lets something happen before the others hear of the new master.
func (s *Set) FailOverAround(ctx context.Context, unreached *dbserver.Member, meanwhile func() error) error {
	s.unreached, s.meanwhile = unreached, meanwhile
	defer func() { s.unreached, s.meanwhile = nil, nil }()
	return s.elect(ctx)
}

// WaitFor says how many replicas must hold a commit from the next election on.
func (s *Set) WaitFor(count int) { s.config.WaitCount = count }

// Launch starts a server that has ended. What it is, an election says.
func (s *Set) Launch(m *dbserver.Member) error { return m.Start() }

// Rejoin starts a server that was killed and sends it to the source.
func (s *Set) Rejoin(ctx context.Context, one *dbserver.Member) error {
	if err := s.Launch(one); err != nil {
		return err
	}
	for _, m := range s.members {
		if m.Member != one {
			continue
		}
		if err := m.await(ctx); err != nil {
			return err
		}
	}
	return s.Attach(ctx)
}

// Attach tells everyone whom to follow; who does already is told nothing new.
func (s *Set) Attach(ctx context.Context) error {
	s.follow(ctx)
	return ctx.Err()
}
