package api

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"commitlab.dev/ledger/internal/journal"
	"commitlab.dev/ledger/internal/timeline"
)

// postFault marks a fault. Parameters: name; expect=outage (default) or none; target: a server, or master or replica for whoever has that role
// now; proof=process (default) or link; objects: how many are hit, each of which must be proved; limit: the longest RTO, e.g. 30s;
// unsupported: why it cannot be injected here.
func (a *API) postFault(w http.ResponseWriter, r *http.Request) {
	mark, err := a.parseMark(r)
	if err != nil {
		answer(w, http.StatusBadRequest, map[string]string{"error": err.Error()})
		return
	}
	if !a.running() {
		answer(w, http.StatusConflict, map[string]string{"error": "the load has ended: a fault now would prove nothing"})
		return
	}
	if name := a.unseen(mark); name != "" {
		answer(w, http.StatusConflict, map[string]string{"error": name + " has not answered yet, so nothing could prove a fault: try again when it has"})
		return
	}
	a.append(w, journal.Fault{Mark: mark}, mark)
}

// postEvidence takes what was looked at before and after a marked fault. Parameters: fault, kind, object, before, after.
func (a *API) postEvidence(w http.ResponseWriter, r *http.Request) {
	evidence := journal.Evidence{Fault: r.FormValue("fault"), Evidence: timeline.Evidence{
		Kind: r.FormValue("kind"), Object: r.FormValue("object"), Before: r.FormValue("before"), After: r.FormValue("after"), At: time.Now(),
	}}
	if evidence.Kind == "" || evidence.Object == "" || evidence.Before == "" || evidence.After == "" {
		answer(w, http.StatusBadRequest, map[string]string{"error": "evidence has fault, kind, object, before and after, " +
			"e.g. kind=pod-uid object=demo-0 before=UID after=deleted"})
		return
	}
	if !evidence.Proves() {
		answer(w, http.StatusBadRequest, map[string]string{"error": "before and after are the same: that proves nothing"})
		return
	}
	if !a.hasFault(evidence.Fault) {
		answer(w, http.StatusNotFound, map[string]string{"error": fmt.Sprintf("no fault %q is marked: mark it before it is injected", evidence.Fault)})
		return
	}
	a.append(w, evidence, evidence)
}

// unseen is a target of which nothing is known yet that the fault could change.
func (a *API) unseen(mark timeline.Mark) (name string) {
	if mark.Unsupported != "" {
		return ""
	}
	a.journal.View(func(s *journal.State) {
		for _, target := range mark.Targets {
			if !s.Timeline.HasAnswered(target) {
				name = target
			}
		}
	})
	return name
}

func (a *API) append(w http.ResponseWriter, record journal.Record, body any) {
	if err := a.journal.AppendSync(record); err != nil {
		answer(w, http.StatusInternalServerError, map[string]string{"error": err.Error()})
		return
	}
	answer(w, http.StatusOK, body)
}

func (a *API) running() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.phase == PhaseRunning
}

func (a *API) hasFault(name string) (found bool) {
	a.journal.View(func(s *journal.State) {
		found = slices.ContainsFunc(s.Timeline.Faults(), func(f timeline.Fault) bool { return f.Name == name })
	})
	return found
}

func (a *API) parseMark(r *http.Request) (timeline.Mark, error) {
	expect, proof := r.FormValue("expect"), r.FormValue("proof")
	mark := timeline.Mark{
		At: time.Now(), Name: r.FormValue("name"), ExpectOutage: expect != "none",
		Proof: timeline.ProofProcess, Unsupported: r.FormValue("unsupported"),
	}
	if mark.Name == "" {
		return mark, errors.New("give the fault a name: POST /fault?name=kill-master")
	}
	if expect != "" && expect != "outage" && expect != "none" {
		return mark, errors.New("expect is outage or none")
	}
	switch proof {
	case "", timeline.ProofProcess:
	case timeline.ProofLink:
		mark.Proof = proof
	default:
		return mark, errors.New("proof is process (the target runs another one afterwards) or link (the target loses its replication)")
	}
	if err := parsePromises(r, &mark); err != nil {
		return mark, err
	}
	var err error
	mark.Targets, err = a.targets(r.Form["target"])
	return mark, err
}

// parsePromises reads what the fault must come to.
func parsePromises(r *http.Request, mark *timeline.Mark) (err error) {
	if text := r.FormValue("objects"); text != "" {
		if mark.Objects, err = strconv.Atoi(text); err != nil || mark.Objects < 1 {
			return errors.New("objects is a number, at least 1")
		}
	}
	if text := r.FormValue("limit"); text != "" {
		limit, err := time.ParseDuration(text)
		if err != nil || limit <= 0 {
			return errors.New("limit is a duration, such as 30s")
		}
		mark.LimitSeconds = limit.Seconds()
	}
	return nil
}

// targets are the servers that the given names and roles stand for now.
func (a *API) targets(given []string) (targets []string, err error) {
	for _, target := range given {
		if target == "" {
			continue
		}
		found, err := a.target(target)
		if err != nil {
			return nil, err
		}
		targets = append(targets, found...)
	}
	return targets, nil
}

func (a *API) target(target string) ([]string, error) {
	names, targets := []string{}, []string{}
	a.journal.View(func(s *journal.State) {
		for _, named := range a.servers {
			names = append(names, named.Name)
			seen, _ := s.Timeline.Observation(named.Name)
			if named.Name == target || seen.Role == target {
				targets = append(targets, named.Name)
			}
		}
	})
	if len(targets) == 0 {
		return nil, fmt.Errorf("the target %q is neither a server (%s) nor the role of one now", target, strings.Join(names, ", "))
	}
	return targets, nil
}
