package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commitlab.dev/operator/api/v1alpha1"
)

// dataClaims are the volume claims of the cluster's servers, those that nobody runs on now as well: they may be used again.
func (r *Reconciler) dataClaims(ctx context.Context, c *v1alpha1.CommitCluster) ([]corev1.PersistentVolumeClaim, error) {
	var list corev1.PersistentVolumeClaimList
	if err := r.Client.List(ctx, &list, client.InNamespace(c.Namespace), client.MatchingLabels(selectorLabels(c))); err != nil {
		return nil, fmt.Errorf("list volume claims: %w", err)
	}
	var claims []corev1.PersistentVolumeClaim
	for _, claim := range list.Items {
		if ordinal, ok := ordinalOf(claim.Name); ok && claim.Name == pvcName(podName(c, ordinal)) {
			claims = append(claims, claim)
		}
	}
	return claims, nil
}

func sizeOf(claim *corev1.PersistentVolumeClaim) *resource.Quantity {
	return claim.Spec.Resources.Requests.Storage()
}

// refuseSmaller: volumes do not shrink, whatever a spec says.
func refuseSmaller(c *v1alpha1.CommitCluster, claims []corev1.PersistentVolumeClaim) error {
	for i := range claims {
		if size := sizeOf(&claims[i]); c.Spec.Storage.Size.Cmp(*size) < 0 {
			return fmt.Errorf("spec.storage.size is %s, and the volume %s has %s already: volumes do not shrink. Set spec.storage.size to %s or more",
				&c.Spec.Storage.Size, claims[i].Name, size, size)
		}
	}
	return nil
}

// growVolumes asks for what the spec does, volume by volume, of those that are there: one that cannot grow keeps no other from it.
func (r *Reconciler) growVolumes(ctx context.Context, c *v1alpha1.CommitCluster, claims []corev1.PersistentVolumeClaim) error {
	var errs []error
	for i := range claims {
		claim := &claims[i]
		if claim.Status.Phase != corev1.ClaimBound || c.Spec.Storage.Size.Cmp(*sizeOf(claim)) <= 0 {
			continue
		}
		larger := claim.DeepCopy()
		larger.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: c.Spec.Storage.Size}
		if err := r.Client.Patch(ctx, larger, client.MergeFrom(claim)); client.IgnoreNotFound(err) != nil {
			errs = append(errs, fmt.Errorf("the volume %s cannot grow from %s to %s: %w", claim.Name, sizeOf(claim), &c.Spec.Storage.Size, err))
			continue
		}
		r.Recorder.Eventf(c, claim, corev1.EventTypeNormal, "VolumeGrows", "Grow", "%s grows from %s to %s", claim.Name, sizeOf(claim), &c.Spec.Storage.Size)
	}
	return errors.Join(errs...)
}

// deleteReleased deletes the claims that the record gives up, by their UIDs: one that is made anew under such a name is another.
func (r *Reconciler) deleteReleased(ctx context.Context, c *v1alpha1.CommitCluster, claims []corev1.PersistentVolumeClaim) error {
	var errs []error
	for i := range claims {
		claim := &claims[i]
		released := func(v v1alpha1.ReleasedVolume) bool {
			return pvcName(v.Name) == claim.Name && v.PVCUID == string(claim.UID)
		}
		if !claim.DeletionTimestamp.IsZero() || !slices.ContainsFunc(c.Status.Released, released) {
			continue
		}
		if err := r.Client.Delete(ctx, claim, client.Preconditions{UID: &claim.UID}); client.IgnoreNotFound(err) != nil {
			errs = append(errs, fmt.Errorf("the volume %s: spec.storage.scaleDownPolicy: %w", claim.Name, err))
		}
	}
	return errors.Join(errs...)
}

// ownVolumes has claims belong to the cluster when they are to be deleted with it, and to nobody otherwise. Not to the StatefulSet: one
// that somebody deletes or scales by hand is made anew, and finds them.
func (r *Reconciler) ownVolumes(ctx context.Context, c *v1alpha1.CommitCluster, claims []corev1.PersistentVolumeClaim) error {
	own := ownerReference(c)
	own.Controller, own.BlockOwnerDeletion = nil, nil // others may own them, too
	var errs []error
	for i := range claims {
		claim := &claims[i]
		ours := func(o metav1.OwnerReference) bool { return o.UID == own.UID }
		if owned := slices.ContainsFunc(claim.OwnerReferences, ours); owned == (c.Spec.Storage.DeletionPolicy == v1alpha1.DeletionDelete) {
			continue
		}
		changed := claim.DeepCopy()
		changed.OwnerReferences = slices.DeleteFunc(changed.OwnerReferences, ours)
		if c.Spec.Storage.DeletionPolicy == v1alpha1.DeletionDelete {
			changed.OwnerReferences = append(changed.OwnerReferences, own)
		}
		// Owners are replaced as a whole: not those that somebody else has changed meanwhile.
		patch := client.MergeFromWithOptions(claim, client.MergeFromWithOptimisticLock{})
		if err := r.Client.Patch(ctx, changed, patch); client.IgnoreNotFound(err) != nil {
			errs = append(errs, fmt.Errorf("the volume %s: spec.storage.deletionPolicy: %w", claim.Name, err))
		}
	}
	return errors.Join(errs...)
}

// keepClaimTemplate: the API lets nobody change the claims that a StatefulSet makes. A server that is added later gets a volume of
// the former size, which grows as soon as it is there.
func (r *Reconciler) keepClaimTemplate(ctx context.Context, c *v1alpha1.CommitCluster, set *appsv1ac.StatefulSetApplyConfiguration) error {
	live := &appsv1.StatefulSet{}
	if err := r.Client.Get(ctx, client.ObjectKeyFromObject(c), live); err != nil {
		return client.IgnoreNotFound(err)
	}
	for _, template := range live.Spec.VolumeClaimTemplates {
		if template.Name == dataVolume {
			set.Spec.VolumeClaimTemplates[0].Spec.Resources.WithRequests(corev1.ResourceList{corev1.ResourceStorage: *sizeOf(&template)})
		}
	}
	return nil
}
