package main

import (
	"context"
	"errors"
	"fmt"
)

// commitCluster is the part of a CommitCluster that the demo watches.
type commitCluster struct {
	Spec struct {
		Replicas int `json:"replicas"`
	} `json:"spec"`
	Status struct {
		Master        string `json:"master"`
		Epoch         int64  `json:"epoch"`
		Phase         string `json:"phase"`
		ReadyReplicas int    `json:"readyReplicas"`
		Conditions    []struct {
			Type    string `json:"type"`
			Status  string `json:"status"`
			Message string `json:"message"`
		} `json:"conditions"`
	} `json:"status"`
}

// readiness returns nil when the cluster takes writes and every replica is attached.
func (c commitCluster) readiness() error {
	if c.Status.ReadyReplicas < c.Spec.Replicas {
		return fmt.Errorf("%d of %d replicas are attached (phase %q)", c.Status.ReadyReplicas, c.Spec.Replicas, c.Status.Phase)
	}
	for _, condition := range c.Status.Conditions {
		if condition.Type == "Ready" {
			if condition.Status == "True" {
				return nil
			}
			return fmt.Errorf("not Ready: %s", condition.Message)
		}
	}
	return errors.New("the operator has not reported a Ready condition")
}

func (d *demo) cluster(ctx context.Context) (commitCluster, error) {
	var c commitCluster
	err := d.tools.get(ctx, &c, "commitcluster", clusterName)
	return c, err
}

// waitReady returns the cluster once it is complete.
func (d *demo) waitReady(ctx context.Context) (commitCluster, error) {
	var c commitCluster
	err := poll(ctx, func() (bool, error) {
		var err error
		if c, err = d.cluster(ctx); err == nil {
			err = c.readiness()
		}
		return err == nil, err
	})
	return c, err
}

func (d *demo) podUID(ctx context.Context, name string) (string, error) {
	var pod struct {
		Metadata struct {
			UID string `json:"uid"`
		} `json:"metadata"`
	}
	err := d.tools.get(ctx, &pod, "pod", name)
	return pod.Metadata.UID, err
}
