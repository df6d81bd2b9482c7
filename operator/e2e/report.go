package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"commitlab.dev/demo/stage"
)

// result is what came of a case.
type result struct {
	Case    string        `json:"case"`
	Result  string        `json:"result"` // passed, failed or skipped
	Why     string        `json:"why,omitempty"`
	Seconds float64       `json:"seconds"`
	Verdict stage.Verdict `json:"verdict"`

	begun time.Time
}

func (r result) passed() result            { r.Result = "passed"; return r }
func (r result) failed(why string) result  { r.Result, r.Why = "failed", why; return r }
func (r result) skipped(why string) result { r.Result, r.Why = "skipped", why; return r }

// report is what came of all of them.
type report struct {
	Commit  string    `json:"commit"`
	At      time.Time `json:"at"`
	Cluster string    `json:"cluster"`
	Cases   []result  `json:"cases"`
}

func newReport(t stage.Tools, p place) *report {
	r := &report{At: time.Now().UTC(), Cluster: p.kind}
	if p.context != "" {
		r.Cluster = p.context
	}
	r.Commit = commitOf(context.Background(), t.Root)
	return r
}

func (r *report) add(one result) { r.Cases = append(r.Cases, one) }

// good says whether as many cases as were asked for ended, none of them badly, and at least one well.
func (r *report) good(asked int) bool {
	passed := 0
	for _, c := range r.Cases {
		switch c.Result {
		case "passed":
			passed++
		case "skipped":
		default:
			return false
		}
	}
	return passed > 0 && len(r.Cases) == asked
}

// print shows one line for each case, with the longest time without an acknowledged commit that a client saw.
func (r *report) print(out io.Writer) {
	fmt.Fprintf(out, "\n  %-18s %-8s %8s %-10s %12s %6s %8s\n", "case", "result", "RTO, s", "by", "acknowledged", "lost", "took, s")
	for _, c := range r.Cases {
		rto, by := worst(c.Verdict.Faults)
		fmt.Fprintf(out, "  %-18s %-8s %8s %-10s %12d %6d %8.0f\n", c.Case, c.Result, rto, by, c.Verdict.Acknowledged, c.Verdict.Lost, c.Seconds)
	}
	for _, c := range r.Cases {
		if c.Why != "" {
			fmt.Fprintf(out, "\n  %s: %s: %s\n", c.Case, c.Result, strings.ReplaceAll(c.Why, "\n", "\n    "))
		}
	}
}

// worst is the longest RTO of a case, and who took over then.
func worst(faults []stage.Fault) (rto, by string) {
	rto, by, longest := "-", "", -1.0
	for _, f := range faults {
		if f.RTOSeconds > longest && !f.LedgerAway {
			longest = f.RTOSeconds
			rto, by = fmt.Sprintf("%.2f", f.RTOSeconds), f.RecoveredBy
		}
	}
	return rto, by
}

// keep writes the report to a file of its own.
func (r *report) keep(folder string) (string, error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return "", err
	}
	file := filepath.Join(folder, r.At.Format("20060102-150405")+".json")
	return file, os.WriteFile(file, append(text, '\n'), 0o644)
}
