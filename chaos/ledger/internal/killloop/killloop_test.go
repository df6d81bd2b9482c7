package killloop

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"strings"
	"testing"
	"time"

	"commitlab.dev/ledger/internal/dbserver"
	"commitlab.dev/ledger/internal/judge"
	"commitlab.dev/ledger/internal/timeline"
)

func config(t *testing.T) Config {
	return Config{
		Dir: t.TempDir(), Rounds: 2, Writers: 8,
		MinLoad: 300 * time.Millisecond, MaxLoad: 600 * time.Millisecond, AfterLoad: 50 * time.Millisecond,
		Patience: time.Minute, Disturb: true,
	}
}

func alone(t *testing.T, c Config, commands dbserver.Commands) Victim {
	t.Helper()
	victim, err := NewSingle(commands, c.Dir)
	if err != nil {
		t.Fatal(err)
	}
	return victim
}

func TestADurableServerSurvivesEveryKill(t *testing.T) {
	var rounds []Round
	var between time.Time // the first round's load has ended, the second one's not begun
	report := func(r Round) {
		rounds = append(rounds, r)
		if len(rounds) == 1 {
			between = time.Now()
			time.Sleep(time.Duration(2 * r.Fault.RTOSeconds * float64(time.Second))) // longer than any outage so far
		}
	}
	c := config(t)
	err := Run(t.Context(), c, alone(t, c, dbserver.MariaDB()), report, slog.New(slog.DiscardHandler))
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
	if first := rounds[1].Verdict.Faults[0]; first.LastOKBefore.Before(between) && first.FirstOKAfter.After(between) {
		t.Errorf("the time between the rounds counts as an outage of %v s", first.RTOSeconds)
	}
	if rounds[1].Verdict.Acknowledged <= rounds[0].Verdict.Acknowledged {
		t.Error("the second round did not continue the first one's journal")
	}
}

// Neither the server nor the patience is to blame for an end that was asked for.
func TestALoopThatIsStoppedSaysSo(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	var rounds int
	endless := config(t)
	endless.Rounds = math.MaxInt
	err := Run(ctx, endless, alone(t, endless, dbserver.MariaDB()), func(Round) { rounds++; time.AfterFunc(endless.MinLoad/2, stop) }, slog.New(slog.DiscardHandler))
	if !errors.Is(err, context.Canceled) || rounds == 0 {
		t.Fatalf("after %d rounds: %v", rounds, err)
	}
}

// A server that keeps its log in its own memory acknowledges what a kill takes away. If the loop passes that, it passes anything. A
// definition change among the load writes the log, and a kill right behind one takes nothing away: there are several kills.
func TestAServerThatDoesNotWriteItsLogIsFound(t *testing.T) {
	careless := dbserver.MariaDB()
	careless.Run = strings.Replace(careless.Run, "--log-bin --sync-binlog=1 --innodb-flush-log-at-trx-commit=1",
		"--skip-log-bin --innodb-flush-log-at-trx-commit=0 --innodb-flush-log-at-timeout=2700", 1)
	var last Round
	c := config(t)
	c.Rounds = 20
	err := Run(t.Context(), c, alone(t, c, careless), func(r Round) { last = r }, slog.New(slog.DiscardHandler))
	if err == nil {
		t.Fatal("lost commits went unnoticed")
	}
	if last.Verdict.Result != judge.Failed || last.Verdict.Lost == 0 {
		t.Fatalf("%s, lost %d: %v; %v", last.Verdict.Result, last.Verdict.Lost, last.Verdict.Reasons, err)
	}
}
