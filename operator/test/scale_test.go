package test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/engine/fake"
)

var (
	scaleClusters = flag.String("scale.clusters", "4", "how many clusters are at rest in one API server: numbers that grow, with commas between them")
	scaleFor      = flag.Duration("scale.for", 0, "how long clusters at rest are looked at, for figures")
	scaleProfiles = flag.String("scale.profiles", "", "a directory: what the processor does for clusters at rest is written there, as NUMBER.pprof")
)

// TestClustersAtRestAreNotWritten: an operator sends no request that writes to clusters to which nothing happens, however often it
// looks at them.
func TestClustersAtRestAreNotWritten(t *testing.T) {
	var towns []string
	var rows []figures
	for _, text := range strings.Split(*scaleClusters, ",") {
		count, err := strconv.Atoi(text)
		must(err)
		began := time.Now()
		towns = append(towns, manyClusters(t, count-len(towns))...)
		served := time.Since(began)
		rounds := awaitRest(t, towns)
		if *scaleFor == 0 {
			continue
		}
		fmt.Printf("%d clusters: the last of them served after %s, and all were at rest in round %d, %s later\n", count,
			served.Round(time.Second), rounds, (time.Since(began) - served).Round(time.Second))
		row := measure(len(towns))
		row.served = served
		rows = append(rows, row)
		if err := asked.written(); err != nil {
			t.Fatalf("written at rest, %s", err)
		}
	}
	printTable(rows)
}

// awaitRest has both controllers look at every cluster, twice a round, until nothing is written at that, and says in which round that was.
// What an operator has begun it ends first, and each object is written once by an operator that has not written it before.
func awaitRest(t *testing.T, towns []string) int {
	t.Helper()
	const rounds = 12 // what lasts for so long is no end of what was begun
	var written error
	for round := range rounds {
		asked.reset(towns...)
		for look := range 2 {
			nudge(t, towns)
			await(t, patience+time.Duration(len(towns))*time.Second, "both controllers' looks", func() error { return asked.bothLookedAt(towns, look+1) })
		}
		if written = asked.written(); written == nil {
			return round + 1
		}
		if *scaleFor > 0 {
			fmt.Printf("%d clusters, round %d: written %s\n", len(towns), round+1, written)
		}
	}
	t.Fatalf("after %d rounds still written %v", rounds, written)
	return rounds
}

// nudge changes what calls the controllers and concerns neither: the StatefulSet's status, and an annotation of a pod.
func nudge(t *testing.T, towns []string) {
	var count atomic.Int64
	forEach(towns, func(town string) {
		now := time.Now().UnixNano() + count.Add(1)
		set, pod := &appsv1.StatefulSet{}, &corev1.Pod{}
		set.Namespace, set.Name, pod.Namespace, pod.Name = town, "demo", town, "demo-0"
		must(kube.Status().Patch(t.Context(), set, client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"status":{"observedGeneration":%d}}`, now))))
		must(kube.Patch(t.Context(), pod, client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"annotations":{"nudge":"%d"}}}`, now))))
	})
}

// forEach does something for each of the namespaces, some of them at a time.
func forEach(towns []string, do func(string)) {
	const atATime = 16
	next := make(chan string)
	var wait sync.WaitGroup
	for range atATime {
		wait.Go(func() {
			for town := range next {
				do(town)
			}
		})
	}
	for _, town := range towns {
		next <- town
	}
	close(next)
	wait.Wait()
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
		if *set.Spec.Replicas != 3 || service.Spec.Selector[appsv1.StatefulSetPodNameLabel] != "demo-0" || err != nil {
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
	for i := range towns {
		ns := &corev1.Namespace{}
		ns.GenerateName = "town-"
		must(kube.Create(t.Context(), ns))
		towns[i] = ns.Name
	}
	forEach(towns, func(town string) {
		if !t.Failed() { // the others would take as long to say the same
			build(t, town)
		}
	})
	if t.Failed() {
		t.FailNow()
	}
	return towns
}

// build waits until the cluster serves; then nothing moves in it any more, and nobody has to run its servers. What it asks the API server
// for is little: there may be a thousand of them.
func build(t *testing.T, town string) {
	servers := []string{"demo-0", "demo-1", "demo-2"}
	s := &site{t: t, namespace: town, world: fake.New(servers...)}
	labs.add(town, s.world)
	must(kube.Create(t.Context(), demo(s.namespace, 2)))
	t.Cleanup(func() {
		_ = kube.DeleteAllOf(context.Background(), &v1alpha1.CommitCluster{}, client.InNamespace(s.namespace))
	})
	await(t, 10*patience, "pods", func() error {
		s.runPods(t.Context())
		if len(s.made) < len(servers) {
			return fmt.Errorf("%v", s.made)
		}
		return nil
	})
	await(t, 10*patience, "a cluster that serves", func() error {
		s.world.Run()
		c := &v1alpha1.CommitCluster{}
		must(kube.Get(t.Context(), client.ObjectKey{Namespace: s.namespace, Name: "demo"}, c))
		if !meta.IsStatusConditionTrue(c.Status.Conditions, v1alpha1.ConditionReady) || c.Status.AccountsRevision == "" || c.Status.ReadyReplicas != 2 ||
			!meta.IsStatusConditionTrue(c.Status.Conditions, v1alpha1.ConditionConfigurationValid) {
			return fmt.Errorf("%+v", c.Status)
		}
		return nil
	})
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
		time.Sleep(200 * time.Millisecond)
	}
}

// figures are what an operator of clusters at rest takes. Processor and memory have the servers in them, which are in this process.
type figures struct {
	clusters, goroutines      int
	served                    time.Duration
	cpuSeconds, reads, writes float64 // per minute
	liveBytes                 uint64
}

// measure looks on for a while. What other processes' requests the API server has is none of an operator's.
func measure(clusters int) figures {
	asked.reset(asked.watchedNamespaces()...)
	stop := profile(clusters)
	began, before := time.Now(), cpu()
	time.Sleep(*scaleFor)
	minutes, used := time.Since(began).Minutes(), cpu()-before
	stop()
	reads, writes := asked.counts()
	runtime.GC()
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	fmt.Printf("%d clusters at rest, requests per minute:\n%s", clusters, asked.perMinute(minutes))
	return figures{clusters: clusters, cpuSeconds: used.Seconds() / minutes, reads: float64(reads) / minutes, writes: float64(writes) / minutes,
		liveBytes: memory.HeapAlloc, goroutines: runtime.NumGoroutine()}
}

// profile writes what the processor does until the returned function is called, if anybody wants to know.
func profile(clusters int) func() {
	if *scaleProfiles == "" {
		return func() {}
	}
	file, err := os.Create(filepath.Join(*scaleProfiles, fmt.Sprint(clusters, ".pprof")))
	must(err)
	must(pprof.StartCPUProfile(file))
	return func() {
		pprof.StopCPUProfile()
		must(file.Close())
	}
}

// printTable writes the figures as the README has them.
func printTable(rows []figures) {
	if len(rows) == 0 {
		return
	}
	fmt.Println("| clusters | the last one made serves after | CPU, s a minute | live memory, MiB | goroutines | reads a minute | writes a minute |\n" +
		"| --- | --- | --- | --- | --- | --- | --- |")
	for _, f := range rows {
		fmt.Printf("| %d | %s | %.1f | %d | %d | %.0f | %.0f |\n", f.clusters, f.served.Round(time.Second), f.cpuSeconds, f.liveBytes>>20,
			f.goroutines, f.reads, f.writes)
	}
}

// cpu is what this process has used.
func cpu() time.Duration {
	var u syscall.Rusage
	must(syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
