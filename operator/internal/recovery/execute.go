package recovery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/recovery/ledger"
)

// HistoryVerdict and HistoryTest are the keys of the ConfigMap: what the ledger said, and the test with its faults.
const (
	HistoryVerdict = "verdict.json"
	HistoryTest    = "test.json"
)

// execute does one thing. It may have been done before.
func (r *Reconciler) execute(ctx context.Context, v View, a Action) error {
	switch a := a.(type) {
	case AddFinalizer:
		return r.patch(ctx, v.Test, func(t *v1alpha1.RecoveryTest) { controllerutil.AddFinalizer(t, v1alpha1.FinalizerRecoveryTest) })
	case RemoveFinalizer:
		return r.patch(ctx, v.Test, func(t *v1alpha1.RecoveryTest) { controllerutil.RemoveFinalizer(t, v1alpha1.FinalizerRecoveryTest) })
	case DeleteTest:
		return client.IgnoreNotFound(r.Client.Delete(ctx, v.Test, client.Preconditions{UID: &v.Test.UID}))
	case StartLedger:
		return r.startLedger(ctx, v)
	case DeleteLedger:
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: v.Test.Namespace, Name: ledgerName(v.Test)}}
		return client.IgnoreNotFound(r.Client.Delete(ctx, pod))
	case Inject:
		return r.inject(ctx, v, a)
	case EndExperiment:
		return r.endExperiment(ctx, v, a)
	case Mend:
		over := troubleOf(v.Test, a.Fault)
		over.Duration = 0
		if err := r.trouble(ctx, v, a.Objects, over); err != nil {
			log.FromContext(ctx).Info("a machine is not mended before its time", "fault", a.Fault.Name, "reason", err.Error())
		}
		return nil
	case SaveHistory:
		return r.saveHistory(ctx, v)
	}
	return r.tellLedger(ctx, v, a)
}

// patch sends what changes and nothing else: a spec that is sent back may have its durations written in another way, which is a change of what
// cannot be changed.
func (r *Reconciler) patch(ctx context.Context, t *v1alpha1.RecoveryTest, change func(*v1alpha1.RecoveryTest)) error {
	before := t.DeepCopy()
	change(t)
	return client.IgnoreNotFound(r.Client.Patch(ctx, t, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})))
}

func (r *Reconciler) tellLedger(ctx context.Context, v View, a Action) error {
	pod := &corev1.Pod{}
	if err := r.Reader.Get(ctx, key(v.Test, ledgerName(v.Test)), pod); err != nil {
		return err
	}
	if pod.Status.PodIP == "" {
		return errNoLedger
	}
	l := r.Ledgers.Connect(ledger.Target{Namespace: pod.Namespace, Pod: pod.Name, Address: pod.Status.PodIP})
	switch a := a.(type) {
	case Mark:
		return l.Mark(ctx, a.Mark)
	case Prove:
		return l.Prove(ctx, a.Proof)
	case StopLoad:
		return l.Stop(ctx)
	}
	return fmt.Errorf("%T is not known", a)
}

func (r *Reconciler) startLedger(ctx context.Context, v View) error {
	if err := r.create(ctx, BuildClaim(v.Test)); err != nil {
		return err
	}
	return r.create(ctx, BuildLedger(v.Test, v.Cluster, r.LedgerImage))
}

func (r *Reconciler) create(ctx context.Context, o client.Object) error {
	err := r.Client.Create(ctx, o)
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

func (r *Reconciler) inject(ctx context.Context, v View, i Inject) error {
	if usesChaosMesh(i.Fault, v.Test.Status.Injector) {
		return r.create(ctx, BuildExperiment(v.Test, i, v))
	}
	if i.Fault.Substituted {
		return r.trouble(ctx, v, i.Objects, troubleOf(v.Test, i.Fault))
	}
	namespace := v.Test.Namespace
	if i.Fault.Kind == v1alpha1.OperatorKill {
		namespace = v.Operator.Namespace
	}
	var all error
	for _, o := range i.Objects {
		switch i.Fault.Kind {
		case v1alpha1.NodeDrain:
			all = errors.Join(all, r.evict(ctx, namespace, o.Name, o.UID))
		case v1alpha1.PodKill, v1alpha1.OperatorKill:
			all = errors.Join(all, r.kill(ctx, namespace, o.Name, o.UID))
		default:
			return fmt.Errorf("%s: the operator cannot do it by itself: a %s", i.Fault.Name, i.Fault.Kind)
		}
	}
	return all
}

// evict asks as a drain does. A budget that allows nobody to go is asked again at the next look.
func (r *Reconciler) evict(ctx context.Context, namespace, name string, uid types.UID) error {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	eviction := &policyv1.Eviction{ObjectMeta: pod.ObjectMeta, DeleteOptions: &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}}}
	err := r.Client.SubResource("eviction").Create(ctx, pod, eviction)
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// kill deletes a pod without grace, and only the one that was chosen: it may have been killed already and be another one now.
func (r *Reconciler) kill(ctx context.Context, namespace, name string, uid types.UID) error {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	err := r.Client.Delete(ctx, pod, client.GracePeriodSeconds(0), client.Preconditions{UID: &uid})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}

func (r *Reconciler) endExperiment(ctx context.Context, v View, end EndExperiment) error {
	var all error
	for _, kind := range experimentKinds {
		experiment := &unstructured.Unstructured{}
		experiment.SetGroupVersionKind(chaosMesh.WithKind(kind))
		experiment.SetNamespace(v.Test.Namespace)
		experiment.SetName(v.Test.Name + "-" + end.Fault)
		all = errors.Join(all, ignoreMissing(r.Client.Delete(ctx, experiment)))
		if end.Force {
			all = errors.Join(all, ignoreMissing(r.Client.Patch(ctx, experiment, giveUp)))
		}
	}
	if end.Force {
		all = errors.Join(all, r.forgetRules(ctx, v.Test, end.Fault))
	}
	return all
}

// giveUp lets go of an object whose faults Chaos Mesh cannot take away, because it could not inject them: it retries before it looks at its own
// annotation for that.
var giveUp = client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))

// forgetRules takes what an experiment wanted out of what Chaos Mesh tries to do to its pods: a rule that fails would fail with every later one, and
// the next partition could not be healed.
func (r *Reconciler) forgetRules(ctx context.Context, t *v1alpha1.RecoveryTest, fault string) error {
	var all error
	for _, f := range t.Status.Faults {
		if f.Name != fault {
			continue
		}
		for _, o := range f.Objects {
			rules := &unstructured.Unstructured{}
			rules.SetGroupVersionKind(chaosMesh.WithKind("PodNetworkChaos"))
			if err := r.Reader.Get(ctx, key(t, o.Name), rules); err != nil {
				all = errors.Join(all, ignoreMissing(err))
				continue
			}
			if withoutRulesOf(rules.Object, t.Namespace+"/"+t.Name+"-"+fault) {
				all = errors.Join(all, ignoreMissing(r.Client.Update(ctx, rules)))
			}
		}
	}
	return all
}

// ignoreMissing: neither the object need be there nor, in an older Chaos Mesh, its kind.
func ignoreMissing(err error) error {
	if meta.IsNoMatchError(err) {
		return nil
	}
	return client.IgnoreNotFound(err)
}

// saveHistory keeps what the ledger said, whole, and the test as it was when it was said.
func (r *Reconciler) saveHistory(ctx context.Context, v View) error {
	test := v.Test.DeepCopy()
	test.ManagedFields = nil
	text, err := json.Marshal(test)
	if err != nil {
		return err
	}
	history := &corev1.ConfigMap{ObjectMeta: objectMeta(v.Test, historyName(v.Test), "recovery-history")}
	history.Data = map[string]string{HistoryVerdict: string(v.Verdict.Raw), HistoryTest: string(text)}
	return r.create(ctx, history)
}
