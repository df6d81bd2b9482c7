package test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commitlab.dev/operator/api/v1alpha1"
)

func setVariable(name, value string) func(*v1alpha1.CommitCluster) {
	return func(c *v1alpha1.CommitCluster) {
		c.Spec.Engine.Variables = map[string]apiextensionsv1.JSON{name: {Raw: []byte(value)}}
	}
}

// servers are the pods' UIDs by name.
func (s *site) servers() map[string]types.UID {
	var pods corev1.PodList
	must(kube.List(s.t.Context(), &pods, client.InNamespace(s.namespace), client.MatchingLabels{"app.kubernetes.io/name": "commitd"}))
	uids := map[string]types.UID{}
	for _, p := range pods.Items {
		uids[p.Name] = p.UID
	}
	return uids
}

// awaitValue waits until every server has it.
func (s *site) awaitValue(name, want string) {
	s.t.Helper()
	s.eventually(name, func() error {
		for _, server := range s.world.Names() {
			values, err := s.world.Server(server).GlobalVariables(s.t.Context(), []string{name})
			if err != nil || values[name] != want {
				return fmt.Errorf("%s has %v (%v)", server, values, err)
			}
		}
		return nil
	})
}

func (s *site) events(reason string) []string {
	var list corev1.EventList
	must(kube.List(s.t.Context(), &list, client.InNamespace(s.namespace)))
	var messages []string
	for _, e := range list.Items {
		if e.Reason == reason {
			messages = append(messages, e.Message)
		}
	}
	return messages
}

func TestADynamicVariableIsSetLiveAndKept(t *testing.T) {
	s := newSite(t, "demo-0", "demo-1", "demo-2")
	must(kube.Create(t.Context(), demo(s.namespace, 2)))
	s.awaitRoles("demo-0", "demo-1", "demo-2")
	s.awaitCondition(v1alpha1.ConditionReady, true)
	before := s.servers()
	s.change(setVariable("max_connections", "200"))
	s.awaitValue("max_connections", "200")
	by := "17"
	must(s.world.Server("demo-1").SetGlobal(t.Context(), "max_connections", &by))
	s.change(func(c *v1alpha1.CommitCluster) { c.Annotations = map[string]string{"look": "now"} })
	s.awaitValue("max_connections", "200")
	s.change(func(c *v1alpha1.CommitCluster) { c.Spec.Engine.Variables = nil })
	s.awaitConfiguration(metav1.ConditionTrue, "")
	if after := s.servers(); !maps.Equal(before, after) || s.get().Status.Master != "demo-0" {
		t.Fatalf("pods were restarted: %v, %v", before, after)
	}
	s.eventually("it is said", func() error {
		if said := s.events("VariableSet"); !slices.ContainsFunc(said, func(m string) bool { return strings.HasPrefix(m, "max_connections = 200 on demo-") }) {
			return fmt.Errorf("%v", said)
		}
		return nil
	})
}

func TestWhatTakesARestartRollsThroughTheReplicasFirst(t *testing.T) {
	for what, change := range map[string]func(*v1alpha1.CommitCluster){
		"a variable that is set at start": setVariable("thread_handling", `"one-thread-per-connection"`),
		"an image":                        func(c *v1alpha1.CommitCluster) { c.Spec.Image = "commitd:next" },
		"resources": func(c *v1alpha1.CommitCluster) {
			c.Spec.Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")}
		},
	} {
		t.Run(what, func(t *testing.T) {
			s := newSite(t, "demo-0", "demo-1", "demo-2")
			must(kube.Create(t.Context(), demo(s.namespace, 2)))
			s.awaitRoles("demo-0", "demo-1", "demo-2")
			s.awaitCondition(v1alpha1.ConditionReady, true)
			s.world.Write("demo-0", 1)
			before := s.servers()
			s.change(change)
			s.eventually("every pod is another one", func() error {
				after := s.servers()
				for name := range before {
					if after[name] == "" || after[name] == before[name] {
						return fmt.Errorf("%s is not: %+v", name, meta.FindStatusCondition(s.get().Status.Conditions, v1alpha1.ConditionProgressing))
					}
				}
				return nil
			})
			s.awaitRoles("demo-1", "demo-0", "demo-2")
			s.awaitCondition(v1alpha1.ConditionProgressing, false)
			s.mu.Lock()
			defer s.mu.Unlock()
			if want := []string{"demo-2", "demo-1", "demo-0"}; !slices.Equal(s.made[3:], want) {
				t.Errorf("restarted in the order %v, want %v", s.made[3:], want)
			}
			st := s.get().Status
			if st.Switchover == nil || st.Switchover.Reason != v1alpha1.SwitchoverRollingRestart || st.Restart != nil {
				t.Errorf("%+v", st.Record)
			}
			if s.world.Broken != "" || len(s.world.Lost()) > 0 {
				t.Error(s.world.Broken, s.world.Lost())
			}
		})
	}
}

// Rule 8: a newer operator, with another image for clusters that name none, changes templates and no pod.
func TestAnotherOperatorRestartsNoServer(t *testing.T) {
	s := newSite(t, "demo-0", "demo-1", "demo-2")
	must(kube.Create(t.Context(), demo(s.namespace, 2)))
	s.awaitRoles("demo-0", "demo-1", "demo-2")
	s.awaitCondition(v1alpha1.ConditionReady, true)
	before := s.servers()
	stopOperator()
	stopOperator = startOperator("commitd:newer")
	defer func() {
		stopOperator()
		stopOperator = startOperator("commitd:test")
	}()
	s.eventually("the template has the newer image", func() error {
		set, err := s.set()
		if err != nil || set.Spec.Template.Spec.Containers[0].Image != "commitd:newer" {
			return fmt.Errorf("%v", err)
		}
		return nil
	})
	s.change(func(c *v1alpha1.CommitCluster) {
		c.Spec.Failover.HeartbeatTimeout = &metav1.Duration{Duration: 3001 * time.Millisecond}
	})
	s.eventually("the protocol has looked", func() error {
		if c := s.get(); c.Status.ObservedGeneration != c.Generation {
			return fmt.Errorf("%d", c.Status.ObservedGeneration)
		}
		return nil
	})
	s.awaitCondition(v1alpha1.ConditionProgressing, false)
	if after := s.servers(); !maps.Equal(before, after) {
		t.Fatalf("pods before %v, after %v", before, after)
	}
}
