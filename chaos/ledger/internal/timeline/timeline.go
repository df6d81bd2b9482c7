// Package timeline turns the stream of acknowledgements, errors and fault marks into what a person asks after a fault:
// how long was nothing acknowledged, who acknowledged before and after, and did ever two servers acknowledge at once.
package timeline

import "time"

// Server is who acknowledged: its identity and the epoch of its mastership (0 where the server has no epochs).
type Server struct {
	ID    string `json:"id"`
	Epoch uint64 `json:"epoch"`
}

// Pause is a stretch of time without an acknowledgement.
type Pause struct {
	LastOK  time.Time `json:"lastOKBefore"`
	FirstOK time.Time `json:"firstOKAfter"`
	Seconds float64   `json:"seconds"`
}

// Tenure is a stretch of acknowledgements by one server in one epoch.
type Tenure struct {
	Server
	FirstOK time.Time `json:"firstOK"`
	LastOK  time.Time `json:"lastOK"`
}

// How a fault ended.
const (
	ByFailover = "failover"
	ByRestart  = "restart"
	Unnoticed  = "unnoticed"
	NotYet     = ""
)

// Fault is a mark set when a fault was injected, and what followed.
type Fault struct {
	Name          string    `json:"name"`
	At            time.Time `json:"at"`
	ExpectOutage  bool      `json:"expectOutage"`
	LastOKBefore  time.Time `json:"lastOKBefore"`
	FirstOKAfter  time.Time `json:"firstOKAfter"`
	RTOSeconds    float64   `json:"rtoSeconds"`
	ServerBefore  Server    `json:"serverBefore"`
	ServerAfter   Server    `json:"serverAfter"`
	RecoveredBy   string    `json:"recoveredBy"`
	AckedBefore   bool      `json:"acknowledgedBefore"`
	AckedAfter    bool      `json:"acknowledgedAfter"`
	ErrorsNoticed int       `json:"errorsNoticed"`
	// LedgerAway says that the ledger itself was stopped before the recovery was seen: the RTO is not known then.
	LedgerAway     bool `json:"ledgerAway"`
	longest        time.Duration
	awaitingAnswer bool
}

// maxPauses bounds the list; the longest ones matter and a run has few.
const maxPauses = 1000

// Timeline is fed in the order in which things became known. It is not safe for concurrent use.
type Timeline struct {
	threshold time.Duration
	lastOK    time.Time
	last      Server
	pauses    []Pause
	tenures   []Tenure
	faults    []Fault
	stale     int
	// resumed: the ledger has just come back; what it did not see is not a pause of the server.
	resumed bool
}

// New returns a timeline that lists pauses of at least the threshold.
func New(threshold time.Duration) *Timeline { return &Timeline{threshold: threshold} }

// Acknowledged records one acknowledgement: when the commit was sent, when the OK arrived, and from whom.
func (t *Timeline) Acknowledged(sent, at time.Time, by Server) {
	t.noteServer(sent, at, by)
	if !t.lastOK.IsZero() && at.Before(t.lastOK) {
		return
	}
	gap := t.gap(at)
	t.noteFault(at, by, gap)
	if gap >= t.threshold && len(t.pauses) < maxPauses {
		t.pauses = append(t.pauses, Pause{LastOK: t.lastOK, FirstOK: at, Seconds: gap.Seconds()})
	}
	t.lastOK, t.last, t.resumed = at, by, false
}

// gap is how long nothing was acknowledged; 0 where nobody was there to see it.
func (t *Timeline) gap(at time.Time) time.Duration {
	if t.lastOK.IsZero() || t.resumed {
		return 0
	}
	return at.Sub(t.lastOK)
}

// Resumed says that the ledger goes on after it was stopped.
func (t *Timeline) Resumed() {
	t.resumed = true
	if f := t.openFault(); f != nil && !f.Recovered() {
		f.LedgerAway = true
	}
}

// noteServer extends the current tenure or opens the next one. A commit that was sent to an older epoch after a newer one
// had already acknowledged is what must never happen: two masters.
func (t *Timeline) noteServer(sent, at time.Time, by Server) {
	if n := len(t.tenures); n > 0 {
		current := &t.tenures[n-1]
		if current.Server == by {
			if at.After(current.LastOK) {
				current.LastOK = at
			}
			return
		}
		if by.Epoch < current.Epoch {
			if sent.After(current.FirstOK) {
				t.stale++
			}
			return
		}
		if by.Epoch == current.Epoch && t.hadTenure(by) && !sent.After(current.FirstOK) {
			return
		}
	}
	t.tenures = append(t.tenures, Tenure{Server: by, FirstOK: at, LastOK: at})
}

func (t *Timeline) hadTenure(s Server) bool {
	for _, tenure := range t.tenures {
		if tenure.Server == s {
			return true
		}
	}
	return false
}

// noteFault keeps, for the newest fault, the longest pause since its mark: that is its outage. Faults are injected a
// little after they are marked, so the first acknowledgement after the mark need not be the recovery.
func (t *Timeline) noteFault(at time.Time, by Server, gap time.Duration) {
	f := t.openFault()
	if f == nil || at.Before(f.At) {
		return
	}
	f.AckedAfter = true
	if gap > f.longest {
		f.longest = gap
		f.LastOKBefore, f.FirstOKAfter, f.RTOSeconds = t.lastOK, at, gap.Seconds()
	}
	f.ServerAfter = by
	f.awaitingAnswer = false
	f.RecoveredBy = f.recovery()
}

func (f *Fault) recovery() string {
	switch {
	case f.ServerBefore.ID != f.ServerAfter.ID:
		return ByFailover
	case f.ErrorsNoticed > 0 || f.ServerBefore.Epoch != f.ServerAfter.Epoch:
		return ByRestart
	default:
		return Unnoticed
	}
}

func (t *Timeline) openFault() *Fault {
	if len(t.faults) == 0 {
		return nil
	}
	return &t.faults[len(t.faults)-1]
}

// Failed records an error that a writer met: a refused or broken commit, or a failed connection.
func (t *Timeline) Failed(at time.Time) {
	if f := t.openFault(); f != nil && !at.Before(f.At) {
		f.ErrorsNoticed++
		f.awaitingAnswer = true
	}
}

// Fault marks the injection of a fault.
func (t *Timeline) Fault(name string, at time.Time, expectOutage bool) {
	t.faults = append(t.faults, Fault{
		Name: name, At: at, ExpectOutage: expectOutage, AckedBefore: !t.lastOK.IsZero(), ServerBefore: t.last,
	})
}

// LastOK is when the newest acknowledgement arrived.
func (t *Timeline) LastOK() time.Time { return t.lastOK }

// Pauses, Tenures and Faults return copies.
func (t *Timeline) Pauses() []Pause   { return append([]Pause{}, t.pauses...) }
func (t *Timeline) Tenures() []Tenure { return append([]Tenure{}, t.tenures...) }

// Faults returns what followed each mark.
func (t *Timeline) Faults() []Fault { return append([]Fault{}, t.faults...) }

// Recovered tells whether acknowledgements flow again after the newest fault: at least one arrived after the last error.
func (f Fault) Recovered() bool { return f.AckedAfter && !f.awaitingAnswer }

// StaleAcknowledgements counts commits that an older epoch acknowledged although they were sent after a newer epoch had
// acknowledged one.
func (t *Timeline) StaleAcknowledgements() int { return t.stale }
