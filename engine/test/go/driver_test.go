// Package driver checks that go-sql-driver, unchanged, works against a running commitd: COMMITD_PORT says where.
package driver

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
)

func dsn(options string) string {
	return fmt.Sprintf("root@tcp(127.0.0.1:%s)/%s", os.Getenv("COMMITD_PORT"), options)
}

// open gives a pool whose database is the test's own.
func open(t *testing.T, options string) *sql.DB {
	t.Helper()
	if os.Getenv("COMMITD_PORT") == "" {
		t.Fatal("COMMITD_PORT is not set: run engine/test/go_driver_test.py")
	}
	admin, err := sql.Open("mysql", dsn(""))
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	name := "go_" + t.Name()
	for _, statement := range []string{"DROP DATABASE IF EXISTS " + name, "CREATE DATABASE " + name} {
		if _, err := admin.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	pool, err := sql.Open("mysql", dsn(name+options))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pool.Close() })
	return pool
}

func exec(t *testing.T, pool *sql.DB, statement string, arguments ...any) sql.Result {
	t.Helper()
	result, err := pool.Exec(statement, arguments...)
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	return result
}

func number(t *testing.T, pool *sql.DB, query string, arguments ...any) (n int64) {
	t.Helper()
	if err := pool.QueryRow(query, arguments...).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

func wantNumber(t *testing.T, err error, code uint16) {
	t.Helper()
	var answered *mysql.MySQLError
	if !errors.As(err, &answered) || answered.Number != code {
		t.Fatalf("error %d wanted, got %v", code, err)
	}
}

// everyType writes a row with placeholders and reads it back the same way.
func everyType(t *testing.T, options string) {
	pool := open(t, options)
	exec(t, pool, `CREATE TABLE t (id BIGINT PRIMARY KEY AUTO_INCREMENT, u BIGINT UNSIGNED, f DOUBLE, d DECIMAL(12,3), s VARCHAR(50),
		b BLOB, at DATETIME(6), day DATE, e ENUM('x','y'), n INT)`)
	at := time.Date(2026, 2, 28, 23, 59, 58, 123456000, time.UTC)
	result := exec(t, pool, "INSERT INTO t (u, f, d, s, b, at, day, e, n) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
		uint64(18446744073709551615), 1.5e300, "123456789.125", "tëxt 'quoted' \\ 😀", []byte{0, 255, '\'', '\\', 10}, at, at, "y", nil)
	if id, _ := result.LastInsertId(); id != 1 {
		t.Fatalf("last insert id %d", id)
	}
	var (
		u    uint64
		f    float64
		d, s string
		b    []byte
		when time.Time
		day  time.Time
		e    string
		n    sql.NullInt64
	)
	err := pool.QueryRow("SELECT u, f, d, s, b, at, day, e, n FROM t WHERE id = ?", 1).Scan(&u, &f, &d, &s, &b, &when, &day, &e, &n)
	if err != nil {
		t.Fatal(err)
	}
	if u != 18446744073709551615 || f != 1.5e300 || d != "123456789.125" || s != "tëxt 'quoted' \\ 😀" ||
		string(b) != "\x00\xff'\\\n" || !when.Equal(at) || day.Format(time.DateOnly) != "2026-02-28" || e != "y" || n.Valid {
		t.Fatal(u, f, d, s, b, when, day, e, n)
	}
}

func TestPreparedOnTheServer(t *testing.T) { everyType(t, "?parseTime=true") }
func TestInterpolated(t *testing.T)        { everyType(t, "?parseTime=true&interpolateParams=true") }
func TestCompressedNamesAndCollation(t *testing.T) {
	everyType(t, "?parseTime=true&collation=utf8mb4_bin&columnsWithAlias=true&clientFoundRows=true&maxAllowedPacket=0")
}

func TestDsnSetsVariablesAndTimes(t *testing.T) {
	pool := open(t, "?parseTime=true&loc=UTC&time_zone=%27%2B02%3A00%27&sql_mode=ANSI_QUOTES&timeout=5s&readTimeout=20s&writeTimeout=20s")
	var zone, mode string
	if err := pool.QueryRow("SELECT @@time_zone, @@sql_mode").Scan(&zone, &mode); err != nil {
		t.Fatal(err)
	}
	if zone != "+02:00" || mode != "ANSI_QUOTES" {
		t.Fatal(zone, mode)
	}
}

func TestMultiStatements(t *testing.T) {
	pool := open(t, "?multiStatements=true")
	exec(t, pool, "CREATE TABLE t (id INT PRIMARY KEY); INSERT INTO t VALUES (1), (2); DELETE FROM t WHERE id = 1")
	rows, err := pool.Query("SELECT 1; SELECT id FROM t")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var seen []int
	for {
		for rows.Next() {
			var n int
			if err := rows.Scan(&n); err != nil {
				t.Fatal(err)
			}
			seen = append(seen, n)
		}
		if !rows.NextResultSet() {
			break
		}
	}
	if fmt.Sprint(seen) != "[1 2]" || rows.Err() != nil {
		t.Fatal(seen, rows.Err())
	}
	_, err = open(t, "").Exec("SELECT 1; SELECT 2")
	wantNumber(t, err, 1064)
}

func TestTransactions(t *testing.T) {
	pool := open(t, "")
	exec(t, pool, "CREATE TABLE t (id INT PRIMARY KEY)")
	ctx := context.Background()
	tx, err := pool.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = tx.Exec("INSERT INTO t VALUES (1)"); err != nil {
		t.Fatal(err)
	}
	if n := number(t, pool, "SELECT COUNT(*) FROM t"); n != 0 {
		t.Fatal("others see what is not committed:", n)
	}
	if err = tx.Commit(); err != nil {
		t.Fatal(err)
	}
	tx, _ = pool.Begin()
	if _, err = tx.Exec("INSERT INTO t VALUES (2)"); err != nil {
		t.Fatal(err)
	}
	if _, err = tx.Exec("INSERT INTO t VALUES (1)"); err == nil {
		t.Fatal("a duplicate was taken")
	}
	wantNumber(t, err, 1062)
	if err = tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if n := number(t, pool, "SELECT COUNT(*) FROM t"); n != 1 {
		t.Fatal(n)
	}
	readOnly, err := pool.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	_, err = readOnly.Exec("INSERT INTO t VALUES (3)")
	wantNumber(t, err, 1792)
	readOnly.Rollback()
}

// The driver cancels by closing its connection: what that one left open is undone.
func TestCancelGivesTheLocksBack(t *testing.T) {
	pool := open(t, "")
	exec(t, pool, "CREATE TABLE t (id INT PRIMARY KEY, n INT)")
	exec(t, pool, "INSERT INTO t VALUES (1, 0)")
	ctx, cancel := context.WithCancel(context.Background())
	connection, err := pool.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{"BEGIN", "UPDATE t SET n = 1 WHERE id = 1"} {
		if _, err := connection.ExecContext(ctx, statement); err != nil {
			t.Fatal(err)
		}
	}
	time.AfterFunc(100*time.Millisecond, cancel)
	if _, err := connection.ExecContext(ctx, "SELECT SLEEP(3)"); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	connection.Close()
	exec(t, pool, "UPDATE t SET n = n + 10 WHERE id = 1")
	if n := number(t, pool, "SELECT n FROM t"); n != 10 {
		t.Fatal("the cancelled transaction left", n)
	}
}

func TestLoadDataLocal(t *testing.T) {
	pool := open(t, "?multiStatements=true")
	exec(t, pool, "CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(20), n INT); SET GLOBAL local_infile = ON")
	path := filepath.Join(t.TempDir(), "rows.csv")
	if err := os.WriteFile(path, []byte("id,s\n1,\"one, \"\"quoted\"\"\"\n2,\\N\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	mysql.RegisterLocalFile(path)
	defer mysql.DeregisterLocalFile(path)
	result := exec(t, pool, fmt.Sprintf(`LOAD DATA LOCAL INFILE '%s' INTO TABLE t FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '"'
		LINES TERMINATED BY '\n' IGNORE 1 LINES (id, s) SET n = id * 10`, path))
	if rows, _ := result.RowsAffected(); rows != 2 {
		t.Fatal("rows:", rows)
	}
	if n := number(t, pool, `SELECT SUM(n) FROM t WHERE s = 'one, "quoted"' OR s IS NULL`); n != 30 {
		t.Fatal(n)
	}
}
