package test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/recovery"
	"commitlab.dev/operator/internal/recovery/ledger"
	"commitlab.dev/operator/internal/recovery/ledger/fake"
)

// ledgers connects the operator to the ledger of a namespace.
type ledgers struct {
	mu          sync.Mutex
	byNamespace map[string]*fake.Ledger
}

var books = &ledgers{byNamespace: map[string]*fake.Ledger{}}

func (l *ledgers) Connect(t ledger.Target) ledger.Ledger { return l.of(t.Namespace) }

func (l *ledgers) of(namespace string) *fake.Ledger {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.byNamespace[namespace] == nil {
		l.byNamespace[namespace] = fake.New("")
	}
	return l.byNamespace[namespace]
}

// reachable servers answer, say that they replayed a row, and have disks that forget.
type reachable struct{}

func (reachable) Reached(context.Context, string) (bool, time.Duration) {
	return true, time.Millisecond
}
func (reachable) CrashRecovery(context.Context, string) *recovery.CrashRecovery {
	return &recovery.CrashRecovery{Rows: 1, Took: time.Second}
}
func (reachable) Disk(context.Context, string) (*recovery.Disk, bool) {
	return &recovery.Disk{Starts: 2, Writes: 3, Bytes: 400, Files: 1}, false
}
func (reachable) Trouble(context.Context, string, recovery.Trouble) error { return nil }

// spare is longer than pauses of the operator add up to, at the most.
const spare = 5 * patience

// newChaosSite is a cluster that may be broken, with stand-ins for kubelet, ledger and Chaos Mesh.
func newChaosSite(t *testing.T) *site {
	t.Helper()
	s := newSite(t, "demo-0", "demo-1", "demo-2")
	c := demo(s.namespace, 2)
	c.Annotations = map[string]string{v1alpha1.AnnotationAllowChaos: "true"}
	must(kube.Create(t.Context(), c))
	ctx, cancel := context.WithCancel(context.Background())
	var wait sync.WaitGroup
	wait.Go(func() {
		every(ctx, 50*time.Millisecond, func() { s.runContainers(ctx); s.runChaos(ctx); books.of(s.namespace).Commit(20, time.Now()) })
	})
	t.Cleanup(func() {
		_ = kube.DeleteAllOf(context.Background(), &v1alpha1.RecoveryTest{}, client.InNamespace(s.namespace))
		cancel()
		wait.Wait()
	})
	return s
}

// runContainers does what the kubelet would.
func (s *site) runContainers(ctx context.Context) {
	var list corev1.PodList
	if kube.List(ctx, &list, client.InNamespace(s.namespace)) != nil {
		return
	}
	for _, pod := range list.Items {
		name := pod.Spec.Containers[0].Name
		if len(pod.Status.ContainerStatuses) > 0 || name == "commitd" && pod.Status.PodIP == "" {
			continue
		}
		if name == "ledger" {
			pod.Status.PodIP = "10.0.1.1"
			pod.Status.PodIPs = []corev1.PodIP{{IP: pod.Status.PodIP}}
			for _, argument := range pod.Spec.Containers[0].Args {
				if run, is := strings.CutPrefix(argument, "--run="); is {
					books.of(s.namespace).Restart(run)
				}
			}
		}
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: name, ContainerID: "containerd://" + string(pod.UID),
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}
		_ = kube.Status().Update(ctx, &pod)
	}
}

func experiments(ctx context.Context, namespace, kind string) []unstructured.Unstructured {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(schema.GroupVersionKind{Group: "chaos-mesh.org", Version: "v1alpha1", Kind: kind + "List"})
	_ = kube.List(ctx, list, client.InNamespace(namespace))
	return list.Items
}

// runChaos does what Chaos Mesh would, once for each object.
func (s *site) runChaos(ctx context.Context) {
	for _, kind := range []string{"PodChaos", "NetworkChaos"} {
		for _, o := range experiments(ctx, s.namespace, kind) {
			if o.GetAnnotations()["done"] != "" {
				continue
			}
			names, _, _ := unstructured.NestedStringSlice(o.Object, "spec", "selector", "pods", s.namespace)
			action, _, _ := unstructured.NestedString(o.Object, "spec", "action")
			for _, name := range names {
				if action == "container-kill" {
					s.restartContainer(ctx, name)
				} else if kind == "PodChaos" {
					_ = kube.Delete(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name}}, client.GracePeriodSeconds(0))
				} else {
					books.of(s.namespace).SeeLink(o.GetLabels()["commitlab.dev/fault"], name, time.Now())
				}
			}
			o.SetAnnotations(map[string]string{"done": "true"})
			_ = kube.Update(ctx, &o)
		}
	}
}

// restartContainer is the kubelet, behind the end of a process.
func (s *site) restartContainer(ctx context.Context, name string) {
	pod := &corev1.Pod{}
	if kube.Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: name}, pod) == nil && len(pod.Status.ContainerStatuses) == 1 {
		pod.Status.ContainerStatuses[0].ContainerID += "-again"
		_ = kube.Status().Update(ctx, pod)
	}
}

func (s *site) recoveryTest(faults ...v1alpha1.FaultSpec) *v1alpha1.RecoveryTest {
	t := &v1alpha1.RecoveryTest{}
	t.Namespace, t.Name = s.namespace, "t"
	t.Spec.Cluster.Name, t.Spec.Faults = "demo", faults
	return t
}

func (s *site) awaitTest(t *v1alpha1.RecoveryTest, what string, reached func(*v1alpha1.RecoveryTest) bool) {
	s.t.Helper()
	for deadline := time.Now().Add(spare); ; time.Sleep(50 * time.Millisecond) {
		must(kube.Get(s.t.Context(), client.ObjectKeyFromObject(t), t))
		if reached(t) {
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("%s: still %+v", what, t.Status)
		}
	}
}

func finished(t *v1alpha1.RecoveryTest) bool { return t.Finished() }

func (s *site) absent(o client.Object) error {
	err := kube.Get(s.t.Context(), client.ObjectKeyFromObject(o), o)
	if apierrors.IsNotFound(err) {
		return nil
	}
	return fmt.Errorf("%s is still there (%v)", o.GetName(), err)
}

func TestARecoveryTestKillsOneServerAfterTheOtherAndPasses(t *testing.T) {
	for _, injector := range []v1alpha1.Injector{v1alpha1.InjectorBuiltIn, v1alpha1.InjectorAuto} {
		t.Run(string(injector), func(t *testing.T) {
			t.Parallel()
			s := newChaosSite(t)
			test := s.recoveryTest(
				v1alpha1.FaultSpec{Name: "master", Kind: v1alpha1.PodKill},
				v1alpha1.FaultSpec{Name: "replica", Kind: v1alpha1.PodKill, Target: v1alpha1.TargetReplica})
			test.Spec.Injector = injector
			must(kube.Create(t.Context(), test))
			s.awaitTest(test, "a verdict", finished)
			status := test.Status
			if status.Verdict != v1alpha1.VerdictPassed || len(status.Faults) != 2 || *status.Lost != 0 || status.MaxRTO == nil || !*status.ReplicasEqual || len(status.Epochs) != 1 {
				t.Fatalf("%+v", status)
			}
			history := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: status.History}}
			must(kube.Get(t.Context(), client.ObjectKeyFromObject(history), history))
			var verdict ledger.Verdict
			must(json.Unmarshal([]byte(history.Data[recovery.HistoryVerdict]), &verdict))
			if verdict.Acknowledged != *status.Acknowledged || !strings.Contains(history.Data[recovery.HistoryTest], "master") {
				t.Fatalf("%+v", history.Data)
			}
			s.eventually("the load is gone", func() error { return s.absent(ledgerPod(s)) })
			if left := append(experiments(t.Context(), s.namespace, "PodChaos"), experiments(t.Context(), s.namespace, "NetworkChaos")...); len(left) > 0 {
				t.Fatalf("%d experiments are left", len(left))
			}
			claim := &corev1.PersistentVolumeClaim{}
			must(kube.Get(t.Context(), types.NamespacedName{Namespace: s.namespace, Name: "t-ledger"}, claim))
			for _, o := range []client.Object{claim, history} { // what the garbage collector goes by
				if !metav1.IsControlledBy(o, test) {
					t.Errorf("%s does not belong to the test", o.GetName())
				}
			}
		})
	}
}

func TestARecoveryTestTakesThePowerOfAllServersAndSaysWhatTheirDisksHaveUndone(t *testing.T) {
	t.Parallel()
	s := newChaosSite(t)
	test := s.recoveryTest(v1alpha1.FaultSpec{Name: "dark", Kind: v1alpha1.PowerLoss, Target: v1alpha1.TargetAll})
	must(kube.Create(t.Context(), test))
	s.awaitTest(test, "a verdict", finished)
	evidence := strings.Join(test.Status.Faults[0].Evidence, "\n")
	if test.Status.Verdict != v1alpha1.VerdictPassed || strings.Count(evidence, "-again, start 2 of its disk, with 3 unsynced writes") != 3 {
		t.Fatalf("%s because %q: %s", test.Status.Verdict, test.Status.Message, evidence)
	}
	uids := map[types.UID]bool{}
	for _, o := range test.Status.Faults[0].Objects {
		pod := &corev1.Pod{}
		must(kube.Get(t.Context(), client.ObjectKey{Namespace: s.namespace, Name: o.Name}, pod))
		uids[pod.UID] = pod.UID == o.UID
	}
	if len(uids) != 3 || slices.Contains(slices.Collect(maps.Values(uids)), false) {
		t.Errorf("a pod was deleted: %v", uids)
	}
}

func ledgerPod(s *site) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "t-ledger"}}
}

func TestARecoveryTestThatIsDeletedLeavesNeitherFaultNorLoad(t *testing.T) {
	t.Parallel()
	s := newChaosSite(t)
	test := s.recoveryTest(v1alpha1.FaultSpec{Name: "cut", Kind: v1alpha1.Partition, Duration: &metav1.Duration{Duration: time.Hour}})
	must(kube.Create(t.Context(), test))
	s.awaitTest(test, "the partition", func(t *v1alpha1.RecoveryTest) bool {
		return len(t.Status.Faults) == 1 && t.Status.Faults[0].Phase == v1alpha1.FaultInjected
	})
	cut := experiments(t.Context(), s.namespace, "NetworkChaos")[0]
	action, _, _ := unstructured.NestedString(cut.Object, "spec", "action")
	target, _, _ := unstructured.NestedStringSlice(cut.Object, "spec", "target", "selector", "pods", s.namespace)
	if action != "partition" || fmt.Sprint(target) != "[demo-1 demo-2]" || test.Status.Faults[0].Objects[0].Name != "demo-0" {
		t.Fatalf("%s of %v, target %v", action, test.Status.Faults[0].Objects, target)
	}
	must(kube.Delete(t.Context(), test))
	s.eventually("the test is gone", func() error { return s.absent(test) })
	if len(experiments(t.Context(), s.namespace, "NetworkChaos")) > 0 || s.absent(ledgerPod(s)) != nil {
		t.Fatal("fault or load are left")
	}
}

func TestWhatARecoveryTestMustNotBeIsRefusedWithAHint(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	times := int32(2)
	for hint, spoil := range map[string]func(*v1alpha1.RecoveryTestSpec){
		"either spec.faults": func(spec *v1alpha1.RecoveryTestSpec) { spec.Random = &v1alpha1.RandomFaultsSpec{Count: 1} },
		"a number of faults": func(spec *v1alpha1.RecoveryTestSpec) { spec.Faults = nil },
		"a kill has no end": func(spec *v1alpha1.RecoveryTestSpec) {
			spec.Faults[0].Duration = &metav1.Duration{Duration: time.Second}
		},
		"give a fault that lasts a dur": func(spec *v1alpha1.RecoveryTestSpec) {
			spec.Faults[0].Kind, spec.Faults[0].Times = v1alpha1.Partition, &times
		},
		"leave target out": func(spec *v1alpha1.RecoveryTestSpec) {
			spec.Faults[0].Kind, spec.Faults[0].Target = v1alpha1.OperatorKill, v1alpha1.TargetAll
		},
		"latency belongs to": func(spec *v1alpha1.RecoveryTestSpec) {
			spec.Faults[0].Latency = &metav1.Duration{Duration: time.Second}
		},
		"percent belongs to": func(spec *v1alpha1.RecoveryTestSpec) { spec.Faults[0].Percent = &times },
		"offset belongs to": func(spec *v1alpha1.RecoveryTestSpec) {
			spec.Faults[0].Offset = &metav1.Duration{Duration: -time.Second}
		},
		"keeps two from going at once": func(spec *v1alpha1.RecoveryTestSpec) {
			spec.Faults[0].Kind, spec.Faults[0].Target = v1alpha1.NodeDrain, v1alpha1.TargetAll
		},
		"use target: Master": func(spec *v1alpha1.RecoveryTestSpec) {
			spec.Faults[0].Kind, spec.Faults[0].Target = v1alpha1.Partition, v1alpha1.TargetAll
		},
		"spec.faults[0].name": func(spec *v1alpha1.RecoveryTestSpec) { spec.Faults[0].Name = "Kill it" },
		"spec.cluster.name":   func(spec *v1alpha1.RecoveryTestSpec) { spec.Cluster.Name = "" },
		"supported values":    func(spec *v1alpha1.RecoveryTestSpec) { spec.Faults[0].Kind = "Flood" },
		"and a kill has no end": func(spec *v1alpha1.RecoveryTestSpec) {
			spec.Faults[0].Kind, spec.Faults[0].Duration = v1alpha1.PowerLoss, &metav1.Duration{Duration: time.Second}
		},
	} {
		test := s.recoveryTest(v1alpha1.FaultSpec{Name: "kill", Kind: v1alpha1.PodKill})
		spoil(&test.Spec)
		if err := kube.Create(t.Context(), test); err == nil || !strings.Contains(err.Error(), hint) {
			t.Errorf("%s: %v", hint, err)
		}
	}
	test := s.recoveryTest(v1alpha1.FaultSpec{Name: "kill", Kind: v1alpha1.PodKill})
	must(kube.Create(t.Context(), test))
	for what, change := range map[string]func(*v1alpha1.RecoveryTestSpec){
		"cluster": func(spec *v1alpha1.RecoveryTestSpec) { spec.Cluster.Name = "other" },
		"fault":   func(spec *v1alpha1.RecoveryTestSpec) { spec.Faults[0].Kind = v1alpha1.ContainerKill },
		"faults": func(spec *v1alpha1.RecoveryTestSpec) {
			spec.Faults, spec.Random = nil, &v1alpha1.RandomFaultsSpec{Count: 1}
		},
		"writers": func(spec *v1alpha1.RecoveryTestSpec) { spec.Workload.Writers = 3 },
		"limits":  func(spec *v1alpha1.RecoveryTestSpec) { spec.Limits.RTO = &metav1.Duration{Duration: time.Hour} },
	} {
		must(kube.Get(t.Context(), client.ObjectKeyFromObject(test), test))
		change(&test.Spec)
		if err := kube.Update(t.Context(), test); err == nil || !strings.Contains(err.Error(), "create another RecoveryTest") {
			t.Errorf("%s: %v", what, err)
		}
	}
	ttl := int32(1)
	s.eventually("suspend and ttl can be changed", func() error {
		must(kube.Get(t.Context(), client.ObjectKeyFromObject(test), test))
		test.Spec.Suspend, test.Spec.TTLSecondsAfterFinished = true, &ttl
		return kube.Update(t.Context(), test)
	})
	must(kube.Delete(t.Context(), test))
}

func TestTheVerdictIsAStatusCode(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	test := s.recoveryTest(v1alpha1.FaultSpec{Name: "kill", Kind: v1alpha1.PodKill})
	test.Spec.Suspend = true
	must(kube.Create(t.Context(), test))
	handler := recovery.VerdictHandler(kube)
	code := func(name string) int {
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, recovery.VerdictPath+s.namespace+"/"+name, nil))
		return answer.Code
	}
	for verdict, want := range map[v1alpha1.Verdict]int{"": 503, v1alpha1.VerdictPassed: 200, v1alpha1.VerdictFailed: 409, v1alpha1.VerdictInconclusive: 503, v1alpha1.VerdictUnsupported: 501} {
		s.eventually("the verdict is written", func() error {
			must(kube.Get(t.Context(), client.ObjectKeyFromObject(test), test))
			test.Status.Verdict = verdict
			return kube.Status().Update(t.Context(), test)
		})
		if got := code("t"); got != want {
			t.Errorf("%q: %d", verdict, got)
		}
	}
	if got := code("nobody"); got != 404 {
		t.Errorf("%d", got)
	}
}

func TestTheSamplesAreTaken(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	clusters := s.takeSamples("../../chaos/clusters", func() client.Object { return &v1alpha1.CommitCluster{} })
	tests := s.takeSamples("../../chaos/recovery", func() client.Object { return &v1alpha1.RecoveryTest{} })
	names := []string{"demo"}
	for _, c := range clusters {
		names = append(names, c.GetName())
		if c.GetAnnotations()[v1alpha1.AnnotationAllowChaos] != "true" {
			t.Errorf("cluster %s is there for chaos and does not allow it", c.GetName())
		}
	}
	for _, o := range tests {
		if name := o.(*v1alpha1.RecoveryTest).Spec.Cluster.Name; !slices.Contains(names, name) {
			t.Errorf("test %s is of the cluster %s, which is none of %v", o.GetName(), name, names)
		}
	}
}

// takeSamples lets the API server look at each file of a folder, which is named as what is in it.
func (s *site) takeSamples(folder string, empty func() client.Object) (samples []client.Object) {
	s.t.Helper()
	files, err := filepath.Glob(folder + "/*.yaml")
	if err != nil || len(files) == 0 {
		s.t.Fatal(err, "no samples in ", folder)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		must(err)
		o := empty()
		if err := yaml.UnmarshalStrict(text, o); err != nil {
			s.t.Errorf("%s: %v", file, err)
			continue
		}
		o.SetNamespace(s.namespace)
		if err := kube.Create(s.t.Context(), o, client.DryRunAll); err != nil {
			s.t.Errorf("%s: %v", file, err)
		}
		if want := o.GetName() + ".yaml"; filepath.Base(file) != want {
			s.t.Errorf("%s has %s", file, o.GetName())
		}
		samples = append(samples, o)
	}
	return samples
}
