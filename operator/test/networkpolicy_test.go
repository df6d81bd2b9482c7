package test

import (
	"fmt"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"commitlab.dev/operator/api/v1alpha1"
)

func TestANetworkPolicyIsThereWhileTheSpecAsksForOne(t *testing.T) {
	s := newSite(t, "demo-0", "demo-1")
	c := demo(s.namespace, 1)
	c.Spec.NetworkPolicy = &v1alpha1.NetworkPolicySpec{}
	must(kube.Create(t.Context(), c))
	get := func() error {
		return kube.Get(t.Context(), types.NamespacedName{Namespace: s.namespace, Name: "demo"}, &networkingv1.NetworkPolicy{})
	}
	s.eventually("a policy", get)
	s.awaitRoles("demo-0", "demo-1")
	s.eventually("the spec is changed", func() error {
		c := s.get()
		c.Spec.NetworkPolicy = nil
		return kube.Update(t.Context(), c)
	})
	s.eventually("it is gone", func() error {
		if err := get(); !apierrors.IsNotFound(err) {
			return fmt.Errorf("still there (%v)", err)
		}
		return nil
	})
}
