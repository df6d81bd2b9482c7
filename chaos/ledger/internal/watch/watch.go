// Package watch looks at every server of a cluster all the time and writes down when one shows something new: that is the evidence of
// faults. With each look it reads the bank, whose total must be right at every moment and on every server.
package watch

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/go-sql-driver/mysql"
	"golang.org/x/sync/errgroup"

	"commitlab.dev/ledger/internal/entry"
	"commitlab.dev/ledger/internal/journal"
	"commitlab.dev/ledger/internal/server"
	"commitlab.dev/ledger/internal/timeline"
)

const (
	lookEvery   = 100 * time.Millisecond
	lookTimeout = 2 * time.Second
	// countEvery is how often the number of right reads is written down.
	countEvery = time.Second
)

// Run watches the servers until the context ends. It returns an error when the journal fails.
func Run(ctx context.Context, servers []server.Named, j *journal.Journal) error {
	var run entry.Run
	j.View(func(s *journal.State) { run = s.Run })
	group, ctx := errgroup.WithContext(ctx)
	for _, named := range servers {
		pool, err := server.OpenPool(named.DSN, lookTimeout)
		if err != nil {
			return err
		}
		defer pool.Close()
		w := &watcher{name: named.Name, pool: pool, run: run, journal: j}
		group.Go(func() error { return w.watch(ctx) })
	}
	o := &ownReads{run: run, journal: j, servers: servers, right: map[string]int{}}
	group.Go(func() error { return o.watch(ctx) })
	return group.Wait()
}

type watcher struct {
	name    string
	pool    *sql.DB
	run     entry.Run
	journal *journal.Journal

	conn     *sql.Conn
	shown    timeline.Observation
	lastLook time.Time
	process  process
	right    int
	counted  time.Time
}

func (w *watcher) watch(ctx context.Context) error {
	defer w.disconnect()
	for ctx.Err() == nil {
		if err := w.once(ctx); err != nil {
			return err
		}
		select {
		case <-time.After(lookEvery):
		case <-ctx.Done():
		}
	}
	return w.count(time.Now())
}

// once looks and writes down what is new. A session that the server ended says nothing about its process: it is tried a second time.
func (w *watcher) once(ctx context.Context) error {
	now, err := w.look(ctx)
	if err != nil && ctx.Err() == nil {
		w.disconnect()
		now, err = w.look(ctx)
	}
	if ctx.Err() != nil {
		return nil // the end of the load says nothing about the server
	}
	if err != nil {
		w.disconnect()
		now = timeline.Observation{}
	}
	if errors.Is(err, syscall.ECONNREFUSED) { // nobody listens there: who answers next is another one
		w.process = process{}
	}
	now.Server = w.name
	if err := w.tell(now); err != nil {
		return err
	}
	if !now.Answers() {
		return nil
	}
	return w.readBank(ctx)
}

func (w *watcher) look(ctx context.Context) (timeline.Observation, error) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	if w.conn == nil {
		conn, err := w.pool.Conn(ctx)
		if err != nil {
			return timeline.Observation{}, err
		}
		w.conn = conn
	}
	status, err := server.ReadStatus(ctx, w.conn)
	if err != nil {
		return timeline.Observation{}, err
	}
	asked := time.Now()
	uptime, err := server.Uptime(ctx, w.conn)
	if err != nil {
		return timeline.Observation{}, err
	}
	return timeline.Observation{
		Process: w.process.name(uptime, asked, time.Now()), ID: status.ID, Role: status.Role, Epoch: status.Epoch, Linked: status.Linked,
	}, nil
}

func (w *watcher) disconnect() {
	if w.conn != nil {
		_ = w.conn.Close()
		w.conn = nil
	}
}

func (w *watcher) tell(now timeline.Observation) error {
	at := time.Now()
	since, same := w.lastLook, now
	same.At, same.Since = w.shown.At, w.shown.Since
	w.lastLook = at
	if same == w.shown && !since.IsZero() {
		return nil
	}
	now.At, now.Since = at, since
	w.shown = now
	return w.journal.Append(journal.Seen{Observation: now})
}

// readBank reads the total in one statement, so in one snapshot. Tables that are not there yet are no read.
func (w *watcher) readBank(ctx context.Context) error {
	statement, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	var accounts int
	var total int64
	err := w.conn.QueryRowContext(statement, "SELECT COUNT(*), COALESCE(SUM(balance), 0) FROM "+w.run.AccountsTable()).Scan(&accounts, &total)
	var serverError *mysql.MySQLError
	if err != nil && !errors.As(err, &serverError) {
		w.disconnect()
	}
	at := time.Now()
	switch {
	case err != nil || accounts == 0:
		return nil
	case accounts != w.run.Accounts || total != w.run.Total():
		return w.journal.Append(journal.BankRead{Server: w.name, At: at,
			Wrong: fmt.Sprintf("%d accounts with %d instead of %d with %d", accounts, total, w.run.Accounts, w.run.Total())})
	}
	w.right++
	if at.Sub(w.counted) < countEvery {
		return nil
	}
	return w.count(at)
}

func (w *watcher) count(at time.Time) error {
	if w.right == 0 {
		return nil
	}
	r := journal.BankRead{Server: w.name, At: at, Right: w.right}
	w.right, w.counted = 0, at
	return w.journal.Append(r)
}
