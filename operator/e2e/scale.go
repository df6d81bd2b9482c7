package main

import (
	"context"
	"fmt"
	"time"

	"commitlab.dev/demo/stage"
)

var scaleCase = testCase{
	name:   "scale",
	shows:  "from two replicas to three, then to one, under load",
	leaves: 2,
	act: func(ctx context.Context, s *scene) error {
		if err := s.step(ctx, "three replicas", 3*time.Minute, func(ctx context.Context) (string, error) { return s.scale(ctx, 3) }); err != nil {
			return err
		}
		return s.step(ctx, "one replica", 3*time.Minute, func(ctx context.Context) (string, error) { return s.scale(ctx, 1) })
	},
}

// scale asks as `kubectl scale` does, and waits for as many servers and claims of mastership that fit.
func (s *scene) scale(ctx context.Context, replicas int) (string, error) {
	before, err := s.look(ctx)
	if err != nil {
		return "", err
	}
	fault := fmt.Sprintf("scale-to-%d", replicas)
	if err := s.ledger.Mark(ctx, stage.Mark{Name: fault, Unnoticed: true}); err != nil {
		return "", err
	}
	if _, err := s.Kubectl(ctx, "scale", "commitcluster", clusterName, fmt.Sprintf("--replicas=%d", replicas)); err != nil {
		return "", err
	}
	now, err := s.awaitCluster(ctx, func(c stage.Cluster) error { return s.hasSize(ctx, c, replicas) })
	if err != nil {
		return "", err
	}
	size := func(n int) string { return fmt.Sprintf("%d replicas", n) }
	if err := s.ledger.Prove(ctx, fault, "replicas", clusterName, size(before.Spec.Replicas), size(now.Spec.Replicas)); err != nil {
		return "", err
	}
	return now.Status.Semisync, s.recovered(ctx)
}

func (s *scene) hasSize(ctx context.Context, c stage.Cluster, replicas int) error {
	if err := c.Readiness(); err != nil {
		return err
	}
	// The column says how many of how many acknowledge: a majority, with the master.
	if want := fmt.Sprintf("%d/%d AFTER_SYNC", (replicas+1)/2, replicas); c.Status.Semisync != want {
		return fmt.Errorf("SEMISYNC is %q, and should be %q", c.Status.Semisync, want)
	}
	pods, err := s.podFields(ctx, ".metadata.uid")
	if err == nil && len(pods) != replicas+1 {
		err = fmt.Errorf("there are %d pods", len(pods))
	}
	return err
}
