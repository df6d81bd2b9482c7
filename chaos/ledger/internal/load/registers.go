package load

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"commitlab.dev/ledger/internal/journal"
	"commitlab.dev/ledger/internal/register"
)

const (
	registerClients = 4
	registerRest    = 20 * time.Millisecond
	// registersAtOnce is how many rows are read and written at a time: so few that clients meet.
	registersAtOnce = 4
	// A row's history is checked as a whole, which unanswered writes make hard: after so much another row takes its place.
	maxOperations = 500
	maxUnanswered = 6
)

// registers chooses the rows. Those of an earlier load are never used again: its clock was another one.
type registers struct {
	mu         sync.Mutex
	began      time.Time
	next       int
	keys       [registersAtOnce]int
	operations map[int]int
	unanswered map[int]int
}

func newRegisters(j *journal.Journal) *registers {
	r := &registers{began: time.Now(), operations: map[int]int{}, unanswered: map[int]int{}}
	j.View(func(s *journal.State) {
		for _, op := range s.Operations {
			r.next = max(r.next, op.Key+1)
		}
	})
	for i := range r.keys {
		r.keys[i] = r.next
		r.next++
	}
	return r
}

// now is a clock that never goes back.
func (r *registers) now() int64 { return r.began.UnixNano() + time.Since(r.began).Nanoseconds() }

func (r *registers) choose() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := rand.N(registersAtOnce)
	if key := r.keys[i]; r.operations[key] >= maxOperations || r.unanswered[key] >= maxUnanswered {
		r.keys[i] = r.next
		r.next++
	}
	return r.keys[i]
}

func (r *registers) note(op register.Operation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.operations[op.Key]++
	if op.Return == register.Never {
		r.unanswered[op.Key]++
	}
}

// useRegisters is one client that reads and writes rows which others read and write as well.
func (l *Load) useRegisters(ctx context.Context) error {
	for ctx.Err() == nil {
		conn, _, err := l.connect(ctx)
		if err == nil {
			err = l.useUntilError(ctx, conn)
			closeConnection(conn)
		}
		if failure := l.journal.Err(); failure != nil {
			return failure
		}
		if err != nil {
			l.log.Debug("register client", "error", err)
		}
		rest(ctx, maxBackOff)
	}
	return nil
}

func (l *Load) useUntilError(ctx context.Context, conn *sql.Conn) error {
	for ctx.Err() == nil {
		key := l.registers.choose()
		do := l.readRegister
		if rand.N(2) == 0 {
			do = l.writeRegister
		}
		if err := do(ctx, conn, key); err != nil {
			return err
		}
		rest(ctx, registerRest)
	}
	return nil
}

func (l *Load) writeRegister(ctx context.Context, conn *sql.Conn, key int) error {
	value, err := l.ids.take()
	if err != nil {
		return err
	}
	statement, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.config.StatementTimeout)
	defer cancel()
	op := register.Operation{Key: key, Write: true, Value: value, Call: l.registers.now()}
	_, err = conn.ExecContext(statement, "INSERT INTO "+l.run.RegistersTable()+" (id, value) VALUES (?, ?) ON DUPLICATE KEY UPDATE value = ?",
		key, value, value)
	switch classify(err) {
	case committed:
		op.Return = l.registers.now()
	case refused:
		return err
	default:
		op.Return = register.Never
	}
	l.registers.note(op)
	return errors.Join(err, l.journal.Append(journal.Register{Operation: op}))
}

// readRegister reads from the master. A read without an answer says nothing.
func (l *Load) readRegister(ctx context.Context, conn *sql.Conn, key int) error {
	statement, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.config.StatementTimeout)
	defer cancel()
	op := register.Operation{Key: key, Call: l.registers.now()}
	err := conn.QueryRowContext(statement, "SELECT value FROM "+l.run.RegistersTable()+" WHERE id = ?", key).Scan(&op.Value)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	op.Return = l.registers.now()
	l.registers.note(op)
	return l.journal.Append(journal.Register{Operation: op})
}
