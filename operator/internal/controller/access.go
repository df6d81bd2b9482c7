package controller

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/certificate"
	"commitlab.dev/operator/internal/cluster"
	"commitlab.dev/operator/internal/engine"
)

// access is how the servers of a cluster are reached, and how they log in at each other.
type access struct {
	logins cluster.Logins
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

// accessTo reads past the cache, and does with what is remembered when a Secret cannot be used.
func (o *Observer) accessTo(ctx context.Context, c *v1alpha1.CommitCluster) (access, error) {
	credentials, credentialsErr := o.secret(ctx, c, credentialsSecret(c))
	o.mu.Lock()
	a := o.accesses[c.UID]
	o.mu.Unlock()
	if password := string(credentials.Data[keyOperatorPassword]); password != "" {
		a.logins = cluster.Logins{Operator: password, Replication: string(credentials.Data[keyReplicationPassword])}
	}
	if a.logins.Operator == "" {
		return access{}, fmt.Errorf("the operator's password is not known: Secret %s has no key %q (%v)", credentialsSecret(c), keyOperatorPassword, credentialsErr)
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
