package test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
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
	mu    sync.Mutex
	kinds map[string]int
	looks map[string]looks
	// writes of the namespaces that are watched, and what each changes.
	writes  map[string][]string
	watched map[string]bool
}

// looks at a cluster: its reads, and those that one controller alone makes each time.
type looks struct{ reads, objects, protocol int }

// reset begins anew. What is written in these namespaces is looked at more closely.
func (r *requests) reset(watched ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kinds, r.looks, r.writes, r.watched = map[string]int{}, map[string]looks{}, map[string][]string{}, map[string]bool{}
	for _, namespace := range watched {
		r.watched[namespace] = true
	}
}

// counted is a transport that counts.
func (r *requests) counted(next http.RoundTripper) http.RoundTripper { return counting{r, next} }

type counting struct {
	requests *requests
	next     http.RoundTripper
}

func (c counting) RoundTrip(q *http.Request) (*http.Response, error) {
	namespace, object := placeOf(q.URL.Path)
	c.requests.note(q.Method, namespace, object)
	if q.Method == http.MethodGet {
		return c.next.RoundTrip(q)
	}
	text := q.Method + " " + object
	if c.requests.watches(namespace) {
		text += c.change(q)
	}
	answer, err := c.next.RoundTrip(q)
	if answer != nil {
		text += " (" + answer.Status + ")"
	}
	c.requests.wrote(namespace, text)
	return answer, err
}

// placeOf splits the path of a request into a namespace, if there is one, and what is asked for there.
func placeOf(path string) (namespace, object string) {
	_, rest, inNamespace := strings.Cut(path, "/namespaces/")
	if !inNamespace {
		return "", "of all namespaces"
	}
	namespace, object, _ = strings.Cut(rest, "/")
	return namespace, object
}

func (r *requests) note(method, namespace, object string) {
	kind, _, _ := strings.Cut(object, "/")
	if strings.HasSuffix(object, "/status") {
		kind += "/status"
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.kinds == nil {
		return
	}
	r.kinds[method+" "+kind]++
	if method != http.MethodGet {
		return
	}
	seen := r.looks[namespace]
	switch kind {
	case "commitclusters":
		seen.reads++
	case "statefulsets": // whether commitd was asked about what is to be applied
		seen.objects++
	case "persistentvolumeclaims": // who the servers are
		seen.protocol++
	}
	r.looks[namespace] = seen
}

func (r *requests) watches(namespace string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.watched[namespace]
}

func (r *requests) watchedNamespaces() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Keys(r.watched))
}

func (r *requests) wrote(namespace, what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.watched[namespace] {
		r.writes[namespace] = append(r.writes[namespace], what)
	}
}

// change says what a write that is about to be sent would change: of an object that is replaced its fields, otherwise what is sent.
func (c counting) change(q *http.Request) string {
	if q.Body == nil {
		return ""
	}
	sent, err := io.ReadAll(q.Body)
	_ = q.Body.Close()
	q.Body = io.NopCloser(bytes.NewReader(sent))
	var after any
	if err != nil || json.Unmarshal(sent, &after) != nil {
		return fmt.Sprintf(": %d bytes of %s", len(sent), q.Header.Get("Content-Type"))
	}
	if q.Method != http.MethodPut {
		return ": " + string(sent)
	}
	before, err := c.stored(q)
	if err != nil {
		return ": " + err.Error()
	}
	return ": " + strings.Join(changesBetween(before, after), "; ")
}

// stored is the object that a request is about, as the API server has it now.
func (c counting) stored(q *http.Request) (any, error) {
	get := q.Clone(q.Context())
	get.Method, get.Body, get.GetBody, get.ContentLength = http.MethodGet, nil, nil, 0
	get.URL.Path, get.URL.RawQuery = strings.TrimSuffix(get.URL.Path, "/status"), ""
	get.Header.Set("Accept", "application/json")
	answer, err := c.next.RoundTrip(get)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	var found any
	return found, json.NewDecoder(answer.Body).Decode(&found)
}

// lookedAt says which of the namespaces' clusters was not read so many times since the last reset.
func (r *requests) lookedAt(namespaces []string, times int) error {
	return r.fewerThan(namespaces, times, func(l looks) int { return l.reads })
}

// bothLookedAt says the same of each of the two controllers.
func (r *requests) bothLookedAt(namespaces []string, times int) error {
	return r.fewerThan(namespaces, times, func(l looks) int { return min(l.objects, l.protocol) })
}

func (r *requests) fewerThan(namespaces []string, times int, count func(looks) int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, n := range namespaces {
		if count(r.looks[n]) < times {
			return fmt.Errorf("%s: %+v, not each %d times", n, r.looks[n], times)
		}
	}
	return nil
}

// written says what was written in the namespaces that are watched since the last reset.
func (r *requests) written() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []string
	for _, n := range slices.Sorted(maps.Keys(r.writes)) {
		all = append(all, n+": "+strings.Join(r.writes[n], "\n  "))
	}
	if len(all) == 0 {
		return nil
	}
	const few = 20
	left := max(len(all)-few, 0)
	return fmt.Errorf("in %d namespaces (%d of them not shown):\n%s", len(all), left, strings.Join(all[:len(all)-left], "\n"))
}

// count is how many there were of one method and kind.
func (r *requests) count(kind string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.kinds[kind]
}

// counts are the requests that read and those that write.
func (r *requests) counts() (reads, writes int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for kind, n := range r.kinds {
		if strings.HasPrefix(kind, http.MethodGet+" ") {
			reads += n
		} else {
			writes += n
		}
	}
	return reads, writes
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
