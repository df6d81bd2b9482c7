package load

import (
	"sync"

	"commitlab.dev/ledger/internal/journal"
)

// blockSize is how many ids one durable reservation covers.
const blockSize = 10_000

// ids hands out ids that have never been used, each from a reservation that is durable already.
type ids struct {
	journal *journal.Journal

	mu         sync.Mutex
	next, last uint64
}

func newIDs(j *journal.Journal) *ids {
	s := &ids{journal: j}
	j.View(func(state *journal.State) { s.next, s.last = state.NextID(), state.NextID()-1 })
	return s
}

func (s *ids) take() (uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.next > s.last {
		block := journal.Reserved{First: s.next, Last: s.next + blockSize - 1}
		if err := s.journal.AppendSync(block); err != nil {
			return 0, err
		}
		s.last = block.Last
	}
	id := s.next
	s.next++
	return id, nil
}
