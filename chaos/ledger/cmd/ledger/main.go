// ledger writes unique ids into a MySQL-protocol server, remembers on its own disk which commits were acknowledged, and
// says afterwards whether one of them was lost.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"commitlab.dev/ledger/internal/server"
)

// exitError carries the verdict's exit code through cobra.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := newRootCommand().ExecuteContext(ctx)
	stop()
	var code exitError
	switch {
	case errors.As(err, &code):
		os.Exit(int(code))
	case err != nil:
		fmt.Fprintln(os.Stderr, "ledger:", err)
		os.Exit(3)
	}
}

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "ledger",
		Short:         "Was an acknowledged commit ever lost?",
		Long:          "ledger writes, remembers what was acknowledged, and judges.\nExit codes: 0 passed, 1 failed, 2 inconclusive, 3 could not run, 4 unsupported.",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(newRunCommand(), newVerifyCommand(), newFaultCommand(), newEvidenceCommand(), newStopCommand(), newStatusCommand())
	return root
}

func newLogger(verbose bool) *slog.Logger {
	level := slog.LevelInfo
	if verbose {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
}

// requireDSN returns the flag or, where a password belongs, the environment's LEDGER_DSN.
func requireDSN(flag string) (string, error) {
	if flag != "" {
		if _, err := server.WithoutPassword(flag); err != nil {
			return "", fmt.Errorf("--dsn: %w", err)
		}
		return flag, nil
	}
	if dsn := os.Getenv("LEDGER_DSN"); dsn != "" {
		return dsn, nil
	}
	return "", errors.New("where to write? set LEDGER_DSN, e.g. user:password@tcp(127.0.0.1:3306)/ledger, or give --dsn user@tcp(…)/…")
}
