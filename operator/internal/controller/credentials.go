package controller

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/cluster"
)

// Servers read the passwords of the built-in accounts when they start, and at no other time. Were they started with the Secret that
// people can edit, a container that happens to start again would have other passwords than the rest, and nobody could say which. So they
// are started with a copy that never changes, and each pod says with which; other passwords are another copy, and a rolling restart.

// copyName is the nth copy of the credentials.
func copyName(c *v1alpha1.CommitCluster, n int) string {
	return fmt.Sprintf("%s-credentials-%d", c.Name, n)
}

// copyNumber is 0 for what is no copy.
func copyNumber(c *v1alpha1.CommitCluster, name string) int {
	n, err := strconv.Atoi(strings.TrimPrefix(name, c.Name+"-credentials-"))
	if err != nil || name == credentialsSecret(c) || name != copyName(c, n) {
		return 0
	}
	return n
}

// startCredentials is the Secret that servers are started with.
func startCredentials(c *v1alpha1.CommitCluster) string {
	if c.Status.Credentials != "" {
		return c.Status.Credentials
	}
	return credentialsSecret(c)
}

// credentialsRevision changes when servers must be started again for their passwords. Those that were made before there were copies have
// what the first one has.
func credentialsRevision(c *v1alpha1.CommitCluster) string {
	if copyNumber(c, c.Status.Credentials) <= 1 {
		return ""
	}
	return c.Status.Credentials
}

// credentialsOf is what a pod was started with.
func credentialsOf(c *v1alpha1.CommitCluster, pod *corev1.Pod) string {
	for _, volume := range pod.Spec.Volumes {
		if volume.Name != secretsVolume || volume.Secret == nil {
			continue
		}
		if volume.Secret.SecretName == credentialsSecret(c) && c.Status.Credentials != "" {
			return copyName(c, 1) // it is from before there were copies
		}
		return volume.Secret.SecretName
	}
	return startCredentials(c)
}

// ensureCopy finds or makes the copy of what is asked for now, and gives what people must know of it.
func (r *Reconciler) ensureCopy(ctx context.Context, c *v1alpha1.CommitCluster, asked credentials) (string, error) {
	before := c.Status.Credentials
	for n := max(copyNumber(c, before), 1); ; n++ {
		name := copyName(c, n)
		found := &corev1.Secret{}
		err := r.Reader.Get(ctx, types.NamespacedName{Namespace: c.Namespace, Name: name}, found)
		switch {
		case apierrors.IsNotFound(err) && name == before:
			continue // servers have what it had, whatever that was
		case apierrors.IsNotFound(err):
			return "", r.makeCopy(ctx, c, name, asked)
		case err != nil:
			return "", fmt.Errorf("secret %s: %w", name, err)
		case !metav1.IsControlledBy(found, c):
			continue // of a cluster of this name that was here before, or somebody else's
		}
		if note, same := asked.startedWith(c, found); same {
			c.Status.Credentials = name
			return note, nil
		}
	}
}

func (r *Reconciler) makeCopy(ctx context.Context, c *v1alpha1.CommitCluster, name string, asked credentials) error {
	made := secret(c, name, map[string]string{keyOperatorPassword: asked.operator, keyReplicationPassword: asked.replication, keyRootPassword: asked.root})
	never := true
	made.Immutable = &never
	if err := r.Client.Create(ctx, made); err != nil {
		return fmt.Errorf("create Secret %s: %w", name, err)
	}
	c.Status.Credentials = name
	if copyNumber(c, name) > 1 {
		r.Recorder.Eventf(c, nil, corev1.EventTypeNormal, "CredentialsChanged", "Reconcile", "Secret %s has other passwords for the built-in accounts: "+
			"servers are started again with them, one by one (Secret %s); until then each is reached by those that it has", credentialsSecret(c), name)
	}
	return nil
}

// startedWith compares with a copy. root's password counts when data are made, and never again.
func (cr credentials) startedWith(c *v1alpha1.CommitCluster, copied *corev1.Secret) (note string, same bool) {
	if cr.operator != string(copied.Data[keyOperatorPassword]) || cr.replication != string(copied.Data[keyReplicationPassword]) {
		return "", false
	}
	switch {
	case cr.root == string(copied.Data[keyRootPassword]):
		return "", true
	case c.Status.Epoch == 0:
		return "", false
	}
	return fmt.Sprintf("; %s of Secret %s has changed, which root does not notice: it counts when a cluster is made. Use ALTER USER",
		keyRootPassword, credentialsSecret(c)), true
}

// restoredCredentials are those that servers have, when the Secret that was generated for them is gone.
func (r *Reconciler) restoredCredentials(ctx context.Context, c *v1alpha1.CommitCluster) (*corev1.Secret, error) {
	generated := BuildCredentialsSecret(c)
	if c.Status.Credentials == "" {
		return generated, nil
	}
	copied := &corev1.Secret{}
	err := r.Reader.Get(ctx, types.NamespacedName{Namespace: c.Namespace, Name: c.Status.Credentials}, copied)
	if apierrors.IsNotFound(err) {
		return generated, nil
	}
	for key := range generated.StringData {
		generated.StringData[key] = string(copied.Data[key])
	}
	return generated, err
}

// loginsIn are the passwords in a Secret, if there are any.
func loginsIn(s *corev1.Secret) cluster.Logins {
	return cluster.Logins{Operator: string(s.Data[keyOperatorPassword]), Replication: string(s.Data[keyReplicationPassword])}
}
