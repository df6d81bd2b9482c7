package controller

import (
	"context"
	"errors"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"commitlab.dev/operator/api/v1alpha1"
)

// +kubebuilder:rbac:groups=commitlab.dev,resources=commitclusters,verbs=get;list;watch;update;patch
// +kubebuilder:rbac:groups=commitlab.dev,resources=commitclusters/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=commitlab.dev,resources=commitclusters/finalizers,verbs=update
// +kubebuilder:rbac:groups=apps,resources=statefulsets,verbs=get;list;watch;create;update;patch
// +kubebuilder:rbac:groups="",resources=services;serviceaccounts,verbs=get;list;watch;create;update;patch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;create
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups="",resources=persistentvolumeclaims,verbs=get;list;watch;patch;delete
// +kubebuilder:rbac:groups=policy,resources=poddisruptionbudgets,verbs=get;list;watch;create;update;patch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
// +kubebuilder:rbac:groups="",resources=events,verbs=create;patch
// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,verbs=get;list;watch;create;update;patch;delete

// idleRequeue is how often a cluster is looked at when nothing calls for it; the prober calls when something changes.
const idleRequeue = 30 * time.Second

// Reconciler brings clusters to what their specs say. It is two controllers: one writes the objects, the other runs the
// protocol, so that a spec that cannot be applied never keeps a lost master from being replaced.
type Reconciler struct {
	Client client.Client
	// Reader reads past the cache: decisions that may cost data are never made from old records.
	Reader       client.Reader
	Recorder     events.EventRecorder
	Observer     *Observer
	DefaultImage string

	// How long each of the two controllers waits before it tries the same again.
	patience, objectsPatience backoff
	applied                   applications
	clones                    clones
}

// protocolWorkers is as good as one for each cluster: a cluster whose servers do not answer delays no other.
const protocolWorkers = 1024

// SetupWithManager starts the two controllers on changes of clusters, of their objects, and on the prober's calls.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager, probes *Prober) error {
	changed := builder.WithPredicates(predicate.Or(predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{}))
	if err := ctrl.NewControllerManagedBy(mgr).
		Named("commitcluster-objects").
		For(&v1alpha1.CommitCluster{}, builder.WithPredicates(predicate.Or(predicate.GenerationChangedPredicate{}, countedServersChanged{}))).
		Owns(&appsv1.StatefulSet{}).
		Owns(&corev1.Service{}).
		Owns(&corev1.ServiceAccount{}).
		Owns(&policyv1.PodDisruptionBudget{}).
		Owns(&networkingv1.NetworkPolicy{}).
		Owns(&corev1.Pod{}). // those that validate: a server's pod is the StatefulSet's
		Watches(&corev1.PersistentVolumeClaim{}, handler.EnqueueRequestsFromMapFunc(clusterOf)).
		WithOptions(controller.Options{MaxConcurrentReconciles: 4}).
		Complete(reconcile.Func(r.reconcileObjects)); err != nil {
		return err
	}
	enqueue := handler.EnqueueRequestsFromMapFunc(func(_ context.Context, o client.Object) []reconcile.Request {
		return []reconcile.Request{{NamespacedName: client.ObjectKeyFromObject(o)}}
	})
	return ctrl.NewControllerManagedBy(mgr).
		Named("commitcluster-protocol").
		For(&v1alpha1.CommitCluster{}, changed).
		Owns(&corev1.Service{}, builder.WithPredicates(selectorChanged())).
		Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(clusterOf)).
		WatchesRawSource(source.Channel(probes.Changes(), enqueue)).
		WithOptions(controller.Options{MaxConcurrentReconciles: protocolWorkers}).
		Complete(reconcile.Func(r.reconcileProtocol))
}

// countedServersChanged: the number of pods follows the quorums on record, which are in the status, as are the volumes to be deleted.
type countedServersChanged struct{ predicate.Funcs }

func (countedServersChanged) Create(event.CreateEvent) bool   { return true }
func (countedServersChanged) Delete(event.DeleteEvent) bool   { return false }
func (countedServersChanged) Generic(event.GenericEvent) bool { return false }
func (countedServersChanged) Update(e event.UpdateEvent) bool {
	before, ok := e.ObjectOld.(*v1alpha1.CommitCluster)
	after, too := e.ObjectNew.(*v1alpha1.CommitCluster)
	return ok && too && (podCount(before) != podCount(after) || !slices.Equal(before.Status.Released, after.Status.Released) ||
		before.Status.CertificatesRequired != after.Status.CertificatesRequired || before.Status.Certificates != after.Status.Certificates)
}

func clusterOf(_ context.Context, o client.Object) []reconcile.Request {
	name := o.GetLabels()[v1alpha1.LabelCluster]
	if name == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: o.GetNamespace(), Name: name}}}
}

// get reads past the cache; nil when there is nothing to do for the cluster.
func (r *Reconciler) get(ctx context.Context, req ctrl.Request) (*v1alpha1.CommitCluster, error) {
	c := &v1alpha1.CommitCluster{}
	if err := r.Reader.Get(ctx, req.NamespacedName, c); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	if !c.DeletionTimestamp.IsZero() {
		return nil, nil
	}
	return c, nil
}

// reconcileObjects applies the objects, and says in a condition when spec or Secrets do not allow that.
func (r *Reconciler) reconcileObjects(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	c, err := r.get(ctx, req)
	if c == nil {
		r.objectsPatience.forget(req.NamespacedName)
		r.applied.forget(req.NamespacedName)
		return ctrl.Result{}, err
	}
	if c.Spec.Paused {
		return ctrl.Result{}, nil // the other controller says so
	}
	before := c.DeepCopy()
	note, cause := r.applyObjects(ctx, c)
	if cause != nil && c.Spec.Hibernated {
		cause = errors.Join(cause, r.endPods(ctx, c))
	}
	if apierrors.IsConflict(cause) {
		return ctrl.Result{}, cause
	}
	if cause != nil {
		log.FromContext(ctx).Info("the configuration is not applied", "reason", cause.Error())
	}
	setConfigurationValid(c, note, cause)
	if meta.IsStatusConditionFalse(c.Status.Conditions, v1alpha1.ConditionConfigurationValid) &&
		!equality.Semantic.DeepEqual(before.Status, c.Status) {
		r.Recorder.Eventf(c, nil, corev1.EventTypeWarning, "ConfigurationInvalid", "Reconcile", "%s", cause.Error())
	}
	if err := r.writeStatus(ctx, before, c); err != nil {
		return retryOnConflict(err)
	}
	if cause != nil {
		return ctrl.Result{RequeueAfter: r.objectsPatience.next(req.NamespacedName, cause.Error())}, nil
	}
	r.objectsPatience.forget(req.NamespacedName)
	// Looked at again now and then also when all is well: Secrets are not watched.
	return ctrl.Result{RequeueAfter: idleRequeue}, nil
}

// applyObjects writes every object of the cluster; what is as it should be stays untouched. The servers' own comes last, and
// only when commitd takes what it says. The note is what people must know although all is well.
func (r *Reconciler) applyObjects(ctx context.Context, c *v1alpha1.CommitCluster) (note string, err error) {
	creds, err := r.ensureSecrets(ctx, c)
	if err != nil {
		return "", err
	}
	if note, err = r.ensureCopy(ctx, c, creds); err != nil {
		return "", err
	}
	return note, r.applyWith(ctx, c)
}

// applyWith writes the objects, with the Secrets that there are.
func (r *Reconciler) applyWith(ctx context.Context, c *v1alpha1.CommitCluster) error {
	if err := r.ensureCertificates(ctx, c); err != nil {
		return err
	}
	set, err := BuildStatefulSet(c, r.DefaultImage)
	if err != nil {
		return err
	}
	question, err := BuildValidationPod(c, r.DefaultImage)
	if err != nil {
		return err
	}
	if err := r.apply(ctx, c, BuildServiceAccount(c)); err != nil {
		return err
	}
	verdict := r.validate(ctx, c, question)
	if err := r.apply(ctx, c, BuildHeadlessService(c), BuildMasterService(c), BuildReplicasService(c), BuildPodDisruptionBudget(c)); err != nil {
		return err
	}
	if err := r.applyNetworkPolicy(ctx, c); err != nil {
		return err
	}
	if verdict != nil {
		return errors.Join(verdict, r.forgetQuestions(ctx, c, question.Name))
	}
	if err := r.applyServers(ctx, c, set.WithAnnotations(question.Annotations)); err != nil {
		return err
	}
	return r.forgetQuestions(ctx, c, "")
}

// applyServers writes the StatefulSet and has volumes grow.
func (r *Reconciler) applyServers(ctx context.Context, c *v1alpha1.CommitCluster, set *appsv1ac.StatefulSetApplyConfiguration) error {
	claims, err := r.dataClaims(ctx, c)
	if err != nil {
		return err
	}
	if err := refuseSmaller(c, claims); err != nil {
		return err
	}
	if err := r.keepClaimTemplate(ctx, c, set); err != nil {
		return err
	}
	if err := r.apply(ctx, c, set); err != nil {
		return err
	}
	return errors.Join(r.deleteReleased(ctx, c, claims), r.growVolumes(ctx, c, claims), r.ownVolumes(ctx, c, claims))
}

// reconcileProtocol runs the protocol until nothing is left to do at once. It needs nothing of the objects but the pods
// that are there, and of the Secrets nothing but what it logs in with.
func (r *Reconciler) reconcileProtocol(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	c, err := r.get(ctx, req)
	if c == nil {
		r.patience.forget(req.NamespacedName)
		forgetCluster(req.NamespacedName)
		return ctrl.Result{}, err
	}
	before := c.DeepCopy()
	setPaused(c)
	if err := r.writeStatus(ctx, before, c); err != nil || c.Spec.Paused {
		return retryOnConflict(err)
	}
	a, err := r.Observer.accessTo(ctx, c)
	if err != nil {
		log.FromContext(ctx).Info("the servers cannot be asked", "reason", err.Error())
		return ctrl.Result{RequeueAfter: r.patience.next(req.NamespacedName, err.Error())}, nil
	}
	result, err := r.runProtocol(ctx, c, a)
	if err != nil {
		r.patience.forget(req.NamespacedName)
	}
	return result, err
}
