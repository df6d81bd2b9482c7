package test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"commitlab.dev/operator/api/v1alpha1"
)

// lease of the clusters of these tests: the shortest that a spec may ask for.
const lease = time.Second

// tick is by how much time passes for the servers at once.
const tick = lease / 20

func TestAMasterThatOnlyItsClientsReachIsReplacedWhenItsLeaseIsOver(t *testing.T) {
	s := newSite(t, "demo-0", "demo-1", "demo-2")
	must(kube.Create(t.Context(), demo(s.namespace, 2)))
	s.awaitRoles("demo-0", "demo-1", "demo-2")
	s.awaitCondition(v1alpha1.ConditionProgressing, false)
	if q := s.get().Status.Quorum; q.SourceLeaseMilliseconds != lease.Milliseconds() || !s.world.Answers("demo-0") {
		t.Fatalf("%+v", q)
	}
	before := time.Now()
	s.world.Hide("demo-0", true)
	s.world.Isolate("demo-0", true)
	s.awaitAnotherMasterThan("demo-0")
	// Counted by those who do not hear it, whose clocks are as fast as the margin allows.
	if waited := time.Since(before); waited < lease-tick {
		t.Errorf("replaced after %s", waited)
	}
	if s.world.Broken != "" || s.world.Answers("demo-0") {
		t.Error(s.world.Broken)
	}
}

func TestALeaseIsThreeSecondsOrWhatTheSpecSays(t *testing.T) {
	s := newSite(t, "demo-0", "demo-1")
	c := demo(s.namespace, 1)
	c.Spec.Failover.SourceLease = nil
	must(kube.Create(t.Context(), c))
	s.awaitRoles("demo-0", "demo-1")
	inForce := func(milliseconds int64) {
		t.Helper()
		s.eventually(fmt.Sprint(milliseconds, " ms"), func() error {
			st, err := s.world.Server("demo-0").Status(t.Context())
			if now := s.get().Status; err != nil || st.Terms.LeaseMilliseconds != milliseconds || len(now.PriorQuorums) > 0 {
				return fmt.Errorf("%+v, %+v (%v)", st.Terms, now.Record, err)
			}
			return nil
		})
	}
	ask := func(length time.Duration) error {
		return kube.Patch(t.Context(), s.get(), client.RawPatch("application/merge-patch+json",
			fmt.Appendf(nil, `{"spec":{"failover":{"sourceLease":%q}}}`, length.String())))
	}
	inForce(3000)
	must(ask(5 * time.Second))
	inForce(5000)
	must(ask(0))
	inForce(0)
	if err := ask(time.Millisecond); err == nil || !strings.Contains(err.Error(), "spec.failover.sourceLease must be 0s (none) or from 1s to 10m") {
		t.Errorf("%v", err)
	}
}
