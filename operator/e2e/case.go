package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"commitlab.dev/demo/stage"
)

// testCase is one thing that happens to a cluster under load.
type testCase struct {
	name  string
	shows string
	// needsChaosMesh: it is skipped where that is missing.
	needsChaosMesh bool
	// leaves is how many servers there are in the end, which the ledger reads; 0 is three, as many as there were.
	leaves int
	act    func(context.Context, *scene) error
}

// cases are played in this order: what a cluster is for first, then what can go wrong.
var cases = []testCase{
	createCase,
	readCase,
	scaleCase,
	liveVariableCase,
	staticVariableCase,
	driftCase,
	switchoverCase,
	imageCase,
	masterDeleteCase,
	masterKillCase,
	containerKillCase,
	replicaLossCase,
	operatorKillCase,
	partitionCase,
	volumeCase,
	fenceCase,
	promoteCase,
	hibernateCase,
	tlsCase,
	passwordsCase,
	adoptCase,
}

func printCases(out io.Writer) {
	for _, c := range cases {
		fmt.Fprintf(out, "  %-18s %s\n", c.name, c.shows)
	}
}

// choose returns the cases of these names, in their own order; all without a name.
func choose(names string) ([]testCase, error) {
	if names == "" {
		return cases, nil
	}
	asked := strings.Split(names, ",")
	for _, name := range asked {
		if !slices.ContainsFunc(cases, func(c testCase) bool { return c.name == name }) {
			return nil, fmt.Errorf("there is no case %q (make e2e CASES=list shows them)", name)
		}
	}
	var chosen []testCase
	for _, c := range cases {
		if slices.Contains(asked, c.name) {
			chosen = append(chosen, c)
		}
	}
	return chosen, nil
}

// enoughCommits, on either side of what happens, for the verdict to mean something.
const enoughCommits = 200

// play gives a case its cluster and its load, lets it act, and has the ledger judge.
func play(ctx context.Context, o options, progress *stage.Progress, c testCase) result {
	r := result{Case: c.name, begun: time.Now()}
	if c.needsChaosMesh && !o.place.chaosMesh {
		progress.Line("skip", c.name+": Chaos Mesh is not there")
		return r.skipped("Chaos Mesh is not there")
	}
	progress.Line("", "")
	progress.Line("case", c.name+": "+c.shows)
	s := newScene(o.place, progress, c)
	defer s.close()
	err := s.perform(ctx, c, &r.Verdict)
	r.Seconds = time.Since(r.begun).Seconds()
	if err != nil {
		s.keepLogs(context.WithoutCancel(ctx))
		return r.failed(err.Error())
	}
	if !r.Verdict.Good() {
		s.keepLogs(context.WithoutCancel(ctx))
		return r.failed(strings.Join(append([]string{"verdict " + r.Verdict.Result}, r.Verdict.Reasons...), "; "))
	}
	if !o.keep {
		s.discard(context.WithoutCancel(ctx))
	}
	return r.passed()
}

func (s *scene) perform(ctx context.Context, c testCase, verdict *stage.Verdict) error {
	if err := s.step(ctx, "cluster", 3*time.Minute, s.create); err != nil {
		return err
	}
	if err := s.step(ctx, "ledger", 2*time.Minute, s.startLedger); err != nil {
		return err
	}
	if err := c.act(ctx, s); err != nil {
		return err
	}
	if err := s.step(ctx, "whole", 3*time.Minute, s.awaitWhole); err != nil {
		return err
	}
	return s.step(ctx, "verdict", 3*time.Minute, func(ctx context.Context) (told string, err error) {
		if err := s.recovered(ctx); err != nil { // the ledger sees for itself what was done to a server, which may take it a moment longer
			return "", err
		}
		*verdict, err = s.ledger.Judge(ctx, enoughCommits)
		return fmt.Sprintf("%s, %d acknowledged, %d lost", verdict.Result, verdict.Acknowledged, verdict.Lost), err
	})
}
