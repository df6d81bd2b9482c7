package timeline

import (
	"slices"
	"time"
)

// How a fault ended.
const (
	ByFailover = "failover"
	ByRestart  = "restart"
	Unnoticed  = "unnoticed"
	NotYet     = ""
)

// Mark says that a fault is about to be injected.
type Mark struct {
	Name         string    `json:"name"`
	At           time.Time `json:"at"`
	ExpectOutage bool      `json:"expectOutage"`
	// Targets are the servers of which at least one must show the Proof.
	Targets []string `json:"targets,omitempty"`
	Proof   string   `json:"proof,omitempty"`
	// Objects is how many objects the fault hits at once, each of which must be proved; 0 is one.
	Objects int `json:"objects,omitempty"`
	// LimitSeconds is the longest RTO that is promised; 0 is none.
	LimitSeconds float64 `json:"limitSeconds,omitempty"`
	// Unsupported says why the fault could not be injected here at all.
	Unsupported string `json:"unsupported,omitempty"`
}

// Fault is a mark and what followed it.
type Fault struct {
	Mark
	Evidence []Evidence `json:"evidence"`
	// InjectedAt is when the injection was first seen; zero when nothing proves it.
	InjectedAt    time.Time `json:"injectedAt"`
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
	LedgerAway bool `json:"ledgerAway"`

	// gaps between acknowledgements since the mark, those only that are longer than every later one: the evidence, which comes later,
	// decides from where on they count.
	gaps      []Pause
	lastSent  time.Time
	lastError time.Time
	errorOpen bool
}

// Injected tells whether the injection is proved.
func (f Fault) Injected() bool { return !f.InjectedAt.IsZero() }

// Recovered tells whether acknowledgements flow again after the injection: one for a commit that was sent later, and one after the last error.
func (f Fault) Recovered() bool { return f.Injected() && f.AckedAfter && !f.errorOpen }

func (f *Fault) aimsAt(server string) bool { return slices.Contains(f.Targets, server) }

func (f *Fault) addEvidence(e Evidence) {
	if e.Since.Before(f.At) {
		e.Since = f.At
	}
	f.Evidence = append(f.Evidence, e)
}

// acknowledged takes in an acknowledgement that ended a gap.
func (f *Fault) acknowledged(gap Pause, sent time.Time, by Server) {
	f.ServerAfter, f.errorOpen = by, false
	if sent.After(f.lastSent) {
		f.lastSent = sent
	}
	for len(f.gaps) > 0 && f.gaps[len(f.gaps)-1].Seconds <= gap.Seconds {
		f.gaps = f.gaps[:len(f.gaps)-1]
	}
	f.gaps = append(f.gaps, gap)
}

func (f *Fault) failed(at time.Time) {
	f.ErrorsNoticed++
	f.lastError, f.errorOpen = at, true
}

// conclude says what the evidence makes of the acknowledgements. Before there is any, they count from the mark on.
func (f Fault) conclude() Fault {
	f.Evidence, f.gaps = slices.Clone(f.Evidence), slices.Clone(f.gaps)
	since, at := f.At, f.At
	if e, complete := f.injection(); complete {
		since, at, f.InjectedAt = e.Since, e.At, e.At
	}
	f.AckedAfter = f.lastSent.After(at)
	for _, gap := range f.gaps {
		if gap.FirstOK.After(since) {
			f.LastOKBefore, f.FirstOKAfter, f.RTOSeconds = gap.LastOK, gap.FirstOK, gap.Seconds
			break
		}
	}
	if f.AckedAfter {
		f.RecoveredBy = f.recovery(since)
	}
	return f
}

// injection is the earliest evidence, and whether there is some for each object that the fault hits.
func (f *Fault) injection() (first Evidence, complete bool) {
	proved := map[string]bool{}
	for _, e := range f.Evidence {
		if !e.Proves() {
			continue
		}
		if len(proved) == 0 || e.At.Before(first.At) {
			first = e
		}
		proved[e.Object] = true
	}
	return first, len(proved) >= max(1, f.Objects)
}

func (f *Fault) recovery(since time.Time) string {
	switch {
	case f.ServerBefore.ID != f.ServerAfter.ID:
		return ByFailover
	case f.lastError.After(since) || f.ServerBefore.Epoch != f.ServerAfter.Epoch:
		return ByRestart
	default:
		return Unnoticed
	}
}
