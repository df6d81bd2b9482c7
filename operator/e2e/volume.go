package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"commitlab.dev/demo/stage"
)

var volumeCase = testCase{
	name:  "volume",
	shows: "a replica loses its volume and comes back with an empty one: it joins as a new server",
	act: func(ctx context.Context, s *scene) error {
		return s.step(ctx, "emptied", 3*time.Minute, s.emptyVolume)
	},
}

func (s *scene) emptyVolume(ctx context.Context) (string, error) {
	c, err := s.look(ctx)
	if err != nil {
		return "", err
	}
	pod := s.another(c.Status.Master)
	claim := "data-" + pod
	before, err := s.field(ctx, "pvc", claim, ".metadata.uid")
	if err != nil {
		return "", err
	}
	if err := s.ledger.Mark(ctx, stage.Mark{Name: "volume", Target: pod, Proof: "process", Unnoticed: true}); err != nil {
		return "", err
	}
	// The claim goes when its pod has gone.
	if _, err := s.Kubectl(ctx, "delete", "pvc", claim, "--wait=false"); err != nil {
		return "", err
	}
	if _, err := s.Kubectl(ctx, "delete", "pod", pod, "--wait=false"); err != nil {
		return "", err
	}
	return pod + " has another volume and everything on it", s.awaitMember(ctx, pod, before)
}

// awaitMember waits until the pod counts as a member with another volume than that.
func (s *scene) awaitMember(ctx context.Context, pod, former string) error {
	return stage.Poll(ctx, func() (bool, error) {
		now, err := s.field(ctx, "pvc", "data-"+pod, ".metadata.uid")
		if err != nil || now == former {
			return false, errors.Join(err, fmt.Errorf("the claim is %s", now))
		}
		c, err := s.look(ctx)
		if err != nil {
			return false, err
		}
		for _, m := range c.Status.Members {
			if m.Name == pod && m.PVCUID == now && m.Role == "replica" && m.Synced {
				return true, nil
			}
		}
		return false, fmt.Errorf("the members are %+v", c.Status.Members)
	})
}
