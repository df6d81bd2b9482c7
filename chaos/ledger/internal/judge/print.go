package judge

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
)

// ExitCode is what a program that ends with this verdict returns.
func (v Verdict) ExitCode() int {
	switch v.Result {
	case Passed:
		return 0
	case Failed:
		return 1
	case Unsupported:
		return 4
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
		for _, e := range f.Evidence {
			fmt.Fprintf(w, "fault %s: %s of %s was %q, is %q\n", f.Name, e.Kind, e.Object, e.Before, e.After)
		}
		if f.Injected() && f.AckedAfter {
			fmt.Fprintf(w, "fault %s: RTO %.3f s, recovered by %s\n", f.Name, f.RTOSeconds, f.RecoveredBy)
		}
	}
	for _, s := range v.Servers {
		fmt.Fprintf(w, "server %s: equal %t\n", s.Name, s.Equal)
	}
	if len(v.Servers) == 0 {
		fmt.Fprintln(w, "servers: none was given with --server, so the master alone was read")
	}
	for _, l := range v.LostCommits {
		fmt.Fprintf(w, "lost: %s\n", l)
	}
	for _, reason := range v.Reasons {
		fmt.Fprintf(w, "reason: %s\n", reason)
	}
	return err
}

// String says everything that is known of a lost commit.
func (l LostCommit) String() string {
	still := "on no server"
	if len(l.StillOn) > 0 {
		still = "still on " + strings.Join(l.StillOn, ", ")
	}
	return fmt.Sprintf("id %d, acknowledged at %s by %s in epoch %d, %s",
		l.ID, l.AcknowledgedAt.UTC().Format(time.RFC3339Nano), l.AcknowledgedBy.ID, l.AcknowledgedBy.Epoch, still)
}
