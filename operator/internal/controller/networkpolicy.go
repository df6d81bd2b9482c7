package controller

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	networkingv1ac "k8s.io/client-go/applyconfigurations/networking/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/cluster"
)

// +kubebuilder:rbac:groups=networking.k8s.io,resources=networkpolicies,verbs=get;list;watch;create;update;patch;delete

// applyNetworkPolicy writes the one that is asked for, and removes its own when none is asked for any more.
func (r *Reconciler) applyNetworkPolicy(ctx context.Context, c *v1alpha1.CommitCluster) error {
	if c.Spec.NetworkPolicy != nil {
		policy, err := BuildNetworkPolicy(c)
		if err != nil {
			return err
		}
		return r.apply(ctx, c, policy)
	}
	found := &networkingv1.NetworkPolicy{}
	if err := r.Client.Get(ctx, client.ObjectKeyFromObject(c), found); err != nil {
		return client.IgnoreNotFound(err)
	}
	if !metav1.IsControlledBy(found, c) {
		return nil
	}
	return client.IgnoreNotFound(r.Client.Delete(ctx, found, client.Preconditions{UID: &found.UID}))
}

// BuildNetworkPolicy lets servers reach each other, the operator their administrative port, and clients the MySQL port.
func BuildNetworkPolicy(c *v1alpha1.CommitCluster) (*networkingv1ac.NetworkPolicyApplyConfiguration, error) {
	servers := []networkingv1.NetworkPolicyPeer{{PodSelector: &metav1.LabelSelector{MatchLabels: selectorLabels(c)}}}
	clients := c.Spec.NetworkPolicy.Clients
	if len(clients) == 0 {
		clients = []networkingv1.NetworkPolicyPeer{{PodSelector: &metav1.LabelSelector{}}}
	}
	operator := c.Spec.NetworkPolicy.Operator
	if len(operator) == 0 {
		operator = []networkingv1.NetworkPolicyPeer{{NamespaceSelector: &metav1.LabelSelector{},
			PodSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app.kubernetes.io/name": "commitlab-operator"}}}}
	}
	spec := networkingv1ac.NetworkPolicySpec().
		WithPodSelector(metav1ac.LabelSelector().WithMatchLabels(selectorLabels(c))).
		WithPolicyTypes(networkingv1.PolicyTypeIngress)
	for _, rule := range []networkingv1.NetworkPolicyIngressRule{
		{From: servers, Ports: tcp(cluster.MySQLPort)},
		{From: operator, Ports: tcp(cluster.AdminPort)},
		{From: clients, Ports: tcp(cluster.MySQLPort)},
		{Ports: tcp(httpPort)},
	} {
		ingress := networkingv1ac.NetworkPolicyIngressRule()
		if err := convert(rule, ingress); err != nil {
			return nil, err
		}
		spec.WithIngress(ingress)
	}
	return networkingv1ac.NetworkPolicy(c.Name, c.Namespace).
		WithLabels(objectLabels(c)).
		WithOwnerReferences(ownedBy(c)).
		WithSpec(spec), nil
}

func tcp(number int32) []networkingv1.NetworkPolicyPort {
	protocol, port := corev1.ProtocolTCP, intstr.FromInt32(number)
	return []networkingv1.NetworkPolicyPort{{Protocol: &protocol, Port: &port}}
}
