// Package judge compares what a ledger wrote down with what the servers show, and says whether an acknowledged commit
// was lost.
package judge

import (
	"time"

	"commitlab.dev/ledger/internal/timeline"
)

// Result is the verdict in one word.
type Result string

const (
	Passed       Result = "Passed"
	Failed       Result = "Failed"
	Inconclusive Result = "Inconclusive"
)

// Verdict is the outcome of a run, as it is printed for scripts.
type Verdict struct {
	Result  Result   `json:"verdict"`
	Reasons []string `json:"reasons"`
	Run     string   `json:"run"`

	Acknowledged  int `json:"acknowledged"`
	Indeterminate int `json:"indeterminate"`
	Refused       int `json:"refused"`

	// Lost ids were acknowledged and are not there. Duplicated ids are there more than once. Resurrected ids are there
	// although the server refused them. Unattempted ids are there and were never sent. Corrupt rows are not what was written.
	Lost        int `json:"lost"`
	Duplicated  int `json:"duplicated"`
	Resurrected int `json:"resurrected"`
	Unattempted int `json:"unattempted"`
	Corrupt     int `json:"corrupt"`
	// Examples names a few ids per kind of trouble, for a person to look at.
	Examples map[string][]uint64 `json:"examples,omitempty"`

	Bank                  Bank              `json:"bank"`
	Replicas              []Replica         `json:"replicas"`
	Faults                []timeline.Fault  `json:"faults"`
	Pauses                []timeline.Pause  `json:"pauses"`
	Masters               []timeline.Tenure `json:"masters"`
	StaleAcknowledgements int               `json:"staleAcknowledgements"`
	StartedAt             time.Time         `json:"startedAt"`
	LastOK                time.Time         `json:"lastOK"`
}

// Bank says whether the accounts hold what the transfers that are there have left them.
type Bank struct {
	Accounts      int   `json:"accounts"`
	Expected      int64 `json:"expectedTotal"`
	Actual        int64 `json:"actualTotal"`
	WrongAccounts int   `json:"wrongAccounts"`
}

// Replica says whether a replica shows exactly what the master shows.
type Replica struct {
	Address string `json:"address"`
	Rows    int    `json:"rows"`
	Equal   bool   `json:"equal"`
	Error   string `json:"error,omitempty"`
}
