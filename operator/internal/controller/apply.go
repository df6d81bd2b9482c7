package controller

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	networkingv1ac "k8s.io/client-go/applyconfigurations/networking/v1"
	policyv1ac "k8s.io/client-go/applyconfigurations/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commitlab.dev/operator/api/v1alpha1"
)

// apply writes the objects that differ from what was applied last, or that somebody has changed since. All others cost no request.
func (r *Reconciler) apply(ctx context.Context, c *v1alpha1.CommitCluster, objects ...runtime.ApplyConfiguration) error {
	for _, o := range objects {
		if err := r.applyOne(ctx, client.ObjectKeyFromObject(c), o); err != nil {
			return fmt.Errorf("apply %T: %w", o, err)
		}
	}
	return nil
}

func (r *Reconciler) applyOne(ctx context.Context, cluster types.NamespacedName, o runtime.ApplyConfiguration) error {
	text, err := json.Marshal(o)
	if err != nil {
		return err
	}
	asked, live, name := sha256.Sum256(text), liveOf(o), fmt.Sprintf("%T %s", o, nameOf(o).Name)
	if err := r.Client.Get(ctx, nameOf(o), live); err == nil && r.applied.holds(cluster, name, asked, live) {
		return nil
	}
	if err := r.Client.Apply(ctx, o, client.FieldOwner(FieldOwner), client.ForceOwnership); err != nil {
		return err
	}
	version, err := versionOf(o)
	r.applied.note(cluster, name, application{asked: asked, version: version})
	return err
}

// applications remembers what became of each cluster's objects: what was asked for, and what the object looked like afterwards,
// with whatever defaults and webhooks had made of it. An operator that has just started remembers nothing and applies everything
// once; the API server stores nothing when that changes nothing.
type applications struct {
	mu    sync.Mutex
	known map[types.NamespacedName]map[string]application
}

type application struct {
	asked [sha256.Size]byte
	// version is the object as the API server answered, or a later one that is alike.
	version objectVersion
	// state is what the object looks like; nil until it has been seen in that version.
	state *[sha256.Size]byte
}

type objectVersion struct {
	UID             types.UID `json:"uid"`
	ResourceVersion string    `json:"resourceVersion"`
}

// holds says whether the object is as its application left it.
func (a *applications) holds(cluster types.NamespacedName, name string, asked [sha256.Size]byte, live client.Object) bool {
	a.mu.Lock()
	last, known := a.known[cluster][name]
	a.mu.Unlock()
	now := objectVersion{live.GetUID(), live.GetResourceVersion()}
	if !known || last.asked != asked || last.version.UID != now.UID {
		return false
	}
	if last.version == now && last.state != nil {
		return true
	}
	state := stateOf(live)
	if last.version != now && (last.state == nil || *last.state != state) {
		return false
	}
	a.note(cluster, name, application{asked, now, &state})
	return true
}

func (a *applications) note(cluster types.NamespacedName, name string, done application) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.known == nil {
		a.known = map[types.NamespacedName]map[string]application{}
	}
	if a.known[cluster] == nil {
		a.known[cluster] = map[string]application{}
	}
	a.known[cluster][name] = done
}

// forget drops a cluster that is gone.
func (a *applications) forget(cluster types.NamespacedName) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.known, cluster)
}

// versionOf reads the API server's answer, which the client has put into the configuration.
func versionOf(o runtime.ApplyConfiguration) (objectVersion, error) {
	var answer struct {
		Metadata objectVersion `json:"metadata"`
	}
	text, err := json.Marshal(o)
	if err != nil {
		return objectVersion{}, err
	}
	err = json.Unmarshal(text, &answer)
	return answer.Metadata, err
}

// stateOf is everything of an object but its status and what counts its versions.
func stateOf(live client.Object) [sha256.Size]byte {
	bare := live.DeepCopyObject().(client.Object)
	bare.SetResourceVersion("")
	bare.SetGeneration(0)
	bare.SetManagedFields(nil)
	switch b := bare.(type) {
	case *appsv1.StatefulSet:
		b.Status = appsv1.StatefulSetStatus{}
	case *corev1.Service:
		b.Status = corev1.ServiceStatus{}
	case *policyv1.PodDisruptionBudget:
		b.Status = policyv1.PodDisruptionBudgetStatus{}
	}
	text, err := json.Marshal(bare)
	if err != nil {
		panic(err) // it came from JSON
	}
	return sha256.Sum256(text)
}

// liveOf is an object of the kind that is applied.
func liveOf(o runtime.ApplyConfiguration) client.Object {
	switch o.(type) {
	case *appsv1ac.StatefulSetApplyConfiguration:
		return &appsv1.StatefulSet{}
	case *corev1ac.ServiceApplyConfiguration:
		return &corev1.Service{}
	case *corev1ac.ServiceAccountApplyConfiguration:
		return &corev1.ServiceAccount{}
	case *policyv1ac.PodDisruptionBudgetApplyConfiguration:
		return &policyv1.PodDisruptionBudget{}
	case *networkingv1ac.NetworkPolicyApplyConfiguration:
		return &networkingv1.NetworkPolicy{}
	}
	panic(fmt.Sprintf("objects of %T are not watched", o))
}

func nameOf(o runtime.ApplyConfiguration) client.ObjectKey {
	named := o.(interface {
		GetName() *string
		GetNamespace() *string
	})
	return client.ObjectKey{Namespace: *named.GetNamespace(), Name: *named.GetName()}
}
