package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// ledgerClient asks the ledger that runs in the cluster.
type ledgerClient struct{ url string }

type ledgerStatus struct {
	Phase        string `json:"phase"`
	Acknowledged int    `json:"acknowledged"`
	Recovered    bool   `json:"recovered"`
}

type fault struct {
	Name        string  `json:"name"`
	RTOSeconds  float64 `json:"rtoSeconds"`
	RecoveredBy string  `json:"recoveredBy"`
}

// server is a member that the ledger was told to read.
type server struct {
	Name  string `json:"name"`
	Equal bool   `json:"equal"`
	Error string `json:"error"`
}

// verdict is the part of the ledger's verdict that a person wants to see.
type verdict struct {
	Result        string   `json:"verdict"`
	Reasons       []string `json:"reasons"`
	Acknowledged  int      `json:"acknowledged"`
	Indeterminate int      `json:"indeterminate"`
	Lost          int      `json:"lost"`
	Duplicated    int      `json:"duplicated"`
	Servers       []server `json:"servers"`
	Faults        []fault  `json:"faults"`
}

func (l ledgerClient) status(ctx context.Context) (ledgerStatus, error) {
	var status ledgerStatus
	_, err := l.call(ctx, http.MethodGet, "/status", &status)
	return status, err
}

// verdict returns nil while there is none.
func (l ledgerClient) verdict(ctx context.Context) (*verdict, error) {
	var v verdict
	// The status code repeats the verdict for clients that see nothing else.
	if _, err := l.call(ctx, http.MethodGet, "/verdict", &v); err != nil || v.Result == "" {
		return nil, err
	}
	return &v, nil
}

func (l ledgerClient) markFault(ctx context.Context, name string) error {
	return l.post(ctx, "/fault?name="+url.QueryEscape(name))
}

// proveFault tells what of an object is not as it was before the fault.
func (l ledgerClient) proveFault(ctx context.Context, name, kind, object, before, after string) error {
	return l.post(ctx, "/evidence?"+url.Values{
		"fault": {name}, "kind": {kind}, "object": {object}, "before": {before}, "after": {after},
	}.Encode())
}

func (l ledgerClient) stop(ctx context.Context) error { return l.post(ctx, "/stop") }

func (l ledgerClient) post(ctx context.Context, path string) error {
	var answer struct {
		Error string `json:"error"`
	}
	code, err := l.call(ctx, http.MethodPost, path, &answer)
	if err == nil && code >= http.StatusBadRequest {
		err = fmt.Errorf("the ledger refuses %s: %s", path, answer.Error)
	}
	return err
}

func (l ledgerClient) call(ctx context.Context, method, path string, answer any) (int, error) {
	request, err := http.NewRequestWithContext(ctx, method, l.url+path, nil)
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
