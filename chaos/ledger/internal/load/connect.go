package load

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/go-sql-driver/mysql"

	"commitlab.dev/ledger/internal/timeline"
)

// OpenPool returns a pool that keeps no idle connection and looks the host name up for every new one, so that a Service
// that now names another pod is followed at once. Dialling gives up after the timeout.
func OpenPool(dsn string, dialTimeout time.Duration) (*sql.DB, error) {
	config, err := mysql.ParseDSN(dsn)
	if err != nil {
		return nil, fmt.Errorf("data source name: %w (expected user:password@tcp(host:port)/database)", err)
	}
	if config.Timeout == 0 {
		config.Timeout = dialTimeout
	}
	config.InterpolateParams = true
	config.Logger = silent{}
	config.DialFunc = dial
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, err
	}
	pool := sql.OpenDB(connector)
	pool.SetMaxIdleConns(-1)
	return pool, nil
}

// silent drops the driver's own log lines: every error reaches the journal anyway.
type silent struct{}

func (silent) Print(...any) {}

// errNotWritable says that the server that answered does not take writes now.
var errNotWritable = errors.New("the server is not a master")

// identify asks the server who it is. commitd tells its role and epoch; its sessions end when it leaves the role, so the
// answer holds for the whole connection. Other servers have an id only.
func identify(ctx context.Context, conn *sql.Conn) (timeline.Server, error) {
	server, role, err := identifyCommitd(ctx, conn)
	if err == nil {
		if role != "master" && role != "standalone" {
			return server, fmt.Errorf("%w but %s", errNotWritable, role)
		}
		return server, nil
	}
	for _, query := range []string{"SELECT @@server_uuid", "SELECT @@server_id"} {
		if !isServerError(err) {
			return server, err
		}
		if err = conn.QueryRowContext(ctx, query).Scan(&server.ID); err == nil {
			return server, nil
		}
	}
	if isServerError(err) {
		return timeline.Server{}, nil
	}
	return server, err
}

func identifyCommitd(ctx context.Context, conn *sql.Conn) (timeline.Server, string, error) {
	rows, err := conn.QueryContext(ctx, "SELECT * FROM performance_schema.commitd_instance")
	if err != nil {
		return timeline.Server{}, "", err
	}
	defer rows.Close()
	row, err := onlyRow(rows)
	if err != nil {
		return timeline.Server{}, "", err
	}
	epoch, err := strconv.ParseUint(row["epoch"], 10, 64)
	return timeline.Server{ID: row["server_uuid"], Epoch: epoch}, row["role"], err
}

// onlyRow reads a result of one row by column name.
func onlyRow(rows *sql.Rows) (map[string]string, error) {
	names, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	if !rows.Next() {
		return nil, errors.Join(errors.New("the status row is missing"), rows.Err())
	}
	values := make([]sql.NullString, len(names))
	targets := make([]any, len(names))
	for i := range values {
		targets[i] = &values[i]
	}
	if err := rows.Scan(targets...); err != nil {
		return nil, err
	}
	row := map[string]string{}
	for i, name := range names {
		row[name] = values[i].String
	}
	return row, rows.Close()
}

func isServerError(err error) bool {
	var serverError *mysql.MySQLError
	return errors.As(err, &serverError)
}
