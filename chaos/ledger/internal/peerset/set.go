// Package peerset runs a MariaDB source and its replicas as processes, with semisynchronous replication, and the script that fails over between
// them. The script does with MariaDB's own statements what a careful person does, or MaxScale's monitor; chaos/peers/README.md says why.
package peerset

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"commitlab.dev/ledger/internal/dbserver"
	"commitlab.dev/ledger/internal/proxy"
)

// Config says what is started, and how careful the script is.
type Config struct {
	Dir      string
	Replicas int
	// Template is a datadir to begin with copies of; empty: each server makes its own.
	Template string
	// Adapt changes how each server is started; nil leaves it.
	Adapt func(dbserver.Commands) dbserver.Commands
	// Timeout is after how long without an acknowledgement of a replica a source goes on without any; 0 is never.
	Timeout time.Duration
	// Asynchronous sources wait for no replica at all.
	Asynchronous bool
	// Careless scripts promote the first replica that answers, with what it has applied by then. For tests of the checker.
	Careless bool
	// AnswerWithin is how long a server has to answer before the script goes on without it; 0 is 15 s.
	AnswerWithin time.Duration
}

const (
	// never is a timeout that no test meets.
	never          = 24 * time.Hour
	commandTimeout = 15 * time.Second
	retryEvery     = 20 * time.Millisecond
)

// Set is a source, its replicas and the one address that leads to the source.
type Set struct {
	dbserver.Behind
	config Config
	log    *slog.Logger

	// unreached is cut off from the script; meanwhile is what happens between a promotion and what follows it. Both for one failover.
	unreached *dbserver.Member
	meanwhile func() error

	// mu guards what the script remembers: a machine may start its server at any time, and asks what it is.
	mu sync.Mutex
	// source is who was promoted last.
	source *dbserver.Member
	// attached have followed it; former were sources before it, and have not.
	attached, former map[*dbserver.Member]bool
	rebuilt          int
}

// New prepares the servers.
func New(config Config, log *slog.Logger) (*Set, error) {
	config.Timeout = cmp.Or(config.Timeout, never)
	config.AnswerWithin = cmp.Or(config.AnswerWithin, commandTimeout)
	s := &Set{config: config, log: log, attached: map[*dbserver.Member]bool{}, former: map[*dbserver.Member]bool{}}
	for number := range config.Replicas + 1 {
		m, err := newMember(config, number+1)
		if err != nil {
			return nil, err
		}
		s.Members = append(s.Members, m)
	}
	s.source = s.Members[0]
	var err error
	s.Proxy, err = proxy.New()
	return s, err
}

func newMember(config Config, number int) (*dbserver.Member, error) {
	name := fmt.Sprintf("server-%d", number)
	commands := dbserver.MariaDBMember(number)
	commands.Template = config.Template
	commands.Run += fmt.Sprintf(" --rpl-semi-sync-master-timeout=%d", config.Timeout.Milliseconds())
	if config.Adapt != nil {
		commands = config.Adapt(commands)
	}
	s, err := dbserver.New(commands, filepath.Join(config.Dir, name))
	if err != nil {
		return nil, err
	}
	return &dbserver.Member{Server: s, Name: name}, nil
}

// Start starts all servers. The first one is the source; the others have its logs from the beginning.
func (s *Set) Start(ctx context.Context) error {
	for _, m := range s.Members {
		if err := s.Launch(m); err != nil {
			return err
		}
	}
	if err := s.ElectAll(ctx); err != nil {
		return err
	}
	return s.Source().CreateApplication(ctx, commandTimeout)
}

// awaitAll waits for everybody but replicas that have ended by themselves: they are made anew when they are to follow.
func (s *Set) awaitAll(ctx context.Context) error {
	for _, m := range s.Members {
		if err := await(ctx, m); err != nil && (m == s.Source() || m.Ended() == nil) {
			return err
		}
	}
	return nil
}

// DSN leads to whoever is the source.
func (s *Set) DSN(database string) string {
	return s.DSNOf(dbserver.Application, database)
}

// Source is who was promoted last.
func (s *Set) Source() *dbserver.Member {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.source
}

// Replicas are all others.
func (s *Set) Replicas() dbserver.Members { return s.Members.Others(s.Source()) }

// Rebuilt counts the servers that had to be made anew from a dump of the source.
func (s *Set) Rebuilt() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rebuilt
}

// Launch starts a server that has ended, as its machine does. A former source takes back what it has in its log and had not committed: another
// one is the source, and has it if it was acknowledged. The source itself, and a replica, keep what they have in their logs.
func (s *Set) Launch(m *dbserver.Member) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.former[m]:
		return m.Start("--init-rpl-role=SLAVE", "--rpl-semi-sync-slave-enabled=ON")
	case m == s.source && !s.config.Asynchronous:
		return m.Start("--init-rpl-role=MASTER", "--rpl-semi-sync-master-enabled=ON")
	default:
		return m.Start("--init-rpl-role=MASTER")
	}
}
