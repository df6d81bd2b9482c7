package recovery

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	apifake "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/recovery/ledger"
	"commitlab.dev/operator/internal/recovery/ledger/fake"
)

// lab is an API server in memory with a cluster of three pods, and a ledger. The clock goes on by a second a round.
type lab struct {
	t      *testing.T
	api    client.Client
	now    time.Time
	ledger *fake.Ledger
	pods   int
	kills  map[string]int

	// The operator dies at its write number dieAt: before it is done, or behind it.
	writes, dieAt int
	dieBehind     bool
}

var errDied = errors.New("the operator died")

func newLab(t *testing.T, dieAt int, dieBehind bool, faults ...v1alpha1.FaultSpec) *lab {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	l := &lab{t: t, now: time.Unix(1_000_000, 0), ledger: fake.New(""), kills: map[string]int{}, dieAt: dieAt, dieBehind: dieBehind}
	w := newWorld(t, faults...)
	l.api = apifake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(&v1alpha1.RecoveryTest{}, &corev1.Pod{}).
		WithObjects(w.test, placed(w.cluster)).Build()
	l.live()
	return l
}

func placed(c *v1alpha1.CommitCluster) *v1alpha1.CommitCluster {
	c.Namespace = "n"
	return c
}

// live does what StatefulSet controller and kubelet do, and lets commits go on.
func (l *lab) live() {
	l.now = l.now.Add(time.Second)
	for n := range 3 {
		if l.has(fmt.Sprintf("demo-%d", n)) {
			continue
		}
		role := map[bool]string{true: v1alpha1.RoleMaster, false: v1alpha1.RoleReplica}[n == 0]
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: fmt.Sprintf("demo-%d", n), UID: newUID(l),
			Labels: map[string]string{v1alpha1.LabelCluster: "demo", "app.kubernetes.io/name": "commitd", v1alpha1.LabelRole: role}}}
		l.must(l.api.Create(context.Background(), pod))
	}
	var list corev1.PodList
	l.must(l.api.List(context.Background(), &list))
	for _, pod := range list.Items {
		if pod.Status.PodIP != "" {
			continue
		}
		pod.Status.PodIP = "10.0.0.1"
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: pod.Name, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}
		if pod.Labels[v1alpha1.LabelRecoveryTest] == "" {
			pod.Status.ContainerStatuses[0].Name = "commitd"
		} else {
			l.ledger.Restart(l.test().Status.Run)
		}
		l.must(l.api.Status().Update(context.Background(), &pod))
	}
	l.ledger.Commit(20, l.now)
}

func (l *lab) has(pod string) bool {
	return l.api.Get(context.Background(), client.ObjectKey{Namespace: "n", Name: pod}, &corev1.Pod{}) == nil
}

func newUID(l *lab) (uid types.UID) { l.pods++; return types.UID(fmt.Sprintf("pod-%d", l.pods)) }

func (l *lab) must(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err)
	}
}

func (l *lab) test() *v1alpha1.RecoveryTest {
	t := &v1alpha1.RecoveryTest{}
	_ = l.api.Get(context.Background(), client.ObjectKey{Namespace: "n", Name: "t"}, t)
	return t
}

// Connect and the following make the lab what the operator connects to.
func (l *lab) Connect(ledger.Target) ledger.Ledger                   { return dying{l, l.ledger} }
func (l *lab) Reached(context.Context, string) (bool, time.Duration) { return true, time.Millisecond }
func (l *lab) CrashRecovery(context.Context, string) *CrashRecovery  { return &CrashRecovery{Rows: 1} }
func (l *lab) Disk(context.Context, string) (*Disk, bool)            { return nil, true }
func (l *lab) Trouble(context.Context, string, Trouble) error        { return nil }
func (l *lab) write(do func() error) error {
	l.writes++
	if l.writes == l.dieAt && !l.dieBehind {
		return errDied
	}
	err := do()
	if l.writes == l.dieAt {
		return errDied
	}
	return err
}

// dying is a ledger whose client may die at any write.
type dying struct {
	lab *lab
	*fake.Ledger
}

func (d dying) Mark(ctx context.Context, m ledger.Mark) error {
	return d.lab.write(func() error { return d.Ledger.Mark(ctx, m) })
}
func (d dying) Prove(ctx context.Context, p ledger.Proof) error {
	return d.lab.write(func() error { return d.Ledger.Prove(ctx, p) })
}
func (d dying) Stop(ctx context.Context) error {
	return d.lab.write(func() error { return d.Ledger.Stop(ctx) })
}

// operator is a new one: it knows nothing but what is written down.
func (l *lab) operator() *Reconciler {
	through := interceptor.NewClient(l.api.(client.WithWatch), interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			return l.write(func() error { o.SetUID(newUID(l)); return c.Create(ctx, o, opts...) })
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			return l.write(func() error { return l.delete(ctx, o, opts...) })
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, patch client.Patch, opts ...client.PatchOption) error {
			return l.write(func() error { return c.Patch(ctx, o, patch, opts...) })
		},
		SubResourceUpdate: func(ctx context.Context, c client.Client, sub string, o client.Object, opts ...client.SubResourceUpdateOption) error {
			update := func() error { return c.SubResource(sub).Update(ctx, o, opts...) }
			if outline(o.(*v1alpha1.RecoveryTest)) == outline(l.test()) {
				return update() // only counters: of many such writes one is like the other
			}
			return l.write(update)
		},
	})
	return &Reconciler{Client: through, Reader: l.api, Recorder: events.NewFakeRecorder(1000), Ledgers: l, Servers: l,
		LedgerImage: "ledger:test", Now: func() time.Time { return l.now }}
}

// outline of a test is what decisions are made by.
func outline(t *v1alpha1.RecoveryTest) string {
	text := t.Status.Phase + string(t.Status.Verdict) + string(t.Status.JournalUID)
	for _, f := range t.Status.Faults {
		text += " " + f.Phase
	}
	return text
}

// delete counts the kills of servers, by the pod that is meant.
func (l *lab) delete(ctx context.Context, o client.Object, opts ...client.DeleteOption) error {
	given := (&client.DeleteOptions{}).ApplyOptions(opts)
	now := o.DeepCopyObject().(client.Object)
	if err := l.api.Get(ctx, client.ObjectKeyFromObject(o), now); err != nil {
		return err
	}
	if p := given.Preconditions; p != nil && p.UID != nil && *p.UID != now.GetUID() {
		return nil // the API server refuses: it is another one
	}
	if now.GetLabels()[v1alpha1.LabelRole] != "" {
		l.kills[now.GetName()]++
	}
	return l.api.Delete(ctx, o)
}

// reconcile until the test has finished and its load is gone.
func (l *lab) finish() {
	l.t.Helper()
	operator := l.operator()
	l.settle()
	for range 1000 {
		_, err := operator.Reconcile(l.t.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Namespace: "n", Name: "t"}})
		if l.writes >= l.dieAt {
			operator = l.operator()
		}
		if err != nil && !errors.Is(err, errDied) {
			l.t.Fatal(err)
		}
		l.live()
		if l.test().Finished() && !l.has("t-ledger") {
			return
		}
	}
	l.t.Fatalf("not finished: %+v", l.test().Status)
}

// settle says that the cluster is whole: what it says while it recovers is the pure tests' matter.
func (l *lab) settle() {
	c := &v1alpha1.CommitCluster{}
	l.must(l.api.Get(l.t.Context(), client.ObjectKey{Namespace: "n", Name: "demo"}, c))
	c.Status.ReadyReplicas = c.Spec.Replicas
	meta.SetStatusCondition(&c.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: "MasterServes"})
	l.must(l.api.Update(l.t.Context(), c))
}

// An operator that dies at any of its writes, before it is done or behind it, is continued by another one: to the same verdict, with every
// fault marked and injected once, and with load and faults gone.
func TestAnOperatorThatDiesAtAnyWriteIsContinued(t *testing.T) {
	for _, behind := range []bool{false, true} {
		for n := 1; ; n++ {
			l := newLab(t, n, behind, kill("all", v1alpha1.TargetAll))
			l.finish()
			status := l.test().Status
			if status.Verdict != v1alpha1.VerdictPassed || status.History == "" || *status.Faults[0].ReplayedRows != 3 {
				t.Fatalf("death at write %d: %+v", n, status)
			}
			if l.kills["demo-0"] != 1 || l.kills["demo-1"] != 1 || l.kills["demo-2"] != 1 || l.ledger.Marks["all"] != 1 {
				t.Fatalf("death at write %d: kills %v, marks %v", n, l.kills, l.ledger.Marks)
			}
			l.must(l.api.Get(t.Context(), client.ObjectKey{Namespace: "n", Name: "t-history"}, &corev1.ConfigMap{}))
			if l.writes < n {
				if n < 20 {
					t.Fatalf("only %d writes", n)
				}
				break
			}
		}
	}
}
