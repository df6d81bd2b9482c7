package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"commitlab.dev/ledger/internal/comparison"
	"commitlab.dev/ledger/internal/judge"
)

func TestWhatIsNotKnownIsRefusedBeforeAnythingStarts(t *testing.T) {
	for want, args := range map[string][]string{
		"say on, all or torn":    {"--power=off"},
		"build it with make":     {"--power=torn", "--power-library=" + filepath.Join(t.TempDir(), "absent.so")},
		"is less than":           {"--min-load=2s", "--max-load=1s"},
		"there are [\"commitd\"": {"--system=Oracle"},
		"there is no fault":      {"--fault=meteorite"},
	} {
		command := newCommand()
		command.SetArgs(append(args, "--dir="+t.TempDir()))
		if err := command.Execute(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", args, err)
		}
	}
}

func TestResultsAreKeptAfterEachRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "results.json")
	r := results{Commit: "abc"}
	for _, system := range systemNames() {
		r.Outcomes = append(r.Outcomes, comparison.Outcome{System: system, Result: judge.Passed})
		if err := r.write(file); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var read results
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	if read.Commit != "abc" || !slices.EqualFunc(read.Outcomes, r.Outcomes, func(a, b comparison.Outcome) bool { return a.System == b.System && a.Result == b.Result }) {
		t.Errorf("%s", text)
	}
}
