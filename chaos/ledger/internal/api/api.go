// Package api is the ledger's HTTP side: what a script, a person or a Chaos Mesh StatusCheck asks while it runs.
package api

import (
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"commitlab.dev/ledger/internal/journal"
	"commitlab.dev/ledger/internal/judge"
	"commitlab.dev/ledger/internal/server"
	"commitlab.dev/ledger/internal/timeline"
)

// Phases of a run.
const (
	PhaseRunning   = "running"
	PhaseVerifying = "verifying"
	PhaseDone      = "done"
)

// Status is the answer of /status.
type Status struct {
	Run           string            `json:"run"`
	Phase         string            `json:"phase"`
	Acknowledged  int               `json:"acknowledged"`
	Indeterminate int               `json:"indeterminate"`
	Refused       int               `json:"refused"`
	LastOK        *time.Time        `json:"lastOK"`
	SecondsSince  float64           `json:"secondsSinceLastOK"`
	Recovered     bool              `json:"recovered"`
	Faults        []timeline.Fault  `json:"faults"`
	Pauses        []timeline.Pause  `json:"pauses"`
	Masters       []timeline.Tenure `json:"masters"`
}

// API serves one run.
type API struct {
	journal *journal.Journal
	servers []server.Named
	stop    func()

	mu      sync.Mutex
	phase   string
	verdict *judge.Verdict
}

// New returns the API of a run on these servers; stop is called when a client asks the load to end.
func New(j *journal.Journal, servers []server.Named, stop func()) *API {
	return &API{journal: j, servers: servers, stop: stop, phase: PhaseRunning}
}

// Handler routes the requests.
func (a *API) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /status", a.getStatus)
	mux.HandleFunc("GET /verdict", a.getVerdict)
	mux.HandleFunc("POST /fault", a.postFault)
	mux.HandleFunc("POST /evidence", a.postEvidence)
	mux.HandleFunc("POST /stop", a.postStop)
	mux.HandleFunc("GET /healthz", a.getHealth)
	return mux
}

// SetPhase tells clients how far the run is.
func (a *API) SetPhase(phase string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.phase = phase
}

// SetVerdict publishes the verdict and ends the run.
func (a *API) SetVerdict(v judge.Verdict) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.verdict, a.phase = &v, PhaseDone
}

func (a *API) getStatus(w http.ResponseWriter, _ *http.Request) {
	a.mu.Lock()
	status := Status{Phase: a.phase}
	a.mu.Unlock()
	a.journal.View(func(s *journal.State) {
		status.Run = s.Run.Name
		status.Acknowledged = s.Count(journal.Acknowledged)
		status.Indeterminate = s.Count(journal.Indeterminate)
		status.Refused = s.Count(journal.RefusedOutcome)
		status.Faults, status.Pauses, status.Masters = s.Timeline.Faults(), s.Timeline.Pauses(), s.Timeline.Tenures()
		if last := s.Timeline.LastOK(); !last.IsZero() {
			status.LastOK, status.SecondsSince = &last, time.Since(last).Seconds()
		}
	})
	status.Recovered = true
	if n := len(status.Faults); n > 0 {
		status.Recovered = status.Faults[n-1].Recovered()
	}
	answer(w, http.StatusOK, status)
}

// getVerdict answers with the status code alone what a StatusCheck can see: 200 passed, 409 failed, 501 unsupported, 503 not known (yet).
func (a *API) getVerdict(w http.ResponseWriter, _ *http.Request) {
	a.mu.Lock()
	verdict, phase := a.verdict, a.phase
	a.mu.Unlock()
	if verdict == nil {
		answer(w, http.StatusServiceUnavailable, map[string]string{"verdict": "", "phase": phase})
		return
	}
	code := http.StatusServiceUnavailable
	switch verdict.Result {
	case judge.Passed:
		code = http.StatusOK
	case judge.Failed:
		code = http.StatusConflict
	case judge.Unsupported:
		code = http.StatusNotImplemented
	}
	answer(w, code, verdict)
}

func (a *API) postStop(w http.ResponseWriter, _ *http.Request) {
	a.stop()
	answer(w, http.StatusAccepted, map[string]string{"phase": "stopping"})
}

func (a *API) getHealth(w http.ResponseWriter, _ *http.Request) {
	if err := a.journal.Err(); err != nil {
		answer(w, http.StatusServiceUnavailable, map[string]string{"error": err.Error()})
		return
	}
	answer(w, http.StatusOK, map[string]string{"status": "ok"})
}

func answer(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	_ = encoder.Encode(body)
}
