package load

import (
	"context"
	"database/sql"
	"errors"

	"github.com/go-sql-driver/mysql"

	"commitlab.dev/ledger/internal/entry"
)

// verdictOnCommit is what an attempt to commit came to.
type verdictOnCommit int

const (
	committed verdictOnCommit = iota
	refused
	unknown
)

// refusals are the errors after which the server has certainly not committed. Every other error of a commit leaves
// its outcome open, 1053 (shutdown or demotion while waiting for acknowledgements) among them.
var refusals = map[uint16]bool{
	1040: true, // too many connections
	1044: true, // access denied to the database
	1142: true, // access denied to the table
	1146: true, // no such table
	1205: true, // lock wait timeout
	1213: true, // deadlock
	1290: true, // read only
	1792: true, // read-only transaction
	1836: true, // read-only mode
}

func classify(err error) verdictOnCommit {
	var serverError *mysql.MySQLError
	switch {
	case err == nil:
		return committed
	case errors.As(err, &serverError) && refusals[serverError.Number]:
		return refused
	default:
		return unknown
	}
}

func errno(err error) uint16 {
	var serverError *mysql.MySQLError
	if errors.As(err, &serverError) {
		return serverError.Number
	}
	return 0
}

// commit writes one entry, in its own transaction when it moves money. The verdict says what is known afterwards.
func commit(ctx context.Context, conn *sql.Conn, run entry.Run, e entry.Entry) (verdictOnCommit, error) {
	if !e.Transfer() {
		err := insert(ctx, conn, run, e)
		return classify(err), err
	}
	if err := transfer(ctx, conn, run, e); err != nil {
		return refused, err
	}
	_, err := conn.ExecContext(ctx, "COMMIT")
	return classify(err), err
}

type executor interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

func insert(ctx context.Context, conn executor, run entry.Run, e entry.Entry) error {
	_, err := conn.ExecContext(ctx,
		"INSERT INTO "+run.EntriesTable()+" (id, payload, debit, credit, amount, checksum) VALUES (?, ?, ?, ?, ?, ?)",
		e.ID, e.Payload, e.Debit, e.Credit, e.Amount, e.Checksum)
	return err
}

// transfer does everything but the COMMIT, which has not been sent when it fails. Accounts are updated in the order of
// their numbers: two transfers never deadlock.
func transfer(ctx context.Context, conn executor, run entry.Run, e entry.Entry) error {
	if _, err := conn.ExecContext(ctx, "BEGIN"); err != nil {
		return err
	}
	if err := insert(ctx, conn, run, e); err != nil {
		return err
	}
	moves := []struct {
		account int
		by      int64
	}{{e.Debit, -e.Amount}, {e.Credit, e.Amount}}
	if e.Credit < e.Debit {
		moves[0], moves[1] = moves[1], moves[0]
	}
	for _, move := range moves {
		_, err := conn.ExecContext(ctx, "UPDATE "+run.AccountsTable()+" SET balance = balance + ? WHERE id = ?", move.by, move.account)
		if err != nil {
			return err
		}
	}
	return nil
}
