package api

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"commitlab.dev/ledger/internal/journal"
	"commitlab.dev/ledger/internal/timeline"
)

// postFault marks a fault. Parameters: name; expect=outage (default) or none; target: a server, or master or replica for whoever has that role
// now; proof=process (default) or link; unsupported: why it cannot be injected here.
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
	var err error
	mark.Targets, err = a.targets(r.FormValue("target"))
	return mark, err
}

// targets are the servers that a target stands for now.
func (a *API) targets(target string) ([]string, error) {
	if target == "" {
		return nil, nil
	}
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
