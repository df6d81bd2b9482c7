package main

import (
	"context"
	"fmt"
	"time"

	"commitlab.dev/demo/stage"
)

var fenceCase = testCase{
	name:  "fence",
	shows: "kubectl commitlab fence, a replica and then the master; both are let in again",
	act: func(ctx context.Context, s *scene) error {
		c, err := s.look(ctx)
		if err != nil {
			return err
		}
		replica := s.another(c.Status.Master)
		if err := s.step(ctx, "a replica", 2*time.Minute, func(ctx context.Context) (string, error) { return s.fenceReplica(ctx, replica) }); err != nil {
			return err
		}
		if err := s.step(ctx, "let in", 2*time.Minute, func(ctx context.Context) (string, error) { return s.unfence(ctx, replica) }); err != nil {
			return err
		}
		err = s.step(ctx, "the master", 2*time.Minute, func(ctx context.Context) (string, error) {
			return s.moves(ctx, "fence", func(before stage.Cluster) error { return s.commitlab(ctx, "fence", clusterName, before.Status.Master) })
		})
		if err != nil {
			return err
		}
		return s.step(ctx, "let in", 2*time.Minute, func(ctx context.Context) (string, error) { return s.unfence(ctx, c.Status.Master) })
	},
}

// commitlab runs the plugin as a person would.
func (s *scene) commitlab(ctx context.Context, args ...string) error {
	_, err := s.Output(ctx, "kubectl-commitlab", append(args, s.Connection()...)...)
	return err
}

// fenceReplica shows that it has no role, that it does not get the rows that are written meanwhile, and that writes go on.
func (s *scene) fenceReplica(ctx context.Context, pod string) (string, error) {
	if err := s.commitlab(ctx, "fence", clusterName, pod); err != nil {
		return "", err
	}
	if label, err := s.field(ctx, "pod", pod, `.metadata.labels.commitlab\.dev/role`); err != nil || label != "" {
		return "", fmt.Errorf("it has the role %q (%w)", label, err)
	}
	logged, err := s.logged(ctx, pod)
	if err != nil {
		return "", err
	}
	now, err := s.ledger.Status(ctx)
	if err != nil {
		return "", err
	}
	acknowledged, err := s.ledger.AwaitCommits(ctx, now.Acknowledged+enoughCommits)
	if err != nil {
		return "", err
	}
	after, err := s.logged(ctx, pod)
	if err == nil && after != logged {
		err = fmt.Errorf("its log had %s and has %s", logged, after)
	}
	return fmt.Sprintf("%d commits acknowledged without it", acknowledged-now.Acknowledged), err
}

// logged is what a server's log holds.
func (s *scene) logged(ctx context.Context, pod string) (string, error) {
	return s.ask(ctx, pod, operator, "SELECT gtid_logged FROM performance_schema.commitd_instance")
}

func (s *scene) unfence(ctx context.Context, pod string) (string, error) {
	if err := s.commitlab(ctx, "unfence", clusterName, pod); err != nil {
		return "", err
	}
	return s.awaitWhole(ctx)
}
