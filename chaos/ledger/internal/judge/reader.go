package judge

import (
	"context"
	"database/sql"
	"errors"

	"github.com/go-sql-driver/mysql"

	"commitlab.dev/ledger/internal/journal"
	"commitlab.dev/ledger/internal/server"
	"commitlab.dev/ledger/internal/timeline"
)

// reader is one connection to one server, so that identity, rows and GTIDs are those of the same one.
type reader struct {
	name string
	pool *sql.DB
	conn *sql.Conn
	// gtids is what had been executed before the rows were read; nil where the server has no GTIDs of MySQL's kind.
	gtids *string
}

func open(ctx context.Context, named server.Named) (*reader, error) {
	pool, err := server.OpenPool(named.DSN, dialTimeout)
	if err != nil {
		return nil, err
	}
	conn, err := pool.Conn(ctx)
	if err != nil {
		pool.Close()
		return nil, err
	}
	return &reader{name: named.Name, pool: pool, conn: conn}, nil
}

func (r *reader) close() {
	_ = r.conn.Close()
	_ = r.pool.Close()
}

type identify func(context.Context, *sql.Conn) (timeline.Server, error)

func (r *reader) read(ctx context.Context, state *journal.State, who identify) Found {
	found := Found{Name: r.name}
	identity, err := who(ctx, r.conn)
	if err == nil {
		found.ID = identity.ID
		r.gtids, err = executed(ctx, r.conn)
	}
	if err == nil {
		found.Image, err = Scan(ctx, r.conn, state.Run)
	}
	if err != nil {
		found.Image, found.Error = nil, err.Error()
	}
	return found
}

// errUnknownVariable is what a server without GTIDs of MySQL's kind answers.
const errUnknownVariable = 1193

func executed(ctx context.Context, conn *sql.Conn) (*string, error) {
	var set string
	err := conn.QueryRowContext(ctx, "SELECT @@GLOBAL.gtid_executed").Scan(&set)
	var serverError *mysql.MySQLError
	if errors.As(err, &serverError) && serverError.Number == errUnknownVariable {
		return nil, nil
	}
	return &set, err
}

// compareGTIDs says what a server lacks of the master's transactions, or has beyond them. Others than the ledger may go on writing, so each
// set is compared with one that the other server showed later. A set that is empty is one like any other.
func compareGTIDs(ctx context.Context, r, master *reader) (string, error) {
	if master.gtids == nil || r.gtids == nil {
		return "", nil
	}
	caughtUp, err := contains(ctx, r.conn, *master.gtids)
	if err != nil {
		return "", err
	}
	known, err := contains(ctx, master.conn, *r.gtids)
	if err != nil {
		return "", err
	}
	sets := orNone(*r.gtids) + " against " + orNone(*master.gtids)
	switch {
	case !known:
		return "it has executed transactions that the master has not: " + sets, nil
	case !caughtUp:
		return "it has not executed all of the master's transactions: " + sets, nil
	}
	return "", nil
}

func orNone(set string) string {
	if set == "" {
		return "none"
	}
	return set
}

func contains(ctx context.Context, conn *sql.Conn, set string) (contained bool, err error) {
	err = conn.QueryRowContext(ctx, "SELECT GTID_SUBSET(?, @@GLOBAL.gtid_executed)", set).Scan(&contained)
	return contained, err
}
