package controller

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commitlab.dev/operator/api/v1alpha1"
)

// endPods ends those of a cluster that hibernates, whatever is wrong with what they would be started with: clients have been taken off
// them already.
func (r *Reconciler) endPods(ctx context.Context, c *v1alpha1.CommitCluster) error {
	set := &appsv1.StatefulSet{}
	if err := r.Client.Get(ctx, client.ObjectKeyFromObject(c), set); err != nil {
		return client.IgnoreNotFound(err)
	}
	if set.Spec.Replicas != nil && *set.Spec.Replicas == 0 {
		return nil
	}
	set = set.DeepCopy()
	set.Spec.Replicas = new(int32)
	return client.IgnoreNotFound(r.Client.Update(ctx, set))
}
