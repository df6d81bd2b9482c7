package controller

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/certificate"
	"commitlab.dev/operator/internal/cluster"
	"commitlab.dev/operator/internal/engine"
)

// access is how the servers of a cluster are reached, and how they log in at each other.
type access struct {
	// logins by the Secret that servers were started with.
	logins map[string]cluster.Logins
	// tls has no name yet; empty while the cluster has no certificates.
	tls engine.TLS
}

// protection is for the servers that were started with the cluster's certificates.
func (a access) protection(s *cluster.Server) engine.TLS {
	if s.TLSName == "" {
		return engine.TLS{}
	}
	protection := a.tls
	protection.ServerName = s.TLSName
	return protection
}

// loginsAt are those that a source or a donor takes.
func (a access) loginsAt(v *cluster.View, source engine.Source) cluster.Logins {
	for i := range v.Servers {
		if s := &v.Servers[i]; source.UUID != "" && s.Status.ServerUUID == source.UUID && s.Address == source.Host {
			return a.logins[s.Credentials]
		}
	}
	return cluster.Logins{}
}

// accessTo reads past the cache, and does with what is remembered when a Secret cannot be used.
func (o *Observer) accessTo(ctx context.Context, c *v1alpha1.CommitCluster) (access, error) {
	o.mu.Lock()
	known := o.accesses[c.UID]
	o.mu.Unlock()
	a := access{tls: known.tls}
	var err error
	if a.logins, err = o.loginsTo(ctx, c, known.logins); err != nil {
		return access{}, err
	}
	if name := certificatesInUse(c); name != "" {
		if certificates, err := o.secret(ctx, c, name); err == nil && usable(certificates) {
			a.tls = engine.TLS{Certificate: string(certificates.Data[corev1.TLSCertKey]), Key: string(certificates.Data[corev1.TLSPrivateKeyKey]),
				Authorities: string(certificates.Data[keyAuthority])}
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.accesses == nil {
		o.accesses = map[types.UID]access{}
	}
	o.accesses[c.UID] = a
	return a, nil
}

// loginsTo has those of every server, and of those that are to be started. A copy never changes: it is read once.
func (o *Observer) loginsTo(ctx context.Context, c *v1alpha1.CommitCluster, known map[string]cluster.Logins) (map[string]cluster.Logins, error) {
	names, err := o.credentialsInUse(ctx, c)
	if err != nil {
		return nil, err
	}
	logins := map[string]cluster.Logins{}
	for name := range names {
		one, before := known[name]
		if !before || copyNumber(c, name) == 0 {
			found, getErr := o.secret(ctx, c, name)
			if now := loginsIn(found); now.Operator != "" {
				one = now
			}
			if getErr != nil && !apierrors.IsNotFound(getErr) && !before {
				return nil, fmt.Errorf("secret %s: %w", name, getErr) // better to ask again than to try another password
			}
			err = getErr
		}
		if one.Operator != "" {
			logins[name] = one
		}
	}
	if len(logins) == 0 {
		return nil, fmt.Errorf("the operator's password is not known: Secret %s has no key %q (%v)", startCredentials(c), keyOperatorPassword, err)
	}
	return logins, nil
}

// credentialsInUse are the Secrets that servers were started with, or are to be.
func (o *Observer) credentialsInUse(ctx context.Context, c *v1alpha1.CommitCluster) (map[string]bool, error) {
	var pods corev1.PodList
	if err := o.Client.List(ctx, &pods, client.InNamespace(c.Namespace), client.MatchingLabels(selectorLabels(c))); err != nil {
		return nil, fmt.Errorf("list pods: %w", err)
	}
	names := map[string]bool{startCredentials(c): true}
	for i := range pods.Items {
		names[credentialsOf(c, &pods.Items[i])] = true
	}
	return names, nil
}

// usable: what somebody has spoilt takes nobody's access away.
func usable(s *corev1.Secret) bool {
	_, err := certificate.ClientConfig(pairIn(s.Data, corev1.TLSCertKey, corev1.TLSPrivateKeyKey), s.Data[keyAuthority], "")
	return err == nil
}

func (o *Observer) secret(ctx context.Context, c *v1alpha1.CommitCluster, name string) (*corev1.Secret, error) {
	found := &corev1.Secret{}
	err := o.Reader.Get(ctx, types.NamespacedName{Namespace: c.Namespace, Name: name}, found)
	return found, err
}

// knownAccess is the access as it was read last, for whoever decides nothing.
func (o *Observer) knownAccess(c *v1alpha1.CommitCluster) (access, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	a, known := o.accesses[c.UID]
	return a, known
}
