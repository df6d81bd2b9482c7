package controller

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/cluster"
)

// setSummary copies what package cluster says into the status.
func setSummary(c *v1alpha1.CommitCluster, v cluster.View, s cluster.Summary) {
	c.Status.ObservedGeneration = c.Generation
	c.Status.Phase = s.Phase
	c.Status.ReadyReplicas = s.ReadyReplicas
	c.Status.Members = s.Members
	c.Status.Semisync = s.Semisync
	c.Status.Selector = labels.SelectorFromSet(roleLabels(c, v1alpha1.RoleReplica)).String()
	c.Status.Replicas = 0
	for _, server := range v.Servers {
		if server.Address != "" && server.Name != c.Status.Master {
			c.Status.Replicas++
		}
	}
	for _, condition := range s.Conditions {
		setCondition(c, condition)
	}
	setAwake(c)
}

// setAwake says that a cluster does not hibernate, if it ever has.
func setAwake(c *v1alpha1.CommitCluster) {
	if c.Spec.Hibernated || meta.FindStatusCondition(c.Status.Conditions, v1alpha1.ConditionHibernated) == nil {
		return
	}
	setCondition(c, metav1.Condition{Type: v1alpha1.ConditionHibernated, Status: metav1.ConditionFalse, Reason: "Awake",
		Message: "the cluster does not hibernate"})
}

// setConfigurationValid tells whether spec and Secrets can be used, by commitd's own word.
func setConfigurationValid(c *v1alpha1.CommitCluster, note string, cause error) {
	condition := metav1.Condition{Type: v1alpha1.ConditionConfigurationValid, Status: metav1.ConditionTrue,
		Reason: "Valid", Message: "spec and secrets can be used" + note}
	var open undecided
	if errors.As(cause, &open) {
		condition.Status, condition.Reason, condition.Message = metav1.ConditionUnknown, open.reason, open.message
	} else if cause != nil {
		condition.Status, condition.Reason, condition.Message = metav1.ConditionFalse, "Invalid", cause.Error()
	}
	setCondition(c, condition)
}

// setPaused says whether the operator leaves the cluster alone; of one that it has never left alone it says nothing.
func setPaused(c *v1alpha1.CommitCluster) {
	condition := metav1.Condition{Type: v1alpha1.ConditionPaused, Status: metav1.ConditionFalse, Reason: "Active",
		Message: "the operator looks after the cluster"}
	if c.Spec.Paused {
		condition.Status, condition.Reason = metav1.ConditionTrue, "SpecPaused"
		condition.Message = "spec.paused: nothing is changed, a lost master is not replaced, and all other conditions are as they were then"
	} else if meta.FindStatusCondition(c.Status.Conditions, v1alpha1.ConditionPaused) == nil {
		return
	}
	setCondition(c, condition)
}

func setCondition(c *v1alpha1.CommitCluster, condition metav1.Condition) {
	condition.ObservedGeneration = c.Generation
	meta.SetStatusCondition(&c.Status.Conditions, condition)
}

// writeStatus updates the status if it has changed; like the record, it carries the resourceVersion that was read.
func (r *Reconciler) writeStatus(ctx context.Context, before, c *v1alpha1.CommitCluster) error {
	if equality.Semantic.DeepEqual(before.Status, c.Status) {
		return nil
	}
	return r.Client.Status().Update(ctx, c)
}
