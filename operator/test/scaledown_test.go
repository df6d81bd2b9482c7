package test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commitlab.dev/operator/api/v1alpha1"
)

// findClaim is the claim of a server that may be gone.
func (s *site) findClaim(pod string) (*corev1.PersistentVolumeClaim, error) {
	claim := &corev1.PersistentVolumeClaim{}
	return claim, kube.Get(context.Background(), client.ObjectKey{Namespace: s.namespace, Name: "data-" + pod}, claim)
}

// letGo does what the controller that protects claims would: one that is being deleted goes when no pod uses it.
func (s *site) letGo(pod string) error {
	claim, err := s.findClaim(pod)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err == nil && !claim.DeletionTimestamp.IsZero() && s.servers()[pod] == "" {
		claim.Finalizers = nil
		err = kube.Update(context.Background(), claim)
	}
	if err == nil {
		err = fmt.Errorf("the claim %s is there", claim.Name)
	}
	return err
}

func TestVolumesOfAScaledDownClusterAreDeletedIfThePolicySaysSo(t *testing.T) {
	s := newSite(t, "demo-0", "demo-1", "demo-2")
	must(kube.Create(t.Context(), demo(s.namespace, 2)))
	s.awaitRoles("demo-0", "demo-1", "demo-2")
	s.awaitCondition(v1alpha1.ConditionReady, true)
	former, err := s.findClaim("demo-2")
	must(err)
	s.change(func(c *v1alpha1.CommitCluster) { c.Spec.Replicas = 1 })
	s.awaitRoles("demo-0", "demo-1")
	s.awaitCondition(v1alpha1.ConditionProgressing, false)
	if kept, err := s.findClaim("demo-2"); err != nil || !kept.DeletionTimestamp.IsZero() {
		t.Fatalf("by default it stays: %v", err)
	}
	s.change(func(c *v1alpha1.CommitCluster) { c.Spec.Storage.ScaleDownPolicy = v1alpha1.DeletionDelete })
	s.eventually("the claim goes", func() error { return s.letGo("demo-2") })
	for _, pod := range []string{"demo-0", "demo-1"} {
		if claim, err := s.findClaim(pod); err != nil || !claim.DeletionTimestamp.IsZero() {
			t.Fatalf("%s: %v", pod, err)
		}
	}
	s.eventually("it is forgotten", func() error {
		if st := s.get().Status; len(st.Released) > 0 || len(st.Members) != 2 {
			return fmt.Errorf("%+v", st.Record)
		}
		return nil
	})
	s.change(func(c *v1alpha1.CommitCluster) { c.Spec.Replicas = 2 })
	s.eventually("a pod with another volume", func() error {
		claim, err := s.findClaim("demo-2")
		if err == nil && claim.UID == former.UID {
			err = errors.New("it is the former one")
		}
		return err
	})
}
