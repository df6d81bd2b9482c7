package test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// All sites are namespaces where only restricted pods are taken, so every other test shows that the operator's pods and those of its
// StatefulSets are. This one shows that others are not.
func TestPodsThatMayDoMoreThanTheServersAreRefused(t *testing.T) {
	s := newSite(t)
	pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "plain", Image: "commitd:test"}}}}
	pod.Namespace, pod.Name = s.namespace, "plain"
	err := kube.Create(t.Context(), pod, client.DryRunAll)
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "violates PodSecurity") {
		t.Errorf("%v", err)
	}
}
