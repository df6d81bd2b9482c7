package controller

import (
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"commitlab.dev/operator/api/v1alpha1"
)

// lets says whether the policy lets a pod with these labels, of the cluster's namespace or of another, connect to a port.
func lets(t *testing.T, c *v1alpha1.CommitCluster, pod map[string]string, elsewhere bool, port int) bool {
	t.Helper()
	built, err := BuildNetworkPolicy(c)
	if err != nil {
		t.Fatal(err)
	}
	policy := &networkingv1.NetworkPolicy{}
	if err := convert(built, policy); err != nil {
		t.Fatal(err)
	}
	if s := policy.Spec.PodSelector; !labels.SelectorFromSet(s.MatchLabels).Matches(labels.Set(objectLabels(c))) ||
		len(policy.Spec.PolicyTypes) != 1 || policy.Spec.PolicyTypes[0] != networkingv1.PolicyTypeIngress {
		t.Fatalf("%+v", policy.Spec)
	}
	for _, rule := range policy.Spec.Ingress {
		if rule.Ports[0].Port.IntValue() != port {
			continue
		}
		if len(rule.From) == 0 {
			return true
		}
		for _, peer := range rule.From {
			selector, err := metav1.LabelSelectorAsSelector(peer.PodSelector)
			if err != nil {
				t.Fatal(err)
			}
			if selector.Matches(labels.Set(pod)) && (!elsewhere || peer.NamespaceSelector != nil) {
				return true
			}
		}
	}
	return false
}

func TestWhoMayConnectToTheServers(t *testing.T) {
	c, narrow := demo(), demo()
	c.Spec.NetworkPolicy = &v1alpha1.NetworkPolicySpec{}
	narrow.Spec.NetworkPolicy = &v1alpha1.NetworkPolicySpec{Clients: []networkingv1.NetworkPolicyPeer{
		{PodSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "shop"}}, NamespaceSelector: &metav1.LabelSelector{}}}}
	server, other := objectLabels(c), map[string]string{"app": "other"}
	shop, operator := map[string]string{"app": "shop"}, map[string]string{"app.kubernetes.io/name": "commitlab-operator"}
	for _, w := range []struct {
		what      string
		cluster   *v1alpha1.CommitCluster
		pod       map[string]string
		elsewhere bool
		port      int
		lets      bool
	}{
		{"a server", narrow, server, false, 3306, true},
		{"the operator", c, operator, true, 33062, true},
		{"the operator, with clients named", narrow, operator, true, 33062, true},
		{"a client of the namespace", c, other, false, 3306, true},
		{"a client of another namespace", c, other, true, 3306, false},
		{"a client that is not named", narrow, other, false, 3306, false},
		{"one that is, from elsewhere", narrow, shop, true, 3306, true},
		{"a client at the administrative port", c, other, false, 33062, false},
		{"a server of another cluster", narrow, map[string]string{v1alpha1.LabelCluster: "other", "app.kubernetes.io/name": "commitd"}, false, 3306, false},
		{"Prometheus", narrow, other, true, 8080, true},
	} {
		if got := lets(t, w.cluster, w.pod, w.elsewhere, w.port); got != w.lets {
			t.Errorf("%s: %t", w.what, got)
		}
	}
}
