// killloop starts a server on a fresh datadir, loads it, kills it with SIGKILL at a random moment, starts it again on the
// same data and checks that every acknowledged commit is there; then the next round.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"time"

	"github.com/spf13/cobra"

	"commitlab.dev/ledger/internal/dbserver"
	"commitlab.dev/ledger/internal/killloop"
	"commitlab.dev/ledger/internal/program"
	"commitlab.dev/ledger/internal/replicaset"
)

func main() { program.Run(newCommand()) }

type options struct {
	config        killloop.Config
	commitd       string
	serverFlags   string
	serverCommand string
	initCommand   string
	mariadb       bool
	replicas      int
	pauses        bool
	power         string
	library       string
	seed          uint64
	report        string
	revision      string
	keep          bool
	verbose       bool
}

func newCommand() *cobra.Command {
	var o options
	o.config = killloop.Config{Writers: 32, MinLoad: 200 * time.Millisecond, MaxLoad: 2 * time.Second, AfterLoad: 300 * time.Millisecond, Patience: time.Minute}
	command := &cobra.Command{
		Use:   "killloop",
		Short: "kill -9 a server under load, round after round, and look for lost commits",
		RunE: func(command *cobra.Command, _ []string) error {
			err := o.execute(command.Context())
			if errors.Is(err, context.Canceled) {
				return errors.New("stopped by a signal before all rounds were done")
			}
			return err
		},
	}
	flags := command.Flags()
	flags.StringVar(&o.commitd, "commitd", "build/bin/commitd", "the commitd program")
	flags.BoolVar(&o.mariadb, "mariadb", false, "kill Debian's MariaDB instead, for comparison")
	flags.IntVar(&o.replicas, "replicas", 0, "a source with so many replicas, and a script that fails over; the source and replicas are killed in turn and together")
	flags.BoolVar(&o.pauses, "pauses", false, "with --replicas: also stop the source, replace it and let it go on")
	flags.StringVar(&o.power, "power", "", "each kill is a loss of power: what was not synced is lost (all), or all but the first of it in each file (torn)")
	flags.StringVar(&o.library, "power-library", "build/bin/powerloss.so", "the library that makes the disk forget")
	flags.StringVar(&o.serverFlags, "server-flags", "", "more flags for commitd, as --commitd-durability=xa")
	flags.StringVar(&o.serverCommand, "server-command", "", "another server: a template with {datadir}, {port}, {http_port}, {socket}")
	flags.StringVar(&o.initCommand, "init-command", "", "how that server's datadir is made, same placeholders")
	flags.IntVar(&o.config.Rounds, "rounds", 20, "how many kills; 0 is no bound")
	flags.DurationVar(&o.config.Duration, "duration", 0, "begin no round after it; 0 is no bound")
	flags.Uint64Var(&o.seed, "seed", 0, "with --replicas: draw faults and moments, from this seed")
	flags.StringVar(&o.report, "report", "", "a file to write what happened to, in Markdown")
	flags.StringVar(&o.revision, "revision", "", "the commit that the report names")
	program.LoadFlags(flags, &o.config)
	flags.BoolVar(&o.config.Disturb, "disturb", true, "DDL, checkpoints, log rotations and purges beside the load")
	flags.StringVar(&o.config.Dir, "dir", "", "where data, log and journal go (default: a temporary directory, removed when all rounds pass)")
	flags.BoolVar(&o.keep, "keep", false, "keep the temporary directory")
	flags.BoolVarP(&o.verbose, "verbose", "v", false, "log every error of every writer")
	return command
}

func (o *options) commands() (dbserver.Commands, error) {
	switch {
	case o.serverCommand != "":
		return dbserver.Commands{Init: o.initCommand, Run: o.serverCommand}, nil
	case o.mariadb:
		return o.onDisk(dbserver.MariaDB())
	}
	if _, err := os.Stat(o.commitd); err != nil {
		return dbserver.Commands{}, fmt.Errorf("%w: build it with make -C engine build, or say where it is with --commitd", err)
	}
	commands := dbserver.Commitd(o.commitd)
	commands.Run += " " + o.serverFlags
	return o.onDisk(commands)
}

var disks = map[string]dbserver.Disk{"all": dbserver.Forgetful, "torn": dbserver.Torn}

// onDisk puts the data where a kill takes away what was not synced.
func (o *options) onDisk(commands dbserver.Commands) (dbserver.Commands, error) {
	if o.power == "" {
		return commands, nil
	}
	disk, known := disks[o.power]
	if !known {
		return commands, fmt.Errorf("--power=%s: say all or torn", o.power)
	}
	library, err := dbserver.PowerLossLibrary(o.library)
	if err != nil {
		return commands, err
	}
	return commands.On(disk, library), nil
}

func (o *options) execute(ctx context.Context) error {
	temporary, err := program.Prepare(&o.config, "killloop")
	if err != nil {
		return err
	}
	log := program.Log(o.verbose, slog.LevelWarn)
	if o.seed != 0 {
		o.config.Random = rand.New(rand.NewPCG(o.seed, 0))
	}
	victim, err := o.victim(log)
	if err != nil {
		return err
	}
	began := time.Now()
	var summary summary
	err = killloop.Run(ctx, o.config, victim, summary.add, log)
	summary.print(o.config.Rounds)
	if o.report != "" {
		err = errors.Join(err, os.WriteFile(o.report, []byte(summary.report(o.revision, o.seed, time.Since(began), err)), 0o644))
	}
	if err == nil && temporary && !o.keep {
		return os.RemoveAll(o.config.Dir)
	}
	return err
}

func (o *options) victim(log *slog.Logger) (killloop.Victim, error) {
	commands, err := o.commands()
	if err != nil {
		return nil, err
	}
	if o.replicas == 0 {
		return killloop.NewSingle(commands, o.config.Dir)
	}
	if o.mariadb || o.serverCommand != "" {
		return nil, errors.New("--replicas needs commitd: the script gives roles by its statements")
	}
	set, err := replicaset.New(replicaset.Config{
		Program: o.commitd, Flags: o.serverFlags, Dir: o.config.Dir, Replicas: o.replicas, WaitCount: 1,
		Adapt: func(member dbserver.Commands) dbserver.Commands {
			member.Env = commands.Env
			return member
		},
	}, log)
	if err != nil {
		return nil, err
	}
	if o.config.Random != nil {
		return killloop.NewRandom(set, o.config.Random), nil
	}
	return killloop.NewReplicated(set, o.pauses), nil
}
