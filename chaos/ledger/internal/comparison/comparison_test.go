package comparison

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"commitlab.dev/ledger/internal/judge"
	"commitlab.dev/ledger/internal/killloop"
)

func outcome(fault, system string, result judge.Result, lost int, outage float64) Outcome {
	o := Outcome{Fault: fault, System: system, Power: On, Result: result, Acknowledged: 10, Lost: lost, OutageSeconds: outage}
	if outage > 0 {
		o.RecoveredBy = "failover"
	}
	return o
}

func TestTheTableHasARowForEachFaultOnEachSystem(t *testing.T) {
	outcomes := []Outcome{
		outcome("kill", "ours", judge.Passed, 0, 1), outcome("kill", "theirs", judge.Failed, 7, 2),
		outcome("pause", "ours", judge.Inconclusive, 0, 0), outcome("pause", "theirs", judge.Passed, 0, 4),
		outcome("kill", "ours", judge.Passed, 0, 5), outcome("kill", "theirs", judge.Passed, 0, 3),
		outcome("kill", "ours", judge.Passed, 0, 2),
	}
	want := head +
		"| kill | ours | 3 | 3 | 0 | 0 | 30 | 0 | 0 | 0 | 2.0 |\n" +
		"| kill | theirs | 2 | 1 | 1 | 0 | 20 | 7 | 0 | 0 | 2.5 |\n" +
		"| pause | ours | 1 | 0 | 0 | 1 | 10 | 0 | 0 | 0 | – |\n" +
		"| pause | theirs | 1 | 1 | 0 | 0 | 10 | 0 | 0 | 0 | 4.0 |\n"
	if got := Table(outcomes, On); got != want {
		t.Errorf("%s\ninstead of\n%s", got, want)
	}
	if got := Table(outcomes, Torn); got != "" {
		t.Errorf("nothing lost power, but %s", got)
	}
}

func TestSystemsTakeTurnsAndNoOutcomeEndsIt(t *testing.T) {
	var order []string
	broken := func(name string) System {
		return System{Name: name, New: func(string, Power) (killloop.Set, error) {
			order = append(order, name)
			return nil, errors.New("it does not start")
		}}
	}
	plan := Plan{Systems: []System{broken("ours"), broken("theirs")}, Faults: []string{"one", "two"}, Powers: []Power{On}, Times: 2,
		Load: killloop.Config{Dir: t.TempDir()}}
	var outcomes []Outcome
	err := plan.Play(t.Context(), func(o Outcome) error { outcomes = append(outcomes, o); return nil }, slog.New(slog.DiscardHandler))
	if err != nil || len(outcomes) != 8 || strings.Join(order, " ") != strings.Repeat("ours theirs ", 3)+"ours theirs" {
		t.Fatalf("%v after %d outcomes, %v", err, len(outcomes), order)
	}
	for _, o := range outcomes {
		if o.Result != judge.Inconclusive || len(o.Reasons) != 1 || o.Reasons[0] != "it does not start" || o.Kept == "" {
			t.Errorf("%+v", o)
		}
	}

	stopped, stop := context.WithCancel(t.Context())
	stop()
	err = plan.Play(stopped, func(Outcome) error { t.Error("it says something of a run that was stopped"); return nil }, slog.New(slog.DiscardHandler))
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
