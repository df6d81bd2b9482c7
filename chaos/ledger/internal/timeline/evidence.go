package timeline

import "time"

// Evidence is one thing that was looked at before a fault and again afterwards: a pod's UID, a container's id, a process, a probe.
// That the two differ proves the injection, and nothing else does: errors that writers meet have many causes.
type Evidence struct {
	Kind   string `json:"kind"`
	Object string `json:"object"`
	Before string `json:"before"`
	After  string `json:"after"`
	// The fault happened after Since, when Before was last seen, and not after At, when After was seen.
	Since time.Time `json:"since"`
	At    time.Time `json:"at"`
}

// Proves tells whether something was seen before, and something else afterwards.
func (e Evidence) Proves() bool { return e.Before != "" && e.After != "" && e.Before != e.After }

// Proofs that the ledger looks for by itself, in what the servers show.
const (
	// ProofProcess asks for another process on one of the fault's targets.
	ProofProcess = "process"
	// ProofLink asks for a target that lost its replication: a replica that no longer hears its source, a master without replicas,
	// a server that does not answer.
	ProofLink = "link"
)

// Observation is what a server showed, recorded whenever it differs from what it showed before.
type Observation struct {
	Server string    `json:"server"`
	Since  time.Time `json:"since"` // when the server last showed what it showed before
	At     time.Time `json:"at"`
	// Process names the process that answered; empty when none did.
	Process string `json:"process,omitempty"`
	ID      string `json:"id,omitempty"`
	Role    string `json:"role,omitempty"`
	Epoch   uint64 `json:"epoch,omitempty"`
	// Linked: a replica that hears its source, a master that replicas are attached to.
	Linked bool `json:"linked,omitempty"`
}

// Answers tells whether the server answered at all.
func (o Observation) Answers() bool { return o.Process != "" }

func (o Observation) link() string {
	switch {
	case !o.Answers():
		return "does not answer"
	case o.Linked:
		return "linked as " + o.Role
	default:
		return "not linked as " + o.Role
	}
}

// watched is what is known of one server from its observations.
type watched struct {
	now Observation
	// lastAlive is the last observation of a process; gone is when that process was first missed, zero while it is there.
	lastAlive Observation
	lastSeen  time.Time
	gone      time.Time
}

// Observed takes in what a server shows now; what that proves goes to the newest fault.
func (t *Timeline) Observed(o Observation) {
	w := t.servers[o.Server]
	if w == nil {
		t.servers[o.Server] = &watched{now: o, lastAlive: o}
		return
	}
	if f := t.openFault(); f != nil && f.aimsAt(o.Server) {
		t.prove(f, w, o)
	}
	if w.now.Answers() {
		w.lastSeen = o.Since
	}
	if o.Answers() {
		w.lastAlive, w.gone = o, time.Time{}
	} else if w.gone.IsZero() {
		w.gone = o.At
	}
	w.now = o
}

func (t *Timeline) prove(f *Fault, w *watched, o Observation) {
	switch f.Proof {
	case ProofLink:
		if w.now.Linked && !o.Linked && o.At.After(f.At) {
			f.addEvidence(Evidence{Kind: ProofLink, Object: o.Server, Before: w.now.link(), After: o.link(), Since: o.Since, At: o.At})
		}
	case ProofProcess:
		if !o.Answers() || !w.lastAlive.Answers() || o.Process == w.lastAlive.Process {
			return
		}
		since, at := o.Since, o.At
		if !w.gone.IsZero() {
			since, at = w.lastSeen, w.gone
		}
		if at.After(f.At) {
			f.addEvidence(Evidence{Kind: ProofProcess, Object: o.Server, Before: w.lastAlive.Process, After: o.Process, Since: since, At: at})
		}
	}
}

// HasAnswered tells whether the server has ever shown a process: without one, another one proves nothing.
func (t *Timeline) HasAnswered(server string) bool {
	w := t.servers[server]
	return w != nil && w.lastAlive.Answers()
}

// Observation returns what a server showed last.
func (t *Timeline) Observation(server string) (Observation, bool) {
	w := t.servers[server]
	if w == nil {
		return Observation{}, false
	}
	return w.now, true
}
