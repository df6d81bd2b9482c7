// Package replicaset runs a source and its replicas as processes and decides about their roles as an operator does: by the statements of
// engine/CONTROL.md, one epoch after the other.
package replicaset

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"time"

	"commitlab.dev/ledger/internal/dbserver"
	"commitlab.dev/ledger/internal/server"
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
	// Careless elections do not ask whether the servers that were reached can know of every acknowledged commit. For tests of the checker.
	Careless bool
}

// Set is a source, its replicas and the one address that leads to the source.
type Set struct {
	config  Config
	members []*Member
	proxy   *proxy
	log     *slog.Logger

	epoch uint64
	// unreached is cut off from whoever elects; meanwhile is what happens between a promotion and what follows it. Both for one election.
	unreached *Member
	meanwhile func() error
	// quorums that may have acknowledged something: the last one, and those before it until it holds everything.
	quorums []quorum
}

// New prepares the servers.
func New(config Config, log *slog.Logger) (*Set, error) {
	s := &Set{config: config, log: log}
	for number := range config.Replicas + 1 {
		m, err := newMember(config, number+1)
		if err != nil {
			return nil, err
		}
		s.members = append(s.members, m)
	}
	var err error
	s.proxy, err = newProxy()
	return s, err
}

// Start starts all servers and makes one of them the source.
func (s *Set) Start(ctx context.Context) error {
	for _, m := range s.members {
		if err := m.Start(); err != nil {
			return err
		}
	}
	return s.ElectAll(ctx)
}

// ElectAll waits for every server and elects among all of them.
func (s *Set) ElectAll(ctx context.Context) error {
	if err := s.Await(ctx, s.members); err != nil {
		return err
	}
	return s.elect(ctx)
}

// Await waits until each of these answers.
func (s *Set) Await(ctx context.Context, members []*Member) error {
	for _, m := range members {
		if err := s.awaitAnswer(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

func (s *Set) awaitAnswer(ctx context.Context, m *Member) error {
	for {
		_, err := m.status(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-m.Exited():
			return fmt.Errorf("%s ended by itself: see %s", m.Name, m.LogFile())
		case <-time.After(retryEvery):
		case <-ctx.Done():
			return err
		}
	}
}

// Stop ends all servers.
func (s *Set) Stop(patience time.Duration) error {
	_ = s.proxy.listener.Close()
	var first error
	for _, m := range s.members {
		if err := m.Server.Stop(patience); err != nil && first == nil {
			first = fmt.Errorf("%s: %w", m.Name, err)
		}
	}
	return first
}

// Down: all have ended. One that is alone may still be elected, or be sent another one.
func (s *Set) Down() error {
	var all []error
	for _, m := range s.members {
		err := m.Ended()
		if err == nil {
			return nil
		}
		all = append(all, fmt.Errorf("%s: %w", m.Name, err))
	}
	return errors.Join(all...)
}

// UnsyncedWrites of all servers.
func (s *Set) UnsyncedWrites() (int, error) {
	all := 0
	for _, m := range s.members {
		writes, err := m.Server.UnsyncedWrites()
		if err != nil {
			return 0, fmt.Errorf("%s: %w", m.Name, err)
		}
		all += writes
	}
	return all, nil
}

// DSN leads to whoever is the source.
func (s *Set) DSN(database string) string {
	return fmt.Sprintf("root@tcp(%s)/%s", s.proxy.listener.Addr(), database)
}

// Servers are all members, each by itself.
func (s *Set) Servers(database string) []server.Named {
	var named []server.Named
	for _, m := range s.members {
		named = append(named, server.Named{Name: m.Name, DSN: m.DSN(database)})
	}
	return named
}

// Source is who acknowledges now.
func (s *Set) Source() *Member { return s.quorums[len(s.quorums)-1].master }

// Replicas are all others.
func (s *Set) Replicas() []*Member { return s.others(s.Source()) }

// FailOver elects among those that answer.
func (s *Set) FailOver(ctx context.Context) error { return s.elect(ctx) }

// FailOverAround elects while one server cannot be reached by whoever elects, and lets something happen before the others hear of the new master.
func (s *Set) FailOverAround(ctx context.Context, unreached *Member, meanwhile func() error) error {
	s.unreached, s.meanwhile = unreached, meanwhile
	defer func() { s.unreached, s.meanwhile = nil, nil }()
	return s.elect(ctx)
}

// WaitFor says how many replicas must hold a commit from the next election on.
func (s *Set) WaitFor(count int) { s.config.WaitCount = count }

// Rejoin starts a server that was killed and sends it to the source.
func (s *Set) Rejoin(ctx context.Context, m *Member) error {
	if err := m.Start(); err != nil {
		return err
	}
	if err := s.awaitAnswer(ctx, m); err != nil {
		return err
	}
	return s.Attach(ctx)
}

// Attach tells everyone whom to follow; who does already is told nothing new.
func (s *Set) Attach(ctx context.Context) error {
	s.follow(ctx)
	return ctx.Err()
}

func (m *Member) address() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(m.Port())) }
