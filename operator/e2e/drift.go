package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"commitlab.dev/demo/stage"
)

var driftCase = testCase{
	name:  "drift",
	shows: "somebody lets the master acknowledge alone: the operator puts the quorum right, and says what it found",
	act: func(ctx context.Context, s *scene) error {
		if err := s.step(ctx, "by hand", time.Minute, s.changeQuorumByHand); err != nil {
			return err
		}
		return s.step(ctx, "put right", time.Minute, s.awaitQuorum)
	},
}

const quorumInForce = "SELECT CONCAT(wait_count, ' of ', members) FROM performance_schema.commitd_instance"

// changeQuorumByHand takes a version far beyond the operator's, which the operator has to go beyond.
func (s *scene) changeQuorumByHand(ctx context.Context) (string, error) {
	c, err := s.look(ctx)
	if err != nil {
		return "", err
	}
	if err := s.ledger.Mark(ctx, stage.Mark{Name: "drift", Unnoticed: true}); err != nil {
		return "", err
	}
	before, err := s.ask(ctx, c.Status.Master, operator, quorumInForce)
	if err != nil {
		return "", err
	}
	statement := fmt.Sprintf("ALTER INSTANCE QUORUM EPOCH %d VERSION 99 WAIT_COUNT 0 MEMBERS ''", c.Status.Epoch)
	if err := s.execute(ctx, c.Status.Master, operator, statement); err != nil {
		return "", err
	}
	return before, s.ledger.Prove(ctx, "drift", "quorum", c.Status.Master, before, statement)
}

func (s *scene) awaitQuorum(ctx context.Context) (string, error) {
	c, err := s.look(ctx)
	if err != nil {
		return "", err
	}
	err = stage.Poll(ctx, func() (bool, error) {
		now, err := s.ask(ctx, c.Status.Master, operator, quorumInForce)
		if err != nil {
			return false, err
		}
		count, members, _ := strings.Cut(now, " of ")
		return count == "1" && len(strings.Split(members, ",")) == 2, fmt.Errorf("%s acknowledges by %s", c.Status.Master, now)
	})
	if err != nil {
		return "", err
	}
	return "1 of 2 again", stage.Poll(ctx, func() (bool, error) {
		said, err := s.Kubectl(ctx, "get", "events", "--field-selector", "reason=SemisyncChangedByHand", "--output", "name")
		return said != "", errors.Join(err, errors.New("there is no event SemisyncChangedByHand"))
	})
}
