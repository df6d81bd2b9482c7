package stage

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// Step is one thing that is done and that a person may have to look into.
type Step struct {
	Title string
	Limit time.Duration
	// Run returns what was reached, in a few words.
	Run func(context.Context) (string, error)
	// Look says where to look when it fails.
	Look []string
}

// NewStep returns a step.
func NewStep(title string, limit time.Duration, run func(context.Context) (string, error), look ...string) Step {
	return Step{Title: title, Limit: limit, Run: run, Look: look}
}

// Progress prints the steps with the time since the beginning.
type Progress struct {
	mu    sync.Mutex
	out   io.Writer
	start time.Time
}

// NewProgress begins now.
func NewProgress(out io.Writer) *Progress { return &Progress{out: out, start: time.Now()} }

// Together runs steps that need nothing of each other. The first that fails ends the others and is the one that is told.
func (p *Progress) Together(ctx context.Context, steps []Step) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var running sync.WaitGroup
	for _, s := range steps {
		running.Go(func() {
			if err := p.Do(ctx, s); err != nil {
				cancel(err)
			}
		})
	}
	running.Wait()
	return context.Cause(ctx)
}

// Do runs one step.
func (p *Progress) Do(ctx context.Context, s Step) error {
	limited, cancel := context.WithTimeout(ctx, s.Limit)
	defer cancel()
	reached, err := s.Run(withReport(limited, func(missing error) { p.Line("...", s.Title+": "+firstLine(missing)) }))
	if err != nil {
		if ctx.Err() == nil { // else it was ended from outside, and there is nothing to look for
			p.Line("FAILED", s.Title)
			for _, command := range s.Look {
				p.Line("", "look at: "+command)
			}
		}
		return fmt.Errorf("%s: %w", s.Title, err)
	}
	p.Line("ok", s.Title+": "+reached)
	return nil
}

// Line prints one line, a mark before it.
func (p *Progress) Line(mark, text string) {
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

// Poll repeats try until it is done, or the context ends: then it returns what
// was still missing.
func Poll(ctx context.Context, try func() (done bool, missing error)) error {
	report, _ := ctx.Value(reportKey{}).(func(error))
	var missing error
	for reported := time.Now(); ; {
		done, now := try()
		if done {
			return nil
		}
		if ctx.Err() == nil || missing == nil { // else the end of the context has ended the try, and that is what it tells
			missing = now
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
