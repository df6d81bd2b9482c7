// Package fake is a ledger in memory, for tests. It counts commits while it is told to, keeps what the operator tells it, and judges by the
// proofs alone: that it judges data as the real one does is not its job.
package fake

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"commitlab.dev/operator/internal/recovery/ledger"
)

// Ledger keeps its journal over restarts.
type Ledger struct {
	mu     sync.Mutex
	run    string
	phase  string
	acked  int64
	lastOK time.Time
	faults []ledger.Fault
	// objects that each fault must have proofs of.
	objects map[string]int

	// Marks counts how often each fault was marked.
	Marks map[string]int
	// Lost is what the verdict says is lost; Forget is a fault that it does not know of.
	Lost   int64
	Forget string
}

// New is a ledger whose load runs.
func New(run string) *Ledger {
	return &Ledger{run: run, phase: ledger.PhaseRunning, objects: map[string]int{}, Marks: map[string]int{}}
}

// Commit lets so many commits be acknowledged. A load that has ended commits nothing.
func (l *Ledger) Commit(count int64, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.phase != ledger.PhaseRunning {
		return
	}
	l.acked, l.lastOK = l.acked+count, now
	for i := range l.faults {
		f := &l.faults[i]
		if f.Injected() && !f.AckedAfter && now.After(f.InjectedAt) {
			f.AckedAfter, f.FirstOKAfter, f.RTOSeconds, f.RecoveredBy = true, now, now.Sub(f.At).Seconds(), "restart"
		}
	}
}

// Restart is what a new pod does: it continues the journal. A run that has another name begins with an empty one.
func (l *Ledger) Restart(run string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if run != l.run {
		l.run, l.acked, l.faults = run, 0, nil
	}
	l.phase = ledger.PhaseRunning
}

// SeeLink is what a watcher of the real one would write down by itself.
func (l *Ledger) SeeLink(fault, object string, now time.Time) {
	_ = l.prove(ledger.Proof{Fault: fault, Kind: ledger.ProofLink, Object: object, Before: "linked as master", After: "not linked as master"}, now)
}

// Status answers as /status does.
func (l *Ledger) Status(context.Context) (ledger.Status, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.phase == ledger.PhaseVerifying {
		l.phase = ledger.PhaseDone
	}
	s := ledger.Status{Run: l.run, Phase: l.phase, Acknowledged: l.acked, LastOK: l.lastOK, Recovered: true, Faults: append([]ledger.Fault{}, l.faults...)}
	if n := len(l.faults); n > 0 {
		s.Recovered = l.faults[n-1].AckedAfter
	}
	return s, nil
}

// Mark adds a fault.
func (l *Ledger) Mark(_ context.Context, m ledger.Mark) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.phase != ledger.PhaseRunning {
		return errors.New("the load has ended: a fault now would prove nothing")
	}
	if known := ledger.Find(l.faults, m.Name); known != nil && m.Unsupported != "" && !known.Injected() {
		known.Unsupported = m.Unsupported
		return nil
	}
	l.Marks[m.Name]++
	l.objects[m.Name] = max(1, m.Objects)
	l.faults = append(l.faults, ledger.Fault{Name: m.Name, At: l.lastOK, LastOKBefore: l.lastOK, Unsupported: m.Unsupported})
	return nil
}

// Prove adds evidence.
func (l *Ledger) Prove(_ context.Context, p ledger.Proof) error {
	l.mu.Lock()
	now := l.lastOK
	l.mu.Unlock()
	return l.prove(p, now)
}

func (l *Ledger) prove(p ledger.Proof, now time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := ledger.Find(l.faults, p.Fault)
	if f == nil {
		return fmt.Errorf("no fault %q is marked", p.Fault)
	}
	f.Evidence = append(f.Evidence, ledger.Evidence{Kind: p.Kind, Object: p.Object, Before: p.Before, After: p.After, At: now})
	proved := map[string]bool{}
	for _, e := range f.Evidence {
		proved[e.Object] = true
	}
	if len(proved) >= l.objects[p.Fault] && !f.Injected() {
		f.InjectedAt = now
	}
	return nil
}

// Stop ends the load; the verdict is there at the look after the next.
func (l *Ledger) Stop(context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.phase == ledger.PhaseRunning {
		l.phase = ledger.PhaseVerifying
	}
	return nil
}

// Verdict judges by the proofs.
func (l *Ledger) Verdict(context.Context) (*ledger.Verdict, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.phase != ledger.PhaseDone {
		return nil, nil
	}
	v := &ledger.Verdict{Result: "Passed", Run: l.run, Acknowledged: l.acked, Lost: l.Lost,
		Servers: []ledger.ServerImage{{Name: "demo-0", Rows: l.acked, Equal: true}},
		Masters: []ledger.Tenure{{Server: ledger.Server{ID: "uuid", Epoch: 1}, FirstOK: l.lastOK, LastOK: l.lastOK}}}
	for _, f := range l.faults {
		if f.Name != l.Forget {
			v.Faults = append(v.Faults, f)
		}
	}
	judge(v)
	v.Raw, _ = json.Marshal(v)
	return v, nil
}

func judge(v *ledger.Verdict) {
	for _, f := range v.Faults {
		switch {
		case f.Unsupported != "":
			v.Result, v.Reasons = "Unsupported", append(v.Reasons, f.Name+" cannot be injected here: "+f.Unsupported)
		case !f.Injected() && v.Result == "Passed":
			v.Result, v.Reasons = "Inconclusive", append(v.Reasons, "nothing proves that "+f.Name+" was injected")
		}
	}
	if v.Lost > 0 {
		v.Result, v.Reasons = "Failed", append(v.Reasons, fmt.Sprintf("%d acknowledged commits are lost", v.Lost))
		v.LostCommits = []ledger.LostCommit{{ID: 7, AcknowledgedAt: v.Masters[0].FirstOK, AcknowledgedBy: v.Masters[0].Server, StillOn: []string{"demo-1"}}}
	}
}
