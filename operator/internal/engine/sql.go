package engine

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"commitlab.dev/operator/internal/certificate"
)

// commitd's built-in accounts; they work in every state and are never replicated.
const (
	OperatorUser    = "commitlab_operator"
	ReplicationUser = "commitlab_replication"
)

// Error numbers of engine/CONTROL.md.
const (
	errnoEpoch       = 3000
	errnoInitialized = 3001
	errnoDiverged    = 3002
	errnoDenied      = 1045

	errnoUnknownVariable = 1193
	errnoSessionOnly     = 1228
	errnoReadOnly        = 1238
	errnoWrongValue      = 1231
	errnoWrongType       = 1232
)

// Client is a Server over the MySQL protocol.
type Client struct {
	db *sql.DB
}

var _ Server = (*Client)(nil)

// Dial prepares a client; connections are made when they are needed.
func Dial(t Target) (*Client, error) {
	cfg := mysql.NewConfig()
	cfg.User = OperatorUser
	cfg.Passwd = t.Password
	cfg.Net = "tcp"
	cfg.Addr = net.JoinHostPort(t.Address, strconv.Itoa(int(t.Port)))
	cfg.Timeout = time.Second
	if t.TLS != (TLS{}) {
		protected, err := certificate.ClientConfig(certificate.Pair{Certificate: []byte(t.TLS.Certificate), Key: []byte(t.TLS.Key)},
			[]byte(t.TLS.Authorities), t.TLS.ServerName)
		if err != nil {
			return nil, fmt.Errorf("certificates for %s: %w", cfg.Addr, err)
		}
		cfg.TLS = protected
	}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, fmt.Errorf("options for %s: %w", cfg.Addr, err)
	}
	db := sql.OpenDB(patientConnector{connector})
	db.SetMaxOpenConns(4)
	db.SetMaxIdleConns(1)
	db.SetConnMaxIdleTime(time.Minute)
	return &Client{db: db}, nil
}

// patientConnector logs in once more when the connection was lost before the login was answered (error 2013 of MySQL's clients):
// no statement has been sent by then.
type patientConnector struct{ driver.Connector }

// Connect is database/sql's.
func (c patientConnector) Connect(ctx context.Context) (driver.Conn, error) {
	connection, err := c.Connector.Connect(ctx)
	if errors.Is(err, mysql.ErrInvalidConn) || errors.Is(err, driver.ErrBadConn) || errors.Is(err, io.EOF) {
		return c.Connector.Connect(ctx)
	}
	return connection, err
}

// Close drops the connections.
func (c *Client) Close() error { return c.db.Close() }

// Initialize makes a datadir in an empty directory.
func (c *Client) Initialize(ctx context.Context) error {
	return c.control(ctx, "ALTER INSTANCE INITIALIZE")
}

// Fence stops the server from receiving, acknowledging and writing.
func (c *Client) Fence(ctx context.Context, epoch int64) error {
	return c.control(ctx, fmt.Sprintf("ALTER INSTANCE FENCE EPOCH %d", epoch))
}

// Promote makes the server the master of an epoch.
func (c *Client) Promote(ctx context.Context, epoch int64, q Quorum) error {
	return c.control(ctx, promoteStatement(epoch, q))
}

// PromoteFenced asks and promotes over one connection: it ends with the process that has answered, and so does the mastership
// that is meant for it.
func (c *Client) PromoteFenced(ctx context.Context, epoch int64, q Quorum) error {
	return c.askThen(ctx, func(status Status) (string, error) { return promoteStatement(epoch, q), status.MayBePromoted(epoch) })
}

// Clone asks and clones over one connection: it ends with the server that has answered.
func (c *Client) Clone(ctx context.Context, uuid string, donor Source) error {
	return c.askThen(ctx, func(status Status) (string, error) {
		if status.ServerUUID != uuid {
			return "", fmt.Errorf("its data are those of server %q, not of %q: they are not replaced", status.ServerUUID, uuid)
		}
		if status.Role == RoleReplica {
			// In a cluster nothing but an epoch takes a role away; a process that has just started has none.
			return "SHUTDOWN", nil
		}
		protection := ""
		if donor.TLSName != "" {
			protection = " REQUIRE SSL"
		}
		return fmt.Sprintf("CLONE INSTANCE FROM %s@%s:%d IDENTIFIED BY %s%s", quote(donor.User), quote(donor.Host), donor.Port, quote(donor.Password), protection), nil
	})
}

// askThen runs the statement that `choose` makes of the status, over the connection that the status came by.
func (c *Client) askThen(ctx context.Context, choose func(Status) (statement string, err error)) error {
	connection, err := c.db.Conn(ctx)
	if err != nil {
		return translate(err)
	}
	defer connection.Close()
	status, err := statusOver(ctx, connection)
	if err != nil {
		return err
	}
	statement, err := choose(status)
	if err != nil {
		return err
	}
	_, err = connection.ExecContext(ctx, statement)
	return translate(err)
}

// CloneProgress reads what has come so far.
func (c *Client) CloneProgress(ctx context.Context) (done, estimate int64, err error) {
	err = c.db.QueryRowContext(ctx, "SELECT DATA, ESTIMATE FROM performance_schema.clone_progress WHERE STATE = 'In Progress'").Scan(&done, &estimate)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, 0, nil
	}
	return done, estimate, translate(err)
}

func promoteStatement(epoch int64, q Quorum) string {
	return fmt.Sprintf("ALTER INSTANCE PROMOTE EPOCH %d %s", epoch, quorumClause(q))
}

// Follow makes the server a replica of an epoch's master.
func (c *Client) Follow(ctx context.Context, epoch int64, s Source) error {
	statement := fmt.Sprintf(
		"ALTER INSTANCE FOLLOW EPOCH %d SOURCE_HOST %s SOURCE_PORT %d SOURCE_UUID %s SOURCE_USER %s SOURCE_PASSWORD %s",
		epoch, quote(s.Host), s.Port, quote(s.UUID), quote(s.User), quote(s.Password))
	if s.TLSName != "" {
		statement += " SOURCE_SSL_NAME " + quote(s.TLSName)
	}
	return c.control(ctx, statement)
}

// SetQuorum changes who must acknowledge to this master.
func (c *Client) SetQuorum(ctx context.Context, epoch, version int64, q Quorum) error {
	return c.control(ctx, fmt.Sprintf("ALTER INSTANCE QUORUM EPOCH %d VERSION %d %s", epoch, version, quorumClause(q)))
}

// handoverTimeout is how long clients wait for a handover that comes to nothing.
const handoverTimeout = time.Second

// HandOver ends writes on this master.
func (c *Client) HandOver(ctx context.Context, epoch int64) error {
	return c.control(ctx, fmt.Sprintf("ALTER INSTANCE HANDOVER EPOCH %d TIMEOUT %d", epoch, handoverTimeout.Milliseconds()))
}

// EnsureAccounts runs every statement even when one fails, so that one unsupported statement does not keep the rest away.
func (c *Client) EnsureAccounts(ctx context.Context, database string, accounts []Account) error {
	statements := []string{"CREATE DATABASE IF NOT EXISTS " + quoteName(database)}
	for _, a := range accounts {
		name := quote(a.User) + "@'%'"
		password := quote(a.Password)
		statements = append(statements,
			fmt.Sprintf("CREATE USER IF NOT EXISTS %s IDENTIFIED BY %s", name, password),
			// An account that is there already has the password of an earlier Secret.
			fmt.Sprintf("ALTER USER %s IDENTIFIED BY %s", name, password))
		for _, grant := range a.Grants {
			statements = append(statements, fmt.Sprintf("GRANT %s TO %s", grant, name))
		}
	}
	var errs []error
	for _, s := range statements {
		if err := c.control(ctx, s); err != nil {
			// The statement itself may hold a password.
			errs = append(errs, fmt.Errorf("%s …: %w", strings.Join(strings.Fields(s)[:2], " "), err))
		}
	}
	return errors.Join(errs...)
}

// GrantAll is the grant of everything in one database.
func GrantAll(database string) string { return "ALL ON " + quoteName(database) + ".*" }

// GrantReplication lets an account read the binlog.
const GrantReplication = "REPLICATION SLAVE ON *.*"

func (c *Client) control(ctx context.Context, statement string) error {
	_, err := c.db.ExecContext(ctx, statement)
	return translate(err)
}

func translate(err error) error {
	var e *mysql.MySQLError
	if !errors.As(err, &e) {
		return err
	}
	switch e.Number {
	case errnoEpoch:
		return fmt.Errorf("%w: %s", ErrEpoch, e.Message)
	case errnoInitialized:
		return fmt.Errorf("%w: %s", ErrInitialized, e.Message)
	case errnoDiverged:
		return fmt.Errorf("%w: %s", ErrDiverged, e.Message)
	case errnoDenied:
		return fmt.Errorf("%w: %s", ErrDenied, e.Message)
	case errnoUnknownVariable, errnoSessionOnly, errnoReadOnly:
		return fmt.Errorf("%w: %s", ErrStatic, e.Message)
	}
	return err
}

func quorumClause(q Quorum) string {
	return fmt.Sprintf("WAIT_COUNT %d MEMBERS %s%s", q.WaitCount, quote(strings.Join(q.Members, ",")), termsClause(q.Terms))
}

// termsClause leaves out what is at its default, as the wait point always is (AFTER_SYNC).
func termsClause(t Terms) string {
	clause := ""
	if t.TimeoutMilliseconds > 0 {
		clause += fmt.Sprintf(" TIMEOUT %d", t.TimeoutMilliseconds)
	}
	if t.OnTimeout != "" {
		clause += " ON_TIMEOUT " + quote(t.OnTimeout)
	}
	if t.LeaseMilliseconds > 0 {
		clause += fmt.Sprintf(" SOURCE_LEASE %d", t.LeaseMilliseconds)
	}
	return clause
}

var stringEscapes = strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\x00", `\0`, "\n", `\n`, "\r", `\r`)

func quote(s string) string { return "'" + stringEscapes.Replace(s) + "'" }

func quoteName(s string) string { return "`" + strings.ReplaceAll(s, "`", "``") + "`" }
