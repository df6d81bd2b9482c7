package judge

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"io"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// counting is a server that knows nothing but which GTIDs it has executed: the one GTID "1" or none, or it has none of MySQL's kind.
type counting struct {
	gtids   string
	refuses error
}

func (c counting) Connect(context.Context) (driver.Conn, error) { return c, nil }
func (c counting) Driver() driver.Driver                        { return nil }
func (c counting) Prepare(string) (driver.Stmt, error)          { return nil, io.ErrUnexpectedEOF }
func (c counting) Begin() (driver.Tx, error)                    { return nil, io.ErrUnexpectedEOF }
func (c counting) Close() error                                 { return nil }

func (c counting) QueryContext(_ context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if strings.HasPrefix(query, "SELECT GTID_SUBSET(?, ") {
		set := args[0].Value.(string)
		return &oneRow{value: set == "" || set == c.gtids}, c.refuses
	}
	return &oneRow{value: c.gtids}, c.refuses
}

type oneRow struct {
	value any
	read  bool
}

func (*oneRow) Columns() []string { return []string{"it"} }
func (*oneRow) Close() error      { return nil }

func (r *oneRow) Next(row []driver.Value) error {
	if r.read {
		return io.EOF
	}
	row[0], r.read = r.value, true
	return nil
}

func readerOf(t *testing.T, c counting) *reader {
	t.Helper()
	pool := sql.OpenDB(c)
	t.Cleanup(func() { pool.Close() })
	conn, err := pool.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	r := &reader{conn: conn}
	if r.gtids, err = executed(t.Context(), conn); err != nil {
		t.Fatal(err)
	}
	return r
}

// A server that has executed nothing, beside a master that has, looks like a copy of its rows that does not follow it.
func TestAnEmptySetOfGTIDsIsADifference(t *testing.T) {
	some, none := counting{gtids: "1"}, counting{}
	mariadb := counting{refuses: &mysql.MySQLError{Number: errUnknownVariable}}
	for what, c := range map[string]struct {
		server, master counting
		want           string
	}{
		"both have some":                  {some, some, ""},
		"neither has any":                 {none, none, ""},
		"the master alone has some":       {none, some, "it has not executed all of the master's transactions: none against 1"},
		"the server alone has some":       {some, none, "it has executed transactions that the master has not: 1 against none"},
		"the server is a MariaDB":         {mariadb, some, ""},
		"the master is a MariaDB":         {some, mariadb, ""},
		"both are, and nothing is to say": {mariadb, mariadb, ""},
	} {
		got, err := compareGTIDs(t.Context(), readerOf(t, c.server), readerOf(t, c.master))
		if err != nil || got != c.want {
			t.Errorf("%s: %q, %v", what, got, err)
		}
	}
}

// Only a server that does not know the variable has no GTIDs: what cannot be read is not proved.
func TestGTIDsThatAreNotShownAreAnError(t *testing.T) {
	pool := sql.OpenDB(counting{refuses: &mysql.MySQLError{Number: 1227}})
	defer pool.Close()
	conn, err := pool.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := executed(t.Context(), conn); err == nil {
		t.Fatal("it refused, and was taken for a server without GTIDs")
	}
}
