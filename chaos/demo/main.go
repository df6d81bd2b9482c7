// Command demo takes a machine without a cluster to a verdict: Kubernetes, a
// CommitCluster, load, a killed master, and whether an acknowledged commit was lost.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"commitlab.dev/demo/stage"
)

func main() {
	root := flag.String("root", ".", "the checkout")
	var ports ports
	flag.IntVar(&ports.prometheus, "prometheus-port", 30090, "the NodePort of Prometheus")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *root, ports); err != nil {
		fmt.Fprintln(os.Stderr, "\nerror:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, root string, ports ports) error {
	tools, err := newTools(ctx, root, ports)
	if err != nil {
		return err
	}
	demo := newDemo(tools)
	progress := stage.NewProgress(os.Stdout)
	for _, steps := range demo.steps() {
		if err := progress.Together(ctx, steps); err != nil {
			return err
		}
	}
	demo.outcome.print(os.Stdout, tools)
	if !demo.outcome.good() {
		return errors.New("this is not the promised outcome; the cluster is left as it is for you to look at")
	}
	return nil
}
