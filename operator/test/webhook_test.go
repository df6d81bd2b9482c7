package test

import (
	"context"
	"errors"
	"slices"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commitlab.dev/operator/api/v1alpha1"
)

// refusePodChanges has the API server refuse whatever the operator would change on the pods of a site.
func (s *site) refusePodChanges() {
	s.t.Helper()
	policy := &admissionv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: s.namespace}}
	policy.Spec.MatchConstraints = &admissionv1.MatchResources{
		NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: s.namespace}},
		ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
			Operations: []admissionv1.OperationType{admissionv1.Update},
			Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}}}}}}
	policy.Spec.Validations = []admissionv1.Validation{{Expression: "request.userInfo.username != 'operator'"}}
	binding := &admissionv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: s.namespace}}
	binding.Spec.PolicyName = s.namespace
	binding.Spec.ValidationActions = []admissionv1.ValidationAction{admissionv1.Deny}
	for _, o := range []client.Object{policy, binding} {
		must(kube.Create(s.t.Context(), o))
		s.t.Cleanup(func() { _ = kube.Delete(context.Background(), o) })
	}
	asOperator, err := client.New(operatorConfig, client.Options{Scheme: scheme})
	must(err)
	s.eventually("changes are refused", func() error {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "demo-0"}}
		patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"try":"this"}}}`))
		if asOperator.Patch(s.t.Context(), pod, patch, client.DryRunAll) == nil {
			return errors.New("not yet")
		}
		return nil
	})
}

// Who refuses the operator's labels does not keep it from fencing and electing: the labels follow when they may.
func TestLabelsThatAreRefusedDoNotStopAFailover(t *testing.T) {
	s := newSite(t, "demo-0", "demo-1", "demo-2")
	must(kube.Create(t.Context(), demo(s.namespace, 2)))
	s.awaitRoles("demo-0", "demo-1", "demo-2")
	s.awaitCondition(v1alpha1.ConditionReady, true)
	s.refusePodChanges()
	s.world.Kill("demo-0")
	s.eventually("a new master", func() error {
		if st := s.get().Status; st.Master != "demo-0" && st.Election == nil {
			return nil
		}
		return errors.New("demo-0 is still the master on record")
	})
	s.awaitCondition(v1alpha1.ConditionDegraded, true)
	if masters := s.withRole(v1alpha1.RoleMaster); !slices.Equal(masters, []string{"demo-0"}) {
		t.Fatalf("the labels were to be refused: %v", masters)
	}
}
