package controller

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	policyv1ac "k8s.io/client-go/applyconfigurations/policy/v1"

	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/cluster"
)

// BuildHeadlessService gives every pod a DNS name, ready or not: servers must find each other before they are ready.
func BuildHeadlessService(c *v1alpha1.CommitCluster) *corev1ac.ServiceApplyConfiguration {
	return service(c, headlessService(c), corev1ac.ServiceSpec().
		WithClusterIP(corev1.ClusterIPNone).
		WithPublishNotReadyAddresses(true).
		WithSelector(selectorLabels(c)).
		WithPorts(port("mysql", cluster.MySQLPort), port("admin", cluster.AdminPort), port("http", httpPort)))
}

// BuildMasterService leaves the selector to the protocol, which knows better, and sooner, than a readiness probe who the master is.
func BuildMasterService(c *v1alpha1.CommitCluster) *corev1ac.ServiceApplyConfiguration {
	return service(c, masterService(c), corev1ac.ServiceSpec().
		WithPublishNotReadyAddresses(true).
		WithPorts(port("mysql", cluster.MySQLPort)))
}

// BuildReplicasService has the replicas that are ready, for reads.
func BuildReplicasService(c *v1alpha1.CommitCluster) *corev1ac.ServiceApplyConfiguration {
	return service(c, replicasService(c), corev1ac.ServiceSpec().
		WithSelector(roleLabels(c, v1alpha1.RoleReplica)).
		WithPorts(port("mysql", cluster.MySQLPort)))
}

func service(c *v1alpha1.CommitCluster, name string, spec *corev1ac.ServiceSpecApplyConfiguration) *corev1ac.ServiceApplyConfiguration {
	return corev1ac.Service(name, c.Namespace).
		WithLabels(objectLabels(c)).
		WithOwnerReferences(ownedBy(c)).
		WithSpec(spec)
}

func port(name string, number int32) *corev1ac.ServicePortApplyConfiguration {
	return corev1ac.ServicePort().WithName(name).WithPort(number).WithTargetPort(intstr.FromString(name)).WithProtocol(corev1.ProtocolTCP)
}

// BuildServiceAccount is for the pods; it may do nothing.
func BuildServiceAccount(c *v1alpha1.CommitCluster) *corev1ac.ServiceAccountApplyConfiguration {
	return corev1ac.ServiceAccount(c.Name, c.Namespace).
		WithLabels(objectLabels(c)).
		WithOwnerReferences(ownedBy(c)).
		WithAutomountServiceAccountToken(false)
}

// BuildPodDisruptionBudget lets a drain take one server at a time.
func BuildPodDisruptionBudget(c *v1alpha1.CommitCluster) *policyv1ac.PodDisruptionBudgetApplyConfiguration {
	return policyv1ac.PodDisruptionBudget(c.Name, c.Namespace).
		WithLabels(objectLabels(c)).
		WithOwnerReferences(ownedBy(c)).
		WithSpec(policyv1ac.PodDisruptionBudgetSpec().
			WithMaxUnavailable(intstr.FromInt32(1)).
			WithSelector(metav1ac.LabelSelector().WithMatchLabels(selectorLabels(c))))
}
