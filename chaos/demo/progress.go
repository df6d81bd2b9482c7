package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// step is one thing that the demo does and a person may have to look into.
type step struct {
	title string
	limit time.Duration
	// run returns what was reached, in a few words.
	run func(context.Context) (string, error)
	// look says where to look when it fails.
	look []string
}

// progress prints the steps with the time since the beginning.
type progress struct {
	mu    sync.Mutex
	out   io.Writer
	start time.Time
}

func newProgress(out io.Writer) *progress { return &progress{out: out, start: time.Now()} }

// together runs steps that need nothing of each other. The first that fails ends the others and is the one that is told.
func (p *progress) together(ctx context.Context, steps []step) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var running sync.WaitGroup
	for _, s := range steps {
		running.Go(func() {
			if err := p.run(ctx, s); err != nil {
				cancel(err)
			}
		})
	}
	running.Wait()
	return context.Cause(ctx)
}

func (p *progress) run(ctx context.Context, s step) error {
	limited, cancel := context.WithTimeout(ctx, s.limit)
	defer cancel()
	reached, err := s.run(withReport(limited, func(missing error) { p.line("...", s.title+": "+firstLine(missing)) }))
	if err != nil {
		if ctx.Err() == nil { // else it was ended from outside, and there is nothing to look for
			p.line("FAILED", s.title)
			for _, command := range s.look {
				p.line("", "look at: "+command)
			}
		}
		return fmt.Errorf("%s: %w", s.title, err)
	}
	p.line("ok", s.title+": "+reached)
	return nil
}

func (p *progress) line(mark, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(p.out, "%6.1fs  %-6s %s\n", time.Since(p.start).Seconds(), mark, text)
}

type reportKey struct{}

// withReport lets poll tell what it is waiting for.
func withReport(ctx context.Context, report func(missing error)) context.Context {
	return context.WithValue(ctx, reportKey{}, report)
}

// reportInterval is how often a person who waits is told what for.
const reportInterval = 15 * time.Second

// poll repeats try until it is done, or the context ends: then it returns what
// was still missing.
func poll(ctx context.Context, try func() (done bool, missing error)) error {
	report, _ := ctx.Value(reportKey{}).(func(error))
	for reported := time.Now(); ; {
		done, missing := try()
		if done {
			return nil
		}
		if report != nil && missing != nil && time.Since(reported) > reportInterval {
			report(missing)
			reported = time.Now()
		}
		select {
		case <-ctx.Done():
			if missing == nil {
				missing = context.Cause(ctx)
			}
			return fmt.Errorf("gave up waiting: %w", missing)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
