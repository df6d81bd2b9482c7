package server

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/go-sql-driver/mysql"

	"commitlab.dev/ledger/internal/timeline"
)

// ErrNotWritable says that the server that answered does not take writes now.
var ErrNotWritable = errors.New("the server is not a master")

// Status is what a server says of itself. Servers other than commitd have an identity only.
type Status struct {
	timeline.Server
	Role string
	// Linked: a replica that hears its source, a master that replicas are attached to.
	Linked bool
}

// maxSilence is how long a replica that hears its source may have heard nothing: heartbeats come every second.
const maxSilence = 3 * time.Second

// Writable asks a server who it is and fails when it is not a master. A commitd's sessions end when it leaves the role, so the
// answer holds for the whole connection.
func Writable(ctx context.Context, conn *sql.Conn) (timeline.Server, error) {
	status, err := ReadStatus(ctx, conn)
	if err == nil && status.Role != "" && status.Role != "master" && status.Role != "standalone" {
		err = fmt.Errorf("%w but %s", ErrNotWritable, status.Role)
	}
	return status.Server, err
}

// ReadStatus asks a server who it is.
func ReadStatus(ctx context.Context, conn *sql.Conn) (Status, error) {
	status, err := readInstance(ctx, conn)
	if err == nil {
		return status, nil
	}
	for _, query := range []string{"SELECT @@server_uuid", "SELECT @@server_id"} {
		if !isServerError(err) {
			return Status{}, err
		}
		if err = conn.QueryRowContext(ctx, query).Scan(&status.ID); err == nil {
			return Status{Server: timeline.Server{ID: status.ID}}, nil
		}
	}
	if isServerError(err) {
		return Status{}, nil
	}
	return Status{}, err
}

func readInstance(ctx context.Context, conn *sql.Conn) (Status, error) {
	row, err := Instance(ctx, conn)
	if err != nil {
		return Status{}, err
	}
	epoch, err := strconv.ParseUint(row["epoch"], 10, 64)
	return Status{Server: timeline.Server{ID: row["server_uuid"], Epoch: epoch}, Role: row["role"], Linked: linked(row)}, err
}

// Instance reads a commitd's status row by column name.
func Instance(ctx context.Context, conn *sql.Conn) (map[string]string, error) {
	return Row(ctx, conn, "SELECT * FROM performance_schema.commitd_instance")
}

func linked(row map[string]string) bool {
	if row["role"] == "master" {
		return row["semisync_clients"] != ""
	}
	silence, err := strconv.ParseFloat(row["seconds_since_heartbeat"], 64)
	return row["receiver_state"] == "receiving" && err == nil && silence <= maxSilence.Seconds()
}

// Uptime is for how long the server's process has been there, in whole seconds.
func Uptime(ctx context.Context, conn *sql.Conn) (time.Duration, error) {
	var name string
	var seconds int64
	err := conn.QueryRowContext(ctx, "SHOW GLOBAL STATUS LIKE 'Uptime'").Scan(&name, &seconds)
	return time.Duration(seconds) * time.Second, err
}

// Row reads a result's first row by column name. sql.ErrNoRows: there is none.
func Row(ctx context.Context, conn *sql.Conn, query string) (map[string]string, error) {
	rows, err := conn.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	if !rows.Next() {
		return nil, cmp.Or(rows.Err(), sql.ErrNoRows)
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
