package mysqlmod

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"go.k6.io/k6/metrics"
)

// Connection is one virtual user's connection. It is opened by its first statement and opened again after one broke.
type Connection struct {
	module *module
	pool   *sql.DB
	conn   *sql.Conn
	// prepared holds the connection's statements with parameters, each prepared once, as an application would.
	prepared map[string]*sql.Stmt
}

// open parses the data source name; it may be called in the init context because nothing connects yet.
func (m *module) open(dsn string) (*Connection, error) {
	config, err := mysql.ParseDSN(dsn)
	if err != nil {
		return nil, fmt.Errorf("data source name: %w (expected user:password@tcp(host:port)/database)", err)
	}
	config.Logger = silent{}
	config.DialFunc = dial
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, err
	}
	pool := sql.OpenDB(connector)
	// The virtual user keeps its connection itself; what it gives back is closed.
	pool.SetMaxIdleConns(-1)
	return &Connection{module: m, pool: pool}, nil
}

// silent drops the driver's own log lines: errors are counted and thrown.
type silent struct{}

func (silent) Print(...any) {}

// Exec runs a statement without a result and returns the number of rows it changed.
func (c *Connection) Exec(query string, args ...any) (int64, error) {
	var changed int64
	err := c.measure(query, len(args) > 0, func(ctx context.Context, run runner) error {
		result, err := run.exec(ctx, args)
		if err != nil {
			return err
		}
		changed, err = result.RowsAffected()
		return err
	})
	return changed, err
}

// Query returns the rows as objects by column name. Integers stay numbers, everything else comes as text.
func (c *Connection) Query(query string, args ...any) ([]map[string]any, error) {
	var result []map[string]any
	err := c.measure(query, len(args) > 0, func(ctx context.Context, run runner) error {
		rows, err := run.query(ctx, args)
		if err != nil {
			return err
		}
		defer rows.Close()
		result, err = readRows(rows)
		return err
	})
	return result, err
}

// Close ends the connection.
func (c *Connection) Close() error {
	c.Reset()
	return c.pool.Close()
}

func readRows(rows *sql.Rows) ([]map[string]any, error) {
	names, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	values, targets := make([]any, len(names)), make([]any, len(names))
	for i := range values {
		targets[i] = &values[i]
	}
	result := []map[string]any{}
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return nil, err
		}
		row := make(map[string]any, len(names))
		for i, name := range names {
			if text, ok := values[i].([]byte); ok {
				row[name] = string(text)
			} else {
				row[name] = values[i]
			}
		}
		result = append(result, row)
	}
	return result, rows.Err()
}

// runner is one statement, either as text on the connection or prepared.
type runner struct {
	text string
	conn *sql.Conn
	stmt *sql.Stmt
}

func (r runner) exec(ctx context.Context, args []any) (sql.Result, error) {
	if r.stmt != nil {
		return r.stmt.ExecContext(ctx, args...)
	}
	return r.conn.ExecContext(ctx, r.text)
}

func (r runner) query(ctx context.Context, args []any) (*sql.Rows, error) {
	if r.stmt != nil {
		return r.stmt.QueryContext(ctx, args...)
	}
	return r.conn.QueryContext(ctx, r.text)
}

// measure runs one statement and pushes its samples. Connecting and preparing are not part of the statement's time.
func (c *Connection) measure(query string, parameters bool, run func(context.Context, runner) error) error {
	ctx, kind := c.module.vu.Context(), statementKind(query)
	statement, err := c.runner(ctx, query, parameters)
	if err != nil {
		c.fail("prepare", err)
		return err
	}
	began := time.Now()
	if err := run(ctx, statement); err != nil {
		c.fail(kind, err)
		return err
	}
	c.push(kind, time.Since(began), nil)
	return nil
}

// fail counts the error, and gives the connection up unless it was the server that answered.
func (c *Connection) fail(kind string, err error) {
	c.push(kind, 0, err)
	if !isServerError(err) {
		c.Reset()
	}
}

func (c *Connection) runner(ctx context.Context, query string, parameters bool) (runner, error) {
	conn, err := c.connection(ctx)
	if err != nil || !parameters {
		return runner{text: query, conn: conn}, err
	}
	if stmt, known := c.prepared[query]; known {
		return runner{stmt: stmt}, nil
	}
	stmt, err := conn.PrepareContext(ctx, query)
	if err != nil {
		return runner{}, err
	}
	c.prepared[query] = stmt
	return runner{stmt: stmt}, nil
}

func (c *Connection) connection(ctx context.Context) (*sql.Conn, error) {
	if c.conn != nil {
		return c.conn, nil
	}
	conn, err := c.pool.Conn(ctx)
	if err != nil {
		return nil, err
	}
	c.conn, c.prepared = conn, map[string]*sql.Stmt{}
	return conn, nil
}

// Reset closes the connection, and with it a transaction that is open on it; the next statement opens another one.
func (c *Connection) Reset() {
	if c.conn != nil {
		_ = c.conn.Close()
		c.conn, c.prepared = nil, nil
	}
}

// push emits the samples of one statement. In the init context there is no state and nothing to measure.
func (c *Connection) push(kind string, took time.Duration, err error) {
	state := c.module.vu.State()
	if state == nil {
		return
	}
	current := state.Tags.GetCurrentValues()
	tags := current.Tags.With("statement", kind)
	now := time.Now()
	sample := func(metric *metrics.Metric, tags *metrics.TagSet, value float64) metrics.Sample {
		return metrics.Sample{
			TimeSeries: metrics.TimeSeries{Metric: metric, Tags: tags}, Time: now, Metadata: current.Metadata, Value: value,
		}
	}
	samples := metrics.Samples{}
	if err != nil {
		samples = append(samples, sample(c.module.failures, tags.With("errno", errno(err)), 1))
	} else {
		samples = append(samples,
			sample(c.module.statements, tags, 1),
			sample(c.module.duration, tags, metrics.D(took)))
	}
	metrics.PushIfNotDone(c.module.vu.Context(), state.Samples, samples)
}

// statementKind is the statement's first word: few values, so that it can be a label.
func statementKind(query string) string {
	word, _, _ := strings.Cut(strings.TrimLeft(query, " \t\n"), " ")
	word = strings.ToLower(strings.TrimRight(word, ";"))
	switch word {
	case "select", "insert", "update", "delete", "replace", "begin", "commit", "rollback":
		return word
	default:
		return "other"
	}
}

func isServerError(err error) bool {
	var serverError *mysql.MySQLError
	return errors.As(err, &serverError)
}

// errno is MySQL's number, or "connection" when no server answered.
func errno(err error) string {
	var serverError *mysql.MySQLError
	if errors.As(err, &serverError) {
		return strconv.Itoa(int(serverError.Number))
	}
	return "connection"
}
