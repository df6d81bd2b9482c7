// Command e2e plays the cases of a cluster's life with real pods: each with a CommitCluster of its own, under load, judged by the ledger.
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
	var o options
	flag.StringVar(&o.root, "root", ".", "the checkout")
	flag.StringVar(&o.cases, "cases", "", "names of cases, with commas (default: all)")
	flag.StringVar(&o.place.kind, "cluster", "local", "local, or kind")
	flag.StringVar(&o.place.context, "context", "", "a context of your kubeconfig: the tests run in that cluster")
	flag.StringVar(&o.place.registry, "registry", "", "with -context: where its nodes find the images")
	flag.StringVar(&o.place.tag, "tag", "dev", "with -registry: their tag")
	flag.StringVar(&o.place.next, "next-image", "commitlab.dev/commitd:next", "commitd under a second name, for the case image")
	flag.IntVar(&o.times, "times", 1, "how often all of them are played")
	flag.BoolVar(&o.keep, "keep", false, "leave the namespaces of cases that passed, too")
	list := flag.Bool("list", false, "list the cases")
	flag.Parse()
	if *list {
		printCases(os.Stdout)
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "\nerror:", err)
		os.Exit(1)
	}
}

// options are what the command line says.
type options struct {
	root  string
	cases string
	times int
	place place
	keep  bool
}

func run(ctx context.Context, o options) error {
	chosen, err := choose(o.cases)
	if err != nil {
		return err
	}
	checkout, err := stage.NewTools(o.root)
	if err != nil {
		return err
	}
	progress := stage.NewProgress(os.Stdout)
	if err := o.place.setUp(ctx, checkout, progress); err != nil {
		return err
	}
	report := newReport(checkout, o.place)
	for range o.times {
		for _, c := range chosen {
			if ctx.Err() != nil {
				break
			}
			report.add(play(ctx, o, progress, c))
		}
	}
	report.print(os.Stdout)
	file, err := report.keep(checkout.Path("build", "e2e"))
	if err == nil {
		fmt.Println("\n  kept as", file)
	}
	if !report.good(o.times * len(chosen)) {
		err = errors.Join(err, errors.New("not every case passed"))
	}
	return err
}
