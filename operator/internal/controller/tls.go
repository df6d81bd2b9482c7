package controller

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/certificate"
)

// +kubebuilder:rbac:groups="",resources=secrets,verbs=update
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=update

// Keys of NAME-ca, beside those of a kubernetes.io/tls Secret; keyAuthority is that of ca.crt everywhere.
const (
	keyAuthority         = "ca.crt"
	keyNextAuthority     = "next.crt"
	keyNextAuthorityKey  = "next.key"
	keyFormerAuthorities = "former.crt"

	tlsVolume = "tls"
	tlsPath   = "/etc/commitd/tls"
	// reloadSeconds is how often commitd looks whether its files were replaced.
	reloadSeconds = 5
)

// tlsSecret has the certificates that servers are to have; empty: none.
func tlsSecret(c *v1alpha1.CommitCluster) string {
	switch {
	case c.Spec.TLS == nil:
		return ""
	case c.Spec.TLS.SecretName != "":
		return c.Spec.TLS.SecretName
	case c.Spec.TLS.IssuerRef != nil:
		return c.Name + "-issued-tls"
	}
	return c.Name + "-tls"
}

// certificatesInUse is the Secret of those that servers have, whatever the spec asks for by now.
func certificatesInUse(c *v1alpha1.CommitCluster) string {
	return cmp.Or(c.Status.Certificates, tlsSecret(c))
}

func authoritySecret(c *v1alpha1.CommitCluster) string { return c.Name + "-ca" }

// authorityConfigMap has ca.crt alone, for applications.
func authorityConfigMap(c *v1alpha1.CommitCluster) string { return c.Name + "-ca" }

// serverName is what a pod's certificate is for, whatever its address.
func serverName(c *v1alpha1.CommitCluster, pod string) string {
	return fmt.Sprintf("%s.%s.%s.svc", pod, headlessService(c), c.Namespace)
}

// serviceNames are what clients call the Services.
func serviceNames(c *v1alpha1.CommitCluster) []string {
	var names []string
	for _, service := range []string{masterService(c), replicasService(c)} {
		full := fmt.Sprintf("%s.%s.svc", service, c.Namespace)
		names = append(names, full, full+".cluster.local", service+"."+c.Namespace, service)
	}
	return names
}

// certificateNames are those of every server that the cluster may ever have, and of the Services.
func certificateNames(c *v1alpha1.CommitCluster) []string {
	servers := serverName(c, "*")
	return append([]string{servers, servers + ".cluster.local", "localhost"}, serviceNames(c)...)
}

// neededNames are those that a certificate of somebody else must have.
func neededNames(c *v1alpha1.CommitCluster) []string {
	names := serviceNames(c)[:1]
	for ordinal := range podCount(c) {
		names = append(names, serverName(c, podName(c, ordinal)))
	}
	return names
}

// withCertificates adds to pod and container what the spec asks for.
func withCertificates(c *v1alpha1.CommitCluster, spec *corev1ac.PodSpecApplyConfiguration) {
	if c.Spec.TLS == nil {
		return
	}
	spec.WithVolumes(corev1ac.Volume().WithName(tlsVolume).WithSecret(corev1ac.SecretVolumeSource().
		WithSecretName(tlsSecret(c)).WithDefaultMode(0o440).
		WithItems(keyFile(keyAuthority), keyFile(corev1.TLSCertKey), keyFile(corev1.TLSPrivateKeyKey))))
	spec.Containers[0].WithVolumeMounts(corev1ac.VolumeMount().WithName(tlsVolume).WithMountPath(tlsPath).WithReadOnly(true))
}

// tlsArgs has servers that start anew ask for certificates at once when all have them; else that is set while they run.
func tlsArgs(c *v1alpha1.CommitCluster) []string {
	if c.Spec.TLS == nil {
		return nil
	}
	var args []string
	for _, prefix := range []string{"--ssl", "--clone-ssl"} {
		args = append(args, prefix+"-ca="+tlsPath+"/"+keyAuthority, prefix+"-cert="+tlsPath+"/"+corev1.TLSCertKey, prefix+"-key="+tlsPath+"/"+corev1.TLSPrivateKeyKey)
	}
	args = append(args, fmt.Sprintf("--commitd-tls-reload-interval=%d", reloadSeconds))
	if c.Status.CertificatesRequired {
		for _, v := range transportVariables(c, true) {
			args = append(args, "--"+flagName(v.name)+"="+v.value)
		}
	}
	return args
}

// ensureCertificates makes or checks the servers' certificates.
func (r *Reconciler) ensureCertificates(ctx context.Context, c *v1alpha1.CommitCluster) error {
	if c.Spec.TLS == nil {
		return nil
	}
	if before := c.Status.Certificates; before != "" && before != tlsSecret(c) {
		return fmt.Errorf("servers still serve with the certificates of Secret %s: leave spec.tls out until all have been started without, "+
			"or put the new certificates into that Secret", before)
	}
	switch {
	case c.Spec.TLS.SecretName != "":
		return r.checkCertificates(ctx, c)
	case c.Spec.TLS.IssuerRef != nil:
		if err := r.ensureIssued(ctx, c); err != nil {
			return err
		}
		return r.checkCertificates(ctx, c)
	}
	return r.renewCertificates(ctx, c, time.Now())
}

// checkCertificates says why servers cannot be given what somebody else has made.
func (r *Reconciler) checkCertificates(ctx context.Context, c *v1alpha1.CommitCluster) error {
	found := &corev1.Secret{}
	if err := r.Reader.Get(ctx, types.NamespacedName{Namespace: c.Namespace, Name: tlsSecret(c)}, found); err != nil {
		return fmt.Errorf("spec.tls: %w", err)
	}
	if err := certificate.Check(pairIn(found.Data, corev1.TLSCertKey, corev1.TLSPrivateKeyKey), found.Data[keyAuthority], neededNames(c), time.Now()); err != nil {
		return fmt.Errorf("spec.tls: Secret %s: %w", found.Name, err)
	}
	return nil
}

// renewCertificates makes what is missing or old. Everything is read past the cache: what was made a moment ago must not be made again.
func (r *Reconciler) renewCertificates(ctx context.Context, c *v1alpha1.CommitCluster, now time.Time) error {
	leaf := &corev1.Secret{ObjectMeta: r.ownedMeta(c, tlsSecret(c)), Type: corev1.SecretTypeTLS}
	signer := &corev1.Secret{ObjectMeta: r.ownedMeta(c, authoritySecret(c))}
	public := &corev1.ConfigMap{ObjectMeta: r.ownedMeta(c, authorityConfigMap(c))}
	leafFound, err := r.find(ctx, c, leaf)
	if err != nil {
		return err
	}
	signerFound, err := r.find(ctx, c, signer)
	if err != nil {
		return err
	}
	authorities := authoritiesIn(signer.Data)
	changed, err := authorities.Renew(c.Name+" ("+c.Namespace+")", leaf.Data[keyAuthority], now)
	if err != nil {
		return err
	}
	if changed {
		signer.Data = dataOf(authorities)
		if err := r.write(ctx, signer, signerFound); err != nil {
			return err
		}
	}
	if err := r.renewLeaf(ctx, c, leaf, leafFound, authorities, now); err != nil {
		return err
	}
	publicFound, err := r.find(ctx, c, public)
	if err != nil || public.Data[keyAuthority] == string(authorities.Bundle()) {
		return err
	}
	public.Data = map[string]string{keyAuthority: string(authorities.Bundle())}
	return r.write(ctx, public, publicFound)
}

func (r *Reconciler) renewLeaf(ctx context.Context, c *v1alpha1.CommitCluster, leaf *corev1.Secret, found bool, by certificate.Authorities, now time.Time) error {
	data := maps.Clone(leaf.Data)
	if data == nil {
		data = map[string][]byte{}
	}
	data[keyAuthority] = by.Bundle()
	if names := certificateNames(c); !by.Current.Fits(pairIn(data, corev1.TLSCertKey, corev1.TLSPrivateKeyKey), names, now) {
		pair, err := by.Current.Sign(names, now)
		if err != nil {
			return err
		}
		data[corev1.TLSCertKey], data[corev1.TLSPrivateKeyKey] = pair.Certificate, pair.Key
	}
	if maps.EqualFunc(data, leaf.Data, bytes.Equal) {
		return nil
	}
	leaf.Data = data
	if err := r.write(ctx, leaf, found); err != nil {
		return err
	}
	r.Recorder.Eventf(c, nil, corev1.EventTypeNormal, "CertificatesRenewed", "Reconcile", "Secret %s has new certificates; servers take them up by themselves", leaf.Name)
	return nil
}

func pairIn(data map[string][]byte, certificateKey, keyKey string) certificate.Pair {
	return certificate.Pair{Certificate: data[certificateKey], Key: data[keyKey]}
}

func authoritiesIn(data map[string][]byte) certificate.Authorities {
	return certificate.Authorities{
		Current: pairIn(data, corev1.TLSCertKey, corev1.TLSPrivateKeyKey),
		Next:    pairIn(data, keyNextAuthority, keyNextAuthorityKey),
		Former:  data[keyFormerAuthorities],
	}
}

func dataOf(a certificate.Authorities) map[string][]byte {
	data := map[string][]byte{corev1.TLSCertKey: a.Current.Certificate, corev1.TLSPrivateKeyKey: a.Current.Key,
		keyNextAuthority: a.Next.Certificate, keyNextAuthorityKey: a.Next.Key, keyFormerAuthorities: a.Former}
	maps.DeleteFunc(data, func(_ string, value []byte) bool { return len(value) == 0 })
	return data
}

func (r *Reconciler) ownedMeta(c *v1alpha1.CommitCluster, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: c.Namespace, Labels: objectLabels(c), OwnerReferences: []metav1.OwnerReference{ownerReference(c)}}
}

// find reads an object into what was prepared for it, which stays as it is when there is none. Somebody else's is not touched.
func (r *Reconciler) find(ctx context.Context, c *v1alpha1.CommitCluster, prepared client.Object) (bool, error) {
	key, kind := client.ObjectKeyFromObject(prepared), strings.TrimPrefix(fmt.Sprintf("%T", prepared), "*v1.")
	fresh := prepared.DeepCopyObject().(client.Object)
	err := r.Reader.Get(ctx, key, prepared)
	switch {
	case apierrors.IsNotFound(err):
		reflect.ValueOf(prepared).Elem().Set(reflect.ValueOf(fresh).Elem())
		return false, nil
	case err != nil:
		return false, fmt.Errorf("%s %s: %w", kind, key.Name, err)
	case !metav1.IsControlledBy(prepared, c):
		return false, fmt.Errorf("there is a %s %s that is not this cluster's: delete it, or name a Secret of your own in spec.tls.secretName", kind, key.Name)
	}
	return true, nil
}

// write makes or changes an object; one that has changed since it was read is a conflict.
func (r *Reconciler) write(ctx context.Context, o client.Object, exists bool) error {
	if exists {
		return r.Client.Update(ctx, o)
	}
	return r.Client.Create(ctx, o)
}
