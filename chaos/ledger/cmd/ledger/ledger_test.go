package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"commitlab.dev/ledger/internal/api"
	"commitlab.dev/ledger/internal/dbserver"
	"commitlab.dev/ledger/internal/dbserver/dbservertest"
	"commitlab.dev/ledger/internal/judge"
	"commitlab.dev/ledger/internal/server"
)

// ledger runs the program's command line and returns its exit code and the verdict it printed.
func ledger(t *testing.T, ctx context.Context, arguments ...string) (int, judge.Verdict) {
	t.Helper()
	var output bytes.Buffer
	root := newRootCommand()
	root.SetOut(&output)
	root.SetArgs(arguments)
	err := root.ExecuteContext(ctx)
	var code exitError
	if err != nil && !errors.As(err, &code) {
		t.Error(err)
		return 3, judge.Verdict{}
	}
	var verdict judge.Verdict
	if err := json.Unmarshal(output.Bytes(), &verdict); err != nil {
		t.Errorf("%v in %q", err, output.String())
	}
	return int(code), verdict
}

func TestAnAcknowledgedRowThatIsDeletedIsReportedAsLost(t *testing.T) {
	server := dbservertest.Start(t, dbserver.MariaDB())
	file := filepath.Join(t.TempDir(), "journal")
	dsn := server.DSN("bank")
	code, before := ledger(t, t.Context(), "run", "--dsn", dsn, "--file", file, "--run", "t", "--duration", "1s", "--writers", "4",
		"--server", "one="+dsn, "--json")
	if code != 0 || before.Result != judge.Passed || before.Acknowledged == 0 || len(before.Servers) != 1 || !before.Servers[0].Equal || before.Reads["one"].Right == 0 {
		t.Fatalf("exit code %d, %+v", code, before)
	}

	pool := dbservertest.Open(t, server, "bank")
	var id uint64
	if err := pool.QueryRow("SELECT MIN(id) FROM ledger_t_entries WHERE amount = 0").Scan(&id); err != nil {
		t.Fatal(err)
	}
	if _, err := pool.Exec("DELETE FROM ledger_t_entries WHERE id = ?", id); err != nil {
		t.Fatal(err)
	}
	code, after := ledger(t, t.Context(), "verify", "--dsn", dsn, "--file", file, "--json")
	if code != 1 || after.Result != judge.Failed || after.Lost != 1 || after.Examples["lost"][0] != id {
		t.Fatalf("exit code %d, %+v", code, after)
	}
}

func TestAReplicaThatDiffersIsReported(t *testing.T) {
	master := dbservertest.Start(t, dbserver.MariaDB())
	other := dbservertest.Start(t, dbserver.MariaDB())
	pool := dbservertest.Open(t, other, "")
	for _, statement := range []string{
		"CREATE DATABASE bank",
		"CREATE TABLE bank.ledger_t_entries (id BIGINT PRIMARY KEY, payload VARCHAR(64), debit INT, credit INT, amount BIGINT, checksum BIGINT)",
		"CREATE TABLE bank.ledger_t_accounts (id INT PRIMARY KEY, balance BIGINT)",
		"CREATE TABLE bank.ledger_t_registers (id INT PRIMARY KEY, value BIGINT)",
	} {
		if _, err := pool.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	code, verdict := ledger(t, t.Context(), "run", "--dsn", master.DSN("bank"), "--server", "other="+other.DSN("bank"), "--run", "t",
		"--file", filepath.Join(t.TempDir(), "journal"), "--duration", "300ms", "--writers", "2", "--patience", "3s", "--json")
	if code != 1 || verdict.Result != judge.Failed || verdict.Lost != 0 || verdict.Servers[0].Equal {
		t.Fatalf("exit code %d, %+v", code, verdict)
	}
}

func TestAServerThatNeverComesBackMakesTheVerdictInconclusive(t *testing.T) {
	server := dbservertest.Start(t, dbserver.MariaDB())
	ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
	defer cancel()
	time.AfterFunc(time.Second, func() {
		if err := server.Kill(); err != nil {
			t.Error(err)
		}
	})
	code, verdict := ledger(t, ctx, "run", "--dsn", server.DSN("bank"), "--file", filepath.Join(t.TempDir(), "journal"),
		"--patience", "1s", "--json")
	if code != 2 || verdict.Result != judge.Inconclusive {
		t.Fatalf("exit code %d, %+v", code, verdict)
	}
}

func TestTheHTTPSideFollowsARunFromFaultToVerdict(t *testing.T) {
	server := dbservertest.Start(t, dbserver.MariaDB())
	started := time.Now()
	client := newHTTPClient(t)
	finished := make(chan judge.Verdict, 1)
	go func() {
		_, verdict := ledger(t, t.Context(), "run", "--dsn", server.DSN("bank"), "--file", filepath.Join(t.TempDir(), "journal"),
			"--writers", "4", "--http", client.address, "--server", "one="+server.DSN("bank"), "--linger", "2s", "--json")
		finished <- verdict
	}()
	client.await(func(s api.Status) bool { return s.Acknowledged > 100 })
	if code := client.do(http.MethodGet, "/verdict", nil); code != http.StatusServiceUnavailable {
		t.Fatalf("a verdict before the end: %d", code)
	}
	if code := client.do(http.MethodPost, "/fault", nil); code != http.StatusBadRequest {
		t.Fatalf("a fault without a name: %d", code)
	}
	for _, wrong := range []string{"limit=soon", "limit=-1s", "objects=0", "objects=many", "proof=errors", "expect=nothing"} {
		if code := client.do(http.MethodPost, "/fault?name=kill&"+wrong, nil); code != http.StatusBadRequest {
			t.Fatalf("%s: %d", wrong, code)
		}
	}
	const kill = "/fault?name=kill&target=one&objects=1&limit=10m"
	code := client.do(http.MethodPost, kill, nil)
	for ; code == http.StatusConflict; code = client.do(http.MethodPost, kill, nil) { // until the server was seen, which comes after the first commits
		time.Sleep(20 * time.Millisecond)
	}
	if code != http.StatusOK {
		t.Fatalf("fault: %d", code)
	}
	if code := client.do(http.MethodPost, "/fault?name=other&target=nobody", nil); code != http.StatusBadRequest {
		t.Fatalf("a fault of a server that is not there: %d", code)
	}
	if code := client.do(http.MethodPost, "/evidence?fault=kill&kind=pod-uid&object=one&before=1&after=1", nil); code != http.StatusBadRequest {
		t.Fatalf("evidence that proves nothing: %d", code)
	}
	time.Sleep(time.Until(started.Add(3 * time.Second))) // uptimes are whole seconds: what lives for less may pass for its successor
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	client.await(func(s api.Status) bool { return s.Recovered && len(s.Faults) == 1 && s.Faults[0].ErrorsNoticed > 0 })
	client.do(http.MethodPost, "/stop", nil)
	var verdict judge.Verdict
	for client.do(http.MethodGet, "/verdict", &verdict) == http.StatusServiceUnavailable {
		time.Sleep(20 * time.Millisecond)
	}
	if verdict.Faults[0].LimitSeconds != 600 || len(verdict.Rate.Seconds) == 0 {
		t.Fatalf("limit %v, rate %v", verdict.Faults[0].LimitSeconds, verdict.Rate)
	}
	if verdict.Result != judge.Passed || verdict.Faults[0].RTOSeconds <= 0 || verdict.Faults[0].RecoveredBy != "restart" || len(verdict.Faults[0].Evidence) != 1 {
		t.Fatalf("%+v", verdict)
	}
	if printed := <-finished; printed.Acknowledged != verdict.Acknowledged {
		t.Fatalf("printed %d, served %d acknowledged", printed.Acknowledged, verdict.Acknowledged)
	}
}

type httpClient struct {
	t       *testing.T
	address string
}

func newHTTPClient(t *testing.T) httpClient {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return httpClient{t, listener.Addr().String()}
}

// do returns the status code, 0 when nothing answers, and decodes the body.
func (c httpClient) do(method, path string, into any) int {
	c.t.Helper()
	request, err := http.NewRequestWithContext(c.t.Context(), method, "http://"+c.address+path, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0
	}
	defer response.Body.Close()
	if into != nil {
		if err := json.NewDecoder(response.Body).Decode(into); err != nil {
			c.t.Fatal(fmt.Errorf("%s: %w", path, err))
		}
	}
	return response.StatusCode
}

func (c httpClient) await(condition func(api.Status) bool) {
	c.t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		var status api.Status
		if c.do(http.MethodGet, "/status", &status) == http.StatusOK && condition(status) {
			return
		}
	}
	c.t.Fatal("the condition did not come true within a minute")
}

func TestAPasswordOnTheCommandLineIsRefused(t *testing.T) {
	for _, arguments := range [][]string{
		{"run", "--dsn", "app:secret@tcp(127.0.0.1:1)/bank"},
		{"verify", "--dsn", "app:secret@tcp(127.0.0.1:1)/bank"},
	} {
		root := newRootCommand()
		root.SetArgs(append(arguments, "--file", filepath.Join(t.TempDir(), "journal")))
		if err := root.ExecuteContext(t.Context()); !errors.Is(err, server.ErrPassword) {
			t.Errorf("%s: %v", arguments[0], err)
		}
	}
}
