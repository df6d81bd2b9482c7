// Package controller turns a CommitCluster into Kubernetes objects and runs the protocol of package cluster on its pods.
package controller

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/cluster"
)

// FieldOwner is the operator's name in server-side apply.
const FieldOwner = "commitlab-operator"

// Names of the objects that belong to a cluster. Clients rely on NAME-master, NAME-replicas and NAME-app.
func masterService(c *v1alpha1.CommitCluster) string   { return c.Name + "-master" }
func replicasService(c *v1alpha1.CommitCluster) string { return c.Name + "-replicas" }
func headlessService(c *v1alpha1.CommitCluster) string { return c.Name }

func podName(c *v1alpha1.CommitCluster, ordinal int32) string {
	return fmt.Sprintf("%s-%d", c.Name, ordinal)
}

// pvcName is what the StatefulSet controller makes of the volume claim template.
func pvcName(pod string) string { return dataVolume + "-" + pod }

func ordinalOf(pod string) (int32, bool) { return cluster.OrdinalOf(pod) }

func credentialsSecret(c *v1alpha1.CommitCluster) string {
	if s := c.Spec.Secrets.Credentials; s != nil {
		return s.Name
	}
	return c.Name + "-credentials"
}

// AppSecretName is the Secret that an application logs in with.
func AppSecretName(c *v1alpha1.CommitCluster) string {
	if s := c.Spec.Secrets.App; s != nil {
		return s.Name
	}
	return c.Name + "-app"
}

// selectorLabels find every pod of a cluster, whatever its role.
func selectorLabels(c *v1alpha1.CommitCluster) map[string]string {
	return map[string]string{v1alpha1.LabelCluster: c.Name, "app.kubernetes.io/name": "commitd"}
}

func roleLabels(c *v1alpha1.CommitCluster, role string) map[string]string {
	labels := selectorLabels(c)
	labels[v1alpha1.LabelRole] = role
	return labels
}

func objectLabels(c *v1alpha1.CommitCluster) map[string]string {
	labels := selectorLabels(c)
	labels["app.kubernetes.io/instance"] = c.Name
	labels["app.kubernetes.io/managed-by"] = "commitlab-operator"
	return labels
}

// ownedBy lets Kubernetes delete an object together with its cluster.
func ownedBy(c *v1alpha1.CommitCluster) *metav1ac.OwnerReferenceApplyConfiguration {
	return metav1ac.OwnerReference().
		WithAPIVersion(v1alpha1.GroupVersion.String()).WithKind("CommitCluster").
		WithName(c.Name).WithUID(c.UID).WithController(true).WithBlockOwnerDeletion(true)
}

func ownerReference(c *v1alpha1.CommitCluster) metav1.OwnerReference {
	return *metav1.NewControllerRef(c, v1alpha1.GroupVersion.WithKind("CommitCluster"))
}
