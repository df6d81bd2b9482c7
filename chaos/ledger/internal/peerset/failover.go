package peerset

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"commitlab.dev/ledger/internal/dbserver"
)

// ElectAll waits for every server, and sees to it that one of them is the source and all others follow it.
func (s *Set) ElectAll(ctx context.Context) error {
	if err := s.awaitAll(ctx); err != nil {
		return err
	}
	if err := s.FailOver(ctx); err != nil {
		return err
	}
	return s.Attach(ctx)
}

// FailOverAround fails over while one server cannot be reached by the script, and lets something happen before the others hear of the new source.
func (s *Set) FailOverAround(ctx context.Context, unreached *dbserver.Member, meanwhile func() error) error {
	s.unreached, s.meanwhile = unreached, meanwhile
	defer func() { s.unreached, s.meanwhile = nil, nil }()
	return s.FailOver(ctx)
}

// FailOver finds a source among those that answer. It tries until there is one, or the context ends.
func (s *Set) FailOver(ctx context.Context) error {
	for {
		err := s.tryToFailOver(ctx)
		if err == nil {
			return nil
		}
		s.log.Debug("failover", "error", err)
		if !dbserver.Pause(ctx, retryEvery) {
			return fmt.Errorf("no source: %w", err)
		}
	}
}

// A source that answers stays what it is: whatever it acknowledged is in its log.
func (s *Set) tryToFailOver(ctx context.Context) error {
	answering := s.look(ctx)
	if !answering[s.Source()] {
		if err := s.replace(ctx, answering); err != nil {
			return err
		}
	}
	source := s.Source()
	if err := s.promote(ctx, source); err != nil {
		return err
	}
	if s.meanwhile != nil {
		if err := s.meanwhile(); err != nil {
			return err
		}
	}
	s.Proxy.CutOver(source.Address())
	atOnce(s.Members.Others(source), func(m *dbserver.Member) {
		if !answering[m] {
			return
		}
		if err := s.attach(ctx, m); err != nil {
			s.log.Debug("attach", "error", err)
		}
	})
	return ctx.Err()
}

// look tells who answers.
func (s *Set) look(ctx context.Context) map[*dbserver.Member]bool {
	ctx, cancel := context.WithTimeout(ctx, s.config.AnswerWithin)
	defer cancel()
	var mu sync.Mutex
	answering := map[*dbserver.Member]bool{}
	atOnce(s.Members, func(m *dbserver.Member) {
		if m == s.unreached || commands(ctx, m, "DO 1") != nil {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		answering[m] = true
	})
	return answering
}

// replace chooses another source. A commit is acknowledged once one replica has it, whichever that is: all of them must be asked.
func (s *Set) replace(ctx context.Context, answering map[*dbserver.Member]bool) error {
	old := s.Source()
	others := s.Members.Others(old)
	if s.config.Careless {
		for _, m := range others {
			if answering[m] {
				s.succeed(m)
				return nil
			}
		}
		return errors.New("no replica answers")
	}
	for _, m := range others {
		if !answering[m] || !s.follows(m) {
			return fmt.Errorf("%s may have what %s acknowledged, and cannot be asked", m.Name, old.Name)
		}
	}
	s.Proxy.CutOver("") // whoever still reaches the old source must have no answer from it
	best, err := s.choose(ctx, others)
	if err != nil {
		return err
	}
	s.succeed(best)
	return nil
}

func (s *Set) follows(m *dbserver.Member) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.attached[m]
}

// choose returns who has received most, once all have stopped to receive and have applied what they received. From then on the old source has no
// acknowledgement any more, whether it goes on or not.
func (s *Set) choose(ctx context.Context, replicas dbserver.Members) (*dbserver.Member, error) {
	var mu sync.Mutex
	var best *dbserver.Member
	var most uint64
	var failures []error
	atOnce(replicas, func(m *dbserver.Member) {
		has, err := s.drain(ctx, m)
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			failures = append(failures, err)
		} else if best == nil || has > most {
			best, most = m, has
		}
	})
	return best, errors.Join(failures...)
}

// drain makes a replica receive nothing more and apply all that it has; it returns how far it has come.
func (s *Set) drain(ctx context.Context, m *dbserver.Member) (uint64, error) {
	now, err := readReplication(ctx, m)
	if err != nil {
		return 0, err
	}
	if now.idle() {
		err = applyRelayLog(ctx, m)
	} else if now.configured {
		err = s.applyReceived(ctx, m)
	}
	if err != nil {
		return 0, err
	}
	var position string
	if err := value(ctx, m, "SELECT @@GLOBAL.gtid_binlog_pos", &position); err != nil {
		return 0, err
	}
	return sequence(position)
}

// applyReceived is for a replica at work. It must never be told to start both threads anew: with GTIDs that empties the relay log.
func (s *Set) applyReceived(ctx context.Context, m *dbserver.Member) error {
	if err := commands(ctx, m, "START SLAVE SQL_THREAD", "STOP SLAVE IO_THREAD"); err != nil {
		return err
	}
	now, err := readReplication(ctx, m)
	if err != nil {
		return err
	}
	for {
		var late int
		if err := value(ctx, m, fmt.Sprintf("SELECT MASTER_GTID_WAIT('%s', 1)", now.received), &late); err != nil || late == 0 {
			return err
		}
		if now, err = readReplication(ctx, m); err != nil {
			return err
		}
		if !now.applies {
			return fmt.Errorf("%s does not apply what it has received: %s", m.Name, now.applyErrorText)
		}
	}
}

// succeed remembers who is the source now, before that one takes its first write: should it be killed at once, it is started as what it is.
func (s *Set) succeed(next *dbserver.Member) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log.Debug("promotion", "of", next.Name, "after", s.source.Name)
	s.former[s.source] = true
	delete(s.former, next)
	s.source, s.attached = next, map[*dbserver.Member]bool{}
}

func (s *Set) promote(ctx context.Context, m *dbserver.Member) error {
	semisync := "ON"
	if s.config.Asynchronous {
		semisync = "OFF"
	}
	return commands(ctx, m, "STOP SLAVE", "RESET SLAVE ALL", "SET GLOBAL rpl_semi_sync_slave_enabled = OFF",
		"SET GLOBAL rpl_semi_sync_master_enabled = "+semisync, "SET GLOBAL read_only = OFF")
}

func atOnce(members dbserver.Members, do func(*dbserver.Member)) {
	var wait sync.WaitGroup
	for _, m := range members {
		wait.Go(func() { do(m) })
	}
	wait.Wait()
}
