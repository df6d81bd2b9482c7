package test

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"commitlab.dev/operator/api/v1alpha1"
)

// candidate is an operator that acts only while it holds the lease of the namespace.
func (s *site) candidate(counted *requests) (stop func()) {
	config := rest.CopyConfig(operatorConfig)
	config.WrapTransport = counted.counted
	return startOperatorWith(config, "commitd:test", func(o *manager.Options) {
		o.LeaderElection, o.LeaderElectionID, o.LeaderElectionNamespace = true, "test", s.namespace
		o.LeaderElectionReleaseOnCancel = true
		often := 200 * time.Millisecond
		o.RetryPeriod = &often
	})
}

// One of several operators acts, the others only ask for the lease; when it ends, another one goes on.
func TestOneOfSeveralOperatorsActs(t *testing.T) {
	s := newSite(t, "demo-0", "demo-1", "demo-2")
	stopOperator()
	first, second := &requests{}, &requests{}
	second.reset(s.namespace)
	stopFirst := s.candidate(first)
	t.Cleanup(func() {
		stopFirst()
		stopOperator = startOperator("commitd:test")
	})
	must(kube.Create(t.Context(), demo(s.namespace, 2)))
	s.awaitRoles("demo-0", "demo-1", "demo-2")
	stopSecond := s.candidate(second)
	t.Cleanup(func() { stopSecond() })
	s.world.Kill("demo-0")
	s.awaitAnotherMasterThan("demo-0")
	s.world.Start("demo-0")
	s.awaitCondition(v1alpha1.ConditionDegraded, false)
	s.eventually("the second one asks for the lease", func() error {
		if asks := second.count("GET leases"); asks < 3 {
			return fmt.Errorf("%d times", asks)
		}
		return nil
	})
	if second.lookedAt([]string{s.namespace}, 1) == nil {
		t.Error("the second one looks, though the first one acts")
	}
	if err := second.written(); err != nil {
		t.Error("the second one writes, though the first one acts:", err)
	}
	former := s.get().Status.Master
	stopFirst()
	s.world.Kill(former)
	s.awaitAnotherMasterThan(former)
}
