package killloop

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"commitlab.dev/ledger/internal/dbserver"
	"commitlab.dev/ledger/internal/judge"
	"commitlab.dev/ledger/internal/timeline"
)

func config(t *testing.T, commands dbserver.Commands) Config {
	return Config{
		Commands: commands, Dir: t.TempDir(), Rounds: 2, Writers: 8,
		MinLoad: 300 * time.Millisecond, MaxLoad: 600 * time.Millisecond, AfterLoad: 50 * time.Millisecond,
		Patience: time.Minute, Disturb: true,
	}
}

func TestADurableServerSurvivesEveryKill(t *testing.T) {
	var rounds []Round
	err := Run(t.Context(), config(t, dbserver.MariaDB()), func(r Round) { rounds = append(rounds, r) }, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if len(rounds) != 2 {
		t.Fatalf("%d rounds", len(rounds))
	}
	for _, r := range rounds {
		if r.Verdict.Result != judge.Passed || r.Fault.RecoveredBy != timeline.ByRestart || r.Fault.RTOSeconds <= 0 {
			t.Errorf("round %d: %s %v, fault %+v", r.Number, r.Verdict.Result, r.Verdict.Reasons, r.Fault)
		}
	}
	if first, later := rounds[0].Fault, rounds[1].Verdict.Faults[0]; first.RTOSeconds != later.RTOSeconds {
		t.Errorf("the time between the rounds counts as an outage: %v s became %v s", first.RTOSeconds, later.RTOSeconds)
	}
	if rounds[1].Verdict.Acknowledged <= rounds[0].Verdict.Acknowledged {
		t.Error("the second round did not continue the first one's journal")
	}
}

// A server that keeps its log in its own memory acknowledges what a kill takes away. If the loop passes that, it passes anything.
func TestAServerThatDoesNotWriteItsLogIsFound(t *testing.T) {
	careless := dbserver.MariaDB()
	careless.Run = strings.Replace(careless.Run, "--log-bin --sync-binlog=1 --innodb-flush-log-at-trx-commit=1",
		"--skip-log-bin --innodb-flush-log-at-trx-commit=0 --innodb-flush-log-at-timeout=2700", 1)
	var last Round
	err := Run(t.Context(), config(t, careless), func(r Round) { last = r }, slog.New(slog.DiscardHandler))
	if err == nil {
		t.Fatal("lost commits went unnoticed")
	}
	if last.Verdict.Result != judge.Failed || last.Verdict.Lost == 0 {
		t.Fatalf("%s, lost %d: %v; %v", last.Verdict.Result, last.Verdict.Lost, last.Verdict.Reasons, err)
	}
}
