package main

import (
	"context"
	"time"

	"commitlab.dev/demo/stage"
)

var partitionCase = testCase{
	name:           "partition",
	shows:          "the master is cut off from its replicas: another one takes over, and the former one follows when the cut is healed",
	needsChaosMesh: true,
	act: func(ctx context.Context, s *scene) error {
		if err := s.step(ctx, "cut off", time.Minute, s.cutOff); err != nil {
			return err
		}
		return s.step(ctx, "healed", 2*time.Minute, func(ctx context.Context) (string, error) {
			return "", s.Remove(ctx, s.experiment("partition-master"))
		})
	},
}

func (s *scene) cutOff(ctx context.Context) (string, error) {
	before, err := s.look(ctx)
	if err != nil {
		return "", err
	}
	if err := s.ledger.Mark(ctx, stage.Mark{Name: "partition", Target: before.Status.Master, Proof: "link"}); err != nil {
		return "", err
	}
	if err := s.Apply(ctx, s.experiment("partition-master")); err != nil {
		return "", err
	}
	after, err := s.awaitAnotherMaster(ctx, before)
	if err != nil {
		return "", err
	}
	return masterOf(after) + " after " + masterOf(before), s.recovered(ctx)
}
