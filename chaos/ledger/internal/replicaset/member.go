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
	dialTimeout    = time.Second
)

// Member is one server of the set.
type Member struct {
	*dbserver.Server
	Name string
	// UUID is known once the server has answered.
	UUID string
}

// status is what an election wants to know of a member.
type status struct {
	member        *Member
	role          string
	epoch         uint64
	lastLogEpoch  uint64
	logged        string
	writesBlocked bool
	ackedMembers  []string
}

func newMember(config Config, number int) (*Member, error) {
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
	return &Member{Server: s, Name: name}, nil
}

// control runs a function on a connection of its own, which no role change of another statement can have closed.
func (m *Member) control(ctx context.Context, patience time.Duration, do func(context.Context, *sql.Conn) error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	pool, err := server.OpenPool(m.DSN(""), dialTimeout)
	if err != nil {
		return err
	}
	defer pool.Close()
	conn, err := pool.Conn(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", m.Name, err)
	}
	defer conn.Close()
	if err := do(ctx, conn); err != nil {
		return fmt.Errorf("%s: %w", m.Name, err)
	}
	return nil
}

func (m *Member) command(ctx context.Context, format string, args ...any) error {
	return m.control(ctx, commandTimeout, func(ctx context.Context, conn *sql.Conn) error {
		_, err := conn.ExecContext(ctx, fmt.Sprintf(format, args...))
		return err
	})
}

func (m *Member) fence(ctx context.Context, epoch uint64) (status, error) {
	if err := m.command(ctx, "ALTER INSTANCE FENCE EPOCH %d", epoch); err != nil {
		return status{}, err
	}
	return m.status(ctx)
}

func (m *Member) status(ctx context.Context) (status, error) {
	s := status{member: m}
	err := m.control(ctx, statusTimeout, func(ctx context.Context, conn *sql.Conn) error {
		row, err := server.Instance(ctx, conn)
		if err != nil {
			return err
		}
		m.UUID = row["server_uuid"]
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
	err = s.member.control(ctx, statusTimeout, func(ctx context.Context, conn *sql.Conn) error {
		return conn.QueryRowContext(ctx, "SELECT GTID_SUBSET(?, ?)", other.logged, s.logged).Scan(&contained)
	})
	return contained, err
}
