package test

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"commitlab.dev/operator/internal/engine"
	"commitlab.dev/operator/internal/engine/fake"
)

// silentServer takes every question, and has whoever asks wait for as long as he is willing to.
type silentServer struct{ engine.Server }

func (silentServer) Status(ctx context.Context) (engine.Status, error) {
	<-ctx.Done()
	return engine.Status{}, ctx.Err()
}

func (w *worlds) silence(namespace string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.silent == nil {
		w.silent = map[string]bool{}
	}
	w.silent[namespace] = true
}

// silentCluster is one whose pods run, and whose servers have never answered anybody.
func silentCluster(t *testing.T) {
	ns := &corev1.Namespace{}
	ns.GenerateName = "silent-"
	must(kube.Create(t.Context(), ns))
	s := &site{t: t, namespace: ns.Name, world: fake.New("demo-0", "demo-1", "demo-2")}
	labs.add(ns.Name, s.world)
	labs.silence(ns.Name)
	must(kube.Create(t.Context(), demo(ns.Name, 2)))
	t.Cleanup(func() { _ = kube.Delete(context.Background(), demo(ns.Name, 2)) })
	await(t, 10*patience, "pods", func() error {
		s.runPods(t.Context())
		if len(s.made) < 3 {
			return fmt.Errorf("%v", s.made)
		}
		return nil
	})
}

// Each look at a cluster that does not answer takes a second. There are more of them than could be looked at one after the other between
// the steps of a cluster that begins, and of its failover.
func TestClustersThatDoNotAnswerDelayNoFailover(t *testing.T) {
	forEach(make([]string, 12), func(string) { silentCluster(t) })
	if t.Failed() {
		t.FailNow()
	}
	s := newSite(t, "demo-0", "demo-1", "demo-2")
	must(kube.Create(t.Context(), demo(s.namespace, 2)))
	s.awaitRoles("demo-0", "demo-1", "demo-2")
	s.world.Write("demo-0", 1)
	s.world.Run()
	s.world.Kill("demo-0")
	s.awaitAnotherMasterThan("demo-0")
	if s.world.Broken != "" {
		t.Fatal(s.world.Broken)
	}
}
