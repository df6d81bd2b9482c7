package peerset

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"commitlab.dev/ledger/internal/dbserver"
	"commitlab.dev/ledger/internal/dbserver/dbservertest"
)

// start starts a set with a table in it.
func start(t *testing.T, config Config) (context.Context, *Set) {
	t.Helper()
	config.Dir, config.Replicas, config.Template = t.TempDir(), 2, dbservertest.MariaDBTemplate(t)
	s, err := New(config, slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug})))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(20 * time.Second); err != nil {
			t.Error(err)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	must(t, s.Start(ctx))
	must(t, commands(ctx, s.Source(), "CREATE DATABASE ledger", "CREATE TABLE ledger.t (id INT PRIMARY KEY)"))
	return ctx, s
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func rows(t *testing.T, ctx context.Context, m *dbserver.Member) (count int) {
	t.Helper()
	must(t, value(ctx, m, "SELECT COUNT(*) FROM ledger.t", &count))
	return count
}

// write has the source acknowledge so many rows.
func write(t *testing.T, ctx context.Context, m *dbserver.Member, from, count int) {
	t.Helper()
	for i := range count {
		must(t, commands(ctx, m, fmt.Sprintf("INSERT INTO ledger.t VALUES (%d)", from+i)))
	}
}

// awaitRows waits until a replica shows so many.
func awaitRows(t *testing.T, ctx context.Context, m *dbserver.Member, want int) {
	t.Helper()
	for rows(t, ctx, m) != want {
		if !dbserver.Pause(ctx, retryEvery) {
			t.Fatalf("%s shows %d rows, not %d", m.Name, rows(t, ctx, m), want)
		}
	}
}

// All that a replica has received and not applied is acknowledged; the source is gone, and the replicas have been started again.
func TestWhatReplicasHadOnlyReceivedSurvivesTheirRestart(t *testing.T) {
	t.Parallel()
	ctx, s := start(t, Config{})
	source := s.Source()
	write(t, ctx, source, 0, 20)
	for _, m := range s.Replicas() {
		awaitRows(t, ctx, m, 20)
		must(t, commands(ctx, m, "STOP SLAVE SQL_THREAD"))
	}
	write(t, ctx, source, 20, 30)
	must(t, source.Kill())
	for _, m := range s.Replicas() {
		must(t, m.Kill())
		must(t, s.Launch(m))
	}
	must(t, s.FailOver(ctx))
	if s.Source() == source {
		t.Fatal("the source is one that has ended")
	}
	if got := rows(t, ctx, s.Source()); got != 50 {
		t.Errorf("%d of 50 rows are left", got)
	}
	must(t, s.Rejoin(ctx, source))
	write(t, ctx, s.Source(), 50, 1)
	awaitRows(t, ctx, source, 51)
	if s.Rebuilt() != 0 {
		t.Error("a source that had nothing of its own was rebuilt")
	}
}

// A former source takes back what nobody acknowledged; it is not made anew for that.
func TestAFormerSourceTakesBackWhatWasNotAcknowledged(t *testing.T) {
	t.Parallel()
	ctx, s := start(t, Config{})
	source := s.Source()
	write(t, ctx, source, 0, 5)
	for _, m := range s.Replicas() {
		must(t, commands(ctx, m, "STOP SLAVE IO_THREAD"))
	}
	unanswered, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if err := commands(unanswered, source, "INSERT INTO ledger.t VALUES (100)"); err == nil {
		t.Fatal("a commit that no replica has was acknowledged")
	}
	must(t, s.FailOverAround(ctx, source, func() error { return nil }))
	write(t, ctx, s.Source(), 5, 1)
	must(t, s.Attach(ctx)) // it still runs
	awaitRows(t, ctx, source, 6)
	if s.Rebuilt() != 0 {
		t.Error("it was rebuilt")
	}
}

func TestAServerThatHasDivergedIsMadeAnew(t *testing.T) {
	t.Parallel()
	ctx, s := start(t, Config{Asynchronous: true})
	source := s.Source()
	write(t, ctx, source, 0, 5)
	for _, m := range s.Replicas() {
		awaitRows(t, ctx, m, 5)
		must(t, m.Pause())
	}
	write(t, ctx, source, 100, 5)
	must(t, source.Kill())
	for _, m := range s.Replicas() {
		must(t, m.Kill())
		must(t, s.Launch(m))
	}
	must(t, s.FailOver(ctx))
	write(t, ctx, s.Source(), 5, 1)
	must(t, s.Rejoin(ctx, source))
	awaitRows(t, ctx, source, 6)
	if s.Rebuilt() != 1 {
		t.Errorf("%d were rebuilt", s.Rebuilt())
	}
	if _, err := os.Stat(source.DataDir() + ".1"); err != nil {
		t.Error("what nobody else has was thrown away: ", err)
	}
}

func TestNobodyIsPromotedWhileAReplicaCannotBeAsked(t *testing.T) {
	t.Parallel()
	ctx, s := start(t, Config{AnswerWithin: time.Second})
	source, silent := s.Source(), s.Replicas()[0]
	must(t, silent.Kill())
	must(t, source.Kill())
	short, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	if err := s.FailOver(short); err == nil {
		t.Fatalf("%s is the source, whatever %s had acknowledged", s.Source().Name, silent.Name)
	}
	must(t, s.Launch(silent))
	must(t, s.FailOver(ctx))
}

// A kill between the removal of relay logs and that of their names leaves what MariaDB cannot begin with.
func TestAReplicaWithoutTheFilesOfItsRelayLogFollowsAgain(t *testing.T) {
	t.Parallel()
	ctx, s := start(t, Config{})
	replica := s.Replicas()[0]
	write(t, ctx, s.Source(), 0, 5)
	awaitRows(t, ctx, replica, 5)
	must(t, replica.Kill())
	files, err := filepath.Glob(filepath.Join(replica.DataDir(), "relay-bin.0*"))
	must(t, err)
	for _, file := range files {
		must(t, os.Remove(file))
	}
	must(t, s.Rejoin(ctx, replica))
	write(t, ctx, s.Source(), 5, 1)
	awaitRows(t, ctx, replica, 6)
	if s.Rebuilt() != 0 {
		t.Error("it was rebuilt")
	}
}
