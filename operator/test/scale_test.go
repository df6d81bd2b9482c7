package test

import (
	"context"
	"flag"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/engine/fake"
)

var (
	scaleClusters = flag.String("scale.clusters", "4", "how many clusters are at rest in one API server: numbers that grow, with commas between them")
	scaleFor      = flag.Duration("scale.for", 0, "how long clusters at rest are looked at, for figures")
)

// TestClustersAtRestAreNotWritten: an operator sends no request that writes to clusters to which nothing happens, however often it
// looks at them.
func TestClustersAtRestAreNotWritten(t *testing.T) {
	var towns []string
	for _, text := range strings.Split(*scaleClusters, ",") {
		count, err := strconv.Atoi(text)
		must(err)
		began := time.Now()
		towns = append(towns, manyClusters(t, count-len(towns))...)
		built := time.Now()
		awaitRest(t, towns)
		if *scaleFor > 0 {
			fmt.Printf("%d clusters: the last of them served after %s, and all were at rest %s later\n", count,
				built.Sub(began).Round(time.Second), time.Since(built).Round(time.Second))
		}
		if *scaleFor > 0 {
			figures(len(towns))
		}
		if err := asked.written(towns); err != nil {
			t.Fatalf("written at rest: %v", err)
		}
	}
}

// awaitRest has both controllers look at every cluster, until nothing is written at that. What an operator has begun it ends first,
// and each object is written once by an operator that has not written it before.
func awaitRest(t *testing.T, towns []string) {
	t.Helper()
	const rounds = 12 // a busy machine has the objects' controller come late, and a look of the other one is as good
	var written error
	for range rounds {
		asked.reset()
		nudge(t, towns)
		await(t, patience+time.Duration(len(towns))*time.Second, "both controllers' looks", func() error { return asked.lookedAt(towns, 2) })
		if written = asked.written(towns); written == nil {
			return
		}
	}
	t.Fatalf("after %d rounds still written: %v", rounds, written)
}

// nudge changes what calls the controllers and concerns neither: the StatefulSet's status, and an annotation of a pod.
func nudge(t *testing.T, towns []string) {
	for _, town := range towns {
		set := &appsv1.StatefulSet{}
		must(kube.Get(t.Context(), client.ObjectKey{Namespace: town, Name: "demo"}, set))
		set.Status.ObservedGeneration++
		must(kube.Status().Update(t.Context(), set))
		pod := &corev1.Pod{}
		pod.Namespace, pod.Name = town, "demo-0"
		must(kube.Patch(t.Context(), pod, client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"metadata":{"annotations":{"nudge":"%d"}}}`, time.Now().UnixNano()))))
	}
}

// What somebody changes of the objects is put right.
func TestWhatAPersonChangesIsPutRight(t *testing.T) {
	towns := manyClusters(t, 1)
	awaitRest(t, towns)
	key := func(name string) client.ObjectKey { return client.ObjectKey{Namespace: towns[0], Name: name} }
	set, service, budget := &appsv1.StatefulSet{}, &corev1.Service{}, &policyv1.PodDisruptionBudget{}
	must(kube.Get(t.Context(), key("demo"), set))
	must(kube.Get(t.Context(), key("demo-master"), service))
	must(kube.Get(t.Context(), key("demo"), budget))
	none := int32(0)
	set.Spec.Replicas = &none
	must(kube.Update(t.Context(), set))
	service.Spec.Selector = map[string]string{v1alpha1.LabelCluster: "another"}
	must(kube.Update(t.Context(), service))
	must(kube.Delete(t.Context(), budget))
	await(t, patience, "repair", func() error {
		set, service, budget := &appsv1.StatefulSet{}, &corev1.Service{}, &policyv1.PodDisruptionBudget{}
		must(kube.Get(t.Context(), key("demo"), set))
		must(kube.Get(t.Context(), key("demo-master"), service))
		err := kube.Get(t.Context(), key("demo"), budget)
		if *set.Spec.Replicas != 3 || service.Spec.Selector[v1alpha1.LabelRole] != v1alpha1.RoleMaster || err != nil {
			return fmt.Errorf("%d pods, selected %v, budget: %v", *set.Spec.Replicas, service.Spec.Selector, err)
		}
		return nil
	})
	awaitRest(t, towns)
}

// manyClusters gives the namespaces of so many clusters that serve, each with servers of its own.
func manyClusters(t *testing.T, count int) []string {
	t.Helper()
	towns := make([]string, count)
	next := make(chan int)
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for i := range next {
				towns[i] = build(t)
			}
		})
	}
	for i := range count {
		next <- i
	}
	close(next)
	wait.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return towns
}

// build waits until the cluster serves; then nothing moves in it any more, and nobody has to run its servers.
func build(t *testing.T) string {
	ns := &corev1.Namespace{}
	ns.GenerateName = "town-"
	must(kube.Create(t.Context(), ns))
	s := &site{t: t, namespace: ns.Name, world: fake.New("demo-0", "demo-1", "demo-2")}
	labs.add(ns.Name, s.world)
	must(kube.Create(t.Context(), demo(s.namespace, 2)))
	t.Cleanup(func() {
		_ = kube.DeleteAllOf(context.Background(), &v1alpha1.CommitCluster{}, client.InNamespace(s.namespace))
	})
	await(t, 10*patience, "a cluster that serves", func() error {
		s.runPods(t.Context())
		s.world.Run()
		c := &v1alpha1.CommitCluster{}
		must(kube.Get(t.Context(), client.ObjectKey{Namespace: s.namespace, Name: "demo"}, c))
		if !meta.IsStatusConditionTrue(c.Status.Conditions, v1alpha1.ConditionReady) || c.Status.AccountsRevision == "" || c.Status.ReadyReplicas != 2 {
			return fmt.Errorf("%+v", c.Status)
		}
		return nil
	})
	return s.namespace
}

// await may be called beside the test's own goroutine.
func await(t *testing.T, limit time.Duration, what string, check func() error) {
	deadline := time.Now().Add(limit)
	for {
		last := check()
		if last == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Errorf("%s: still %v", what, last)
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// figures prints what an operator of clusters at rest takes. CPU and memory have the servers in them, which are in memory.
func figures(clusters int) {
	asked.reset()
	began, before := time.Now(), cpu()
	time.Sleep(*scaleFor)
	minutes, used := time.Since(began).Minutes(), cpu()-before
	requests := asked.perMinute(minutes)
	runtime.GC()
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	fmt.Printf("%d clusters at rest: %.2f s CPU and, per minute:\n%s%d MiB live, %d goroutines\n", clusters, used.Seconds()/minutes, requests,
		memory.HeapAlloc>>20, runtime.NumGoroutine())
}

// cpu is what this process has used.
func cpu() time.Duration {
	var u syscall.Rusage
	must(syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
