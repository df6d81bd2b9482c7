package journal

import (
	"time"

	"commitlab.dev/ledger/internal/entry"
	"commitlab.dev/ledger/internal/register"
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

	// Reads tells, for each server, how often the bank was read while it was written to, and what the wrong reads showed.
	Reads map[string]*Reads
	// OwnReads tells the same of reads that had waited for a commit's GTIDs.
	OwnReads map[string]*Reads
	// Operations on shared rows.
	Operations []register.Operation

	outcomes []Outcome
	// ackedAt and ackedBy belong to the ids of outcomes; 0 where nothing was acknowledged.
	ackedAt []int64
	ackedBy []uint16
	servers map[int]timeline.Server
	counts  [4]int
	started time.Time
	// lastOK was acknowledged last, by lastOKBy.
	lastOK   uint64
	lastOKBy int
}

// Reads is what the reads of one server during the run came to.
type Reads struct {
	Right int        `json:"right"`
	Wrong int        `json:"wrong"`
	First []BankRead `json:"firstWrong,omitempty"`
}

// maxWrongReads bounds how many wrong reads are shown; one is enough to fail.
const maxWrongReads = 10

// PauseThreshold is the shortest stretch without an acknowledgement that is listed as a pause.
const PauseThreshold = 500 * time.Millisecond

func newState() *State {
	return &State{
		Timeline: timeline.New(PauseThreshold),
		Reads:    map[string]*Reads{},
		OwnReads: map[string]*Reads{},
		outcomes: make([]Outcome, 1),
		ackedAt:  make([]int64, 1),
		ackedBy:  make([]uint16, 1),
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
	if id == 0 || id >= uint64(len(s.outcomes)) || s.outcomes[id] == Acknowledged { // nothing takes an acknowledgement back
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
		s.outcomes, s.ackedAt, s.ackedBy = append(s.outcomes, Unanswered), append(s.ackedAt, 0), append(s.ackedBy, 0)
		s.counts[Unanswered]++
	}
}

func (r Server) apply(s *State) { s.servers[r.Number] = r.Server }

func (r OK) apply(s *State) {
	if s.started.IsZero() {
		s.started = r.Sent
	}
	s.setOutcome(r.ID, Acknowledged)
	s.lastOK, s.lastOKBy = r.ID, r.Server
	if r.ID < s.NextID() {
		s.ackedAt[r.ID], s.ackedBy[r.ID] = r.At.UnixNano(), uint16(r.Server)
	}
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

func (r Fault) apply(s *State)    { s.Timeline.Fault(r.Mark) }
func (r Evidence) apply(s *State) { s.Timeline.Proved(r.Fault, r.Evidence) }
func (r Seen) apply(s *State)     { s.Timeline.Observed(r.Observation) }

func (r Register) apply(s *State) { s.Operations = append(s.Operations, r.Operation) }

func (r BankRead) apply(s *State) { addRead(s.Reads, r) }
func (r OwnRead) apply(s *State)  { addRead(s.OwnReads, BankRead(r)) }

func addRead(all map[string]*Reads, r BankRead) {
	reads := all[r.Server]
	if reads == nil {
		reads = &Reads{}
		all[r.Server] = reads
	}
	reads.Right += r.Right
	if r.Wrong == "" {
		return
	}
	reads.Wrong++
	if len(reads.First) < maxWrongReads {
		reads.First = append(reads.First, r)
	}
}

// LastAcknowledged is the id that was acknowledged last, and by whom; 0 when none was.
func (s *State) LastAcknowledged() (uint64, timeline.Server) {
	return s.lastOK, s.servers[s.lastOKBy]
}

// Acknowledgement tells when an id was acknowledged and by whom; false when it was not.
func (s *State) Acknowledgement(id uint64) (time.Time, timeline.Server, bool) {
	if outcome, _ := s.Outcome(id); outcome != Acknowledged {
		return time.Time{}, timeline.Server{}, false
	}
	return time.Unix(0, s.ackedAt[id]), s.servers[int(s.ackedBy[id])], true
}

// Servers returns the numbers under which servers are known.
func (s *State) Servers() map[timeline.Server]int {
	numbers := map[timeline.Server]int{}
	for number, server := range s.servers {
		numbers[server] = number
	}
	return numbers
}

// Rate is how many commits were acknowledged in each second from a moment on.
type Rate struct {
	From    time.Time `json:"from"`
	Seconds []int     `json:"seconds"`
}

// maxRateSeconds bounds the list: what lies beyond a day is not shown.
const maxRateSeconds = 24 * 60 * 60

// Rate counts the acknowledgements by the second in which they arrived.
func (s *State) Rate() Rate {
	rate := Rate{From: s.started.Truncate(time.Second), Seconds: []int{}}
	for id, at := range s.ackedAt {
		second := int(time.Unix(0, at).Sub(rate.From) / time.Second)
		if s.outcomes[id] != Acknowledged || second < 0 || second >= maxRateSeconds {
			continue
		}
		for len(rate.Seconds) <= second {
			rate.Seconds = append(rate.Seconds, 0)
		}
		rate.Seconds[second]++
	}
	return rate
}
