// Package ledger asks the acknowledged-commit checker of chaos/ledger, which runs in a pod, and tells it what is injected. The verdict is
// the ledger's; nothing here judges.
package ledger

import (
	"context"
	"encoding/json"
	"time"
)

// Phases of a run.
const (
	PhaseRunning   = "running"
	PhaseVerifying = "verifying"
	PhaseDone      = "done"
)

// Proofs that the ledger looks for by itself.
const (
	ProofProcess = "process"
	ProofLink    = "link"
)

// Ledger is one running ledger.
type Ledger interface {
	Status(ctx context.Context) (Status, error)
	// Verdict is nil while there is none.
	Verdict(ctx context.Context) (*Verdict, error)
	Mark(ctx context.Context, m Mark) error
	Prove(ctx context.Context, e Proof) error
	Stop(ctx context.Context) error
}

// Target is where a ledger runs.
type Target struct{ Namespace, Pod, Address string }

// Connector finds the ledger of a pod.
type Connector interface {
	Connect(t Target) Ledger
}

// Mark says that a fault is injected next.
type Mark struct {
	Name string
	// Targets are servers of which the ledger looks for the Proof.
	Targets []string
	Proof   string
	// Objects is how many must be proved.
	Objects      int
	ExpectOutage bool
	Limit        time.Duration
	// Unsupported says why it is not injected at all.
	Unsupported string
}

// Proof is what was looked at before a fault and afterwards.
type Proof struct{ Fault, Kind, Object, Before, After string }

// Status is the part of /status that the operator uses.
type Status struct {
	Run           string    `json:"run"`
	Phase         string    `json:"phase"`
	Acknowledged  int64     `json:"acknowledged"`
	Indeterminate int64     `json:"indeterminate"`
	LastOK        time.Time `json:"lastOK"`
	SecondsSince  float64   `json:"secondsSinceLastOK"`
	Recovered     bool      `json:"recovered"`
	Faults        []Fault   `json:"faults"`
}

// Evidence of a fault, told by the operator or seen by the ledger itself.
type Evidence struct {
	Kind   string    `json:"kind"`
	Object string    `json:"object"`
	Before string    `json:"before"`
	After  string    `json:"after"`
	At     time.Time `json:"at"`
}

// Fault is a mark and what followed it.
type Fault struct {
	Name         string     `json:"name"`
	At           time.Time  `json:"at"`
	Evidence     []Evidence `json:"evidence"`
	InjectedAt   time.Time  `json:"injectedAt"`
	LastOKBefore time.Time  `json:"lastOKBefore"`
	FirstOKAfter time.Time  `json:"firstOKAfter"`
	RTOSeconds   float64    `json:"rtoSeconds"`
	RecoveredBy  string     `json:"recoveredBy"`
	AckedAfter   bool       `json:"acknowledgedAfter"`
	Unsupported  string     `json:"unsupported"`
}

// Server is who acknowledged.
type Server struct {
	ID    string `json:"id"`
	Epoch int64  `json:"epoch"`
}

// Tenure is a stretch of acknowledgements by one server in one epoch.
type Tenure struct {
	Server
	FirstOK time.Time `json:"firstOK"`
	LastOK  time.Time `json:"lastOK"`
}

// LostCommit is an acknowledged id that the master does not have.
type LostCommit struct {
	ID             int64     `json:"id"`
	AcknowledgedAt time.Time `json:"acknowledgedAt"`
	AcknowledgedBy Server    `json:"acknowledgedBy"`
	StillOn        []string  `json:"stillOn"`
}

// ServerImage says whether a server showed what the master showed.
type ServerImage struct {
	Name  string `json:"name"`
	ID    string `json:"id"`
	Rows  int64  `json:"rows"`
	Equal bool   `json:"equal"`
	GTIDs string `json:"gtids"`
	Error string `json:"error"`
}

// Pause is a stretch of time without an acknowledgement.
type Pause struct {
	LastOK  time.Time `json:"lastOKBefore"`
	FirstOK time.Time `json:"firstOKAfter"`
	Seconds float64   `json:"seconds"`
}

// Rate is how many commits each second saw acknowledged.
type Rate struct {
	From    time.Time `json:"from"`
	Seconds []int     `json:"seconds"`
}

// Verdict is the part of the ledger's verdict that is shown.
type Verdict struct {
	Result        string        `json:"verdict"`
	Reasons       []string      `json:"reasons"`
	Run           string        `json:"run"`
	Acknowledged  int64         `json:"acknowledged"`
	Indeterminate int64         `json:"indeterminate"`
	Lost          int64         `json:"lost"`
	Duplicated    int64         `json:"duplicated"`
	LostCommits   []LostCommit  `json:"lostCommits"`
	Servers       []ServerImage `json:"servers"`
	Faults        []Fault       `json:"faults"`
	Pauses        []Pause       `json:"pauses"`
	Masters       []Tenure      `json:"masters"`
	Rate          Rate          `json:"rate"`
	StartedAt     time.Time     `json:"startedAt"`
	LastOK        time.Time     `json:"lastOK"`

	// Raw is the whole of it, as the ledger wrote it.
	Raw json.RawMessage `json:"-"`
}

// Find finds a fault by its name; nil when it is not marked.
func Find(faults []Fault, name string) *Fault {
	for i := range faults {
		if faults[i].Name == name {
			return &faults[i]
		}
	}
	return nil
}

// Injected tells whether the injection is proved.
func (f *Fault) Injected() bool { return !f.InjectedAt.IsZero() }
