// Package load keeps writers committing through every fault and writes down what came of each commit.
package load

import (
	"context"
	"database/sql"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"commitlab.dev/ledger/internal/entry"
	"commitlab.dev/ledger/internal/journal"
	"commitlab.dev/ledger/internal/server"
	"commitlab.dev/ledger/internal/timeline"
)

// Config says where to write and how hard.
type Config struct {
	DSN     string
	Writers int
	// Pause is how long a writer rests after each commit; 0 writes as fast as the server answers.
	Pause time.Duration
	// StatementTimeout bounds every statement and every attempt to connect. A commit that takes longer is indeterminate.
	StatementTimeout time.Duration
}

// Reconnecting waits start short, so that the measured recovery time is the server's, and stay short.
const (
	firstBackOff = 10 * time.Millisecond
	maxBackOff   = 250 * time.Millisecond
)

// Load is one continuous load.
type Load struct {
	config  Config
	journal *journal.Journal
	run     entry.Run
	ids     *ids
	pool    *sql.DB
	log     *slog.Logger

	registers *registers

	mu      sync.Mutex
	servers map[timeline.Server]int
}

// New prepares a load that writes its outcomes into the journal.
func New(config Config, j *journal.Journal, log *slog.Logger) (*Load, error) {
	pool, err := server.OpenPool(config.DSN, config.StatementTimeout)
	if err != nil {
		return nil, err
	}
	l := &Load{config: config, journal: j, ids: newIDs(j), pool: pool, log: log, servers: map[timeline.Server]int{}}
	l.registers = newRegisters(j)
	j.View(func(s *journal.State) { l.run = s.Run; l.servers = s.Servers() })
	return l, nil
}

// Run sets the tables up and writes until the context ends. Commits that are under way then are waited for. Errors of the
// server never end it; it returns an error when the journal fails or the server says that it will never work.
func (l *Load) Run(ctx context.Context) error {
	defer l.pool.Close()
	if err := l.setUp(ctx); err != nil {
		return err
	}
	if err := l.journal.Append(journal.Started{At: time.Now()}); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	for range l.config.Writers {
		group.Go(func() error { return l.write(ctx) })
	}
	for range registerClients {
		group.Go(func() error { return l.useRegisters(ctx) })
	}
	return group.Wait()
}

func (l *Load) setUp(ctx context.Context) error {
	done := false
	l.journal.View(func(s *journal.State) { done = s.SetUp })
	if done {
		return nil
	}
	wait, said := backOff{}, ""
	for ctx.Err() == nil {
		attempt, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.config.StatementTimeout)
		err := setUp(attempt, l.config.DSN, l.run, l.config.StatementTimeout)
		cancel()
		if err == nil {
			return l.journal.AppendSync(journal.SetUp{})
		}
		if hopeless(err) {
			return err
		}
		if err.Error() != said {
			said = err.Error()
			l.log.Info("waiting for a writable server", "error", said)
		}
		wait.sleep(ctx)
	}
	return nil
}

// hopeless tells errors that waiting does not cure from those of a server that is starting or failing over.
func hopeless(err error) bool {
	const accessDenied, parseError, notSupported = 1045, 1064, 1235
	switch errno(err) {
	case accessDenied, parseError, notSupported:
		return true
	}
	return false
}

// write is one writer: connect, commit until something breaks, connect again.
func (l *Load) write(ctx context.Context) error {
	wait := backOff{}
	for ctx.Err() == nil {
		conn, by, err := l.connect(ctx)
		if err != nil && ctx.Err() != nil {
			return nil // the load was ended, the server did nothing wrong
		}
		if err != nil {
			if err := l.journal.Append(journal.Unreachable{At: time.Now()}); err != nil {
				return err
			}
			l.log.Debug("no usable connection", "error", err)
			wait.sleep(ctx)
			continue
		}
		committed, err := l.writeUntilError(ctx, conn, by)
		closeConnection(conn)
		if err != nil {
			return err
		}
		if committed > 0 {
			wait = backOff{}
		} else {
			wait.sleep(ctx)
		}
	}
	return nil
}

func (l *Load) connect(ctx context.Context) (*sql.Conn, int, error) {
	attempt, cancel := context.WithTimeout(ctx, l.config.StatementTimeout)
	defer cancel()
	conn, err := l.pool.Conn(attempt)
	if err != nil {
		return nil, 0, err
	}
	who, err := server.Writable(attempt, conn)
	if err != nil {
		closeConnection(conn)
		return nil, 0, err
	}
	number, err := l.serverNumber(who)
	if err != nil {
		closeConnection(conn)
	}
	return conn, number, err
}

// closeConnection ends the connection; the pool keeps no idle ones. Its error says nothing that is of use.
func closeConnection(conn *sql.Conn) { _ = conn.Close() }

// serverNumber makes the server known to the journal before the first acknowledgement that refers to it.
func (l *Load) serverNumber(who timeline.Server) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if number, known := l.servers[who]; known {
		return number, nil
	}
	number := len(l.servers)
	if err := l.journal.AppendSync(journal.Server{Number: number, Server: who}); err != nil {
		return 0, err
	}
	l.servers[who] = number
	return number, nil
}

// writeUntilError returns how many commits succeeded, and an error only when the journal failed.
func (l *Load) writeUntilError(ctx context.Context, conn *sql.Conn, by int) (int, error) {
	for done := 0; ; done++ {
		if ctx.Err() != nil {
			return done, nil
		}
		id, err := l.ids.take()
		if err != nil {
			return done, err
		}
		outcome, err := l.attempt(ctx, conn, id, by)
		if err != nil || outcome != committed {
			return done, err
		}
		rest(ctx, l.config.Pause)
	}
}

// attempt commits one id and writes down the outcome. It ignores the end of the context: an answer that can still be had
// is worth waiting for.
func (l *Load) attempt(ctx context.Context, conn *sql.Conn, id uint64, by int) (verdictOnCommit, error) {
	statement, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.config.StatementTimeout)
	defer cancel()
	sent := time.Now()
	outcome, err := commit(statement, conn, l.run, l.run.Entry(id))
	now := time.Now()
	switch outcome {
	case committed:
		return outcome, l.journal.Append(journal.OK{ID: id, Sent: sent, At: now, Server: by})
	case refused:
		l.log.Debug("refused", "id", id, "error", err)
		return outcome, l.journal.Append(journal.Refused{ID: id, At: now, Errno: errno(err)})
	default:
		l.log.Debug("indeterminate", "id", id, "error", err)
		return outcome, l.journal.Append(journal.Unknown{ID: id, At: now})
	}
}

func rest(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// backOff doubles its wait up to the maximum, with jitter so that the writers do not come back all at once.
type backOff struct{ next time.Duration }

func (b *backOff) sleep(ctx context.Context) {
	b.next = min(max(2*b.next, firstBackOff), maxBackOff)
	rest(ctx, b.next/2+rand.N(b.next/2))
}
