package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"commitlab.dev/ledger/internal/api"
	"commitlab.dev/ledger/internal/entry"
	"commitlab.dev/ledger/internal/journal"
	"commitlab.dev/ledger/internal/judge"
	"commitlab.dev/ledger/internal/load"
	"commitlab.dev/ledger/internal/server"
	"commitlab.dev/ledger/internal/watch"
)

type runOptions struct {
	load     load.Config
	run      entry.Run
	file     string
	duration time.Duration
	http     string
	linger   time.Duration
	given    []string
	servers  []server.Named
	patience time.Duration
	json     bool
	output   io.Writer
	verbose  bool
}

func newRunCommand() *cobra.Command {
	var o runOptions
	command := &cobra.Command{
		Use:   "run",
		Short: "Write until the duration ends, a signal comes or a client says stop; then verify",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			dsn, err := requireDSN(o.load.DSN)
			if err != nil {
				return err
			}
			if o.servers, err = server.ParseNamed(o.given, dsn); err != nil {
				return err
			}
			o.load.DSN, o.output = dsn, command.OutOrStdout()
			return o.execute(command.Context())
		},
	}
	flags := command.Flags()
	flags.StringVar(&o.load.DSN, "dsn", "", "the master, as user@tcp(host:port)/database (default: LEDGER_DSN, which may hold a password)")
	flags.StringVar(&o.file, "file", "ledger.journal", "the ledger's journal; an existing one is continued")
	flags.StringVar(&o.run.Name, "run", time.Now().UTC().Format("20060102_150405"), "name of a new run, part of its tables' names")
	flags.IntVar(&o.run.Accounts, "accounts", 64, "bank accounts of a new run")
	flags.IntVar(&o.load.Writers, "writers", 16, "concurrent writers")
	flags.DurationVar(&o.load.Pause, "pause", 0, "rest of each writer after a commit")
	flags.DurationVar(&o.load.StatementTimeout, "statement-timeout", 5*time.Second, "an unanswered commit is indeterminate after this long")
	flags.DurationVar(&o.duration, "duration", 0, "how long to write (0 = until stopped)")
	flags.StringVar(&o.http, "http", "", "serve /status, /verdict, /fault and /stop on this address, e.g. 127.0.0.1:8099")
	flags.DurationVar(&o.linger, "linger", 0, "keep serving HTTP for this long after the verdict")
	addVerifyFlags(command, &o.given, &o.patience, &o.json)
	flags.BoolVarP(&o.verbose, "verbose", "v", false, "log every error of every writer")
	return command
}

func (o *runOptions) execute(ctx context.Context) error {
	log := newLogger(o.verbose)
	j, err := journal.Open(o.file, o.run)
	if err != nil {
		return err
	}
	writing, stop := context.WithCancel(ctx)
	defer stop()
	if o.duration > 0 {
		writing, stop = context.WithTimeout(writing, o.duration)
		defer stop()
	}
	service := api.New(j, o.servers, stop)
	web, err := serve(o.http, service.Handler(), log)
	if err != nil {
		return err
	}
	defer web.Close()

	if err := o.write(writing, j, log); err != nil {
		return errors.Join(err, j.Close())
	}
	service.SetPhase(api.PhaseVerifying)
	verdict := o.verify(context.WithoutCancel(ctx), j, log)
	service.SetVerdict(verdict)
	if err := printVerdict(o.output, verdict, o.json); err != nil {
		return err
	}
	waitFor(ctx, o.linger)
	if err := j.Close(); err != nil {
		return err
	}
	return exitCode(verdict)
}

// write runs the load and says every few seconds how it goes.
func (o *runOptions) write(ctx context.Context, j *journal.Journal, log *slog.Logger) error {
	l, err := load.New(o.load, j, log)
	if err != nil {
		return err
	}
	group, groupCtx := errgroup.WithContext(ctx)
	finished := make(chan struct{})
	group.Go(func() error {
		defer close(finished)
		return l.Run(groupCtx)
	})
	group.Go(func() error { return watch.Run(groupCtx, o.servers, j) })
	group.Go(func() error {
		reportProgress(finished, j, log)
		return nil
	})
	return group.Wait()
}

func reportProgress(finished <-chan struct{}, j *journal.Journal, log *slog.Logger) {
	ticker := time.NewTicker(5 * time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-finished:
			return
		case <-ticker.C:
			j.View(func(s *journal.State) {
				log.Info("writing", "acknowledged", s.Count(journal.Acknowledged), "indeterminate", s.Count(journal.Indeterminate),
					"refused", s.Count(journal.RefusedOutcome), "lastOK", s.Timeline.LastOK().Format(time.StampMilli))
			})
		}
	}
}

// verify judges by what is on the disk, like a reader who was not there.
func (o *runOptions) verify(ctx context.Context, j *journal.Journal, log *slog.Logger) judge.Verdict {
	if err := j.Sync(); err != nil {
		return judge.Verdict{Result: judge.Inconclusive, Reasons: []string{err.Error()}}
	}
	state, err := journal.Load(o.file)
	if err != nil {
		return judge.Verdict{Result: judge.Inconclusive, Reasons: []string{err.Error()}}
	}
	return judge.Verify(ctx, state, judge.Servers{Master: o.load.DSN, Expected: o.servers, Patience: o.patience}, log)
}

// serve answers on the address; an empty one means not at all.
func serve(address string, handler http.Handler, log *slog.Logger) (*http.Server, error) {
	web := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second}
	if address == "" {
		return web, nil
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("serve HTTP: %w", err)
	}
	go func() {
		if err := web.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			log.Error("HTTP ended", "error", err)
		}
	}()
	return web, nil
}

func waitFor(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

func printVerdict(w io.Writer, v judge.Verdict, asJSON bool) error {
	if asJSON {
		return v.WriteJSON(w)
	}
	return v.WriteText(w)
}

func exitCode(v judge.Verdict) error {
	if code := v.ExitCode(); code != 0 {
		return exitError(code)
	}
	return nil
}
