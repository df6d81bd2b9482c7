package controller

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/certificate"
)

// +kubebuilder:rbac:groups=cert-manager.io,resources=certificates,verbs=get;create;patch

// certificateKind is cert-manager's. Its Go module is not needed for one object, and would bring the ACME client and more.
var certificateKind = schema.GroupVersionKind{Group: "cert-manager.io", Version: "v1", Kind: "Certificate"}

// annotationIssuedFor is what cert-manager says in a Secret that it has written: for which Certificate.
const annotationIssuedFor = "cert-manager.io/certificate-name"

// BuildCertificate asks cert-manager for what the operator makes itself where nobody else is asked.
func BuildCertificate(c *v1alpha1.CommitCluster) *unstructured.Unstructured {
	var names []any
	for _, name := range certificateNames(c) {
		names = append(names, name)
	}
	owner := ownerReference(c)
	issuer := c.Spec.TLS.IssuerRef
	labels := map[string]any{}
	for key, value := range objectLabels(c) {
		labels[key] = value
	}
	o := &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{
			"name":      c.Name,
			"namespace": c.Namespace,
			"labels":    labels,
			"ownerReferences": []any{map[string]any{"apiVersion": owner.APIVersion, "kind": owner.Kind, "name": owner.Name,
				"uid": string(owner.UID), "controller": true, "blockOwnerDeletion": true}},
		},
		"spec": map[string]any{
			"secretName":  tlsSecret(c),
			"dnsNames":    names,
			"usages":      []any{"digital signature", "server auth", "client auth"},
			"duration":    certificate.LeafLife.String(),
			"renewBefore": certificate.LeafLeft.String(),
			"privateKey":  map[string]any{"algorithm": "ECDSA", "size": int64(256), "encoding": "PKCS8", "rotationPolicy": "Always"},
			"issuerRef":   map[string]any{"name": issuer.Name, "kind": issuer.Kind, "group": issuer.Group},
		},
	}}
	o.SetGroupVersionKind(certificateKind)
	return o
}

// ensureIssued has cert-manager make the servers' certificates, and says what keeps it. Certificates are not watched, because a cluster
// without cert-manager has no such kind: they are read with everything else that is looked at again now and then.
func (r *Reconciler) ensureIssued(ctx context.Context, c *v1alpha1.CommitCluster) error {
	wanted, found := BuildCertificate(c), &unstructured.Unstructured{}
	found.SetGroupVersionKind(certificateKind)
	err := r.Reader.Get(ctx, client.ObjectKeyFromObject(wanted), found)
	switch {
	case isUnknownKind(err):
		return errors.New("spec.tls.issuerRef: this Kubernetes has no Certificate of cert-manager.io/v1: install cert-manager, or leave issuerRef out, " +
			"and the operator makes the certificates itself")
	case apierrors.IsNotFound(err):
		if err := r.refuseForeignSecret(ctx, c); err != nil {
			return err
		}
		return r.applyCertificate(ctx, wanted)
	case err != nil:
		return fmt.Errorf("spec.tls.issuerRef: Certificate %s: %w", c.Name, err)
	case !metav1.IsControlledBy(found, c):
		return fmt.Errorf("spec.tls.issuerRef: there is a Certificate %s that is not this cluster's: delete it, or have it write a Secret that "+
			"spec.tls.secretName names", c.Name)
	}
	if other := issuerOf(found); c.Status.Certificates == tlsSecret(c) && other != *c.Spec.TLS.IssuerRef {
		return fmt.Errorf("spec.tls.issuerRef: servers still serve with certificates of %s %s: leave spec.tls out until all have been started without",
			other.Kind, other.Name)
	}
	if !contains(found.Object["spec"], wanted.Object["spec"]) {
		return r.applyCertificate(ctx, wanted)
	}
	return notReady(found)
}

// isUnknownKind: also when the kind was there once, and is not any more.
func isUnknownKind(err error) bool {
	var status apierrors.APIStatus
	gone := errors.As(err, &status) && apierrors.IsNotFound(err) && (status.Status().Details == nil || status.Status().Details.Name == "")
	return meta.IsNoMatchError(err) || gone
}

// applyCertificate asks, and has the caller wait for cert-manager's answer.
func (r *Reconciler) applyCertificate(ctx context.Context, wanted *unstructured.Unstructured) error {
	if err := r.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(wanted), client.FieldOwner(FieldOwner), client.ForceOwnership); err != nil {
		return fmt.Errorf("spec.tls.issuerRef: Certificate %s: %w", wanted.GetName(), err)
	}
	return undecided{"CertificateNotReady", fmt.Sprintf("spec.tls.issuerRef: cert-manager has been asked for Certificate %s", wanted.GetName())}
}

// refuseForeignSecret: cert-manager writes over whatever is there under the name that it is given.
func (r *Reconciler) refuseForeignSecret(ctx context.Context, c *v1alpha1.CommitCluster) error {
	found := &corev1.Secret{}
	err := r.Reader.Get(ctx, types.NamespacedName{Namespace: c.Namespace, Name: tlsSecret(c)}, found)
	if err == nil && found.Annotations[annotationIssuedFor] != c.Name {
		return fmt.Errorf("spec.tls.issuerRef: there is a Secret %s, which cert-manager would write over: delete it, or name it in spec.tls.secretName", found.Name)
	}
	return client.IgnoreNotFound(err)
}

func issuerOf(certificate *unstructured.Unstructured) v1alpha1.IssuerReference {
	field := func(name string) string {
		value, _, _ := unstructured.NestedString(certificate.Object, "spec", "issuerRef", name)
		return value
	}
	return v1alpha1.IssuerReference{Name: field("name"), Kind: field("kind"), Group: field("group")}
}

// contains: whatever is wanted is there, and the defaults of others beside it.
func contains(there, wanted any) bool {
	want, isMap := wanted.(map[string]any)
	if !isMap {
		return reflect.DeepEqual(there, wanted)
	}
	have, _ := there.(map[string]any)
	for key, value := range want {
		if !contains(have[key], value) {
			return false
		}
	}
	return true
}

// notReady is what cert-manager says of a Certificate that it has not issued as it is asked for now; nil when it has.
func notReady(c *unstructured.Unstructured) error {
	conditions, _, _ := unstructured.NestedSlice(c.Object, "status", "conditions")
	says := fmt.Sprintf("nothing of it: does cert-manager run? 'kubectl describe certificate %s'", c.GetName())
	for _, one := range conditions {
		condition, _ := one.(map[string]any)
		if condition["type"] != "Ready" {
			continue
		}
		seen, told := condition["observedGeneration"].(int64)
		if condition["status"] == "True" && (!told || seen == c.GetGeneration()) {
			return nil
		}
		says = fmt.Sprintf("%v: %v; 'kubectl describe certificate %s' has the rest, and the issuer's events", condition["reason"], condition["message"], c.GetName())
	}
	return undecided{"CertificateNotReady", fmt.Sprintf("spec.tls.issuerRef: Certificate %s is not ready, cert-manager says %s", c.GetName(), says)}
}
