package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
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
	fmt.Fprintf(out, "\n  %-16s %-7s %6s %6s  %-18s %12s %5s %8s\n", "case", "passed", "RTO, s", "worst", "by", "acknowledged", "lost", "took, s")
	for _, row := range r.rows() {
		fmt.Fprintf(out, "  %-16s %-7s %6s %6s  %-18s %12d %5d %8.0f\n",
			row.name, fmt.Sprintf("%d/%d", row.passed, row.played), row.median(), row.worst(), strings.Join(row.by, ","), row.acknowledged, row.lost, row.seconds)
	}
	for _, c := range r.Cases {
		if c.Why != "" {
			fmt.Fprintf(out, "\n  %s: %s: %s\n", c.Case, c.Result, strings.ReplaceAll(c.Why, "\n", "\n    "))
		}
	}
}

// row sums up all plays of one case.
type row struct {
	name               string
	played, passed     int
	rtos               []float64 // sorted
	by                 []string
	acknowledged, lost int
	seconds            float64
}

func (r *report) rows() (rows []*row) {
	byName := map[string]*row{}
	for _, c := range r.Cases {
		of := byName[c.Case]
		if of == nil {
			of = &row{name: c.Case}
			byName[c.Case] = of
			rows = append(rows, of)
		}
		of.add(c)
	}
	return rows
}

func (r *row) add(c result) {
	r.played++
	if c.Result == "passed" {
		r.passed++
	}
	r.acknowledged += c.Verdict.Acknowledged
	r.lost += c.Verdict.Lost
	r.seconds += c.Seconds
	if rto, by := longest(c.Verdict.Faults); by != "" {
		r.rtos = append(r.rtos, rto)
		slices.Sort(r.rtos)
		if !slices.Contains(r.by, by) {
			r.by = append(r.by, by)
		}
	}
}

func (r *row) median() string {
	if len(r.rtos) == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", (r.rtos[(len(r.rtos)-1)/2]+r.rtos[len(r.rtos)/2])/2)
}

func (r *row) worst() string {
	if len(r.rtos) == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", r.rtos[len(r.rtos)-1])
}

// longest is the longest RTO of one play, and what ended it; empty when the ledger knows none.
func longest(faults []stage.Fault) (rto float64, by string) {
	for _, f := range faults {
		if f.RTOSeconds >= rto && !f.LedgerAway {
			rto, by = f.RTOSeconds, f.RecoveredBy
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
