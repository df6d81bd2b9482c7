package controller

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
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
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch;update;patch
// +kubebuilder:rbac:groups="",resources=persistentvolumeclaims,verbs=get;list
// +kubebuilder:rbac:groups=policy,resources=poddisruptionbudgets,verbs=get;list;watch;create;update;patch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
// +kubebuilder:rbac:groups="",resources=events,verbs=create;patch
// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,verbs=get;list;watch;create;update;patch;delete

// idleRequeue is how often a cluster is looked at when nothing calls for it; the prober calls when something changes.
const idleRequeue = 30 * time.Second

// busyRequeue is how soon to look again while the protocol waits for servers.
const busyRequeue = 300 * time.Millisecond

// Reconciler brings clusters to what their specs say.
type Reconciler struct {
	Client client.Client
	// Reader reads past the cache: decisions that may cost data are never made from old records.
	Reader       client.Reader
	Recorder     events.EventRecorder
	Observer     *Observer
	DefaultImage string
}

// SetupWithManager starts the reconciler on changes of clusters, of their objects, and on the prober's calls.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager, probes *Prober) error {
	enqueue := handler.EnqueueRequestsFromMapFunc(func(_ context.Context, o client.Object) []reconcile.Request {
		return []reconcile.Request{{NamespacedName: client.ObjectKeyFromObject(o)}}
	})
	return ctrl.NewControllerManagedBy(mgr).
		Named("commitcluster").
		For(&v1alpha1.CommitCluster{}, builder.WithPredicates(predicate.Or(predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{}))).
		Owns(&appsv1.StatefulSet{}).
		Owns(&corev1.Service{}).
		Owns(&corev1.ServiceAccount{}).
		Owns(&policyv1.PodDisruptionBudget{}).
		Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(clusterOfPod)).
		WatchesRawSource(source.Channel(probes.Changes(), enqueue)).
		WithOptions(controller.Options{MaxConcurrentReconciles: 4}).
		Complete(r)
}

func clusterOfPod(_ context.Context, pod client.Object) []reconcile.Request {
	name := pod.GetLabels()[v1alpha1.LabelCluster]
	if name == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: pod.GetNamespace(), Name: name}}}
}

// Reconcile applies the objects, then runs the protocol until nothing is left to do at once.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	c := &v1alpha1.CommitCluster{}
	if err := r.Reader.Get(ctx, req.NamespacedName, c); err != nil {
		forgetCluster(req.NamespacedName)
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !c.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil
	}
	creds, err := r.ensureSecrets(ctx, c)
	if err != nil {
		return r.configurationInvalid(ctx, c, err)
	}
	set, err := BuildStatefulSet(c, r.DefaultImage)
	if err != nil {
		return r.configurationInvalid(ctx, c, err)
	}
	if err := r.apply(ctx, c, set); err != nil {
		return ctrl.Result{}, err
	}
	return r.runProtocol(ctx, c, creds)
}

// apply writes every object of the cluster; what is as it should be stays untouched.
func (r *Reconciler) apply(ctx context.Context, c *v1alpha1.CommitCluster, set runtime.ApplyConfiguration) error {
	for _, o := range []runtime.ApplyConfiguration{
		BuildServiceAccount(c),
		BuildHeadlessService(c),
		BuildMasterService(c),
		BuildReplicasService(c),
		BuildPodDisruptionBudget(c),
		set,
	} {
		if err := r.Client.Apply(ctx, o, client.FieldOwner(FieldOwner), client.ForceOwnership); err != nil {
			return fmt.Errorf("apply %T: %w", o, err)
		}
	}
	return nil
}

// configurationInvalid tells the person. It is looked at again now and then, because Secrets are not watched.
func (r *Reconciler) configurationInvalid(ctx context.Context, c *v1alpha1.CommitCluster, cause error) (ctrl.Result, error) {
	log.FromContext(ctx).Info("the configuration cannot be used", "reason", cause.Error())
	r.Recorder.Eventf(c, nil, corev1.EventTypeWarning, "ConfigurationInvalid", "Reconcile", "%s", cause.Error())
	before := c.DeepCopy()
	setConfigurationValid(c, cause)
	if err := r.writeStatus(ctx, before, c); err != nil {
		return retryOnConflict(err)
	}
	return ctrl.Result{RequeueAfter: idleRequeue}, nil
}
