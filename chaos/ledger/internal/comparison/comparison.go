// Package comparison does the same to several systems, each time on fresh servers, and says what the same judge makes of each.
package comparison

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"commitlab.dev/ledger/internal/judge"
	"commitlab.dev/ledger/internal/killloop"
)

// System is one that is compared.
type System struct {
	Name string
	// New prepares fresh servers whose machines lose power with each kill, or do not.
	New func(dir string, power Power) (killloop.Set, error)
}

// Power is what a kill takes with it: nothing, all that was not synced, or all but the first of it.
type Power string

const (
	On   Power = "on"
	All  Power = "all"
	Torn Power = "torn"
)

// Plan is what is done to whom.
type Plan struct {
	Systems []System
	Faults  []string
	Powers  []Power
	// Times is how often each fault meets each system.
	Times int
	// Load and patience of each run. Its directory holds one for each run; those that have not passed stay.
	Load killloop.Config
	// Deaf is for how long replicas hear nothing.
	Deaf time.Duration
}

// Play does all of it, the systems in turn, and reports each run. Whatever the verdict is, it goes on.
func (p Plan) Play(ctx context.Context, report func(Outcome) error, log *slog.Logger) error {
	runs := 0
	for number := range p.Times {
		for _, power := range p.Powers {
			for _, fault := range p.Faults {
				for _, system := range p.Systems {
					runs++
					outcome := p.run(ctx, runs, system, Outcome{System: system.Name, Fault: fault, Power: power, Number: number + 1}, log)
					if ctx.Err() != nil {
						return ctx.Err()
					}
					if err := report(outcome); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// run plays one fault. What keeps it from a verdict is no verdict against the system.
func (p Plan) run(ctx context.Context, number int, system System, o Outcome, log *slog.Logger) Outcome {
	began := time.Now()
	config := p.Load
	config.Rounds = 1
	config.Dir = filepath.Join(config.Dir, fmt.Sprintf("%03d", number))
	set, err := p.play(ctx, config, system, &o, log)
	o.Seconds = time.Since(began).Seconds()
	if o.Result == "" {
		o.Result, o.Reasons = judge.Inconclusive, []string{cmp.Or(err, fmt.Errorf("no verdict")).Error()}
	}
	if counts, does := set.(interface{ Rebuilt() int }); does {
		o.Rebuilt = counts.Rebuilt()
	}
	if o.Result == judge.Passed {
		if err := os.RemoveAll(config.Dir); err != nil {
			log.Warn("remove", "error", err)
		}
	} else {
		o.Kept = config.Dir
	}
	return o
}

func (p Plan) play(ctx context.Context, config killloop.Config, system System, o *Outcome, log *slog.Logger) (killloop.Set, error) {
	if err := os.MkdirAll(config.Dir, 0o755); err != nil {
		return nil, err
	}
	set, err := system.New(config.Dir, o.Power)
	if err != nil {
		return nil, err
	}
	victim, err := killloop.NewStruck(set, o.Fault, p.Deaf)
	if err != nil {
		return set, err
	}
	return set, killloop.Run(ctx, config, victim, o.take, log)
}
