package journal

import (
	"time"

	"commitlab.dev/ledger/internal/entry"
	"commitlab.dev/ledger/internal/timeline"
)

// Outcome is what is known about an id.
type Outcome byte

// An id that was reserved and has no outcome is Unanswered: it was never sent, or the ledger died before it wrote down the answer.
const (
	Unanswered Outcome = iota
	Acknowledged
	RefusedOutcome
	Indeterminate
)

// State is everything the durable part of a journal says. It is built by applying records in order, by the running ledger
// and by a later reader alike, so that both always agree. It is not safe for concurrent use.
type State struct {
	Run      entry.Run
	SetUp    bool
	Timeline *timeline.Timeline

	outcomes []Outcome
	servers  map[int]timeline.Server
	counts   [4]int
	started  time.Time
}

// PauseThreshold is the shortest stretch without an acknowledgement that is listed as a pause.
const PauseThreshold = 500 * time.Millisecond

func newState() *State {
	return &State{
		Timeline: timeline.New(PauseThreshold),
		outcomes: make([]Outcome, 1),
		servers:  map[int]timeline.Server{},
	}
}

// Outcome returns what is known about an id, and whether it was ever reserved.
func (s *State) Outcome(id uint64) (Outcome, bool) {
	if id == 0 || id >= uint64(len(s.outcomes)) {
		return Unanswered, false
	}
	return s.outcomes[id], true
}

// NextID is the first id that was never reserved. Ids start at 1.
func (s *State) NextID() uint64 { return uint64(len(s.outcomes)) }

// Count returns how many ids have the outcome.
func (s *State) Count(o Outcome) int { return s.counts[o] }

// Started is when the first commit was sent; zero when none was.
func (s *State) Started() time.Time { return s.started }

func (s *State) setOutcome(id uint64, o Outcome) {
	if id == 0 || id >= uint64(len(s.outcomes)) {
		return
	}
	s.counts[s.outcomes[id]]--
	s.outcomes[id] = o
	s.counts[o]++
}

func (r header) apply(s *State) { s.Run = r.run }
func (Started) apply(s *State)  { s.Timeline.Resumed() }
func (r SetUp) apply(s *State)  { s.SetUp = true }

func (r Reserved) apply(s *State) {
	for id := s.NextID(); id <= r.Last; id++ {
		s.outcomes = append(s.outcomes, Unanswered)
		s.counts[Unanswered]++
	}
}

func (r Server) apply(s *State) { s.servers[r.Number] = r.Server }

func (r OK) apply(s *State) {
	if s.started.IsZero() {
		s.started = r.Sent
	}
	s.setOutcome(r.ID, Acknowledged)
	s.Timeline.Acknowledged(r.Sent, r.At, s.servers[r.Server])
}

func (r Refused) apply(s *State) {
	s.setOutcome(r.ID, RefusedOutcome)
	s.Timeline.Failed(r.At)
}

func (r Unknown) apply(s *State) {
	s.setOutcome(r.ID, Indeterminate)
	s.Timeline.Failed(r.At)
}

func (r Unreachable) apply(s *State) { s.Timeline.Failed(r.At) }

func (r Fault) apply(s *State) { s.Timeline.Fault(r.Name, r.At, r.ExpectOutage) }

// Servers returns the numbers under which servers are known.
func (s *State) Servers() map[timeline.Server]int {
	numbers := map[timeline.Server]int{}
	for number, server := range s.servers {
		numbers[server] = number
	}
	return numbers
}
