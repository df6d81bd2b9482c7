package controller

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/engine"
)

// Keys of the Secrets.
const (
	keyOperatorPassword    = "operator-password"
	keyRootPassword        = "root-password"
	keyReplicationPassword = "replication-password"
	keyUsername            = "username"
	keyPassword            = "password"
	keyDatabase            = "database"
	keyHost                = "host"
	keyPort                = "port"
)

// reservedUsers must not get an application's password and grants.
var reservedUsers = []string{"root", engine.OperatorUser, engine.ReplicationUser}

// credentials are the passwords of a cluster.
type credentials struct {
	operator, replication, root    string
	appUser, appPassword, database string
}

// BuildCredentialsSecret has the passwords of the built-in accounts.
func BuildCredentialsSecret(c *v1alpha1.CommitCluster) *corev1.Secret {
	return secret(c, credentialsSecret(c), map[string]string{
		keyOperatorPassword:    rand.Text(),
		keyRootPassword:        rand.Text(),
		keyReplicationPassword: rand.Text(),
	})
}

// BuildAppSecret has what an application needs to log in.
func BuildAppSecret(c *v1alpha1.CommitCluster) *corev1.Secret {
	return secret(c, AppSecretName(c), map[string]string{
		keyUsername: c.Spec.Bootstrap.User,
		keyPassword: rand.Text(),
		keyDatabase: c.Spec.Bootstrap.Database,
		keyHost:     fmt.Sprintf("%s.%s.svc", masterService(c), c.Namespace),
		keyPort:     "3306",
	})
}

func newAppSecret(_ context.Context, c *v1alpha1.CommitCluster) (*corev1.Secret, error) {
	return BuildAppSecret(c), nil
}

func secret(c *v1alpha1.CommitCluster, name string, data map[string]string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: c.Namespace, Labels: objectLabels(c),
			OwnerReferences: []metav1.OwnerReference{ownerReference(c)}},
		StringData: data,
	}
}

// ensureSecrets generates what is missing, once; it never changes a Secret that exists.
func (r *Reconciler) ensureSecrets(ctx context.Context, c *v1alpha1.CommitCluster) (credentials, error) {
	builtIn, err := r.ensureSecret(ctx, c, credentialsSecret(c), c.Spec.Secrets.Credentials == nil, r.restoredCredentials,
		keyOperatorPassword, keyRootPassword, keyReplicationPassword)
	if err != nil {
		return credentials{}, err
	}
	app, err := r.ensureSecret(ctx, c, AppSecretName(c), c.Spec.Secrets.App == nil, newAppSecret, keyUsername, keyPassword, keyDatabase)
	if err != nil {
		return credentials{}, err
	}
	if user := string(app.Data[keyUsername]); slices.Contains(reservedUsers, user) {
		return credentials{}, fmt.Errorf("secret %s: username %s belongs to the cluster: choose another one", app.Name, user)
	}
	return credentials{
		operator:    string(builtIn.Data[keyOperatorPassword]),
		replication: string(builtIn.Data[keyReplicationPassword]),
		root:        string(builtIn.Data[keyRootPassword]),
		appUser:     string(app.Data[keyUsername]),
		appPassword: string(app.Data[keyPassword]),
		database:    string(app.Data[keyDatabase]),
	}, nil
}

// ensureSecret reads past the cache: a Secret that was generated a moment ago must not be generated again.
func (r *Reconciler) ensureSecret(ctx context.Context, c *v1alpha1.CommitCluster, name string, generate bool,
	build func(context.Context, *v1alpha1.CommitCluster) (*corev1.Secret, error), keys ...string) (*corev1.Secret, error) {
	found := &corev1.Secret{}
	key := types.NamespacedName{Namespace: c.Namespace, Name: name}
	err := r.Reader.Get(ctx, key, found)
	if apierrors.IsNotFound(err) && generate {
		made, err := build(ctx, c)
		if err != nil {
			return nil, fmt.Errorf("secret %s: %w", name, err)
		}
		if err := r.Client.Create(ctx, made); err != nil {
			return nil, fmt.Errorf("create Secret %s: %w", name, err)
		}
		if err := r.Reader.Get(ctx, key, found); err != nil {
			return nil, fmt.Errorf("secret %s: %w", name, err)
		}
	} else if err != nil {
		return nil, fmt.Errorf("secret %s: %w", name, err)
	}
	for _, k := range keys {
		if len(found.Data[k]) == 0 {
			return nil, fmt.Errorf("secret %s has no key %q: add it (its value is a password or name of your choice)", name, k)
		}
	}
	return found, nil
}

// accounts are what a writable master is given, beside those that it has built in.
func (cr credentials) accounts(master *engine.Status) []engine.Account {
	var accounts []engine.Account
	if !master.HasReplicationAccount() {
		accounts = append(accounts, engine.Account{User: engine.ReplicationUser, Password: cr.replication, Grants: []string{engine.GrantReplication}})
	}
	accounts = append(accounts, engine.Account{User: cr.appUser, Password: cr.appPassword, Grants: []string{engine.GrantAll(cr.database)}})
	return accounts
}

// revision changes when the accounts must be created anew.
func (cr credentials) revision() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", []string{cr.replication, cr.appUser, cr.appPassword, cr.database}))
	return hex.EncodeToString(sum[:8])
}
