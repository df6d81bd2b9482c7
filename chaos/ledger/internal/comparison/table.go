package comparison

import (
	"fmt"
	"slices"
	"strings"

	"commitlab.dev/ledger/internal/judge"
)

// row is what all runs of one fault on one system came to.
type row struct {
	fault, system      string
	runs               int
	results            map[judge.Result]int
	lost, acknowledged int
	stale, rebuilt     int
	outages            []float64
}

func (r *row) add(o Outcome) {
	r.runs++
	r.results[o.Result]++
	r.lost += o.Lost
	r.acknowledged += o.Acknowledged
	r.stale += o.StaleRows
	r.rebuilt += o.Rebuilt
	if o.RecoveredBy != "" {
		r.outages = append(r.outages, o.OutageSeconds)
	}
}

// rows keeps the order in which faults and systems were met first.
func rows(outcomes []Outcome, power Power) []*row {
	type key struct{ fault, system string }
	known := map[key]*row{}
	var faults []string
	var ordered []*row
	for _, o := range outcomes {
		if o.Power != power {
			continue
		}
		k := key{o.Fault, o.System}
		if known[k] == nil {
			known[k] = &row{fault: o.Fault, system: o.System, results: map[judge.Result]int{}}
			ordered = append(ordered, known[k])
			if !slices.Contains(faults, o.Fault) {
				faults = append(faults, o.Fault)
			}
		}
		known[k].add(o)
	}
	slices.SortStableFunc(ordered, func(a, b *row) int { return slices.Index(faults, a.fault) - slices.Index(faults, b.fault) })
	return ordered
}

const head = `| fault | system | runs | Passed | Failed | Inconclusive | acknowledged | lost | stale rows | rebuilt | outage, s |
| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
`

// Table says in Markdown what came out where kills took that much with them; nothing where that was not tried.
func Table(outcomes []Outcome, power Power) string {
	all := rows(outcomes, power)
	if len(all) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(head)
	for _, r := range all {
		fmt.Fprintf(&b, "| %s | %s | %d | %d | %d | %d | %d | %d | %d | %d | %s |\n", r.fault, r.system, r.runs,
			r.results[judge.Passed], r.results[judge.Failed], r.results[judge.Inconclusive], r.acknowledged, r.lost, r.stale, r.rebuilt, median(r.outages))
	}
	return b.String()
}

// median of those runs whose writes came back; a dash where there is none.
func median(values []float64) string {
	if len(values) == 0 {
		return "–"
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 0 {
		return fmt.Sprintf("%.1f", (sorted[middle-1]+sorted[middle])/2)
	}
	return fmt.Sprintf("%.1f", sorted[middle])
}
