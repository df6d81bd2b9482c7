package comparison

import (
	"fmt"

	"commitlab.dev/ledger/internal/judge"
	"commitlab.dev/ledger/internal/killloop"
)

// Outcome is what one run came to.
type Outcome struct {
	System string       `json:"system"`
	Fault  string       `json:"fault"`
	Power  Power        `json:"power"`
	Number int          `json:"number"`
	Result judge.Result `json:"verdict"`
	// Reasons speak against a Passed.
	Reasons []string `json:"reasons,omitempty"`

	Acknowledged  int                `json:"acknowledged"`
	Indeterminate int                `json:"indeterminate"`
	Lost          int                `json:"lost"`
	LostCommits   []judge.LostCommit `json:"lostCommits,omitempty"`
	// StaleRows are rows of which some read was not of the value written last.
	StaleRows int `json:"staleRows"`
	// OutageSeconds is the longest time without an acknowledgement.
	OutageSeconds float64 `json:"outageSeconds"`
	RecoveredBy   string  `json:"recoveredBy"`
	// Rebuilt servers were made anew from a copy of the source.
	Rebuilt        int     `json:"rebuilt"`
	UnsyncedWrites int     `json:"unsyncedWrites"`
	Seconds        float64 `json:"seconds"`
	// Kept is where data, logs and journal are, if the run has not passed.
	Kept string `json:"-"`
}

// take takes in a round.
func (o *Outcome) take(r killloop.Round) {
	v := r.Verdict
	o.Result, o.Reasons = v.Result, v.Reasons
	o.Acknowledged, o.Indeterminate, o.Lost, o.LostCommits = v.Acknowledged, v.Indeterminate, v.Lost, v.LostCommits
	o.StaleRows = len(v.Registers.Wrong)
	o.OutageSeconds, o.RecoveredBy, o.UnsyncedWrites = r.Fault.RTOSeconds, r.Fault.RecoveredBy, r.UnsyncedWrites
}

// String is a line for who watches.
func (o Outcome) String() string {
	power := ""
	if o.Power != On {
		power = ", power lost (" + string(o.Power) + ")"
	}
	line := fmt.Sprintf("%-12s %d: %s%s: %s, acknowledged %d, lost %d, outage %.3f s by %s", o.System, o.Number, o.Fault, power,
		o.Result, o.Acknowledged, o.Lost, o.OutageSeconds, o.RecoveredBy)
	if len(o.Reasons) > 0 {
		line += fmt.Sprintf(" %q (%s)", o.Reasons, o.Kept)
	}
	return line
}
