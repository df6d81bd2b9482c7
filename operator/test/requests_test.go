package test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// asked is what operators have asked the API server for.
var asked = &requests{}

// requests are counted by method and kind of object; by namespace, how often an operator has read a cluster, and what it has written.
type requests struct {
	mu     sync.Mutex
	kinds  map[string]int
	looks  map[string]int
	writes map[string][]string
}

func (r *requests) reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kinds, r.looks, r.writes = map[string]int{}, map[string]int{}, map[string][]string{}
}

// counted is a transport that counts.
func (r *requests) counted(next http.RoundTripper) http.RoundTripper { return counting{r, next} }

type counting struct {
	requests *requests
	next     http.RoundTripper
}

func (c counting) RoundTrip(q *http.Request) (*http.Response, error) {
	c.requests.note(q.Method, q.URL.Path)
	return c.next.RoundTrip(q)
}

func (r *requests) note(method, path string) {
	_, rest, inNamespace := strings.Cut(path, "/namespaces/")
	namespace, rest, _ := strings.Cut(rest, "/")
	kind, _, _ := strings.Cut(rest, "/")
	if !inNamespace {
		kind = "of all namespaces"
	}
	if strings.HasSuffix(path, "/status") {
		kind += "/status"
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.kinds == nil {
		return
	}
	r.kinds[method+" "+kind]++
	switch {
	case method != http.MethodGet:
		r.writes[namespace] = append(r.writes[namespace], method+" "+rest)
	case kind == "commitclusters":
		r.looks[namespace]++
	}
}

// lookedAt says which of the namespaces' clusters was not read so many times since the last reset.
func (r *requests) lookedAt(namespaces []string, times int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, n := range namespaces {
		if r.looks[n] < times {
			return fmt.Errorf("%s: %d of %d", n, r.looks[n], times)
		}
	}
	return nil
}

// written says what was written in the namespaces since the last reset.
func (r *requests) written(namespaces []string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, n := range namespaces {
		if len(r.writes[n]) > 0 {
			return fmt.Errorf("%s: %v", n, r.writes[n])
		}
	}
	return nil
}

// perMinute lists the kinds, by how many there were in so many minutes.
func (r *requests) perMinute(minutes float64) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var b strings.Builder
	for _, kind := range slices.Sorted(maps.Keys(r.kinds)) {
		fmt.Fprintf(&b, "%8.0f %s\n", float64(r.kinds[kind])/minutes, kind)
	}
	return b.String()
}
