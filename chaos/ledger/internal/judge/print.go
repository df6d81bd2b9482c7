package judge

import (
	"encoding/json"
	"fmt"
	"io"
)

// ExitCode is what a program that ends with this verdict returns.
func (v Verdict) ExitCode() int {
	switch v.Result {
	case Passed:
		return 0
	case Failed:
		return 1
	default:
		return 2
	}
}

// WriteJSON prints the whole verdict.
func (v Verdict) WriteJSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(v)
}

// WriteText prints what a person wants to know.
func (v Verdict) WriteText(w io.Writer) error {
	_, err := fmt.Fprintf(w, "verdict: %s\nacknowledged %d, lost %d, duplicated %d, indeterminate %d, refused %d\n",
		v.Result, v.Acknowledged, v.Lost, v.Duplicated, v.Indeterminate, v.Refused)
	for _, f := range v.Faults {
		if f.AckedAfter {
			fmt.Fprintf(w, "fault %s: RTO %.3f s, recovered by %s\n", f.Name, f.RTOSeconds, f.RecoveredBy)
		}
	}
	for _, r := range v.Replicas {
		fmt.Fprintf(w, "replica %s: equal %t\n", r.Address, r.Equal)
	}
	for _, reason := range v.Reasons {
		fmt.Fprintf(w, "reason: %s\n", reason)
	}
	return err
}
