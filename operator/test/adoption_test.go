package test

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commitlab.dev/operator/api/v1alpha1"
)

// A cluster is deleted, its volumes stay, and one of the same name is made: it touches nothing, until a person says that they are its own.
func TestAClusterMadeAgainAdoptsItsVolumes(t *testing.T) {
	s := newSite(t, "demo-0", "demo-1", "demo-2")
	must(kube.Create(t.Context(), demo(s.namespace, 2)))
	s.awaitRoles("demo-0", "demo-1", "demo-2")
	s.awaitCondition(v1alpha1.ConditionReady, true)
	s.world.Write("demo-0", 1)
	s.eventually("the write is acknowledged everywhere", func() error {
		if len(s.world.Lacks("demo-1"))+len(s.world.Lacks("demo-2")) > 0 || len(s.world.Lost()) > 0 {
			return fmt.Errorf("%v", s.world.Lost())
		}
		return nil
	})
	claim := s.claim("demo-1")
	s.deleteCluster()
	must(kube.Create(t.Context(), demo(s.namespace, 2)))
	s.eventually("nothing is touched", func() error {
		st := s.get().Status
		c := meta.FindStatusCondition(st.Conditions, v1alpha1.ConditionInitialized)
		if c == nil || c.Reason != "ExistingData" || st.Epoch != 0 || st.Master != "" {
			return fmt.Errorf("%+v", st)
		}
		return nil
	})
	s.change(func(c *v1alpha1.CommitCluster) {
		metav1.SetMetaDataAnnotation(&c.ObjectMeta, v1alpha1.AnnotationAdopt, "true")
	})
	s.awaitCondition(v1alpha1.ConditionReady, true)
	s.awaitCondition(v1alpha1.ConditionDegraded, false)
	if s.world.Broken != "" || len(s.world.Lost()) > 0 || s.claim("demo-1").UID != claim.UID {
		t.Fatal(s.world.Broken, s.world.Lost())
	}
}

// deleteCluster also deletes what Kubernetes would for its owner's sake; claims have none.
func (s *site) deleteCluster() {
	s.t.Helper()
	for name := range s.servers() {
		if owners := s.claim(name).OwnerReferences; len(owners) > 0 {
			s.t.Fatalf("the claim of %s goes with %v", name, owners)
		}
	}
	must(kube.Delete(s.t.Context(), demo(s.namespace, 2)))
	must(kube.DeleteAllOf(s.t.Context(), &appsv1.StatefulSet{}, client.InNamespace(s.namespace)))
	s.eventually("the pods are gone", func() error {
		must(kube.DeleteAllOf(s.t.Context(), &corev1.Pod{}, client.InNamespace(s.namespace), client.GracePeriodSeconds(0)))
		var sets appsv1.StatefulSetList
		must(kube.List(s.t.Context(), &sets, client.InNamespace(s.namespace)))
		if left := s.servers(); len(left) > 0 || len(sets.Items) > 0 {
			return fmt.Errorf("%v %d", left, len(sets.Items))
		}
		return nil
	})
}
