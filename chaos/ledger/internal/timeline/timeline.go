// Package timeline turns the stream of acknowledgements, errors, fault marks and observations into what a person asks after a fault: did it
// happen, how long was nothing acknowledged, who acknowledged before and after, and did ever two servers acknowledge at once.
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

// maxPauses bounds the list; the longest ones matter and a run has few.
const maxPauses = 1000

// Timeline is fed in the order in which things became known. It is not safe for concurrent use.
type Timeline struct {
	threshold time.Duration
	lastOK    time.Time
	last      Server
	pauses    []Pause
	tenures   []Tenure
	reigns    map[Server]*reign
	faults    []Fault
	servers   map[string]*watched
	stale     int
	// errorSince is the newest error after the last acknowledgement; zero when there is none.
	errorSince time.Time
	// resumed: the ledger has just come back; what it did not see is not a pause of the server.
	resumed bool
}

// New returns a timeline that lists pauses of at least the threshold.
func New(threshold time.Duration) *Timeline {
	return &Timeline{threshold: threshold, reigns: map[Server]*reign{}, servers: map[string]*watched{}}
}

// Acknowledged records one acknowledgement: when the commit was sent, when the OK arrived, and from whom.
func (t *Timeline) Acknowledged(sent, at time.Time, by Server) {
	t.noteServer(sent, at, by)
	if !t.lastOK.IsZero() && at.Before(t.lastOK) {
		return
	}
	gap := t.gap(at)
	for i := len(t.faults) - 1; i >= 0; i-- {
		if t.faults[i].At.After(at) {
			continue
		}
		t.faults[i].acknowledged(gap, sent, by)
		if t.faults[i].At.Before(t.lastOK) {
			break // what came before this fault had ended before it
		}
	}
	if gap.Seconds >= t.threshold.Seconds() && len(t.pauses) < maxPauses {
		t.pauses = append(t.pauses, gap)
	}
	t.lastOK, t.last, t.resumed, t.errorSince = at, by, false, time.Time{}
}

// gap is how long nothing was acknowledged; 0 s where nobody was there to see it.
func (t *Timeline) gap(at time.Time) Pause {
	if t.lastOK.IsZero() || t.resumed {
		return Pause{LastOK: at, FirstOK: at}
	}
	return Pause{LastOK: t.lastOK, FirstOK: at, Seconds: at.Sub(t.lastOK).Seconds()}
}

// Resumed says that the ledger goes on after it was stopped.
func (t *Timeline) Resumed() {
	t.resumed, t.errorSince = true, time.Time{}
	if f := t.openFault(); f != nil && (len(f.gaps) == 0 || f.errorOpen) {
		f.LedgerAway = true
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
	if at.After(t.errorSince) {
		t.errorSince = at
	}
	if f := t.openFault(); f != nil && !at.Before(f.At) {
		f.failed(at)
	}
}

// Fault marks a fault that is injected next. One that turned out to be impossible is marked a second time, with the reason.
func (t *Timeline) Fault(m Mark) {
	if f := t.openFault(); f != nil && f.Name == m.Name && m.Unsupported != "" && !f.conclude().Injected() {
		f.Unsupported = m.Unsupported
		return
	}
	t.faults = append(t.faults, Fault{Mark: m, AckedBefore: !t.lastOK.IsZero(), ServerBefore: t.last})
}

// Proved adds evidence to the newest fault of the name; false when there is none.
func (t *Timeline) Proved(fault string, e Evidence) bool {
	for i := len(t.faults) - 1; i >= 0; i-- {
		if t.faults[i].Name == fault {
			t.faults[i].addEvidence(e)
			return true
		}
	}
	return false
}

// LastOK is when the newest acknowledgement arrived.
func (t *Timeline) LastOK() time.Time { return t.lastOK }

// Stalled is for how long writers met nothing but errors in the end; 0 when that is not worth the word.
func (t *Timeline) Stalled() time.Duration {
	if stalled := t.errorSince.Sub(t.lastOK); !t.errorSince.IsZero() && stalled >= t.threshold {
		return stalled
	}
	return 0
}

// Pauses, Tenures and Faults return copies.
func (t *Timeline) Pauses() []Pause   { return append([]Pause{}, t.pauses...) }
func (t *Timeline) Tenures() []Tenure { return append([]Tenure{}, t.tenures...) }

// Faults returns what followed each mark.
func (t *Timeline) Faults() []Fault {
	faults := []Fault{}
	for _, f := range t.faults {
		faults = append(faults, f.conclude())
	}
	return faults
}
