package controller

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/cluster"
)

// change is what a cluster goes through while its operator dies.
type change struct {
	// before is what the cluster has gone through, undisturbed.
	before string
	// begin happens once; goes on until done.
	begin func(*stage)
	done  func(*stage) error
}

// unusable are variables that no server can be started with.
func unusable() map[string]apiextensionsv1.JSON {
	return map[string]apiextensionsv1.JSON{"max_connections": {Raw: []byte(`{}`)}}
}

var bootstrap = change{
	begin: func(s *stage) { s.must(s.store.Create(context.Background(), crashCluster())) },
	done:  func(s *stage) error { return s.serves(3) },
}

var crashChanges = map[string]change{
	"failover": {
		begin: func(s *stage) { s.world.Kill("demo-0") },
		done: func(s *stage) error {
			if s.get().Status.Master == "demo-0" {
				return errors.New("the dead master is still on record")
			}
			s.world.Start("demo-0")
			return s.serves(3)
		},
	},
	"a master that restarts": {
		begin: func(s *stage) { s.world.Kill("demo-0"); s.world.Start("demo-0") },
		done:  func(s *stage) error { return s.serves(3) },
	},
	"switchover": {
		begin: func(s *stage) {
			s.edit(func(c *v1alpha1.CommitCluster) {
				c.Annotations = map[string]string{v1alpha1.AnnotationSwitchover: `{"id":"1","to":"demo-2","deadline":"1h"}`}
			})
		},
		done: func(s *stage) error {
			last := s.get().Status.Switchover
			// A target that is not reached while there is no master is passed over: nobody waits for it.
			passedOver := s.tripped && s.how == refused && strings.HasPrefix(s.at, "demo-2: status")
			switch {
			case last == nil:
				return errors.New("nothing has happened yet")
			case last.Phase != v1alpha1.SwitchoverSucceeded && !(passedOver && last.Phase == v1alpha1.SwitchoverFailed):
				return fmt.Errorf("%+v", last)
			case (last.Phase == v1alpha1.SwitchoverSucceeded) != (s.get().Status.Master == "demo-2"):
				return fmt.Errorf("%s is the master, and %+v", s.get().Status.Master, last)
			}
			return s.serves(3)
		},
	},
	"a replica is fenced by hand": {
		begin: func(s *stage) { s.annotate(v1alpha1.AnnotationFenced, `["demo-1"]`) },
		done:  func(s *stage) error { return errors.Join(s.fenced("demo-1"), s.serves(2)) },
	},
	"the master is fenced by hand": {
		begin: func(s *stage) { s.annotate(v1alpha1.AnnotationFenced, `["demo-0"]`) },
		done:  func(s *stage) error { return errors.Join(s.fenced("demo-0"), s.serves(2)) },
	},
	"a loss is accepted": {
		begin: func(s *stage) {
			s.edit(func(c *v1alpha1.CommitCluster) { c.Spec.DivergencePolicy = v1alpha1.DivergenceReclone })
			s.world.Isolate("demo-1", true)
			s.writeEverywhere()
			s.world.Run()
			s.world.Isolate("demo-1", false)
			s.setDown(true, "demo-0", "demo-2")
			s.annotate(v1alpha1.AnnotationPromote, `{"id":"1","server":"demo-1","epoch":1,"acceptDataLoss":true}`)
		},
		done: func(s *stage) error {
			if p := s.get().Status.Promotion; p == nil || p.Phase != v1alpha1.PromotionSucceeded {
				return fmt.Errorf("%+v", p)
			}
			s.setDown(false, "demo-0", "demo-2")
			return s.serves(3)
		},
	},
	"hibernation": {
		begin: func(s *stage) { s.edit(func(c *v1alpha1.CommitCluster) { c.Spec.Hibernated = true }) },
		done:  func(s *stage) error { return s.hibernates() },
	},
	"waking": {
		before: "hibernation",
		begin:  func(s *stage) { s.edit(func(c *v1alpha1.CommitCluster) { c.Spec.Hibernated = false }) },
		done:   func(s *stage) error { return s.serves(3) },
	},
	"hibernation, though the configuration cannot be used": {
		begin: func(s *stage) {
			s.edit(func(c *v1alpha1.CommitCluster) { c.Spec.Hibernated, c.Spec.Engine.Variables = true, unusable() })
		},
		done: func(s *stage) error { return s.hibernates() },
	},
	"waking, with a configuration that can be used": {
		before: "hibernation, though the configuration cannot be used",
		begin: func(s *stage) {
			s.edit(func(c *v1alpha1.CommitCluster) { c.Spec.Hibernated, c.Spec.Engine.Variables = false, nil })
		},
		done: func(s *stage) error { return s.serves(3) },
	},
	"scale up": {
		begin: func(s *stage) { s.edit(func(c *v1alpha1.CommitCluster) { c.Spec.Replicas = 3 }) },
		done:  func(s *stage) error { return s.serves(4) },
	},
	"an emptied volume": {
		begin: func(s *stage) { s.world.Kill("demo-1"); s.world.Wipe("demo-1"); s.world.Start("demo-1") },
		done:  func(s *stage) error { return errors.Join(s.cloned("demo-1"), s.serves(3)) },
	},
	"a purged log": {
		begin: func(s *stage) {
			s.world.Kill("demo-2")
			s.world.Run()
			s.writeEverywhere()
			s.world.Run()
			s.world.Purge("demo-0")
			s.world.Start("demo-2")
		},
		done: func(s *stage) error { return errors.Join(s.cloned("demo-2"), s.serves(3)) },
	},
	"scale down": {
		begin: func(s *stage) { s.edit(func(c *v1alpha1.CommitCluster) { c.Spec.Replicas = 1 }) },
		done:  func(s *stage) error { return s.serves(2) },
	},
	"scale down, and the volume goes": {
		begin: func(s *stage) {
			s.edit(func(c *v1alpha1.CommitCluster) {
				c.Spec.Replicas, c.Spec.Storage.ScaleDownPolicy = 1, v1alpha1.DeletionDelete
			})
		},
		done: func(s *stage) error { return errors.Join(s.volumes(2), s.serves(2)) },
	},
	"scale up again, with a new volume": {
		before: "scale down, and the volume goes",
		begin:  func(s *stage) { s.edit(func(c *v1alpha1.CommitCluster) { c.Spec.Replicas = 2 }) },
		done:   func(s *stage) error { return errors.Join(s.volumes(3), s.serves(3)) },
	},
	"scale down under the master": {
		before: "switchover",
		begin:  func(s *stage) { s.edit(func(c *v1alpha1.CommitCluster) { c.Spec.Replicas = 1 }) },
		done: func(s *stage) error {
			if master := s.get().Status.Master; master == "demo-2" {
				return errors.New("the master is still the one that is to go")
			}
			return s.serves(2)
		},
	},
	"rolling restart": {
		begin: func(s *stage) { s.edit(func(c *v1alpha1.CommitCluster) { c.Spec.Image = "commitd:newer" }) },
		done:  func(s *stage) error { return errors.Join(s.allRun("commitd:newer"), s.restarted(1), s.serves(3)) },
	},
	"other passwords": {
		begin: func(s *stage) { s.setPasswords(cluster.Logins{Operator: "other", Replication: "one more"}) },
		done: func(s *stage) error {
			return errors.Join(s.allTake(cluster.Logins{Operator: "other", Replication: "one more"}), s.restarted(1), s.serves(3))
		},
	},
	"a failover while passwords change": {
		begin: func(s *stage) {
			s.setPasswords(cluster.Logins{Operator: "other", Replication: "one more"})
			s.world.Kill("demo-0")
		},
		done: func(s *stage) error {
			if s.get().Status.Master == "demo-0" && s.get().Status.Epoch == 1 {
				return errors.New("the dead master is still on record")
			}
			s.world.Start("demo-0")
			return errors.Join(s.allTake(cluster.Logins{Operator: "other", Replication: "one more"}), s.serves(3))
		},
	},
	"the passwords are lost": {
		begin: func(s *stage) {
			found := &corev1.Secret{}
			found.Namespace, found.Name = "shop", "demo-credentials"
			s.must(s.store.Delete(context.Background(), found))
			s.edit(func(c *v1alpha1.CommitCluster) { c.Spec.Replicas = 3 })
		},
		done: func(s *stage) error { return errors.Join(s.restarted(0), s.serves(4)) },
	},
	"a variable": {
		begin: func(s *stage) { s.edit(func(c *v1alpha1.CommitCluster) { variables(c, "max_connections", "99") }) },
		done: func(s *stage) error {
			for _, name := range []string{"demo-0", "demo-1", "demo-2"} {
				if v, err := s.world.Server(name).GlobalVariables(context.Background(), []string{"max_connections"}); err != nil || v["max_connections"] != "99" {
					return fmt.Errorf("%s has %v (%w)", name, v, err)
				}
			}
			return s.serves(3)
		},
	},
}

// TestAnOperatorThatStopsAtAnyCallIsSucceededByAnother: first every call that a change takes is written down, to the API server and
// to servers; then the change is made again and again, and each time another one of them fails, or the process ends with it. That
// it ends at a read is the same as that it ends behind the write before.
func TestAnOperatorThatStopsAtAnyCallIsSucceededByAnother(t *testing.T) {
	log.SetLogger(logr.Discard())
	serving := newStage(t)
	serving.must(serving.play(bootstrap))
	for name, c := range crashChanges {
		t.Run(name, func(t *testing.T) {
			start := serving.copy(t)
			if c.before != "" {
				start.must(start.play(crashChanges[c.before]))
			}
			stopAtEveryCall(t, func() *stage { return start.copy(t) }, c)
		})
	}
	t.Run("bootstrap", func(t *testing.T) {
		stopAtEveryCall(t, func() *stage { return newStage(t) }, bootstrap)
	})
}

func stopAtEveryCall(t *testing.T, stage func() *stage, c change) {
	undisturbed := stage()
	undisturbed.must(undisturbed.play(c))
	if len(undisturbed.calls) < 20 {
		t.Fatalf("only %d calls: %v", len(undisturbed.calls), undisturbed.calls)
	}
	plays := 0
	for _, call := range undisturbed.calls {
		for _, how := range endingsOf(call) {
			s := stage()
			s.at, s.how = call.name, how
			if err := s.play(c); err != nil {
				t.Errorf("%q %s: %v", call.name, how, err)
			}
			if !s.tripped {
				t.Errorf("%q did not come again", call.name)
			}
			plays++
		}
	}
	t.Logf("%d calls, made %d times with one of them failing", len(undisturbed.calls), plays)
}

func endingsOf(c call) []ending {
	if c.writes {
		return []ending{refused, endsBefore, endsBehind}
	}
	return []ending{refused}
}
