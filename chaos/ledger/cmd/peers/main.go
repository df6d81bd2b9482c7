// peers does the same to commitd and to MariaDB, each with a source, two replicas and a script that fails over, and puts the judge's verdicts
// beside each other.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"commitlab.dev/ledger/internal/comparison"
	"commitlab.dev/ledger/internal/dbserver"
	"commitlab.dev/ledger/internal/killloop"
	"commitlab.dev/ledger/internal/program"
)

func main() { program.Run(newCommand()) }

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
	o.plan.Load = killloop.Config{Writers: 16, MinLoad: 500 * time.Millisecond, MaxLoad: 1500 * time.Millisecond, AfterLoad: 500 * time.Millisecond, Patience: time.Minute}
	command := &cobra.Command{
		Use:   "peers",
		Short: "the same faults for commitd and for MariaDB with semisync, and the same judge's verdicts",
		RunE:  func(command *cobra.Command, _ []string) error { return o.execute(command.Context()) },
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
	program.LoadFlags(flags, &o.plan.Load)
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
	if err := o.check(); err != nil {
		return err
	}
	if _, err = program.Prepare(&o.plan.Load, "peers"); err != nil {
		return err
	}
	log := program.Log(o.verbose, slog.LevelError)
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
			if o.members.library, err = dbserver.PowerLossLibrary(o.library); err != nil {
				return err
			}
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
