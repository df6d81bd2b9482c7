package main

import (
	"context"
	"fmt"
	"time"

	"commitlab.dev/demo/stage"
)

var switchoverCase = testCase{
	name:  "switchover",
	shows: "kubectl commitlab switchover to a replica, under load",
	act: func(ctx context.Context, s *scene) error {
		return s.step(ctx, "switchover", 2*time.Minute, func(ctx context.Context) (string, error) {
			return s.moves(ctx, "switchover", func(before stage.Cluster) error {
				to := s.another(before.Status.Master)
				_, err := s.Output(ctx, "kubectl-commitlab", append([]string{"switchover", clusterName, "--to", to}, s.Connection()...)...)
				return err
			})
		})
	},
}

// moves does something that gives another server the mastership, and proves it to the ledger.
func (s *scene) moves(ctx context.Context, name string, do func(before stage.Cluster) error) (string, error) {
	before, err := s.look(ctx)
	if err != nil {
		return "", err
	}
	if err := s.ledger.Mark(ctx, stage.Mark{Name: name, Unnoticed: true}); err != nil {
		return "", err
	}
	if err := do(before); err != nil {
		return "", err
	}
	after, err := s.awaitAnotherMaster(ctx, before)
	if err != nil {
		return "", err
	}
	if err := s.ledger.Prove(ctx, name, "master", clusterName, masterOf(before), masterOf(after)); err != nil {
		return "", err
	}
	return masterOf(after) + " after " + masterOf(before), s.recovered(ctx)
}

func masterOf(c stage.Cluster) string {
	return fmt.Sprintf("%s in epoch %d", c.Status.Master, c.Status.Epoch)
}

// another is a server of the cluster, and not this one.
func (s *scene) another(than string) string {
	for _, name := range s.servers() {
		if name != than {
			return name
		}
	}
	return ""
}

func (s *scene) awaitAnotherMaster(ctx context.Context, before stage.Cluster) (stage.Cluster, error) {
	return s.awaitCluster(ctx, func(now stage.Cluster) error {
		if now.Status.Master == "" || now.Status.Master == before.Status.Master {
			return fmt.Errorf("the master is %q", now.Status.Master)
		}
		return nil
	})
}
