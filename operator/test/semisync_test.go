package test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/engine"
)

func TestAQuorumThatIsChangedByHandIsPutRight(t *testing.T) {
	s := newSite(t, "demo-0", "demo-1", "demo-2")
	must(kube.Create(t.Context(), demo(s.namespace, 2)))
	s.awaitRoles("demo-0", "demo-1", "demo-2")
	s.awaitCondition(v1alpha1.ConditionProgressing, false)
	if got := s.get().Status.Semisync; got != "1/2 AFTER_SYNC" {
		t.Fatalf("column SEMISYNC is %q", got)
	}
	must(s.world.Server("demo-0").SetQuorum(t.Context(), s.get().Status.Epoch, 99, engine.Quorum{}))
	s.eventually("the master waits for one of two again", func() error {
		st, err := s.world.Server("demo-0").Status(t.Context())
		if err != nil || st.WaitCount != 1 || len(st.Members) != 2 || st.QuorumVersion <= 99 {
			return fmt.Errorf("%+v (%v)", st, err)
		}
		return nil
	})
	s.eventually("it is said, and established", func() error {
		if said, st := s.events("SemisyncChangedByHand"), s.get().Status; len(said) == 0 || len(st.PriorQuorums) > 0 {
			return fmt.Errorf("%v %+v", said, st.Record)
		}
		return nil
	})
}

// A drained node: the API server has marked the pod, its server still serves, and the mastership goes first.
func TestTheMastershipLeavesAPodThatIsDeleted(t *testing.T) {
	s := newSite(t, "demo-0", "demo-1", "demo-2")
	must(kube.Create(t.Context(), demo(s.namespace, 2)))
	s.awaitRoles("demo-0", "demo-1", "demo-2")
	s.awaitCondition(v1alpha1.ConditionReady, true)
	pod := &corev1.Pod{}
	name := types.NamespacedName{Namespace: s.namespace, Name: "demo-0"}
	must(kube.Get(t.Context(), name, pod))
	held := func(finalizers string) {
		must(kube.Patch(t.Context(), pod, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":`+finalizers+`}}`))))
	}
	held(`["commitlab.dev/kubelet"]`)
	must(kube.Delete(t.Context(), pod))
	s.awaitRoles("demo-1", "demo-0", "demo-2")
	if under := s.get().Status.Switchover; under == nil || under.Reason != v1alpha1.SwitchoverPodLeaves {
		t.Errorf("%+v", under)
	}
	held("null")
	s.eventually("it is back", func() error {
		if now := s.servers()["demo-0"]; now == "" || now == pod.UID {
			return fmt.Errorf("%q", now)
		}
		return nil
	})
	s.awaitRoles("demo-1", "demo-0", "demo-2")
	if s.world.Broken != "" {
		t.Fatal(s.world.Broken)
	}
}
