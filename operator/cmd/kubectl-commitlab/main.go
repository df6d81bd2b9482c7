// Command kubectl-commitlab is a kubectl plugin: put it on the PATH and run `kubectl commitlab`.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"commitlab.dev/operator/internal/plugin"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := plugin.NewCommand(os.Stdout, os.Stderr).ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		stop()
		os.Exit(1)
	}
}
