package recovery

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/recovery/ledger"
)

// +kubebuilder:rbac:groups=commitlab.dev,resources=recoverytests,verbs=get;list;watch;update;patch;delete
// +kubebuilder:rbac:groups=commitlab.dev,resources=recoverytests/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=commitlab.dev,resources=recoverytests/finalizers,verbs=update
// +kubebuilder:rbac:groups=commitlab.dev,resources=commitclusters,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch;create;delete
// +kubebuilder:rbac:groups="",resources=persistentvolumeclaims,verbs=get;create
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=get;create
// +kubebuilder:rbac:groups="",resources=pods/eviction,verbs=create
// +kubebuilder:rbac:groups=chaos-mesh.org,resources=podchaos;networkchaos;stresschaos;timechaos;iochaos,verbs=get;list;create;update;patch;delete
// +kubebuilder:rbac:groups=chaos-mesh.org,resources=podnetworkchaos,verbs=get;update
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// workers is how many tests are looked at beside each other: a ledger that does not answer delays few others.
const workers = 8

// maxNote is less than what the API server takes as an event's note.
const maxNote = 1000

// Reconciler carries RecoveryTests out.
type Reconciler struct {
	Client client.Client
	// Reader reads past the cache: what was written down a moment ago must be seen.
	Reader   client.Reader
	Recorder events.EventRecorder
	Ledgers  ledger.Connector
	Servers  Servers
	// LedgerImage of tests that do not name one.
	LedgerImage string
	// Operator is the pod that this runs in, if it is known.
	Operator OperatorPod
	// Now is the clock.
	Now func() time.Time
}

// SetupWithManager starts the controller. A run is looked at all the time; changes of the spec come at once.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		Named("recoverytest").
		For(&v1alpha1.RecoveryTest{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers}).
		Complete(r)
}

// Reconcile gathers, decides, writes down what was decided, and only then acts.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	t := &v1alpha1.RecoveryTest{}
	if err := r.Reader.Get(ctx, req.NamespacedName, t); err != nil {
		forget(req.NamespacedName)
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	view, err := r.gather(ctx, t)
	if err != nil {
		return ctrl.Result{}, err
	}
	plan := Decide(view)
	if !equality.Semantic.DeepEqual(t.Status, plan.Status) {
		t.Status = plan.Status
		// It carries the resourceVersion that was read: of two operators one decides.
		if err := r.Client.Status().Update(ctx, t); err != nil {
			return retryOnConflict(err)
		}
		r.publish(t, plan.Events)
	}
	record(t)
	for _, action := range plan.Actions {
		if err := r.execute(ctx, view, action); err != nil {
			if apierrors.IsConflict(err) {
				return retryOnConflict(err)
			}
			log.FromContext(ctx).Info("not done yet", "action", action, "reason", err.Error())
			return ctrl.Result{RequeueAfter: waitEvery}, nil
		}
	}
	return ctrl.Result{RequeueAfter: plan.Again}, nil
}

func (r *Reconciler) publish(t *v1alpha1.RecoveryTest, events []Event) {
	for _, e := range events {
		kind := corev1.EventTypeNormal
		if e.Warning {
			kind = corev1.EventTypeWarning
		}
		r.Recorder.Eventf(t, nil, kind, e.Reason, "Test", "%s", shorten(e.Message, maxNote))
	}
}

func retryOnConflict(err error) (ctrl.Result, error) {
	if apierrors.IsConflict(err) {
		return ctrl.Result{RequeueAfter: lookEvery}, nil
	}
	return ctrl.Result{}, client.IgnoreNotFound(err)
}
