package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const scenarios = "../scenarios"

type catalogueEntry struct {
	Script   string
	What     string
	Defaults struct {
		Clients  int
		Duration string
	}
}

func readCatalogue(t *testing.T) map[string]catalogueEntry {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(scenarios, "catalogue.json"))
	if err != nil {
		t.Fatal(err)
	}
	var catalogue struct{ Loads map[string]catalogueEntry }
	if err := json.Unmarshal(data, &catalogue); err != nil {
		t.Fatal(err)
	}
	if len(catalogue.Loads) == 0 {
		t.Fatal("the catalogue has no loads")
	}
	return catalogue.Loads
}

func TestCatalogueNamesEveryScript(t *testing.T) {
	named := map[string]bool{}
	for name, entry := range readCatalogue(t) {
		named[entry.Script] = true
		if entry.What == "" || entry.Defaults.Clients < 1 {
			t.Errorf("%s: says not enough about itself: %+v", name, entry)
		}
		if _, err := time.ParseDuration(entry.Defaults.Duration); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	scripts, err := filepath.Glob(filepath.Join(scenarios, "*.js"))
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, script := range scripts {
		if !named[filepath.Base(script)] {
			t.Errorf("%s is not in the catalogue", script)
		}
	}
}

// summary is the part of k6's end-of-test summary that is checked.
type summary struct {
	Metrics map[string]struct {
		Count float64
		Avg   float64
		Value float64
	}
}

func runScenario(t *testing.T, k6, script, dsn string) summary {
	t.Helper()
	file := filepath.Join(t.TempDir(), "summary.json")
	command := exec.Command(k6, "run", "--quiet", "--summary-export", file, filepath.Join(scenarios, script))
	command.Env = append(os.Environ(), "DSN="+dsn, "CLIENTS=4", "QUERIES=80", "ROWS=1200", "K6_NO_USAGE_REPORT=true")
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var s summary
	if err := json.Unmarshal(data, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestEveryScenarioRunsAgainstARealServer(t *testing.T) {
	k6 := buildK6(t)
	dsn := startMariaDB(t)
	for name, entry := range readCatalogue(t) {
		t.Run(name, func(t *testing.T) {
			s := runScenario(t, k6, entry.Script, dsn)
			if got := s.Metrics["iterations"].Count; got != 80 {
				t.Errorf("%v iterations instead of 80", got)
			}
			if got := s.Metrics["mysql_statements"].Count; got < 80 {
				t.Errorf("%v statements counted", got)
			}
			if s.Metrics["mysql_statement_duration"].Avg <= 0 {
				t.Error("statements took no time")
			}
			if s.Metrics["mysql_errors"].Count != 0 {
				t.Errorf("%v errors", s.Metrics["mysql_errors"].Count)
			}
		})
	}
}

func TestErrorsOfTheServerAreCountedAndFailTheThreshold(t *testing.T) {
	k6 := buildK6(t)
	command := exec.Command(k6, "run", "--quiet", filepath.Join(scenarios, "slap-write.js"))
	command.Env = append(os.Environ(), "DSN="+startMariaDB(t), "DATABASE=missing", "CLIENTS=1", "QUERIES=1", "K6_NO_USAGE_REPORT=true")
	output, err := command.CombinedOutput()
	if err == nil || !strings.Contains(string(output), "Unknown database") {
		t.Fatalf("%v\n%s", err, output)
	}
}

func buildK6(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "k6")
	command := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", program, ".")
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	return program
}

// startMariaDB starts Debian's MariaDB on a throw-away datadir and returns root's data source name.
func startMariaDB(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	listener.Close()
	data := t.TempDir()
	// MariaDB clears left-over files from the temporary directory: two servers must not share one.
	t.Setenv("TMPDIR", t.TempDir())
	if output, err := exec.Command("mariadb-install-db", "--no-defaults", "--user=root", "--datadir="+data,
		"--auth-root-authentication-method=normal").CombinedOutput(); err != nil {
		t.Fatalf("%v (make deps installs it)\n%s", err, output)
	}
	server := exec.Command("mariadbd", "--no-defaults", "--user=root", "--datadir="+data, fmt.Sprintf("--port=%d", port),
		"--bind-address=127.0.0.1", "--socket="+filepath.Join(data, "sock"), "--pid-file="+filepath.Join(data, "pid"))
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Signal(syscall.SIGTERM)
		_ = server.Wait()
	})
	dsn := fmt.Sprintf("root@tcp(127.0.0.1:%d)/", port)
	awaitServer(t, dsn)
	return dsn
}

func awaitServer(t *testing.T, dsn string) {
	t.Helper()
	pool, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	for deadline := time.Now().Add(time.Minute); pool.Ping() != nil; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("MariaDB does not answer")
		}
	}
}
