// Package dbservertest starts database servers for tests.
package dbservertest

import (
	"database/sql"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
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

// Commitd returns the commitd program: what COMMITD names, or the one that the engine's build has left. Without one the test is skipped.
func Commitd(t *testing.T) string {
	t.Helper()
	return program(t, "COMMITD", "commitd", "make -C engine build")
}

// CommitdWithDefect returns the program that makes mistakes, and sets which one.
func CommitdWithDefect(t *testing.T, defect string) string {
	t.Helper()
	t.Setenv("COMMITD_DEFECT", defect)
	return program(t, "COMMITD_WITH_DEFECTS", "commitd-with-defects", "make -C engine defects")
}

func program(t *testing.T, variable, name, howToBuild string) string {
	t.Helper()
	path := os.Getenv(variable)
	if path == "" {
		_, file, _, _ := runtime.Caller(0)
		path = filepath.Join(filepath.Dir(file), "..", "..", "..", "..", "..", "build", "bin", name)
	}
	if _, err := os.Stat(path); err != nil {
		t.Skipf("%v (%s, or set %s)", err, howToBuild, variable)
	}
	return path
}

// MariaDBTemplate returns a datadir that MariaDB's servers may begin with. Where there is no MariaDB, the test is skipped.
func MariaDBTemplate(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("mariadbd"); err != nil {
		t.Skipf("%v (make deps, and build/servers/bin in PATH)", err)
	}
	s, err := dbserver.New(dbserver.MariaDBMember(0), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return s.DataDir()
}

// PowerLossLibrary is the library that makes disks forget, and more go wrong.
func PowerLossLibrary(t *testing.T) string {
	t.Helper()
	built, err := buildPowerLossLibrary()
	if err != nil {
		t.Fatal(err)
	}
	library := filepath.Join(t.TempDir(), "powerloss.so")
	if err := os.WriteFile(library, built, 0o755); err != nil {
		t.Fatal(err)
	}
	return library
}

var buildPowerLossLibrary = sync.OnceValues(func() ([]byte, error) {
	_, file, _, _ := runtime.Caller(0)
	sources, err := filepath.Glob(filepath.Join(filepath.Dir(file), "..", "..", "..", "..", "powerloss", "*.c"))
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "powerloss")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	library := filepath.Join(dir, "powerloss.so")
	arguments := append([]string{"-shared", "-fPIC", "-O2", "-o", library, "-ldl", "-lpthread"}, sources...)
	if output, err := exec.Command("cc", arguments...).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, output)
	}
	return os.ReadFile(library)
})

// FreePort returns one that nobody listens at.
func FreePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
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
