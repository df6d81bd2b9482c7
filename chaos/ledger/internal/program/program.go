// Package program is what the programs have in common that play faults on processes.
package program

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"commitlab.dev/ledger/internal/killloop"
)

// Run is a whole main: a signal ends the command, an error the program.
func Run(command *cobra.Command) {
	command.Args, command.SilenceUsage, command.SilenceErrors = cobra.NoArgs, true, true
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := command.ExecuteContext(ctx)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", command.Name(), err)
		os.Exit(1)
	}
}

// LoadFlags are those of the load around each fault; what the config has is what they are without being given.
func LoadFlags(flags *pflag.FlagSet, c *killloop.Config) {
	flags.IntVar(&c.Writers, "writers", c.Writers, "concurrent writers")
	flags.DurationVar(&c.MinLoad, "min-load", c.MinLoad, "load before the fault, at least")
	flags.DurationVar(&c.MaxLoad, "max-load", c.MaxLoad, "load before the fault, at most")
	flags.DurationVar(&c.AfterLoad, "after-load", c.AfterLoad, "load after the recovery")
	flags.DurationVar(&c.Patience, "patience", c.Patience, "give up when nothing comes for this long")
}

// Prepare checks what LoadFlags were given, and makes a directory where none was: then it is temporary.
func Prepare(c *killloop.Config, name string) (temporary bool, err error) {
	if c.MaxLoad < c.MinLoad {
		return false, errors.New("--max-load is less than --min-load")
	}
	if c.Dir != "" {
		return false, nil
	}
	c.Dir, err = os.MkdirTemp("", name+"-")
	return true, err
}

// Log goes to stderr: everything, or what is as bad as said.
func Log(verbose bool, otherwise slog.Level) *slog.Logger {
	level := otherwise
	if verbose {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
}
