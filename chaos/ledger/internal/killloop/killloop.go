// Package killloop kills a server under load, over and over on the same data, and checks after every round that no
// acknowledged commit was lost.
package killloop

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"commitlab.dev/ledger/internal/entry"
	"commitlab.dev/ledger/internal/journal"
	"commitlab.dev/ledger/internal/judge"
	"commitlab.dev/ledger/internal/load"
	"commitlab.dev/ledger/internal/server"
	"commitlab.dev/ledger/internal/timeline"
	"commitlab.dev/ledger/internal/watch"
)

// Config says how a victim is loaded and killed.
type Config struct {
	// Dir holds the datadirs, the servers' logs and the journal.
	Dir string
	// Rounds at most, and no new one once Duration is over; 0 is no bound.
	Rounds   int
	Duration time.Duration
	Writers  int
	// Random chooses the moments; nil takes some seed.
	Random *rand.Rand
	// The kill comes at a random moment between MinLoad and MaxLoad after acknowledgements began to flow.
	MinLoad, MaxLoad time.Duration
	// AfterLoad is how long the load goes on after the recovery.
	AfterLoad time.Duration
	// Patience bounds every wait for the server.
	Patience time.Duration
	// Disturb runs DDL, checkpoints, log rotations and purges beside the load.
	Disturb bool
}

// Victim is what is killed: a server, or a set of them.
type Victim interface {
	Start(ctx context.Context) error
	Stop(patience time.Duration) error
	// DSN is where writers write.
	DSN(database string) string
	// Servers are all that must show the same in the end.
	Servers(database string) []server.Named
	// NextFault chooses what is done in a round.
	NextFault(round int) Fault
	// Down is why nobody will answer any more; nil while somebody may.
	Down() error
	// LogFile is where a person looks first.
	LogFile() string
	// UnsyncedWrites is how many the power losses so far have taken away; none where a kill takes nothing away.
	UnsyncedWrites() (int, error)
}

// Fault is one thing that a round does to its victim.
type Fault struct {
	Name         string
	ExpectOutage bool
	// Inject does it, proves it, and sees to it that everything comes back.
	Inject func(ctx context.Context, prove func(timeline.Evidence) error) error
}

// Round is what one round came to.
type Round struct {
	Number  int
	Fault   timeline.Fault
	Verdict judge.Verdict
	Elapsed time.Duration
	// UnsyncedWrites were taken away in this round.
	UnsyncedWrites int
}

// Loop is one sequence of rounds.
type Loop struct {
	config  Config
	victim  Victim
	journal *journal.Journal
	log     *slog.Logger
}

const (
	database         = "ledger"
	statementTimeout = 5 * time.Second
	pollEvery        = 5 * time.Millisecond
	// maxSecondKill is how long after a first kill a second one comes, at most.
	maxSecondKill = 100 * time.Millisecond
	// maxPauseAfter is how long a source that goes on is left alone, at most, before it is told of the new epoch.
	maxPauseAfter = 500 * time.Millisecond
)

// Run does all rounds and reports each. It stops at the first that does not pass; what the servers had then stays in Dir.
func Run(ctx context.Context, config Config, victim Victim, report func(Round), log *slog.Logger) error {
	j, err := journal.Open(filepath.Join(config.Dir, "journal"), entry.Run{Name: "killloop", Accounts: 64})
	if err != nil {
		return err
	}
	defer j.Close()
	if config.Random == nil {
		config.Random = rand.New(rand.NewPCG(rand.Uint64(), 0))
	}
	loop := &Loop{config: config, victim: victim, journal: j, log: log}
	defer func() {
		if err := victim.Stop(config.Patience); err != nil {
			log.Error("stop the server", "error", err)
		}
	}()
	if err := loop.patiently(ctx, victim.Start); err != nil {
		return err
	}
	began := time.Now()
	for number := 1; config.goesOn(number, time.Since(began)) && ctx.Err() == nil; number++ {
		round, err := loop.round(ctx, number)
		if ctx.Err() != nil { // stopped from outside: whatever the round says is not about the server
			return ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("round %d: %w (server log: %s)", number, err, victim.LogFile())
		}
		report(round)
		if round.Verdict.Result != judge.Passed {
			return fmt.Errorf("round %d: %s: %v (datadir, log and journal: %s)",
				number, round.Verdict.Result, round.Verdict.Reasons, config.Dir)
		}
	}
	return ctx.Err()
}

func (c Config) goesOn(number int, elapsed time.Duration) bool {
	return (c.Rounds == 0 || number <= c.Rounds) && (c.Duration == 0 || elapsed < c.Duration)
}

func (l *Loop) round(ctx context.Context, number int) (Round, error) {
	began := time.Now()
	unsynced, err := l.victim.UnsyncedWrites()
	if err != nil {
		return Round{}, err
	}
	if err := l.loadAndKill(ctx, number); err != nil {
		return Round{}, err
	}
	if err := l.journal.Sync(); err != nil {
		return Round{}, err
	}
	round := Round{Number: number}
	if round.UnsyncedWrites, err = l.victim.UnsyncedWrites(); err != nil {
		return Round{}, err
	}
	round.UnsyncedWrites -= unsynced
	l.journal.View(func(s *journal.State) {
		servers := judge.Servers{Master: l.victim.DSN(database), Expected: l.victim.Servers(database), Patience: l.config.Patience}
		round.Verdict = judge.Verify(ctx, s, servers, l.log)
	})
	round.Fault = round.Verdict.Faults[len(round.Verdict.Faults)-1]
	round.Elapsed = time.Since(began)
	return round, nil
}

// patiently bounds what may wait for ever.
func (l *Loop) patiently(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, l.config.Patience)
	defer cancel()
	return do(ctx)
}

// loadAndKill keeps the load running over the fault and what follows: the writers meet both.
func (l *Loop) loadAndKill(ctx context.Context, number int) error {
	writing, stop := context.WithCancel(ctx)
	defer stop()
	writer, err := load.New(load.Config{
		DSN: l.victim.DSN(database), Writers: l.config.Writers, StatementTimeout: statementTimeout,
	}, l.journal, l.log)
	if err != nil {
		return err
	}
	group, groupCtx := errgroup.WithContext(writing)
	group.Go(func() error { return writer.Run(groupCtx) })
	group.Go(func() error { return watch.Run(groupCtx, l.victim.Servers(database), l.journal) })
	group.Go(func() error {
		if l.config.Disturb {
			disturb(groupCtx, l.victim.DSN(database), len(l.victim.Servers(database)) == 1)
		}
		return nil
	})
	group.Go(func() error {
		defer stop()
		return l.injectUnderLoad(groupCtx, l.victim.NextFault(number))
	})
	return group.Wait()
}

func (l *Loop) injectUnderLoad(ctx context.Context, fault Fault) error {
	if err := l.awaitAcknowledgement(ctx, time.Now()); err != nil {
		return fmt.Errorf("before the fault: %w", err)
	}
	sleep(ctx, l.config.MinLoad+time.Duration(l.config.Random.Int64N(int64(l.config.MaxLoad-l.config.MinLoad)+1)))
	mark := timeline.Mark{At: time.Now(), Name: fault.Name, ExpectOutage: fault.ExpectOutage}
	if err := l.journal.AppendSync(journal.Fault{Mark: mark}); err != nil {
		return err
	}
	var injected time.Time
	err := l.patiently(ctx, func(ctx context.Context) error {
		return fault.Inject(ctx, func(e timeline.Evidence) error {
			injected = e.At
			return l.journal.AppendSync(journal.Evidence{Fault: fault.Name, Evidence: e})
		})
	})
	if err != nil {
		return fmt.Errorf("%s: %w", fault.Name, err)
	}
	if err := l.awaitAcknowledgement(ctx, injected); err != nil {
		return fmt.Errorf("after %s: %w", fault.Name, err)
	}
	sleep(ctx, l.config.AfterLoad)
	return nil
}

// awaitAcknowledgement waits for a commit that was acknowledged after the moment.
func (l *Loop) awaitAcknowledgement(ctx context.Context, after time.Time) error {
	patience := time.NewTimer(l.config.Patience)
	defer patience.Stop()
	for {
		var last time.Time
		l.journal.View(func(s *journal.State) { last = s.Timeline.LastOK() })
		if last.After(after) {
			return nil
		}
		if err := l.victim.Down(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-patience.C:
			return fmt.Errorf("nothing was acknowledged for %s", l.config.Patience)
		case <-time.After(pollEvery):
		}
	}
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
