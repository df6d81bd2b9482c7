package test

import (
	"fmt"
	"testing"

	"commitlab.dev/operator/api/v1alpha1"
)

func TestAClusterHibernatesAndWakes(t *testing.T) {
	s := newSite(t, "demo-0", "demo-1", "demo-2")
	must(kube.Create(t.Context(), demo(s.namespace, 2)))
	s.awaitRoles("demo-0", "demo-1", "demo-2")
	s.awaitCondition(v1alpha1.ConditionReady, true)
	s.world.Write("demo-0", 1)
	before := s.get().Status
	s.change(func(c *v1alpha1.CommitCluster) { c.Spec.Hibernated = true })
	s.awaitCondition(v1alpha1.ConditionHibernated, true)
	if pods := s.servers(); len(pods) > 0 {
		t.Fatalf("%d pods are left", len(pods))
	}
	st := s.get().Status
	if st.Phase != v1alpha1.PhaseHibernated || st.Epoch != before.Epoch || st.Master != before.Master || st.Election != nil || len(st.Members) != 3 || st.Replicas != 0 {
		t.Fatalf("%+v", st)
	}
	s.change(func(c *v1alpha1.CommitCluster) { c.Spec.Hibernated = false })
	s.awaitCondition(v1alpha1.ConditionReady, true)
	s.awaitCondition(v1alpha1.ConditionHibernated, false)
	s.awaitCondition(v1alpha1.ConditionDegraded, false)
	s.eventually("the same servers are back", func() error {
		after := s.get().Status
		for i, m := range after.Members {
			if m.ServerUUID != before.Members[i].ServerUUID || m.PVCUID != before.Members[i].PVCUID || len(s.world.Lost()) > 0 {
				return fmt.Errorf("%+v, lost %v", m, s.world.Lost())
			}
		}
		return nil
	})
	if s.world.Broken != "" {
		t.Fatal(s.world.Broken)
	}
}
