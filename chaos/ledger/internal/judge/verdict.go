// Package judge compares what a ledger wrote down with what the servers show, and says whether an acknowledged commit
// was lost.
package judge

import (
	"time"

	"commitlab.dev/ledger/internal/journal"
	"commitlab.dev/ledger/internal/register"
	"commitlab.dev/ledger/internal/timeline"
)

// Result is the verdict in one word.
type Result string

const (
	Passed Result = "Passed"
	Failed Result = "Failed"
	// Inconclusive: nothing wrong was found, and not everything that a Passed needs was proved.
	Inconclusive Result = "Inconclusive"
	// Unsupported: a fault could not be injected here at all.
	Unsupported Result = "Unsupported"
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
	// LostCommits tells what is known of the first lost ids.
	LostCommits []LostCommit `json:"lostCommits,omitempty"`

	Bank    Bank              `json:"bank"`
	Servers []Server          `json:"servers"`
	Faults  []timeline.Fault  `json:"faults"`
	Pauses  []timeline.Pause  `json:"pauses"`
	Masters []timeline.Tenure `json:"masters"`
	// Reads during the run, by server.
	Reads map[string]*journal.Reads `json:"reads,omitempty"`
	// OwnReads had waited for the GTIDs of an acknowledged commit.
	OwnReads map[string]*journal.Reads `json:"ownReads,omitempty"`
	// Registers says whether single rows were linearizable.
	Registers             register.Result `json:"registers"`
	StaleAcknowledgements int             `json:"staleAcknowledgements"`
	// Rate is how many commits each second saw acknowledged.
	Rate      journal.Rate `json:"rate"`
	StartedAt time.Time    `json:"startedAt"`
	LastOK    time.Time    `json:"lastOK"`

	// settled: something is wrong that no waiting mends.
	settled bool
}

// LostCommit is an acknowledged id that the master does not have.
type LostCommit struct {
	ID             uint64          `json:"id"`
	AcknowledgedAt time.Time       `json:"acknowledgedAt"`
	AcknowledgedBy timeline.Server `json:"acknowledgedBy"`
	// StillOn names the servers that show it.
	StillOn []string `json:"stillOn"`
}

// Bank says whether the accounts hold what the transfers that are there have left them.
type Bank struct {
	Accounts      int   `json:"accounts"`
	Expected      int64 `json:"expectedTotal"`
	Actual        int64 `json:"actualTotal"`
	WrongAccounts int   `json:"wrongAccounts"`
}

// Server says whether a server that was to be read shows exactly what the master shows.
type Server struct {
	Name  string `json:"name"`
	ID    string `json:"id"`
	Rows  int    `json:"rows"`
	Equal bool   `json:"equal"`
	// GTIDs says how the executed transactions differ from the master's; empty when they do not.
	GTIDs string `json:"gtids,omitempty"`
	Error string `json:"error,omitempty"`
}
