package stage

import (
	"context"
	"errors"
	"fmt"
)

// Cluster is the part of a CommitCluster that is watched.
type Cluster struct {
	Spec struct {
		Replicas int `json:"replicas"`
	} `json:"spec"`
	Status struct {
		Master        string `json:"master"`
		Epoch         int64  `json:"epoch"`
		Phase         string `json:"phase"`
		ReadyReplicas int    `json:"readyReplicas"`
		// Semisync is how many of how many replicas acknowledge, and when.
		Semisync   string      `json:"semisync"`
		Conditions []Condition `json:"conditions"`
		Members    []Member    `json:"members"`
	} `json:"status"`
}

// Member is a server on record.
type Member struct {
	Name   string `json:"name"`
	PVCUID string `json:"pvcUID"`
	Role   string `json:"role"`
	// Synced: its acknowledgements count.
	Synced bool `json:"synced"`
}

// Condition is one of a CommitCluster's conditions.
type Condition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// Readiness returns nil when the cluster takes writes and every replica is attached.
func (c Cluster) Readiness() error {
	if c.Status.ReadyReplicas < c.Spec.Replicas {
		return fmt.Errorf("%d of %d replicas are attached (phase %q)", c.Status.ReadyReplicas, c.Spec.Replicas, c.Status.Phase)
	}
	ready, reported := c.Condition("Ready")
	switch {
	case !reported:
		return errors.New("the operator has not reported a Ready condition")
	case ready.Status != "True":
		return fmt.Errorf("not Ready: %s", ready.Message)
	}
	return nil
}

// Condition returns the one of that type, if it has been reported.
func (c Cluster) Condition(kind string) (Condition, bool) {
	for _, condition := range c.Status.Conditions {
		if condition.Type == kind {
			return condition, true
		}
	}
	return Condition{}, false
}

// Cluster returns the CommitCluster of that name.
func (t Tools) Cluster(ctx context.Context, name string) (Cluster, error) {
	var c Cluster
	err := t.Get(ctx, &c, "commitcluster", name)
	return c, err
}

// WaitReady returns the cluster once it is complete.
func (t Tools) WaitReady(ctx context.Context, name string) (Cluster, error) {
	var c Cluster
	err := Poll(ctx, func() (bool, error) {
		var err error
		if c, err = t.Cluster(ctx, name); err == nil {
			err = c.Readiness()
		}
		return err == nil, err
	})
	return c, err
}
