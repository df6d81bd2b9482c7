package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"commitlab.dev/demo/stage"
)

var operatorKillCase = testCase{
	name:  "operator-kill",
	shows: "the operator is killed at random moments while masters are killed: another operator ends what was begun",
	act: func(ctx context.Context, s *scene) error {
		seed := uint64(time.Now().UnixNano())
		s.progress.Line("", fmt.Sprintf("seed %d", seed))
		random := rand.New(rand.NewPCG(seed, 0))
		for round := range 3 {
			title := fmt.Sprintf("round %d", round+1)
			after := time.Duration(random.IntN(3000)) * time.Millisecond
			err := s.step(ctx, title, 2*time.Minute, func(ctx context.Context) (string, error) {
				return s.killBoth(ctx, fmt.Sprintf("operator-kill-%d", round+1), after)
			})
			if err != nil {
				return err
			}
			if err := s.step(ctx, title+", whole", 3*time.Minute, s.awaitWhole); err != nil {
				return err
			}
		}
		return nil
	},
}

// killBoth kills the master, and the operator so long afterwards: while it looks, decides or acts.
func (s *scene) killBoth(ctx context.Context, name string, after time.Duration) (string, error) {
	operators, err := s.operators(ctx)
	if err != nil {
		return "", err
	}
	told, err := s.loses(ctx, name, func(master string) error {
		if err := s.kill(ctx, master); err != nil {
			return err
		}
		select {
		case <-time.After(after):
		case <-ctx.Done():
		}
		_, err := s.place.operator().Kubectl(ctx, append([]string{"delete", "pod", "--grace-period=0", "--force"}, operators...)...)
		return err
	})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s; the operator was killed %d ms after the master", told, after.Milliseconds()), s.awaitOperator(ctx, operators)
}

func (s *scene) operators(ctx context.Context) ([]string, error) {
	out, err := s.place.operator().Kubectl(ctx, "get", "pods", "--selector", "app.kubernetes.io/name=commitlab-operator",
		"--output", `jsonpath={range .items[*]}{.metadata.name}{" "}{end}`)
	names := strings.Fields(out)
	if err == nil && len(names) == 0 {
		err = errors.New("the operator has no pod")
	}
	return names, err
}

// awaitOperator waits for an operator that is none of these.
func (s *scene) awaitOperator(ctx context.Context, killed []string) error {
	return stage.Poll(ctx, func() (bool, error) {
		now, err := s.operators(ctx)
		if err != nil {
			return false, err
		}
		for _, name := range killed {
			for _, running := range now {
				if running == name {
					return false, fmt.Errorf("the operator's pod %s is still there", name)
				}
			}
		}
		return true, nil
	})
}
