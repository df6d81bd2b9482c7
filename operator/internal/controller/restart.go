package controller

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/cluster"
)

// restart deletes the pod that the command names, and no other one. The StatefulSet makes the next.
func (r *Reconciler) restart(ctx context.Context, c *v1alpha1.CommitCluster, command cluster.Command) {
	err := r.deleteOutdated(ctx, types.NamespacedName{Namespace: c.Namespace, Name: command.Server}, client.ObjectKeyFromObject(c), types.UID(command.PodUID))
	commands.WithLabelValues(string(command.Kind), outcome(err)).Inc()
	log.FromContext(ctx).Info("restart", "pod", command.Server, "uid", command.PodUID, "error", fmt.Sprint(err))
}

// deleteOutdated looks past the cache first: an operator that has just started may remember an older template, by which the
// newest pods would seem outdated.
func (r *Reconciler) deleteOutdated(ctx context.Context, name, set types.NamespacedName, uid types.UID) error {
	pod, template := &corev1.Pod{}, &appsv1.StatefulSet{}
	if err := r.Reader.Get(ctx, name, pod); err != nil {
		return client.IgnoreNotFound(err)
	}
	if err := r.Reader.Get(ctx, set, template); err != nil {
		return err
	}
	asked := template.Spec.Template.Annotations[v1alpha1.AnnotationConfiguration]
	if pod.UID != uid || !pod.DeletionTimestamp.IsZero() || pod.Annotations[v1alpha1.AnnotationConfiguration] == asked {
		return nil
	}
	return client.IgnoreNotFound(r.Client.Delete(ctx, pod, client.Preconditions{UID: &uid}))
}
