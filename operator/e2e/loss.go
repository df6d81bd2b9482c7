package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"commitlab.dev/demo/stage"
)

var masterDeleteCase = testCase{
	name:  "master-delete",
	shows: "the master's pod is deleted, as a drained node does it: the mastership leaves first",
	act: func(ctx context.Context, s *scene) error {
		return s.step(ctx, "deleted", time.Minute, func(ctx context.Context) (string, error) {
			return s.moves(ctx, "master-delete", func(before stage.Cluster) error {
				_, err := s.Kubectl(ctx, "delete", "pod", before.Status.Master, "--wait=false")
				return err
			})
		})
	},
}

var masterKillCase = testCase{
	name:  "master-kill",
	shows: "the master's pod is deleted without grace",
	act: func(ctx context.Context, s *scene) error {
		return s.step(ctx, "killed", time.Minute, func(ctx context.Context) (string, error) {
			return s.loses(ctx, "master-kill", func(master string) error { return s.kill(ctx, master) })
		})
	},
}

var containerKillCase = testCase{
	name:           "container-kill",
	shows:          "SIGKILL for the master's process: the kubelet starts it again on the same data",
	needsChaosMesh: true,
	act: func(ctx context.Context, s *scene) error {
		return s.step(ctx, "killed", time.Minute, func(ctx context.Context) (string, error) {
			return s.loses(ctx, "container-kill", func(string) error { return s.Apply(ctx, s.experiment("kill-master-container")) })
		})
	},
}

// kill deletes a pod without grace.
func (s *scene) kill(ctx context.Context, pods ...string) error {
	_, err := s.Kubectl(ctx, append([]string{"delete", "pod", "--grace-period=0", "--force", "--wait=false"}, pods...)...)
	return err
}

// loses does something to the master's process, which the ledger sees by itself, and waits until writes go on.
func (s *scene) loses(ctx context.Context, name string, do func(master string) error) (string, error) {
	before, err := s.look(ctx)
	if err != nil {
		return "", err
	}
	if err := s.ledger.Mark(ctx, stage.Mark{Name: name, Target: before.Status.Master, Proof: "process"}); err != nil {
		return "", err
	}
	if err := do(before.Status.Master); err != nil {
		return "", err
	}
	if err := s.recovered(ctx); err != nil {
		return "", err
	}
	after, err := s.look(ctx)
	return masterOf(after) + " after " + masterOf(before), err
}

var replicaLossCase = testCase{
	name:  "replica-loss",
	shows: "both replicas are gone: with durability required writes wait for them, beyond semisync.timeout",
	act: func(ctx context.Context, s *scene) error {
		if err := s.change(ctx, `{"spec":{"semisync":{"timeout":"1s"}}}`); err != nil {
			return err
		}
		if err := s.step(ctx, "both killed", time.Minute, s.loseReplicas); err != nil {
			return err
		}
		if err := s.step(ctx, "writes wait", time.Minute, s.awaitBlocked); err != nil {
			return err
		}
		return s.step(ctx, "they may come back", 2*time.Minute, func(ctx context.Context) (string, error) {
			if err := s.letPodsBack(ctx); err != nil {
				return "", err
			}
			return "writes go on", s.recovered(ctx)
		})
	},
}

// loseReplicas kills them where the namespace has room for no new pod: that keeps them away without touching a node.
func (s *scene) loseReplicas(ctx context.Context) (string, error) {
	c, err := s.look(ctx)
	if err != nil {
		return "", err
	}
	var replicas []string
	for _, name := range s.servers() {
		if name != c.Status.Master {
			replicas = append(replicas, name)
		}
	}
	if _, err := s.Kubectl(ctx, "create", "quota", "no-more-pods", "--hard=pods=1"); err != nil {
		return "", err
	}
	// Writers wait, and need not see an error.
	mark := stage.Mark{Name: "replica-loss", Target: replicas[0], Proof: "process", Unnoticed: true}
	if err := s.ledger.Mark(ctx, mark); err != nil {
		return "", err
	}
	return strings.Join(replicas, ", "), s.kill(ctx, replicas...)
}

// longEnough is how long nothing may be acknowledged: a preferred cluster would have lowered its wait count by then.
const longEnough = 4 * time.Second

// awaitBlocked waits until the operator says so and nothing has been acknowledged for longEnough.
func (s *scene) awaitBlocked(ctx context.Context) (string, error) {
	said, err := s.awaitCluster(ctx, func(c stage.Cluster) error {
		if blocked, _ := c.Condition("WritesBlocked"); blocked.Status != "True" || blocked.Reason != "TooFewReplicas" {
			return fmt.Errorf("the condition WritesBlocked is %s, %s", blocked.Status, blocked.Reason)
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	if err := s.awaitSilence(ctx, longEnough); err != nil {
		return "", err
	}
	now, err := s.look(ctx)
	if err == nil && now.Status.Semisync != said.Status.Semisync {
		err = fmt.Errorf("SEMISYNC was %q and is %q", said.Status.Semisync, now.Status.Semisync)
	}
	blocked, _ := said.Condition("WritesBlocked")
	return blocked.Message, err
}

// awaitSilence waits until nothing has been acknowledged for so long.
func (s *scene) awaitSilence(ctx context.Context, long time.Duration) error {
	acknowledged, since := -1, time.Now()
	return stage.Poll(ctx, func() (bool, error) {
		now, err := s.ledger.Status(ctx)
		if err == nil && now.Acknowledged != acknowledged {
			acknowledged, since = now.Acknowledged, time.Now()
		}
		return err == nil && time.Since(since) >= long, errors.Join(err, fmt.Errorf("%d commits are acknowledged, and it goes on", acknowledged))
	})
}

func (s *scene) letPodsBack(ctx context.Context) error {
	if _, err := s.Kubectl(ctx, "delete", "quota", "no-more-pods"); err != nil {
		return err
	}
	// The controller of StatefulSets tries again by and by; a change makes it look now.
	_, err := s.Kubectl(ctx, "annotate", "statefulset", clusterName, "e2e.commitlab.dev/look=now", "--overwrite")
	return err
}
