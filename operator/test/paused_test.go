package test

import (
	"testing"

	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commitlab.dev/operator/api/v1alpha1"
)

// A paused cluster is left alone, also when its master is lost and an object has gone; both are put right when it is not paused any more.
func TestAPausedClusterIsLeftAlone(t *testing.T) {
	s := newSite(t, "demo-0", "demo-1", "demo-2")
	must(kube.Create(t.Context(), demo(s.namespace, 2)))
	s.awaitRoles("demo-0", "demo-1", "demo-2")
	s.awaitCondition(v1alpha1.ConditionReady, true)
	pause := func(paused bool) {
		s.eventually("the spec", func() error {
			c := s.get()
			c.Spec.Paused = paused
			return kube.Update(t.Context(), c)
		})
	}
	pause(true)
	s.awaitCondition(v1alpha1.ConditionPaused, true)
	before := s.get().Status.Record
	s.world.Kill("demo-0")
	budget := &policyv1.PodDisruptionBudget{}
	budget.Namespace, budget.Name = s.namespace, "demo"
	must(kube.Delete(t.Context(), budget))
	asked.reset(s.namespace)
	s.eventually("the operator looks", func() error {
		c := s.get()
		c.Annotations = map[string]string{"look": c.ResourceVersion}
		must(client.IgnoreNotFound(kube.Update(t.Context(), c)))
		return asked.lookedAt([]string{s.namespace}, 3)
	})
	if err := asked.written(); err != nil {
		t.Fatalf("written while paused: %v", err)
	}
	if now := s.get().Status.Record; now.Epoch != before.Epoch || now.Master != "demo-0" {
		t.Fatalf("%+v", now)
	}
	pause(false)
	s.awaitAnotherMasterThan("demo-0")
	s.awaitCondition(v1alpha1.ConditionPaused, false)
	s.eventually("the budget", func() error { return kube.Get(t.Context(), client.ObjectKeyFromObject(budget), budget) })
}
