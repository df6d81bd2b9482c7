package stage

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// Ledger asks the ledger that runs in the cluster.
type Ledger struct{ URL string }

// LedgerStatus is how far the ledger is.
type LedgerStatus struct {
	Phase        string `json:"phase"`
	Acknowledged int    `json:"acknowledged"`
	Recovered    bool   `json:"recovered"`
}

// Fault is a marked fault and what followed.
type Fault struct {
	Name        string  `json:"name"`
	RTOSeconds  float64 `json:"rtoSeconds"`
	RecoveredBy string  `json:"recoveredBy"`
	LedgerAway  bool    `json:"ledgerAway,omitempty"`
}

// Server is a member that the ledger was told to read.
type Server struct {
	Name  string `json:"name"`
	Equal bool   `json:"equal"`
	Error string `json:"error,omitempty"`
}

// Verdict is the part of the ledger's verdict that a person wants to see.
type Verdict struct {
	Result        string   `json:"verdict"`
	Reasons       []string `json:"reasons,omitempty"`
	Acknowledged  int      `json:"acknowledged"`
	Indeterminate int      `json:"indeterminate"`
	Lost          int      `json:"lost"`
	Duplicated    int      `json:"duplicated"`
	Servers       []Server `json:"servers"`
	Faults        []Fault  `json:"faults"`
}

// Good says whether nothing acknowledged was lost, and everything was proved.
func (v Verdict) Good() bool { return v.Result == "Passed" && v.Lost == 0 && v.Duplicated == 0 }

// Mark is a fault that is about to be injected.
type Mark struct {
	Name string
	// Unnoticed: writers need not notice it.
	Unnoticed bool
	// Target and Proof are what the ledger sees by itself: whom the fault hits, and what (process, link) is another one afterwards. Without a
	// target whoever injects the fault proves it.
	Target, Proof string
}

// Status returns how far the ledger is.
func (l Ledger) Status(ctx context.Context) (LedgerStatus, error) {
	var status LedgerStatus
	_, err := l.call(ctx, http.MethodGet, "/status", &status)
	return status, err
}

// Verdict returns nil while there is none.
func (l Ledger) Verdict(ctx context.Context) (*Verdict, error) {
	var v Verdict
	// The status code repeats the verdict for clients that see nothing else.
	if _, err := l.call(ctx, http.MethodGet, "/verdict", &v); err != nil || v.Result == "" {
		return nil, err
	}
	return &v, nil
}

// AwaitCommits waits until at least that many are acknowledged.
func (l Ledger) AwaitCommits(ctx context.Context, count int) (acknowledged int, err error) {
	err = Poll(ctx, func() (bool, error) {
		status, err := l.Status(ctx)
		if err != nil {
			return false, err
		}
		acknowledged = status.Acknowledged
		return acknowledged >= count, fmt.Errorf("%d of %d commits acknowledged", acknowledged, count)
	})
	return acknowledged, err
}

// Judge ends the load after that many commits more, and waits for the verdict.
func (l Ledger) Judge(ctx context.Context, more int) (Verdict, error) {
	status, err := l.Status(ctx)
	if err != nil {
		return Verdict{}, err
	}
	if _, err := l.AwaitCommits(ctx, status.Acknowledged+more); err != nil {
		return Verdict{}, err
	}
	if err := l.Stop(ctx); err != nil {
		return Verdict{}, err
	}
	var found Verdict
	err = Poll(ctx, func() (bool, error) {
		v, err := l.Verdict(ctx)
		if v != nil {
			found = *v
		}
		return v != nil, err
	})
	return found, err
}

// Mark writes down that a fault is about to be injected.
func (l Ledger) Mark(ctx context.Context, m Mark) error {
	parameters := url.Values{"name": {m.Name}}
	for name, value := range map[string]string{"target": m.Target, "proof": m.Proof} {
		if value != "" {
			parameters.Set(name, value)
		}
	}
	if m.Unnoticed {
		parameters.Set("expect", "none")
	}
	return l.post(ctx, "/fault?"+parameters.Encode())
}

// Prove tells what of an object is not as it was before the fault.
func (l Ledger) Prove(ctx context.Context, fault, kind, object, before, after string) error {
	return l.post(ctx, "/evidence?"+url.Values{
		"fault": {fault}, "kind": {kind}, "object": {object}, "before": {before}, "after": {after},
	}.Encode())
}

// Stop ends the load; the ledger verifies then.
func (l Ledger) Stop(ctx context.Context) error { return l.post(ctx, "/stop") }

func (l Ledger) post(ctx context.Context, path string) error {
	var answer struct {
		Error string `json:"error"`
	}
	code, err := l.call(ctx, http.MethodPost, path, &answer)
	if err == nil && code >= http.StatusBadRequest {
		err = fmt.Errorf("the ledger refuses %s: %s", path, answer.Error)
	}
	return err
}

func (l Ledger) call(ctx context.Context, method, path string, answer any) (int, error) {
	request, err := http.NewRequestWithContext(ctx, method, l.URL+path, nil)
	if err != nil {
		return 0, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, err
	}
	if err := json.Unmarshal(body, answer); err != nil {
		return 0, fmt.Errorf("%s answers %q", request.URL, strings.TrimSpace(string(body)))
	}
	return response.StatusCode, nil
}
