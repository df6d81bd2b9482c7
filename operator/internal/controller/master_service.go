package controller

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"commitlab.dev/operator/api/v1alpha1"
)

// nobody is the name of no pod: a StatefulSet's have a number behind them.
const nobody = "none"

// masterSelector finds one pod by its name, so there are never two. A change of master is one write: kube-proxy rewrites its rules
// at most once a second, and takes up the first of two changes only to have clients wait for the other.
func masterSelector(c *v1alpha1.CommitCluster, pod string) map[string]string {
	labels := selectorLabels(c)
	if pod == "" {
		pod = nobody
	}
	labels[appsv1.StatefulSetPodNameLabel] = pod
	return labels
}

// leadTo has NAME-master lead to this pod; "" for none. Until the Service is there, there is nothing to lead.
func (r *Reconciler) leadTo(ctx context.Context, c *v1alpha1.CommitCluster, pod string) error {
	service := &corev1.Service{}
	if err := r.Client.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: masterService(c)}, service); err != nil {
		return client.IgnoreNotFound(err)
	}
	selector := masterSelector(c, pod)
	if maps.Equal(service.Spec.Selector, selector) {
		return nil
	}
	patch, err := json.Marshal([]map[string]any{{"op": "add", "path": "/spec/selector", "value": selector}})
	if err != nil {
		return err
	}
	err = r.Client.Patch(ctx, service, client.RawPatch(types.JSONPatchType, patch), client.FieldOwner(FieldOwner))
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("have %s lead to %q: %w", service.Name, pod, err)
	}
	return nil
}

// selectorChanged is for whoever writes the selector: somebody else has, or the Service is new.
func selectorChanged() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc:  func(event.CreateEvent) bool { return true },
		DeleteFunc:  func(event.DeleteEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
		UpdateFunc: func(e event.UpdateEvent) bool {
			before, ok := e.ObjectOld.(*corev1.Service)
			after, too := e.ObjectNew.(*corev1.Service)
			return ok && too && !maps.Equal(before.Spec.Selector, after.Spec.Selector)
		},
	}
}
