package replicaset

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"commitlab.dev/ledger/internal/dbserver"
)

// quorum is who may acknowledge: the master and so many of the members.
type quorum struct {
	epoch     uint64
	master    *member
	members   []*member
	waitCount int
}

// covered tells whether the fenced servers include one that holds whatever the quorum acknowledged, and leave none that could acknowledge more.
func (q quorum) covered(fenced map[*member]bool) bool {
	if fenced[q.master] {
		return true
	}
	reached := 0
	for _, m := range q.members {
		if fenced[m] {
			reached++
		}
	}
	return reached+q.waitCount > len(q.members)
}

const (
	retryEvery = 20 * time.Millisecond
	// establishTimeout is how long an election waits for the acknowledgement of its epoch before there is another one.
	establishTimeout = 15 * time.Second
)

// elect gives the set a master under a new epoch. It tries, each time under a higher epoch, until that one takes writes or the context ends.
func (s *Set) elect(ctx context.Context) error {
	for {
		err := s.tryToElect(ctx)
		if err == nil {
			return nil
		}
		s.log.Debug("election", "epoch", s.epoch, "error", err)
		if !dbserver.Pause(ctx, retryEvery) {
			return fmt.Errorf("no master in epoch %d: %w", s.epoch, err)
		}
	}
}

func (s *Set) tryToElect(ctx context.Context) error {
	s.epoch++
	candidates, fenced := s.fence(ctx)
	if s.config.Careless {
		if len(fenced)+1 < len(s.members) {
			return fmt.Errorf("only %d servers answer", len(fenced))
		}
	} else {
		for _, q := range s.quorums {
			if !q.covered(fenced) {
				return fmt.Errorf("the quorum of epoch %d is not covered by %d fenced servers", q.epoch, len(fenced))
			}
		}
	}
	best, err := choose(ctx, candidates)
	if err != nil {
		return err
	}
	next := quorum{epoch: s.epoch, master: best.member, members: s.others(best.member), waitCount: s.config.WaitCount}
	s.quorums = append(s.quorums, next)
	err = best.member.command(ctx, "ALTER INSTANCE PROMOTE EPOCH %d WAIT_COUNT %d MEMBERS '%s' %s", s.epoch, next.waitCount, uuids(next.members), s.config.Terms)
	if err != nil {
		return err
	}
	if s.meanwhile != nil {
		if err := s.meanwhile(); err != nil {
			return err
		}
	}
	s.follow(ctx)
	if err := s.establish(ctx, next); err != nil {
		return err
	}
	// Not before: until it takes writes it may show less than the former one has shown.
	s.Proxy.PointTo(best.member.Address())
	return nil
}

// fence returns who has promised the new epoch, and what they hold.
func (s *Set) fence(ctx context.Context) ([]status, map[*member]bool) {
	var mu sync.Mutex
	var candidates []status
	fenced := map[*member]bool{}
	ctx, cancel := context.WithTimeout(ctx, s.config.AnswerWithin)
	defer cancel()
	atOnce(s.members, func(m *member) {
		if m.Member == s.unreached {
			return
		}
		found, err := m.fence(ctx, s.epoch)
		if err != nil {
			s.log.Debug("fence", "error", err)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		candidates, fenced[m] = append(candidates, found), true
	})
	return candidates, fenced
}

// choose takes the highest epoch in the log, then the largest set of transactions.
func choose(ctx context.Context, candidates []status) (status, error) {
	if len(candidates) == 0 {
		return status{}, errors.New("no server answers")
	}
	best := candidates[0]
	for _, c := range candidates[1:] {
		holds, err := c.holds(ctx, best)
		if err != nil {
			return status{}, err
		}
		if c.lastLogEpoch > best.lastLogEpoch || c.lastLogEpoch == best.lastLogEpoch && holds {
			best = c
		}
	}
	return best, nil
}

// follow sends everyone else to the master of the last quorum. Who does not answer is told later.
func (s *Set) follow(ctx context.Context) {
	q := s.quorums[len(s.quorums)-1]
	ctx, cancel := context.WithTimeout(ctx, s.config.AnswerWithin)
	defer cancel()
	atOnce(q.members, func(m *member) {
		if m.Member == s.unreached {
			return
		}
		err := m.command(ctx, "ALTER INSTANCE FOLLOW EPOCH %d SOURCE_HOST '127.0.0.1' SOURCE_PORT %d SOURCE_UUID '%s' SOURCE_USER 'root' SOURCE_PASSWORD ''",
			q.epoch, q.master.Port(), q.master.uuid)
		if err != nil {
			s.log.Debug("follow", "error", err)
		}
	})
}

// establish waits until the quorum holds everything, which makes the earlier ones irrelevant. Servers that
// come back meanwhile are told whom to follow.
func (s *Set) establish(ctx context.Context, q quorum) error {
	ctx, cancel := context.WithTimeout(ctx, establishTimeout)
	defer cancel()
	for {
		found, err := q.master.status(ctx)
		if err != nil {
			return err
		}
		if found.role != "master" || found.epoch != q.epoch {
			return fmt.Errorf("%s is %s in epoch %d", q.master.Name, found.role, found.epoch)
		}
		if !found.writesBlocked && len(found.ackedMembers) >= q.waitCount {
			s.quorums = []quorum{q}
			return nil
		}
		s.followLate(ctx, q)
		if !dbserver.Pause(ctx, retryEvery) {
			return fmt.Errorf("%s still blocks writes in epoch %d", q.master.Name, q.epoch)
		}
	}
}

// followLate tells those that have restarted since, and those that a failed statement left behind.
func (s *Set) followLate(ctx context.Context, q quorum) {
	var late atomic.Bool
	atOnce(q.members, func(m *member) {
		if found, err := m.status(ctx); err == nil && (found.role == "undecided" || found.role == "fenced") {
			late.Store(true)
		}
	})
	if late.Load() {
		s.follow(ctx)
	}
}

// atOnce asks all: one that hangs must not delay the others.
func atOnce(members []*member, ask func(*member)) {
	var wait sync.WaitGroup
	for _, m := range members {
		wait.Go(func() { ask(m) })
	}
	wait.Wait()
}

func (s *Set) others(master *member) []*member {
	var others []*member
	for _, m := range s.members {
		if m != master {
			others = append(others, m)
		}
	}
	return others
}

func uuids(members []*member) string {
	var list []string
	for _, m := range members {
		list = append(list, m.uuid)
	}
	return strings.Join(list, ",")
}
