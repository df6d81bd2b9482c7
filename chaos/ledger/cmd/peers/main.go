// peers does the same to commitd and to MariaDB, each with a source, two replicas and a script that fails over, and puts the judge's verdicts
// beside each other.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"commitlab.dev/ledger/internal/comparison"
	"commitlab.dev/ledger/internal/dbserver"
	"commitlab.dev/ledger/internal/killloop"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := newCommand().ExecuteContext(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

type options struct {
	plan     comparison.Plan
	systems  []string
	powers   []string
	members  members
	library  string
	revision string
	json     string
	verbose  bool
}

func newCommand() *cobra.Command {
	var o options
	command := &cobra.Command{
		Use:           "peers",
		Short:         "the same faults for commitd and for MariaDB with semisync, and the same judge's verdicts",
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE:          func(command *cobra.Command, _ []string) error { return o.execute(command.Context()) },
	}
	flags := command.Flags()
	flags.StringVar(&o.members.commitd, "commitd", "build/bin/commitd", "the commitd program")
	flags.IntVar(&o.plan.Times, "times", 3, "how often each fault meets each system")
	flags.StringSliceVar(&o.systems, "system", systemNames(), "which systems; several")
	flags.StringArrayVar(&o.plan.Faults, "fault", killloop.Strikes(), "which faults; several")
	flags.StringSliceVar(&o.powers, "power", []string{string(comparison.On)}, "what a kill takes with it: on (nothing), all (what was not synced) or torn (all but the first of it); several")
	flags.StringVar(&o.library, "power-library", "build/bin/powerloss.so", "the library that makes the disk forget")
	flags.DurationVar(&o.members.answerWithin, "answer-within", 2*time.Second, "how long a server has to answer before a script goes on without it")
	flags.DurationVar(&o.plan.Deaf, "deaf", 12*time.Second, "how long replicas hear nothing: longer than MariaDB's default timeout of 10 s")
	flags.IntVar(&o.plan.Load.Writers, "writers", 16, "concurrent writers")
	flags.DurationVar(&o.plan.Load.MinLoad, "min-load", 500*time.Millisecond, "load before the fault, at least")
	flags.DurationVar(&o.plan.Load.MaxLoad, "max-load", 1500*time.Millisecond, "load before the fault, at most")
	flags.DurationVar(&o.plan.Load.AfterLoad, "after-load", 500*time.Millisecond, "load after the recovery")
	flags.DurationVar(&o.plan.Load.Patience, "patience", time.Minute, "give a run up when nothing comes for this long")
	flags.StringVar(&o.plan.Load.Dir, "dir", "", "where data, logs and journals go (default: a temporary directory); those of runs that pass are removed")
	flags.StringVar(&o.revision, "revision", "", "the commit that the results name")
	flags.StringVar(&o.json, "json", "", "a file for the results")
	flags.BoolVarP(&o.verbose, "verbose", "v", false, "log what the scripts and every writer meet")
	return command
}

// results are what is kept.
type results struct {
	Commit   string               `json:"commit"`
	Began    time.Time            `json:"began"`
	Command  string               `json:"command"`
	MariaDB  string               `json:"mariadb"`
	Outcomes []comparison.Outcome `json:"outcomes"`
}

func (o *options) execute(ctx context.Context) (err error) {
	if o.plan.Load.MaxLoad < o.plan.Load.MinLoad {
		return errors.New("--max-load is less than --min-load")
	}
	if err := o.check(); err != nil {
		return err
	}
	if o.plan.Load.Dir == "" {
		if o.plan.Load.Dir, err = os.MkdirTemp("", "peers-"); err != nil {
			return err
		}
	}
	level := slog.LevelError
	if o.verbose {
		level = slog.LevelDebug
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
	template, err := dbserver.New(dbserver.MariaDBMember(0), filepath.Join(o.plan.Load.Dir, "template"))
	if err != nil {
		return err
	}
	o.members.template, o.members.log = template.DataDir(), log
	found := results{Commit: o.revision, Began: time.Now().UTC(), Command: strings.Join(os.Args[1:], " "), MariaDB: version(ctx)}
	err = o.plan.Play(ctx, func(one comparison.Outcome) error {
		fmt.Println(one)
		found.Outcomes = append(found.Outcomes, one)
		return found.write(o.json)
	}, log)
	for _, power := range o.plan.Powers {
		if table := comparison.Table(found.Outcomes, power); table != "" {
			fmt.Printf("\npower: %s\n\n%s", power, table)
		}
	}
	return err
}

// check refuses what is not known before anything is started.
func (o *options) check() (err error) {
	for _, fault := range o.plan.Faults {
		if _, err := killloop.NewStruck(nil, fault, 0); err != nil {
			return err
		}
	}
	if o.plan.Systems, err = systems(o.systems, &o.members); err != nil {
		return err
	}
	for _, text := range o.powers {
		power := comparison.Power(text)
		switch power {
		case comparison.On:
		case comparison.All, comparison.Torn:
			library, err := filepath.Abs(o.library)
			if err == nil {
				_, err = os.Stat(library)
			}
			if err != nil {
				return fmt.Errorf("%w: build it with make -C chaos/powerloss, or say where it is with --power-library", err)
			}
			o.members.library = library
		default:
			return fmt.Errorf("--power=%s: say on, all or torn", text)
		}
		o.plan.Powers = append(o.plan.Powers, power)
	}
	return nil
}

// write replaces the file after each run: a comparison that is stopped keeps what it has.
func (r results) write(file string) error {
	if file == "" {
		return nil
	}
	text, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(file+".new", append(text, '\n'), 0o644); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}

func version(ctx context.Context) string {
	text, err := exec.CommandContext(ctx, "mariadbd", "--no-defaults", "--version").Output()
	if err != nil {
		return err.Error()
	}
	_, number, _ := strings.Cut(strings.TrimSpace(string(text)), "Ver ")
	return number
}
