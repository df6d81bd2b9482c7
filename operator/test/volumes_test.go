package test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"commitlab.dev/operator/api/v1alpha1"
)

// storageClass makes a class whose volumes may grow, or may not.
func storageClass(t *testing.T, name string, grows bool) string {
	class := &storagev1.StorageClass{Provisioner: "test", AllowVolumeExpansion: &grows}
	class.Name = name
	must(kube.Create(t.Context(), class))
	t.Cleanup(func() { _ = kube.Delete(t.Context(), class) })
	return name
}

func (s *site) claim(pod string) *corev1.PersistentVolumeClaim {
	s.t.Helper()
	claim := &corev1.PersistentVolumeClaim{}
	must(kube.Get(s.t.Context(), types.NamespacedName{Namespace: s.namespace, Name: "data-" + pod}, claim))
	return claim
}

// bind says that the volumes are there, which only what provisions them can.
func (s *site) bind(pods ...string) {
	s.t.Helper()
	for _, pod := range pods {
		claim := s.claim(pod)
		claim.Status.Phase = corev1.ClaimBound
		claim.Status.Capacity = claim.Spec.Resources.Requests
		must(kube.Status().Update(s.t.Context(), claim))
	}
}

func (s *site) resize(size string) {
	s.t.Helper()
	s.eventually("the spec has another size", func() error {
		c := s.get()
		c.Spec.Storage.Size = resource.MustParse(size)
		return kube.Update(s.t.Context(), c)
	})
}

func (s *site) awaitSizes(size string, pods ...string) {
	s.t.Helper()
	s.eventually(size, func() error {
		for _, pod := range pods {
			if got := s.claim(pod).Spec.Resources.Requests.Storage(); got.String() != size {
				return fmt.Errorf("%s has %s: %+v", pod, got, s.get().Status.Conditions)
			}
		}
		return nil
	})
}

// invalid waits for the condition to say so, with a text in it.
func (s *site) awaitInvalid(text string) {
	s.t.Helper()
	s.eventually(text, func() error {
		condition := meta.FindStatusCondition(s.get().Status.Conditions, v1alpha1.ConditionConfigurationValid)
		if condition == nil || condition.Status != "False" || !strings.Contains(condition.Message, text) {
			return fmt.Errorf("%+v", condition)
		}
		return nil
	})
}

func TestVolumesGrowAndDoNotShrink(t *testing.T) {
	s := newSite(t, "demo-0", "demo-1", "demo-2")
	c := demo(s.namespace, 1)
	class := storageClass(t, "grows-"+s.namespace, true)
	c.Spec.Storage.StorageClassName = &class
	must(kube.Create(t.Context(), c))
	s.awaitRoles("demo-0", "demo-1")
	s.bind("demo-0", "demo-1")
	s.resize("2Gi")
	s.awaitSizes("2Gi", "demo-0", "demo-1")
	s.awaitCondition(v1alpha1.ConditionConfigurationValid, true)

	s.resize("1Gi")
	s.awaitInvalid("volumes do not shrink. Set spec.storage.size to 2Gi or more")
	s.awaitSizes("2Gi", "demo-0", "demo-1")

	// Whoever comes later gets a volume of the first size, from the StatefulSet, and it grows.
	s.resize("3Gi")
	s.awaitSizes("3Gi", "demo-0", "demo-1")
	s.awaitCondition(v1alpha1.ConditionConfigurationValid, true)
	s.eventually("another replica", func() error {
		c := s.get()
		c.Spec.Replicas = 2
		return kube.Update(t.Context(), c)
	})
	s.awaitRoles("demo-0", "demo-1", "demo-2")
	s.bind("demo-2")
	s.awaitSizes("3Gi", "demo-2")
	s.awaitCondition(v1alpha1.ConditionConfigurationValid, true)
}

func TestAVolumeThatCannotGrowIsNamed(t *testing.T) {
	s := newSite(t, "demo-0", "demo-1")
	c := demo(s.namespace, 1)
	class := storageClass(t, "stays-"+s.namespace, false)
	c.Spec.Storage.StorageClassName = &class
	must(kube.Create(t.Context(), c))
	s.awaitRoles("demo-0", "demo-1")
	s.bind("demo-0", "demo-1")
	s.resize("2Gi")
	s.awaitInvalid("the volume data-demo-1 cannot grow from 1Gi to 2Gi")
	s.awaitSizes("1Gi", "demo-0", "demo-1")
	s.world.Kill("demo-0")
	s.eventually("a new master", func() error {
		if st := s.get().Status; st.Master != "demo-1" {
			return fmt.Errorf("%+v", st.Record)
		}
		return nil
	})
	s.world.Start("demo-0")
	s.awaitAnotherMasterThan("demo-0")
}

func TestVolumesGoWithTheClusterWhenTheSpecSaysSo(t *testing.T) {
	s := newSite(t, "demo-0", "demo-1", "demo-2")
	must(kube.Create(t.Context(), demo(s.namespace, 1)))
	s.awaitRoles("demo-0", "demo-1")
	if s.get().Spec.Storage.DeletionPolicy != v1alpha1.DeletionRetain {
		t.Fatalf("%+v", s.get().Spec.Storage)
	}
	mine := metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "somebody's", UID: "somebody"}
	s.eventually("somebody else's, too", func() error {
		claim := s.claim("demo-0")
		claim.OwnerReferences = []metav1.OwnerReference{mine}
		return kube.Update(t.Context(), claim)
	})
	owned := func(wanted int, pods ...string) {
		t.Helper()
		s.eventually(fmt.Sprint(wanted, " own each volume"), func() error {
			for _, pod := range pods {
				owners := s.claim(pod).OwnerReferences
				others := slices.DeleteFunc(slices.Clone(owners), func(o metav1.OwnerReference) bool { return o.Kind == "CommitCluster" && o.UID == s.get().UID })
				if len(owners)-len(others) != wanted || (pod == "demo-0") != (len(others) == 1) {
					return fmt.Errorf("%s belongs to %+v", pod, owners)
				}
			}
			return nil
		})
	}
	set := func(change func(*v1alpha1.CommitCluster)) {
		s.eventually("another spec", func() error {
			c := s.get()
			change(c)
			return kube.Update(t.Context(), c)
		})
	}
	owned(0, "demo-0", "demo-1")
	set(func(c *v1alpha1.CommitCluster) {
		c.Spec.Storage.DeletionPolicy, c.Spec.Replicas = v1alpha1.DeletionDelete, 2
	})
	s.awaitRoles("demo-0", "demo-1", "demo-2")
	owned(1, "demo-0", "demo-1", "demo-2")
	set(func(c *v1alpha1.CommitCluster) { c.Spec.Storage.DeletionPolicy = v1alpha1.DeletionRetain })
	owned(0, "demo-0", "demo-1", "demo-2")
}
