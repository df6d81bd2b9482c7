package replicaset

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"commitlab.dev/ledger/internal/dbserver"
	"commitlab.dev/ledger/internal/server"
)

const (
	commandTimeout = 15 * time.Second
	statusTimeout  = time.Second
)

// member is one server of the set.
type member struct {
	*dbserver.Member
	// uuid is known once the server has answered.
	uuid string
}

// status is what an election wants to know of a member.
type status struct {
	member        *member
	role          string
	epoch         uint64
	lastLogEpoch  uint64
	logged        string
	writesBlocked bool
	ackedMembers  []string
}

func newMember(config Config, number int) (*member, error) {
	name := fmt.Sprintf("server-%d", number)
	commands := dbserver.CommitdMember(config.Program, number)
	commands.Run += " " + config.Flags
	if config.Adapt != nil {
		commands = config.Adapt(commands)
	}
	s, err := dbserver.New(commands, filepath.Join(config.Dir, name))
	if err != nil {
		return nil, err
	}
	return &member{Member: &dbserver.Member{Server: s, Name: name}}, nil
}

// await waits until the server answers.
func (m *member) await(ctx context.Context) error {
	return m.Await(ctx, retryEvery, func(ctx context.Context) error {
		_, err := m.status(ctx)
		return err
	})
}

func (m *member) command(ctx context.Context, format string, args ...any) error {
	return m.Control(ctx, commandTimeout, func(ctx context.Context, conn *sql.Conn) error {
		_, err := conn.ExecContext(ctx, fmt.Sprintf(format, args...))
		return err
	})
}

func (m *member) fence(ctx context.Context, epoch uint64) (status, error) {
	if err := m.command(ctx, "ALTER INSTANCE FENCE EPOCH %d", epoch); err != nil {
		return status{}, err
	}
	return m.status(ctx)
}

func (m *member) status(ctx context.Context) (status, error) {
	s := status{member: m}
	err := m.Control(ctx, statusTimeout, func(ctx context.Context, conn *sql.Conn) error {
		row, err := server.Instance(ctx, conn)
		if err != nil {
			return err
		}
		m.uuid = row["server_uuid"]
		s.role, s.logged, s.writesBlocked = row["role"], row["gtid_logged"], row["writes_blocked"] != "0"
		s.ackedMembers = slices.DeleteFunc(strings.Split(row["acked_members"], ","), func(uuid string) bool { return uuid == "" })
		if s.epoch, err = strconv.ParseUint(row["epoch"], 10, 64); err != nil {
			return err
		}
		s.lastLogEpoch, err = strconv.ParseUint(row["last_log_epoch"], 10, 64)
		return err
	})
	return s, err
}

// holds tells whether the member's log has everything that the other one's has.
func (s status) holds(ctx context.Context, other status) (contained bool, err error) {
	err = s.member.Control(ctx, statusTimeout, func(ctx context.Context, conn *sql.Conn) error {
		return conn.QueryRowContext(ctx, "SELECT GTID_SUBSET(?, ?)", other.logged, s.logged).Scan(&contained)
	})
	return contained, err
}
