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

	"commitlab.dev/ledger/internal/dbserver"
	"commitlab.dev/ledger/internal/entry"
	"commitlab.dev/ledger/internal/journal"
	"commitlab.dev/ledger/internal/judge"
	"commitlab.dev/ledger/internal/load"
	"commitlab.dev/ledger/internal/timeline"
)

// Config says what is killed and when.
type Config struct {
	Commands dbserver.Commands
	// Dir holds the datadir, the server's log and the journal.
	Dir     string
	Rounds  int
	Writers int
	// The kill comes at a random moment between MinLoad and MaxLoad after acknowledgements began to flow.
	MinLoad, MaxLoad time.Duration
	// AfterLoad is how long the load goes on after the recovery.
	AfterLoad time.Duration
	// Patience bounds every wait for the server.
	Patience time.Duration
	// Disturb runs DDL, checkpoints, log rotations and purges beside the load.
	Disturb bool
}

// Round is what one round came to.
type Round struct {
	Number  int
	Fault   timeline.Fault
	Verdict judge.Verdict
	Elapsed time.Duration
}

// Loop is one sequence of rounds.
type Loop struct {
	config  Config
	server  *dbserver.Server
	journal *journal.Journal
	log     *slog.Logger
}

const (
	database         = "ledger"
	statementTimeout = 5 * time.Second
	pollEvery        = 5 * time.Millisecond
)

// Run does all rounds and reports each. It stops at the first that does not pass; what the server had then stays in Dir.
func Run(ctx context.Context, config Config, report func(Round), log *slog.Logger) error {
	server, err := dbserver.New(config.Commands, config.Dir)
	if err != nil {
		return err
	}
	j, err := journal.Open(filepath.Join(config.Dir, "journal"), entry.Run{Name: "killloop", Accounts: 64})
	if err != nil {
		return err
	}
	defer j.Close()
	loop := &Loop{config: config, server: server, journal: j, log: log}
	if err := server.Start(); err != nil {
		return err
	}
	defer func() {
		if err := server.Stop(config.Patience); err != nil {
			log.Error("stop the server", "error", err)
		}
	}()
	for number := 1; number <= config.Rounds && ctx.Err() == nil; number++ {
		round, err := loop.round(ctx, number)
		if ctx.Err() != nil { // stopped from outside: whatever the round says is not about the server
			return ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("round %d: %w (server log: %s)", number, err, server.LogFile())
		}
		report(round)
		if round.Verdict.Result != judge.Passed {
			return fmt.Errorf("round %d: %s: %v (datadir, log and journal: %s)",
				number, round.Verdict.Result, round.Verdict.Reasons, config.Dir)
		}
	}
	return ctx.Err()
}

func (l *Loop) round(ctx context.Context, number int) (Round, error) {
	began := time.Now()
	if err := l.loadAndKill(ctx, number); err != nil {
		return Round{}, err
	}
	if err := l.journal.Sync(); err != nil {
		return Round{}, err
	}
	round := Round{Number: number}
	l.journal.View(func(s *journal.State) {
		servers := judge.Servers{Master: l.server.DSN(database), Patience: l.config.Patience}
		round.Verdict = judge.Verify(ctx, s, servers, l.log)
	})
	round.Fault = round.Verdict.Faults[len(round.Verdict.Faults)-1]
	round.Elapsed = time.Since(began)
	return round, nil
}

// loadAndKill keeps the load running over the kill and the restart: the writers meet both.
func (l *Loop) loadAndKill(ctx context.Context, number int) (err error) {
	writing, stop := context.WithCancel(ctx)
	writer, err := load.New(load.Config{
		DSN: l.server.DSN(database), Writers: l.config.Writers, StatementTimeout: statementTimeout,
	}, l.journal, l.log)
	if err != nil {
		stop()
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- writer.Run(writing) }()
	disturbed := make(chan struct{})
	go func() {
		defer close(disturbed)
		if l.config.Disturb {
			disturb(writing, l.server.DSN(database))
		}
	}()
	defer func() {
		stop()
		<-disturbed
		if writerErr := <-ended; err == nil {
			err = writerErr
		}
	}()

	if err := l.awaitAcknowledgement(ctx, time.Now()); err != nil {
		return fmt.Errorf("before the kill: %w", err)
	}
	sleep(ctx, l.config.MinLoad+rand.N(l.config.MaxLoad-l.config.MinLoad+1))
	killed, err := l.kill(fmt.Sprintf("kill %d", number))
	if err != nil {
		return err
	}
	if err := l.server.Start(); err != nil {
		return err
	}
	if err := l.awaitAcknowledgement(ctx, killed); err != nil {
		return fmt.Errorf("after the kill: %w", err)
	}
	sleep(ctx, l.config.AfterLoad)
	return nil
}

// kill marks the fault, injects it and writes down the proof; it returns when the process was gone.
func (l *Loop) kill(name string) (time.Time, error) {
	mark := timeline.Mark{At: time.Now(), Name: name, ExpectOutage: true}
	if err := l.journal.AppendSync(journal.Fault{Mark: mark}); err != nil {
		return time.Time{}, err
	}
	process := l.server.Process()
	if err := l.server.Kill(); err != nil {
		return time.Time{}, err
	}
	proof := timeline.Evidence{Kind: timeline.ProofProcess, Object: l.server.LogFile(), Before: process, After: "ended by SIGKILL", At: time.Now()}
	return proof.At, l.journal.AppendSync(journal.Evidence{Fault: name, Evidence: proof})
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
		select {
		case <-l.server.Exited():
			return fmt.Errorf("the server ended by itself")
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
