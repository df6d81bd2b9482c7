package load

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"testing"

	"github.com/go-sql-driver/mysql"

	"commitlab.dev/ledger/internal/entry"
)

func TestOnlyCertainRefusalsCountAsRefused(t *testing.T) {
	cases := []struct {
		err  error
		want verdictOnCommit
	}{
		{nil, committed},
		{&mysql.MySQLError{Number: 1290}, refused},
		{fmt.Errorf("insert: %w", &mysql.MySQLError{Number: 1213}), refused},
		{&mysql.MySQLError{Number: 1053}, unknown}, // shutdown, or demotion while waiting for acknowledgements
		{&mysql.MySQLError{Number: 1317}, unknown}, // interrupted
		{&mysql.MySQLError{Number: 1062}, unknown}, // an id is never used twice: if it is there, it is this attempt's
		{driver.ErrBadConn, unknown},
		{mysql.ErrInvalidConn, unknown},
		{context.DeadlineExceeded, unknown},
	}
	for _, c := range cases {
		if got := classify(c.err); got != c.want {
			t.Errorf("%v: %d, want %d", c.err, got, c.want)
		}
	}
}

// recorder notes statements and fails the one whose number is failAt.
type recorder struct {
	statements []string
	arguments  [][]any
	failAt     int
}

var errBroken = errors.New("broken")

func (r *recorder) ExecContext(_ context.Context, query string, args ...any) (sql.Result, error) {
	r.statements = append(r.statements, query)
	r.arguments = append(r.arguments, args)
	if len(r.statements) == r.failAt {
		return nil, errBroken
	}
	return driver.RowsAffected(1), nil
}

func TestTransfersLockAccountsInOneOrderAndNeverCommitThemselves(t *testing.T) {
	run := entry.Run{Name: "t", Accounts: 4}
	for id := uint64(1); id < 200; id++ {
		e := run.Entry(id)
		if !e.Transfer() {
			continue
		}
		r := &recorder{}
		if err := transfer(t.Context(), r, run, e); err != nil {
			t.Fatal(err)
		}
		if len(r.statements) != 4 || r.statements[0] != "BEGIN" {
			t.Fatalf("statements %q", r.statements)
		}
		first, second := r.arguments[2], r.arguments[3]
		if first[1].(int) >= second[1].(int) {
			t.Errorf("id %d: account %v is locked before %v", id, first[1], second[1])
		}
		if first[0].(int64)+second[0].(int64) != 0 {
			t.Errorf("id %d: the total changes", id)
		}
	}
}

func TestATransferStopsAtTheFirstError(t *testing.T) {
	run := entry.Run{Name: "t", Accounts: 4}
	for failAt := 1; failAt <= 4; failAt++ {
		r := &recorder{failAt: failAt}
		if err := transfer(t.Context(), r, run, entry.Entry{ID: 1, Debit: 1, Credit: 2, Amount: 3}); !errors.Is(err, errBroken) {
			t.Errorf("statement %d: error %v", failAt, err)
		}
		if len(r.statements) != failAt {
			t.Errorf("statement %d failed, %d were sent", failAt, len(r.statements))
		}
	}
}
