package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"commitlab.dev/demo/stage"
)

var hibernateCase = testCase{
	name:  "hibernate",
	shows: "spec.hibernated: all pods go, the volumes stay; awake again, the same servers are there",
	act: func(ctx context.Context, s *scene) error {
		return s.step(ctx, "sleep and wake", 4*time.Minute, s.hibernate)
	},
}

func (s *scene) hibernate(ctx context.Context) (string, error) {
	claims, err := s.claims(ctx)
	if err != nil {
		return "", err
	}
	before, err := s.look(ctx)
	if err != nil {
		return "", err
	}
	if err := s.ledger.Mark(ctx, stage.Mark{Name: "hibernate", Unnoticed: true}); err != nil {
		return "", err
	}
	if err := s.change(ctx, `{"spec":{"hibernated":true}}`); err != nil {
		return "", err
	}
	asleep, err := s.awaitCluster(ctx, s.isAsleep(ctx))
	if err == nil && asleep.Status.Epoch != before.Status.Epoch {
		err = errors.New("an epoch was claimed because pods had ended")
	}
	if err != nil {
		return "", err
	}
	if err := s.change(ctx, `{"spec":{"hibernated":false}}`); err != nil {
		return "", err
	}
	if _, err := s.awaitWhole(ctx); err != nil {
		return "", err
	}
	awake, err := s.look(ctx)
	if err != nil {
		return "", err
	}
	if err := s.ledger.Prove(ctx, "hibernate", "epoch", clusterName, fmt.Sprint(before.Status.Epoch), fmt.Sprint(awake.Status.Epoch)); err != nil {
		return "", err
	}
	after, err := s.claims(ctx)
	if err == nil && !maps.Equal(claims, after) {
		err = fmt.Errorf("the claims were %v and are %v", claims, after)
	}
	return masterOf(awake) + " after " + masterOf(before), errors.Join(err, s.recovered(ctx))
}

func (s *scene) isAsleep(ctx context.Context) func(stage.Cluster) error {
	return func(c stage.Cluster) error {
		if c.Status.Phase != "Hibernated" {
			return fmt.Errorf("the phase is %s", c.Status.Phase)
		}
		pods, err := s.podFields(ctx, ".metadata.uid")
		if err == nil && len(pods) > 0 {
			err = fmt.Errorf("there are the pods %v", pods)
		}
		return err
	}
}
