// Package dbservertest starts database servers for tests.
package dbservertest

import (
	"database/sql"
	"os"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"

	"commitlab.dev/ledger/internal/dbserver"
)

// Start starts a server on a throw-away datadir, waits until it answers and stops it when the test ends.
func Start(t *testing.T, commands dbserver.Commands) *dbserver.Server {
	t.Helper()
	server, err := dbserver.New(commands, t.TempDir())
	if err != nil {
		t.Fatalf("%v (make deps installs what the tests need)", err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(20 * time.Second); err != nil {
			t.Error(err)
		}
	})
	awaitAnswer(t, server)
	return server
}

func awaitAnswer(t *testing.T, s *dbserver.Server) {
	t.Helper()
	pool := Open(t, s, "")
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		err := pool.Ping()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			output, _ := os.ReadFile(s.LogFile())
			t.Fatalf("the server does not answer: %v\n%s", err, output)
		}
	}
}

// Open returns a pool that is closed when the test ends.
func Open(t *testing.T, s *dbserver.Server, database string) *sql.DB {
	t.Helper()
	pool, err := sql.Open("mysql", s.DSN(database))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pool.Close() })
	return pool
}
