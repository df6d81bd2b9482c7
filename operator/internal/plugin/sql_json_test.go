package plugin

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
)

// table answers every statement with the same rows.
type table struct {
	names, types []string
	rows         [][]driver.Value
}

func (t table) Connect(context.Context) (driver.Conn, error) { return t, nil }
func (t table) Driver() driver.Driver                        { return nil }
func (t table) Prepare(string) (driver.Stmt, error)          { return nil, errors.New("not asked for") }
func (t table) Begin() (driver.Tx, error)                    { return nil, errors.New("not asked for") }
func (t table) Close() error                                 { return nil }
func (t table) QueryContext(context.Context, string, []driver.NamedValue) (driver.Rows, error) {
	return &cursor{table: t}, nil
}

type cursor struct {
	table
	next int
}

func (c *cursor) Columns() []string                       { return c.names }
func (c *cursor) ColumnTypeDatabaseTypeName(i int) string { return c.types[i] }
func (c *cursor) Next(into []driver.Value) error {
	if c.next == len(c.rows) {
		return io.EOF
	}
	copy(into, c.rows[c.next])
	c.next++
	return nil
}

func rowsAsJSON(t *testing.T, from table) (string, error) {
	t.Helper()
	db := sql.OpenDB(from)
	defer db.Close()
	var out strings.Builder
	err := printQuery(t.Context(), &out, db, "SELECT", outputJSON)
	return out.String(), err
}

func TestRowsAreJSON(t *testing.T) {
	text, err := rowsAsJSON(t, table{
		names: []string{"id", "price", "big", "name", "blob", "doc", "none", "day"},
		types: []string{"INT", "DECIMAL", "UNSIGNED BIGINT", "VARCHAR", "BLOB", "JSON", "INT", "DATE"},
		rows: [][]driver.Value{
			{int64(7), []byte("1234567890123456.789"), []byte("18446744073709551615"), []byte(`a"b`), []byte{0, 255}, []byte(`{"k": [1]}`), nil, []byte("2026-01-31")},
			{int64(8), []byte("0.10"), []byte("0"), []byte(""), []byte{}, []byte("null"), []byte("1"), []byte("0000-00-00")},
		},
	})
	want := `[
    {"id": 7, "price": 1234567890123456.789, "big": 18446744073709551615, "name": "a\"b", "blob": "AP8=", "doc": {"k":[1]}, "none": null, "day": "2026-01-31"},
    {"id": 8, "price": 0.10, "big": 0, "name": "", "blob": "", "doc": null, "none": 1, "day": "0000-00-00"}
]
`
	if err != nil || text != want {
		t.Fatalf("%v\n%s\nwanted\n%s", err, text, want)
	}
}

func TestNoRowsAreAnEmptyList(t *testing.T) {
	text, err := rowsAsJSON(t, table{names: []string{"id"}, types: []string{"INT"}})
	var list []any
	if err != nil || json.Unmarshal([]byte(text), &list) != nil || list == nil || len(list) != 0 {
		t.Fatalf("%v %q", err, text)
	}
}

func TestColumnsOfOneNameAreRefused(t *testing.T) {
	if text, err := rowsAsJSON(t, table{names: []string{"id", "id"}, types: []string{"INT", "INT"}}); err == nil || text != "" {
		t.Fatalf("one of them would be lost: %q", text)
	}
}
