package main

import (
	"context"
	"fmt"
	"io"
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
	out   io.Writer
	start time.Time
}

func newProgress(out io.Writer) *progress { return &progress{out: out, start: time.Now()} }

func (p *progress) run(ctx context.Context, s step) error {
	ctx, cancel := context.WithTimeout(ctx, s.limit)
	defer cancel()
	reached, err := s.run(ctx)
	if err != nil {
		p.line("FAILED", s.title)
		for _, command := range s.look {
			fmt.Fprintf(p.out, "          look at: %s\n", command)
		}
		return fmt.Errorf("%s: %w", s.title, err)
	}
	p.line("ok", s.title+": "+reached)
	return nil
}

func (p *progress) line(mark, text string) {
	fmt.Fprintf(p.out, "%6.1fs  %-6s %s\n", time.Since(p.start).Seconds(), mark, text)
}

// poll repeats try until it is done, or the context ends: then it returns what
// was still missing.
func poll(ctx context.Context, try func() (done bool, missing error)) error {
	for {
		done, missing := try()
		if done {
			return nil
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
