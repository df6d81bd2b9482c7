package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"commitlab.dev/demo/stage"
)

var adoptCase = testCase{
	name:  "adopt",
	shows: "the cluster is deleted, its volumes stay; made again it touches nothing until it is told that they are its own",
	act: func(ctx context.Context, s *scene) error {
		claims, err := s.claims(ctx)
		if err != nil {
			return err
		}
		for _, step := range []stage.Step{
			stage.NewStep("deleted", 2*time.Minute, func(ctx context.Context) (string, error) { return s.deleteCluster(ctx, claims) }),
			stage.NewStep("made again", 2*time.Minute, s.makeAgain),
			stage.NewStep("adopted", 3*time.Minute, s.adopt),
			stage.NewStep("writes go on", 2*time.Minute, s.goOn),
		} {
			if err := s.progress.Do(ctx, step); err != nil {
				return err
			}
		}
		return nil
	},
}

// claims are the volume claims of the servers, by name, with their UIDs.
func (s *scene) claims(ctx context.Context) (map[string]string, error) {
	claims := map[string]string{}
	for _, pod := range s.servers() {
		uid, err := s.field(ctx, "pvc", "data-"+pod, ".metadata.uid")
		if err != nil {
			return nil, err
		}
		claims[pod] = uid
	}
	return claims, nil
}

// deleteCluster ends the ledger first, whose journal stays: the Secret with its password goes with the cluster.
func (s *scene) deleteCluster(ctx context.Context, before map[string]string) (string, error) {
	if _, err := s.Kubectl(ctx, "scale", "deployment/ledger", "--replicas=0"); err != nil {
		return "", err
	}
	if _, err := s.Kubectl(ctx, "wait", "pod", "--selector", "app.kubernetes.io/name=ledger", "--for=delete", "--timeout=90s"); err != nil {
		return "", err
	}
	if _, err := s.Kubectl(ctx, "delete", "commitcluster", clusterName, "--wait"); err != nil {
		return "", err
	}
	err := stage.Poll(ctx, func() (bool, error) {
		pods, err := s.podFields(ctx, ".metadata.uid")
		return err == nil && len(pods) == 0, errors.Join(err, fmt.Errorf("there are the pods %v", pods))
	})
	if err != nil {
		return "", err
	}
	after, err := s.claims(ctx)
	if err == nil && !maps.Equal(before, after) {
		err = fmt.Errorf("the claims were %v and are %v", before, after)
	}
	return fmt.Sprintf("%d claims stay", len(after)), err
}

// makeAgain waits until the cluster says that there is data which it does not touch.
func (s *scene) makeAgain(ctx context.Context) (string, error) {
	if err := s.Apply(ctx, s.sample()); err != nil {
		return "", err
	}
	c, err := s.awaitCluster(ctx, func(c stage.Cluster) error {
		if initialized, _ := c.Condition("Initialized"); initialized.Status != "False" || initialized.Reason != "ExistingData" {
			return fmt.Errorf("the condition Initialized is %s, %s: %s", initialized.Status, initialized.Reason, initialized.Message)
		}
		return nil
	})
	if err == nil && c.Status.Master != "" {
		err = fmt.Errorf("it has the master %s already", c.Status.Master)
	}
	return "data is there, and nothing is touched", err
}

func (s *scene) adopt(ctx context.Context) (string, error) {
	if _, err := s.Kubectl(ctx, "annotate", "commitcluster", clusterName, "commitlab.dev/adopt=true"); err != nil {
		return "", err
	}
	return s.awaitWhole(ctx)
}

// goOn starts the ledger again, which continues its journal.
func (s *scene) goOn(ctx context.Context) (string, error) {
	if _, err := s.Kubectl(ctx, "scale", "deployment/ledger", "--replicas=1"); err != nil {
		return "", err
	}
	if err := s.reachLedger(ctx); err != nil {
		return "", err
	}
	before, err := s.ledger.Status(ctx)
	if err != nil {
		return "", err
	}
	acknowledged, err := s.ledger.AwaitCommits(ctx, before.Acknowledged+enoughCommits)
	return fmt.Sprintf("%d commits acknowledged, %d of them before", acknowledged, before.Acknowledged), err
}
