package test

import (
	"context"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/controller"
)

// tenant is an operator that may do nothing outside of some namespaces.
const tenant = "tenant"

// letIn gives the tenant the operator's rights in one namespace, as the chart does with watchNamespaces.
func letIn(namespace string) {
	role := &rbacv1.Role{Rules: generatedRole().Rules}
	binding := &rbacv1.RoleBinding{RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: tenant},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: tenant}}}
	for _, o := range []client.Object{role, binding} {
		o.SetNamespace(namespace)
		o.SetName(tenant)
		must(kube.Create(context.Background(), o))
	}
}

// An operator of some namespaces needs no rights elsewhere, serves the clusters there, a failover included, and touches no others.
func TestAnOperatorOfSomeNamespacesLeavesTheOthersAlone(t *testing.T) {
	ours, others := newSite(t, "demo-0", "demo-1", "demo-2"), newSite(t, "demo-0", "demo-1", "demo-2")
	also := newSite(t, "demo-0", "demo-1")
	letIn(ours.namespace)
	letIn(also.namespace)
	stopOperator()
	stopOperator = startOperatorWith(tenantConfig, "commitd:test", func(o *manager.Options) {
		var err error
		o.Cache, err = controller.CacheOptions(ours.namespace, also.namespace)
		must(err)
	})
	t.Cleanup(func() {
		stopOperator()
		stopOperator = startOperator("commitd:test")
	})
	must(kube.Create(t.Context(), demo(others.namespace, 2)))
	must(kube.Create(t.Context(), demo(ours.namespace, 2)))
	must(kube.Create(t.Context(), demo(also.namespace, 1)))
	ours.awaitRoles("demo-0", "demo-1", "demo-2")
	also.awaitRoles("demo-0", "demo-1")
	ours.world.Kill("demo-0")
	ours.awaitAnotherMasterThan("demo-0")
	time.Sleep(10 * *probeInterval)
	untouched := &v1alpha1.CommitCluster{}
	must(kube.Get(t.Context(), types.NamespacedName{Namespace: others.namespace, Name: "demo"}, untouched))
	if len(untouched.Status.Conditions) > 0 || len(others.servers()) > 0 {
		t.Errorf("%+v", untouched.Status)
	}
}
