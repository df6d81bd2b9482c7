package dbserver

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"commitlab.dev/ledger/internal/server"
)

// Member is one server of a set.
type Member struct {
	*Server
	Name string
}

const dialTimeout = time.Second

// Address is where its clients and its replicas connect.
func (m *Member) Address() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(m.Port())) }

// Control runs a function on a connection of its own, which no role change of another statement can have closed.
func (m *Member) Control(ctx context.Context, patience time.Duration, do func(context.Context, *sql.Conn) error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	pool, err := server.OpenPool(m.DSN(""), dialTimeout)
	if err != nil {
		return err
	}
	defer pool.Close()
	conn, err := pool.Conn(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", m.Name, err)
	}
	defer conn.Close()
	if err := do(ctx, conn); err != nil {
		return fmt.Errorf("%s: %w", m.Name, err)
	}
	return nil
}

// Await asks until the server answers, and fails when it has ended.
func (m *Member) Await(ctx context.Context, every time.Duration, ask func(context.Context) error) error {
	for {
		err := ask(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-m.Exited():
			return fmt.Errorf("%s ended by itself: see %s", m.Name, m.LogFile())
		case <-time.After(every):
		case <-ctx.Done():
			return err
		}
	}
}

// Members are all servers of a set.
type Members []*Member

// Start starts all.
func (all Members) Start() error {
	for _, m := range all {
		if err := m.Start(); err != nil {
			return err
		}
	}
	return nil
}

// Stop ends all.
func (all Members) Stop(patience time.Duration) error {
	var first error
	for _, m := range all {
		if err := m.Server.Stop(patience); err != nil && first == nil {
			first = fmt.Errorf("%s: %w", m.Name, err)
		}
	}
	return first
}

// Down: all have ended. One that is alone may still be elected, or be sent another one.
func (all Members) Down() error {
	var ends []error
	for _, m := range all {
		err := m.Ended()
		if err == nil {
			return nil
		}
		ends = append(ends, fmt.Errorf("%s: %w", m.Name, err))
	}
	return errors.Join(ends...)
}

// UnsyncedWrites of all servers.
func (all Members) UnsyncedWrites() (int, error) {
	sum := 0
	for _, m := range all {
		writes, err := m.Server.UnsyncedWrites()
		if err != nil {
			return 0, fmt.Errorf("%s: %w", m.Name, err)
		}
		sum += writes
	}
	return sum, nil
}

// Servers are all, each by itself.
func (all Members) Servers(database string) []server.Named {
	var named []server.Named
	for _, m := range all {
		named = append(named, server.Named{Name: m.Name, DSN: m.DSN(database)})
	}
	return named
}

// Others are all but one.
func (all Members) Others(one *Member) Members {
	var others Members
	for _, m := range all {
		if m != one {
			others = append(others, m)
		}
	}
	return others
}
