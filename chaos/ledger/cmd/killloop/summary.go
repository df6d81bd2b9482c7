package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"commitlab.dev/ledger/internal/killloop"
)

// summary prints a line per round and one for all.
type summary struct {
	rounds   int
	last     killloop.Round
	slowest  float64
	unsynced int
	kinds    map[string]*kind
}

// kind is what rounds with the same fault came to.
type kind struct {
	rounds, failovers, restarts int
	slowest                     float64
}

func (s *summary) add(r killloop.Round) {
	s.rounds, s.last = s.rounds+1, r
	s.slowest = max(s.slowest, r.Fault.RTOSeconds)
	s.unsynced += r.UnsyncedWrites
	s.count(r)
	v := r.Verdict
	fmt.Printf("round %2d: %s acknowledged %d lost %d indeterminate %d recovery %.3f s by %s (%s%s)\n",
		r.Number, strings.ToLower(string(v.Result)), v.Acknowledged, v.Lost, v.Indeterminate, r.Fault.RTOSeconds, r.Fault.RecoveredBy, r.Fault.Name,
		unsynced(r.UnsyncedWrites))
}

func (s *summary) count(r killloop.Round) {
	_, name, found := strings.Cut(r.Fault.Name, ": ")
	if !found {
		name = "server killed and started"
	}
	if s.kinds == nil {
		s.kinds = map[string]*kind{}
	}
	k := s.kinds[name]
	if k == nil {
		k = &kind{}
		s.kinds[name] = k
	}
	k.rounds++
	k.slowest = max(k.slowest, r.Fault.RTOSeconds)
	switch r.Fault.RecoveredBy {
	case "failover":
		k.failovers++
	case "restart":
		k.restarts++
	}
}

func (s *summary) print(planned int) {
	v := s.last.Verdict
	fmt.Printf("killloop: %s, acknowledged %d, lost %d, duplicated %d, corrupt %d, slowest recovery %.3f s%s\n",
		s.progress(planned), v.Acknowledged, v.Lost, v.Duplicated, v.Corrupt, s.slowest, unsynced(s.unsynced))
}

func (s *summary) progress(planned int) string {
	if planned == 0 {
		return fmt.Sprintf("%d rounds", s.rounds)
	}
	return fmt.Sprintf("%d of %d rounds", s.rounds, planned)
}

func unsynced(writes int) string {
	if writes == 0 {
		return ""
	}
	return fmt.Sprintf(", %d unsynced writes lost", writes)
}

// report is what is kept of a long run: what it ran, and what came out.
func (s *summary) report(revision string, seed uint64, took time.Duration, failure error) string {
	v := s.last.Verdict
	var b strings.Builder
	verdict := string(v.Result)
	if failure != nil {
		verdict = "not passed: " + failure.Error()
	}
	fmt.Fprintf(&b, "# Soak: %s\n\ncommit %s, seed %d, %s, %d rounds%s\n\n", verdict, revision, seed, took.Round(time.Second), s.rounds, unsynced(s.unsynced))
	fmt.Fprintf(&b, "acknowledged %d, lost %d, duplicated %d, corrupt %d, indeterminate %d, refused %d\n\n",
		v.Acknowledged, v.Lost, v.Duplicated, v.Corrupt, v.Indeterminate, v.Refused)
	b.WriteString("| fault | rounds | failovers | restarts | longest time without a commit, s |\n| --- | ---: | ---: | ---: | ---: |\n")
	for _, name := range slices.Sorted(maps.Keys(s.kinds)) {
		k := s.kinds[name]
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %.3f |\n", name, k.rounds, k.failovers, k.restarts, k.slowest)
	}
	return b.String()
}
