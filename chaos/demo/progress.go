package main

import (
	"context"
	"fmt"
	"io"
	"strings"
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
	reached, err := s.run(withReport(ctx, func(missing error) { p.line("...", s.title+": "+firstLine(missing)) }))
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
