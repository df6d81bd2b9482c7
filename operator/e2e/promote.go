package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"commitlab.dev/demo/stage"
)

// What the promoted server lacks would be lost, and the ledger would say so. So one replica is gone first: from then on every commit
// is acknowledged by the other one, and nothing is lost when that one is promoted, which the operator cannot know.
var promoteCase = testCase{
	name:  "promote",
	shows: "a replica and then the master are gone: nobody is elected, until kubectl commitlab promote --accept-data-loss",
	act: func(ctx context.Context, s *scene) error {
		c, err := s.look(ctx)
		if err != nil {
			return err
		}
		promoted := s.another(c.Status.Master)
		gone := s.anotherThan(c.Status.Master, promoted)
		for _, step := range []stage.Step{
			stage.NewStep("a replica goes", time.Minute, func(ctx context.Context) (string, error) { return s.goForGood(ctx, gone) }),
			stage.NewStep("refused", time.Minute, func(ctx context.Context) (string, error) { return s.refused(ctx, promoted) }),
			stage.NewStep("promoted", 3*time.Minute, func(ctx context.Context) (string, error) { return s.promote(ctx, promoted) }),
		} {
			if err := s.progress.Do(ctx, step); err != nil {
				return err
			}
		}
		return nil
	},
}

// anotherThan is a server of the cluster, and none of these.
func (s *scene) anotherThan(these ...string) string {
	for _, name := range s.servers() {
		if !slices.Contains(these, name) {
			return name
		}
	}
	return ""
}

// goForGood kills a server's pod where the namespace has room for no new one, and waits until commits go on without it.
func (s *scene) goForGood(ctx context.Context, pod string) (string, error) {
	if _, err := s.Kubectl(ctx, "create", "quota", "no-more-pods", "--hard=pods=1"); err != nil {
		return "", err
	}
	if err := s.kill(ctx, pod); err != nil {
		return "", err
	}
	now, err := s.ledger.Status(ctx)
	if err != nil {
		return "", err
	}
	_, err = s.ledger.AwaitCommits(ctx, now.Acknowledged+enoughCommits)
	return pod, err
}

// refused: as long as the master is there nothing need be lost.
func (s *scene) refused(ctx context.Context, pod string) (string, error) {
	err := s.commitlab(ctx, "promote", clusterName, pod, "--accept-data-loss")
	if err == nil || !strings.Contains(err.Error(), "nothing need be lost") {
		return "", fmt.Errorf("it was not refused: %w", err)
	}
	return "while the master is there", nil
}

func (s *scene) promote(ctx context.Context, pod string) (string, error) {
	return s.moves(ctx, "promote", func(before stage.Cluster) error {
		if err := s.kill(ctx, before.Status.Master); err != nil {
			return err
		}
		if err := s.staysWithoutMaster(ctx, before); err != nil {
			return err
		}
		if err := s.commitlab(ctx, "promote", clusterName, pod, "--accept-data-loss"); err != nil {
			return err
		}
		return s.letPodsBack(ctx)
	})
}

// staysWithoutMaster waits until the operator says that it elects nobody, and for a while longer.
func (s *scene) staysWithoutMaster(ctx context.Context, before stage.Cluster) error {
	_, err := s.awaitCluster(ctx, func(c stage.Cluster) error {
		if blocked, _ := c.Condition("WritesBlocked"); blocked.Status != "True" || blocked.Reason != "NoMaster" {
			return fmt.Errorf("the condition WritesBlocked is %s, %s", blocked.Status, blocked.Reason)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := s.awaitSilence(ctx, longEnough); err != nil {
		return err
	}
	now, err := s.look(ctx)
	if err == nil && now.Status.Epoch != before.Status.Epoch {
		err = errors.New("an epoch was claimed with one server of three")
	}
	return err
}
