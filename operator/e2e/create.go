package main

import (
	"context"
	"fmt"
	"time"
)

var createCase = testCase{
	name:  "create",
	shows: "a new cluster: one master, its replicas, Services that select them",
	act: func(ctx context.Context, s *scene) error {
		return s.step(ctx, "roles and Services", time.Minute, s.checkRoles)
	},
}

// checkRoles compares labels, status and what the Services select.
func (s *scene) checkRoles(ctx context.Context) (string, error) {
	c, err := s.look(ctx)
	if err != nil {
		return "", err
	}
	roles, err := s.podFields(ctx, `.metadata.labels.commitlab\.dev/role`)
	if err != nil {
		return "", err
	}
	addresses, err := s.podFields(ctx, ".status.podIP")
	if err != nil {
		return "", err
	}
	selected := map[string]map[string]bool{"master": {}, "replica": {}}
	for name, role := range roles {
		if selected[role] == nil || (role == "master") != (name == c.Status.Master) {
			return "", fmt.Errorf("%s has the role %q, and the status says that %s is the master", name, role, c.Status.Master)
		}
		selected[role][addresses[name]] = true
	}
	if len(selected["master"]) != 1 || len(selected["replica"]) != c.Spec.Replicas {
		return "", fmt.Errorf("the pods' roles are %v", roles)
	}
	for role, service := range map[string]string{"master": "-master", "replica": "-replicas"} {
		if err := s.checkService(ctx, clusterName+service, selected[role]); err != nil {
			return "", err
		}
	}
	if c.Status.Semisync != "1/2 AFTER_SYNC" {
		return "", fmt.Errorf("SEMISYNC is %q", c.Status.Semisync)
	}
	return fmt.Sprintf("master %s, 2 replicas", c.Status.Master), nil
}
