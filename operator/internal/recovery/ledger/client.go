package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Port of the ledger's HTTP side.
const Port = 8099

// timeout bounds one question. A mark is answered when it is durable, on a disk that others use as well.
const timeout = 5 * time.Second

// maxAnswer bounds what is read: a verdict of a long run has its rate of every second.
const maxAnswer = 16 << 20

// Network connects to ledgers at their pods' addresses.
type Network struct{}

// Connect returns a client; it does not ask anything yet.
func (Network) Connect(t Target) Ledger {
	return Client{Base: "http://" + net.JoinHostPort(t.Address, strconv.Itoa(Port))}
}

// Client speaks HTTP.
type Client struct{ Base string }

// Status asks how far the run is.
func (c Client) Status(ctx context.Context) (s Status, err error) {
	_, _, err = c.call(ctx, http.MethodGet, "/status", &s)
	return s, err
}

// Verdict asks what came of it. The status code repeats the verdict for clients that see nothing else; this one reads it.
func (c Client) Verdict(ctx context.Context) (*Verdict, error) {
	var v Verdict
	_, raw, err := c.call(ctx, http.MethodGet, "/verdict", &v)
	if err != nil || v.Result == "" {
		return nil, err
	}
	v.Raw = raw
	return &v, nil
}

// Mark announces a fault.
func (c Client) Mark(ctx context.Context, m Mark) error {
	query := url.Values{"name": {m.Name}, "target": m.Targets, "proof": {m.Proof}, "expect": {"none"}, "unsupported": {m.Unsupported}}
	if m.ExpectOutage {
		query.Set("expect", "outage")
	}
	if m.Objects > 0 {
		query.Set("objects", strconv.Itoa(m.Objects))
	}
	if m.Limit > 0 {
		query.Set("limit", m.Limit.String())
	}
	return c.post(ctx, "/fault?"+query.Encode())
}

// Prove tells what is not as it was.
func (c Client) Prove(ctx context.Context, p Proof) error {
	return c.post(ctx, "/evidence?"+url.Values{
		"fault": {p.Fault}, "kind": {p.Kind}, "object": {p.Object}, "before": {p.Before}, "after": {p.After},
	}.Encode())
}

// Stop ends the load; verification follows.
func (c Client) Stop(ctx context.Context) error { return c.post(ctx, "/stop") }

func (c Client) post(ctx context.Context, path string) error {
	var answer struct {
		Error string `json:"error"`
	}
	code, _, err := c.call(ctx, http.MethodPost, path, &answer)
	if err == nil && code >= http.StatusBadRequest {
		err = fmt.Errorf("the ledger refuses %s: %s", path, answer.Error)
	}
	return err
}

func (c Client) call(ctx context.Context, method, path string, answer any) (int, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, c.Base+path, nil)
	if err != nil {
		return 0, nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return 0, nil, err
	}
	if err := json.Unmarshal(body, answer); err != nil {
		return 0, nil, fmt.Errorf("%s answers %q", request.URL, strings.TrimSpace(string(body)))
	}
	return response.StatusCode, body, nil
}
