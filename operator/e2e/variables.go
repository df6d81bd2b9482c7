package main

import (
	"context"
	"fmt"
	"maps"
	"time"

	"commitlab.dev/demo/stage"
)

var liveVariableCase = testCase{
	name:  "variable-live",
	shows: "a variable that can be set on a running server is, everywhere, and no pod is restarted",
	act: func(ctx context.Context, s *scene) error {
		return s.step(ctx, "max_connections", 2*time.Minute, func(ctx context.Context) (string, error) {
			before, err := s.podFields(ctx, ".metadata.uid")
			if err != nil {
				return "", err
			}
			if err := s.setVariable(ctx, "max_connections", "217", "217"); err != nil {
				return "", err
			}
			after, err := s.podFields(ctx, ".metadata.uid")
			if err == nil && !maps.Equal(before, after) {
				err = fmt.Errorf("pods were restarted: %v, %v", before, after)
			}
			return "217 on every server", err
		})
	},
}

var staticVariableCase = testCase{
	name:  "variable-static",
	shows: "a variable of the start rolls through the servers, the master last",
	act: func(ctx context.Context, s *scene) error {
		return s.step(ctx, "thread_handling", 4*time.Minute, func(ctx context.Context) (string, error) {
			return s.rolls(ctx, "variable", func() error {
				return s.setVariable(ctx, "thread_handling", `"one-thread-per-connection"`, "one-thread-per-connection")
			})
		})
	},
}

// setVariable edits the spec, and waits until every server has the value.
func (s *scene) setVariable(ctx context.Context, name, value, shown string) error {
	if err := s.change(ctx, fmt.Sprintf(`{"spec":{"engine":{"variables":{%q:%s}}}}`, name, value)); err != nil {
		return err
	}
	return stage.Poll(ctx, func() (bool, error) {
		answers, err := s.askAll(ctx, "SELECT @@GLOBAL."+name)
		for server, answer := range answers {
			if answer != shown {
				return false, fmt.Errorf("%s has %s = %s", server, name, answer)
			}
		}
		return err == nil, err
	})
}

// rolls does something that every server is restarted for, and proves it to the ledger: each pod is another one, and the former master's the last.
func (s *scene) rolls(ctx context.Context, name string, do func() error) (string, error) {
	before, err := s.look(ctx)
	if err != nil {
		return "", err
	}
	former, err := s.podFields(ctx, ".metadata.uid")
	if err != nil {
		return "", err
	}
	if err := s.ledger.Mark(ctx, stage.Mark{Name: name, Unnoticed: true}); err != nil {
		return "", err
	}
	if err := do(); err != nil {
		return "", err
	}
	now, err := s.podFields(ctx, ".metadata.uid")
	if err != nil {
		return "", err
	}
	for pod, uid := range former {
		if now[pod] == uid {
			return "", fmt.Errorf("%s was not restarted", pod)
		}
	}
	if err := s.restartedLast(ctx, before.Status.Master); err != nil {
		return "", err
	}
	return "every server restarted", s.ledger.Prove(ctx, name, "pod-uid", before.Status.Master, former[before.Status.Master], now[before.Status.Master])
}

// restartedLast compares the ages of pods.
func (s *scene) restartedLast(ctx context.Context, master string) error {
	made, err := s.podFields(ctx, ".metadata.creationTimestamp")
	for pod, at := range made {
		if at > made[master] {
			return fmt.Errorf("%s was restarted at %s, behind the former master %s at %s", pod, at, master, made[master])
		}
	}
	return err
}
