package test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commitlab.dev/operator/api/v1alpha1"
)

func demo(namespace string, replicas int32) *v1alpha1.CommitCluster {
	c := &v1alpha1.CommitCluster{}
	c.Namespace, c.Name = namespace, "demo"
	c.Spec.Replicas = replicas
	c.Spec.Storage.Size = resource.MustParse("1Gi")
	c.Spec.Failover.UnreachableAfter = &metav1.Duration{Duration: time.Millisecond}
	c.Spec.Failover.SourceLease = &metav1.Duration{Duration: lease}
	return c
}

func (s *site) get() *v1alpha1.CommitCluster {
	s.t.Helper()
	c := &v1alpha1.CommitCluster{}
	if err := kube.Get(s.t.Context(), types.NamespacedName{Namespace: s.namespace, Name: "demo"}, c); err != nil {
		s.t.Fatal(err)
	}
	return c
}

// led is the pod that clients of the master are led to.
func (s *site) led() string {
	service := &corev1.Service{}
	must(client.IgnoreNotFound(kube.Get(context.Background(), client.ObjectKey{Namespace: s.namespace, Name: "demo-master"}, service)))
	return service.Spec.Selector[appsv1.StatefulSetPodNameLabel]
}

// watchLed says at the end which pods clients of the master were led to meanwhile, in turn.
func (s *site) watchLed() func() []string {
	var services corev1.ServiceList
	must(kube.List(s.t.Context(), &services, client.InNamespace(s.namespace)))
	watched, err := kube.Watch(s.t.Context(), &corev1.ServiceList{},
		&client.ListOptions{Namespace: s.namespace, Raw: &metav1.ListOptions{ResourceVersion: services.ResourceVersion}})
	must(err)
	led := []string{s.led()}
	return func() []string {
		defer watched.Stop()
		// Nothing else happens to the Service any more: its present state is the last one to come.
		for last := s.led(); led[len(led)-1] != last; {
			e, open := <-watched.ResultChan()
			if !open {
				s.t.Fatal("the watch has ended")
			}
			if service, ok := e.Object.(*corev1.Service); ok && service.Name == "demo-master" {
				led = append(led, service.Spec.Selector[appsv1.StatefulSetPodNameLabel])
			}
		}
		return slices.Compact(led)
	}
}

// withRole lists the pods that have the role.
func (s *site) withRole(role string) []string {
	var pods corev1.PodList
	must(kube.List(context.Background(), &pods, client.InNamespace(s.namespace), client.MatchingLabels{v1alpha1.LabelRole: role}))
	var names []string
	for _, p := range pods.Items {
		names = append(names, p.Name)
	}
	slices.Sort(names)
	return names
}

func (s *site) awaitRoles(master string, replicas ...string) {
	s.t.Helper()
	s.eventually("roles", func() error {
		masters, others := s.withRole(v1alpha1.RoleMaster), s.withRole(v1alpha1.RoleReplica)
		if slices.Equal(masters, []string{master}) && slices.Equal(others, replicas) && s.led() == master {
			return nil
		}
		return fmt.Errorf("masters %v, replicas %v, clients are led to %q, status %+v", masters, others, s.led(), s.get().Status)
	})
}

func (s *site) awaitAnotherMasterThan(former string) {
	s.t.Helper()
	s.eventually("a new master", func() error {
		if m := s.withRole(v1alpha1.RoleMaster); len(m) == 1 && m[0] != former {
			return nil
		}
		return fmt.Errorf("%+v", s.get().Status.Record)
	})
}

func (s *site) awaitCondition(kind string, want bool) {
	s.t.Helper()
	s.eventually(kind, func() error {
		c := meta.FindStatusCondition(s.get().Status.Conditions, kind)
		if c != nil && (c.Status == "True") == want {
			return nil
		}
		return fmt.Errorf("%+v", c)
	})
}

func TestANewClusterGetsAMasterReplicasAndAccounts(t *testing.T) {
	s := newSite(t, "demo-0", "demo-1", "demo-2")
	must(kube.Create(t.Context(), demo(s.namespace, 2)))
	s.awaitRoles("demo-0", "demo-1", "demo-2")
	s.awaitCondition(v1alpha1.ConditionReady, true)
	s.awaitCondition(v1alpha1.ConditionSemisyncSatisfied, true)
	s.eventually("accounts", func() error {
		if got := s.world.Accounts("demo-0"); !slices.Equal(got, []string{"commitlab_replication", "app"}) {
			return fmt.Errorf("%v", got)
		}
		return nil
	})
	s.eventually("scale", func() error {
		if st := s.get().Status; st.Replicas != 2 || st.ReadyReplicas != 2 || !strings.Contains(st.Selector, "role=replica") {
			return fmt.Errorf("%+v", st)
		}
		return nil
	})
	secret := &corev1.Secret{}
	must(kube.Get(t.Context(), types.NamespacedName{Namespace: s.namespace, Name: "demo-app"}, secret))
	if string(secret.Data["username"]) != "app" || string(secret.Data["database"]) != "app" || len(secret.Data["password"]) < 16 {
		t.Fatalf("demo-app: %v", secret.Data)
	}
}

func TestALostMasterIsReplacedAndComesBackAsAReplica(t *testing.T) {
	s := newSite(t, "demo-0", "demo-1", "demo-2")
	must(kube.Create(t.Context(), demo(s.namespace, 2)))
	s.awaitRoles("demo-0", "demo-1", "demo-2")
	s.world.Write("demo-0", 1)
	s.world.Run()
	s.world.Kill("demo-0")
	s.awaitAnotherMasterThan("demo-0")
	s.world.Start("demo-0")
	master := s.get().Status.Master
	others := slices.DeleteFunc([]string{"demo-0", "demo-1", "demo-2"}, func(n string) bool { return n == master })
	s.awaitRoles(master, others...)
	s.awaitCondition(v1alpha1.ConditionDegraded, false)
	if s.world.Broken != "" || len(s.world.Lost()) > 0 {
		t.Fatal(s.world.Broken, s.world.Lost())
	}
}

// Whatever keeps the objects from being applied, and even without its Secret: a lost master is replaced.
func TestABadSpecDoesNotStopAFailover(t *testing.T) {
	for what, spoil := range map[string]func(*site, *v1alpha1.CommitCluster){
		"storage size": func(_ *site, c *v1alpha1.CommitCluster) { c.Spec.Storage.Size = resource.MustParse("512Mi") },
		"variable": func(_ *site, c *v1alpha1.CommitCluster) {
			c.Spec.Engine.Variables = map[string]apiextensionsv1.JSON{"long_query_time": {Raw: []byte("0.5")}}
		},
		"wait point": func(_ *site, c *v1alpha1.CommitCluster) { c.Spec.Semisync.WaitPoint = "AFTER_COMMIT" },
		"application user": func(s *site, _ *v1alpha1.CommitCluster) {
			secret := &corev1.Secret{}
			must(kube.Get(context.Background(), types.NamespacedName{Namespace: s.namespace, Name: "demo-app"}, secret))
			secret.StringData = map[string]string{"username": "root"}
			must(kube.Update(context.Background(), secret))
		},
		"secret": func(s *site, _ *v1alpha1.CommitCluster) {
			secret := &corev1.Secret{}
			secret.Namespace, secret.Name = s.namespace, "demo-credentials"
			must(kube.Delete(context.Background(), secret))
			secret.StringData = map[string]string{"root-password": "only this"}
			must(kube.Create(context.Background(), secret))
		},
	} {
		t.Run(what, func(t *testing.T) {
			s := newSite(t, "demo-0", "demo-1", "demo-2")
			must(kube.Create(t.Context(), demo(s.namespace, 2)))
			s.awaitRoles("demo-0", "demo-1", "demo-2")
			s.awaitCondition(v1alpha1.ConditionReady, true)
			s.eventually("the spec is spoilt", func() error {
				c := s.get()
				spoil(s, c)
				c.Spec.Failover.HeartbeatTimeout = &metav1.Duration{Duration: 3001 * time.Millisecond} // changed in any case
				return kube.Update(t.Context(), c)
			})
			s.awaitCondition(v1alpha1.ConditionConfigurationValid, false)
			s.world.Kill("demo-0")
			s.awaitAnotherMasterThan("demo-0")
		})
	}
}

// Whoever comes while there is no master is told so at once, rather than to wait for a pod that is gone.
func TestALostMasterIsNotLedTo(t *testing.T) {
	s := newSite(t, "demo-0", "demo-1", "demo-2")
	must(kube.Create(t.Context(), demo(s.namespace, 2)))
	s.awaitRoles("demo-0", "demo-1", "demo-2")
	s.awaitCondition(v1alpha1.ConditionReady, true)
	led := s.watchLed()
	s.world.Kill("demo-0")
	s.awaitAnotherMasterThan("demo-0")
	s.eventually("led to the new master", func() error {
		if pod := s.led(); pod != s.get().Status.Master || pod == "demo-0" {
			return fmt.Errorf("%q", pod)
		}
		return nil
	})
	if way := led(); len(way) != 3 || way[0] != "demo-0" || way[1] != "none" {
		t.Errorf("clients were led to %v", way)
	}
}

func TestARestartedMasterGetsARoleUnderANewEpoch(t *testing.T) {
	s := newSite(t, "demo-0", "demo-1", "demo-2")
	must(kube.Create(t.Context(), demo(s.namespace, 2)))
	s.awaitRoles("demo-0", "demo-1", "demo-2")
	before := s.get().Status.Epoch
	s.world.Write("demo-0", 1)
	s.world.Kill("demo-0")
	s.world.Start("demo-0")
	s.eventually("a master of a later epoch", func() error {
		st := s.get().Status
		if st.Epoch > before && st.Election == nil && len(s.withRole(v1alpha1.RoleMaster)) == 1 && len(s.withRole(v1alpha1.RoleReplica)) == 2 {
			return nil
		}
		return fmt.Errorf("%+v", st.Record)
	})
	if s.world.Broken != "" {
		t.Fatal(s.world.Broken)
	}
}

func TestAMasterThatOnlyTheOperatorCannotReachStays(t *testing.T) {
	s := newSite(t, "demo-0", "demo-1", "demo-2")
	must(kube.Create(t.Context(), demo(s.namespace, 2)))
	s.awaitRoles("demo-0", "demo-1", "demo-2")
	s.awaitCondition(v1alpha1.ConditionReady, true)
	epoch := s.get().Status.Epoch
	s.world.Hide("demo-0", true)
	s.awaitCondition(v1alpha1.ConditionReady, false)
	s.awaitRoles("demo-0", "demo-1", "demo-2")
	s.world.Hide("demo-0", false)
	s.awaitCondition(v1alpha1.ConditionReady, true)
	if now := s.get().Status.Epoch; now != epoch {
		t.Fatalf("epoch went from %d to %d although the replicas heard the master", epoch, now)
	}
}

func TestALostStatusWithDataStopsTheOperator(t *testing.T) {
	s := newSite(t, "demo-0", "demo-1", "demo-2")
	must(kube.Create(t.Context(), demo(s.namespace, 2)))
	s.awaitRoles("demo-0", "demo-1", "demo-2")
	s.eventually("status lost", func() error {
		c := s.get()
		c.Status = v1alpha1.CommitClusterStatus{}
		return kube.Status().Update(t.Context(), c)
	})
	s.eventually("the operator says so", func() error {
		c := meta.FindStatusCondition(s.get().Status.Conditions, v1alpha1.ConditionInitialized)
		if c != nil && c.Reason == "ExistingData" {
			return nil
		}
		return fmt.Errorf("%+v", c)
	})
}

func TestScalingToZeroKeepsTheMaster(t *testing.T) {
	s := newSite(t, "demo-0", "demo-1", "demo-2")
	must(kube.Create(t.Context(), demo(s.namespace, 2)))
	s.awaitRoles("demo-0", "demo-1", "demo-2")
	s.eventually("scale", func() error {
		c := s.get()
		c.Spec.Replicas = 0
		return kube.Update(t.Context(), c)
	})
	s.eventually("no quorum is left", func() error {
		st := s.get().Status
		if st.Quorum.WaitCount == 0 && len(st.Quorum.Members) == 0 && len(st.PriorQuorums) == 0 {
			return nil
		}
		return fmt.Errorf("%+v %+v", st.Quorum, st.PriorQuorums)
	})
	if m := s.withRole(v1alpha1.RoleMaster); !slices.Equal(m, []string{"demo-0"}) {
		t.Fatalf("masters: %v", m)
	}
}

func TestSpecsThatCannotWorkAreRefusedWithAHint(t *testing.T) {
	s := newSite(t)
	three := int32(3)
	for want, change := range map[string]func(*v1alpha1.CommitCluster){
		"minSyncReplicas must not be larger than spec.replicas": func(c *v1alpha1.CommitCluster) { c.Spec.Semisync.MinSyncReplicas = 3 },
		"waitCount must not be larger than spec.replicas":       func(c *v1alpha1.CommitCluster) { c.Spec.Semisync.WaitCount = &three },
		"those accounts belong to the cluster":                  func(c *v1alpha1.CommitCluster) { c.Spec.Bootstrap.User = "root" },
		"at most 40 characters":                                 func(c *v1alpha1.CommitCluster) { c.Name = strings.Repeat("a", 41) },
	} {
		c := demo(s.namespace, 2)
		change(c)
		if err := kube.Create(t.Context(), c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q, got %v", want, err)
		}
	}
}
