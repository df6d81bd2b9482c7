package recovery

import (
	"context"
	"errors"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/cluster"
	"commitlab.dev/operator/internal/recovery/ledger"
)

// probeTimeout bounds a connection to a server that may be cut off.
const probeTimeout = time.Second

// gather looks at everything, past the cache.
func (r *Reconciler) gather(ctx context.Context, t *v1alpha1.RecoveryTest) (View, error) {
	v := View{Now: r.Now(), Test: t, Operator: r.Operator, ChaosMesh: r.hasChaosMesh()}
	steps := []func(context.Context, *View) error{r.gatherCluster, r.gatherServers, r.gatherExperiments, r.gatherObjects, r.gatherLedgerPod}
	if t.Status.StartTime == nil {
		steps = append(steps, r.gatherOthers)
	}
	for _, step := range steps {
		if err := step(ctx, &v); err != nil {
			return View{}, err
		}
	}
	return v, nil
}

func key(t *v1alpha1.RecoveryTest, name string) types.NamespacedName {
	return types.NamespacedName{Namespace: t.Namespace, Name: name}
}

func (r *Reconciler) gatherCluster(ctx context.Context, v *View) error {
	c := &v1alpha1.CommitCluster{}
	err := r.Reader.Get(ctx, key(v.Test, v.Test.Spec.Cluster.Name), c)
	if err == nil && c.DeletionTimestamp.IsZero() {
		v.Cluster = c
	}
	return client.IgnoreNotFound(err)
}

// gatherOthers finds who has the cluster. Of two that wait the older one comes first, the younger gives way to it.
func (r *Reconciler) gatherOthers(ctx context.Context, v *View) error {
	var list v1alpha1.RecoveryTestList
	if err := r.Reader.List(ctx, &list, client.InNamespace(v.Test.Namespace)); err != nil {
		return err
	}
	for i := range list.Items {
		other := &list.Items[i]
		if other.UID == v.Test.UID || other.Spec.Cluster != v.Test.Spec.Cluster || other.Finished() || other.Spec.Suspend {
			continue
		}
		if other.Status.StartTime != nil || olderThan(other, v.Test) {
			v.BusyWith = other.Name
		}
	}
	return nil
}

func olderThan(a, b *v1alpha1.RecoveryTest) bool {
	if !a.CreationTimestamp.Equal(&b.CreationTimestamp) {
		return a.CreationTimestamp.Before(&b.CreationTimestamp)
	}
	return a.Name < b.Name
}

func (r *Reconciler) gatherServers(ctx context.Context, v *View) error {
	var list corev1.PodList
	if err := r.Reader.List(ctx, &list, client.InNamespace(v.Test.Namespace),
		client.MatchingLabels{v1alpha1.LabelCluster: v.Test.Spec.Cluster.Name, "app.kubernetes.io/name": "commitd"}); err != nil {
		return err
	}
	for i := range list.Items {
		v.Servers = append(v.Servers, serverOf(&list.Items[i]))
	}
	slices.SortFunc(v.Servers, func(a, b Server) int { return strings.Compare(a.Name, b.Name) })
	for i := range v.Servers {
		r.look(ctx, v, &v.Servers[i])
	}
	return nil
}

func serverOf(pod *corev1.Pod) Server {
	s := Server{Name: pod.Name, UID: pod.UID, Role: pod.Labels[v1alpha1.LabelRole], Address: pod.Status.PodIP}
	for _, status := range pod.Status.ContainerStatuses {
		if status.Name == "commitd" {
			s.ContainerID = status.ContainerID
			s.Running = status.State.Running != nil && pod.DeletionTimestamp.IsZero()
			s.OutOfMemory = outOfMemory(status.State.Terminated, status.LastTerminationState.Terminated)
		}
	}
	return s
}

func outOfMemory(ends ...*corev1.ContainerStateTerminated) string {
	for _, end := range ends {
		if end != nil && end.Reason == "OOMKilled" {
			return end.ContainerID
		}
	}
	return ""
}

// look asks a server what the present faults need to know of it.
func (r *Reconciler) look(ctx context.Context, v *View, s *Server) {
	if s.Address == "" {
		return
	}
	if plans(v.Test, Fault.isProbed) {
		s.Reached, s.ReachedIn = r.Servers.Reached(ctx, net.JoinHostPort(s.Address, strconv.Itoa(int(cluster.AdminPort))))
	}
	if s.Running && slices.ContainsFunc(v.Test.Status.Faults, func(f v1alpha1.FaultStatus) bool { return f.Phase == v1alpha1.FaultRecovering }) {
		s.Recovery = r.Servers.CrashRecovery(ctx, s.Address)
	}
	if s.Running && needsDisks(v.Test) {
		s.Disk, s.PlainDisk = r.Servers.Disk(ctx, s.Address)
	}
}

// plans tells whether one of the test's faults is such a one.
func plans(t *v1alpha1.RecoveryTest, such func(Fault) bool) bool {
	return t.Status.Seed != nil && slices.ContainsFunc(Schedule(t.Spec, *t.Status.Seed, t.Status.Injector), such)
}

func (r *Reconciler) hasChaosMesh() bool {
	for _, kind := range requiredKinds {
		if _, err := r.Client.RESTMapper().RESTMapping(chaosMesh.WithKind(kind).GroupKind(), chaosMesh.Version); err != nil {
			return false
		}
	}
	return true
}

func (r *Reconciler) gatherExperiments(ctx context.Context, v *View) error {
	v.Experiments = map[string]Experiment{}
	if !v.ChaosMesh {
		return nil
	}
	for _, kind := range experimentKinds {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(chaosMesh.WithKind(kind + "List"))
		if err := r.Reader.List(ctx, list, client.InNamespace(v.Test.Namespace), client.MatchingLabels{v1alpha1.LabelRecoveryTest: v.Test.Name}); err != nil {
			if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
				continue
			}
			return err
		}
		for i := range list.Items {
			v.Experiments[list.Items[i].GetLabels()[labelFault]] = experimentOf(list.Items[i].Object)
		}
	}
	return nil
}

// gatherObjects looks for the journal's volume and for the history. Only what belongs to this very test counts.
func (r *Reconciler) gatherObjects(ctx context.Context, v *View) error {
	claim, history := &corev1.PersistentVolumeClaim{}, &corev1.ConfigMap{}
	err := client.IgnoreNotFound(r.Reader.Get(ctx, key(v.Test, ledgerName(v.Test)), claim))
	if err == nil {
		err = client.IgnoreNotFound(r.Reader.Get(ctx, key(v.Test, historyName(v.Test)), history))
	}
	v.Volume = claim.UID
	v.HistorySaved = metav1.IsControlledBy(history, v.Test)
	return err
}

func (r *Reconciler) gatherLedgerPod(ctx context.Context, v *View) error {
	pod := &corev1.Pod{}
	err := r.Reader.Get(ctx, key(v.Test, ledgerName(v.Test)), pod)
	if err != nil {
		return client.IgnoreNotFound(err)
	}
	v.LedgerPod = LedgerPod{Exists: true, Terminating: !pod.DeletionTimestamp.IsZero(), Problem: podProblem(pod)}
	if v.LedgerPod.Terminating || pod.Status.PodIP == "" || v.Test.Finished() {
		return nil
	}
	l := r.Ledgers.Connect(ledger.Target{Namespace: pod.Namespace, Pod: pod.Name, Address: pod.Status.PodIP})
	status, err := l.Status(ctx)
	if err != nil {
		v.LedgerPod.Problem = orText(v.LedgerPod.Problem, err.Error())
		return nil
	}
	if status.Run != v.Test.Status.Run {
		v.LedgerPod.Problem = "the ledger has the run " + status.Run
		return nil
	}
	v.Ledger = &status
	if status.Phase == ledger.PhaseDone {
		v.Verdict, err = l.Verdict(ctx)
		v.LedgerPod.Problem = errorText(err)
	}
	return nil
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// podProblem is why a pod does not run, in the words of who knows.
func podProblem(pod *corev1.Pod) string {
	for _, status := range pod.Status.ContainerStatuses {
		if w := status.State.Waiting; w != nil {
			return strings.TrimSpace(w.Reason + " " + w.Message)
		}
		if end := status.State.Terminated; end != nil {
			return strings.TrimSpace(end.Reason + " " + end.Message)
		}
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return c.Message
		}
	}
	return ""
}

var errNoLedger = errors.New("the ledger has no address")
