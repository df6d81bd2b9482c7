package peerset

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"commitlab.dev/ledger/internal/dbserver"
	"commitlab.dev/ledger/internal/server"
)

// commands run one after the other on one connection.
func commands(ctx context.Context, m *dbserver.Member, statements ...string) error {
	return m.Control(ctx, commandTimeout, func(ctx context.Context, conn *sql.Conn) error {
		for _, statement := range statements {
			if _, err := conn.ExecContext(ctx, statement); err != nil {
				return fmt.Errorf("%s: %w", statement, err)
			}
		}
		return nil
	})
}

func value(ctx context.Context, m *dbserver.Member, query string, to any) error {
	return m.Control(ctx, commandTimeout, func(ctx context.Context, conn *sql.Conn) error {
		return conn.QueryRowContext(ctx, query).Scan(to)
	})
}

func await(ctx context.Context, m *dbserver.Member) error {
	return m.Await(ctx, retryEvery, func(ctx context.Context) error { return commands(ctx, m, "DO 1") })
}

// replication is what SHOW SLAVE STATUS says.
type replication struct {
	// configured: the server has been told of some source.
	configured       bool
	sourcePort       string
	receives         string // Yes, No or Connecting
	applies          bool
	received         string // GTID position of what is in the relay log
	hears            bool   // the source has begun to send
	appliedAll       bool
	receiveError     int
	receiveErrorText string
	applyErrorText   string
}

// idle replicas have been started again, and have not been told to go on.
func (r replication) idle() bool { return r.configured && r.receives == "No" && !r.applies }

func readReplication(ctx context.Context, m *dbserver.Member) (r replication, err error) {
	err = m.Control(ctx, commandTimeout, func(ctx context.Context, conn *sql.Conn) error {
		row, err := server.Row(ctx, conn, "SHOW SLAVE STATUS")
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		r = replicationOf(row)
		return nil
	})
	return r, err
}

func replicationOf(row map[string]string) replication {
	number, _ := strconv.Atoi(row["Last_IO_Errno"])
	return replication{
		configured: true, sourcePort: row["Master_Port"], receives: row["Slave_IO_Running"], applies: row["Slave_SQL_Running"] == "Yes",
		received: row["Gtid_IO_Pos"], hears: row["Slave_IO_Running"] == "Yes" && row["Master_Log_File"] != "",
		appliedAll:   strings.HasPrefix(row["Slave_SQL_Running_State"], "Slave has read all relay log"),
		receiveError: number, receiveErrorText: row["Last_IO_Error"], applyErrorText: row["Last_SQL_Error"],
	}
}

// sequence is the number of the last transaction at a position such as 0-1-105: all servers write into one domain, and gtid_strict_mode sees to it
// that numbers only grow.
func sequence(position string) (uint64, error) {
	if position == "" {
		return 0, nil
	}
	parts := strings.Split(position, "-")
	if len(parts) != 3 || strings.Contains(position, ",") {
		return 0, fmt.Errorf("%q is not a position in one domain", position)
	}
	return strconv.ParseUint(parts[2], 10, 64)
}
