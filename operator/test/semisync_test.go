package test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

// onTimeout is applied to the running master, read back, and put right when somebody changes it by hand.
func TestOnTimeoutIsAppliedLive(t *testing.T) {
	s := newSite(t, "demo-0", "demo-1", "demo-2")
	must(kube.Create(t.Context(), demo(s.namespace, 2)))
	s.awaitRoles("demo-0", "demo-1", "demo-2")
	s.awaitCondition(v1alpha1.ConditionProgressing, false)
	asks := func(durability v1alpha1.Durability, onTimeout string) error {
		c := s.get()
		c.Spec.Semisync.Durability, c.Spec.Semisync.OnTimeout = durability, onTimeout
		c.Spec.Semisync.Timeout = &metav1.Duration{Duration: 1500 * time.Millisecond}
		return kube.Update(t.Context(), c)
	}
	inForce := func(column string, want engine.Terms) {
		t.Helper()
		want.LeaseMilliseconds = lease.Milliseconds()
		s.eventually(column, func() error {
			st, err := s.world.Server("demo-0").Status(t.Context())
			if now := s.get().Status; err != nil || st.Terms != want || now.Semisync != column || len(now.PriorQuorums) > 0 {
				return fmt.Errorf("%+v, column %q, prior %v (%v)", st.Terms, now.Semisync, now.PriorQuorums, err)
			}
			return nil
		})
	}
	s.eventually("async is refused under required, with what to write instead", func() error {
		if err := asks(v1alpha1.DurabilityRequired, engine.OnTimeoutAsync); err == nil || !strings.Contains(err.Error(), "set durability: preferred") {
			return fmt.Errorf("answered %v", err)
		}
		return nil
	})
	s.eventually("error", func() error { return asks(v1alpha1.DurabilityRequired, engine.OnTimeoutError) })
	inForce("1/2 AFTER_SYNC error after 1.5s", engine.Terms{TimeoutMilliseconds: 1500, OnTimeout: engine.OnTimeoutError})
	s.eventually("async", func() error { return asks(v1alpha1.DurabilityPreferred, engine.OnTimeoutAsync) })
	inForce("1/2 AFTER_SYNC async after 1.5s", engine.Terms{TimeoutMilliseconds: 1500, OnTimeout: engine.OnTimeoutAsync})
	s.eventually("block", func() error { return asks(v1alpha1.DurabilityRequired, "block") })
	inForce("1/2 AFTER_SYNC", engine.Terms{})
	quorum := s.get().Status.Quorum
	must(s.world.Server("demo-0").SetQuorum(t.Context(), s.get().Status.Epoch, quorum.Version+1,
		engine.Quorum{WaitCount: quorum.WaitCount, Members: quorum.Members, Terms: engine.Terms{OnTimeout: engine.OnTimeoutAsync}}))
	inForce("1/2 AFTER_SYNC", engine.Terms{})
	s.eventually("it is said", func() error {
		if len(s.events("SemisyncChangedByHand")) == 0 {
			return fmt.Errorf("no event")
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
