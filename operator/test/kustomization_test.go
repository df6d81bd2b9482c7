package test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// What `kubectl apply -k operator/config` installs is what an API server takes, field by field, and is all that an operator needs.
func TestTheKustomizationIsTaken(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), "kubectl"), "kustomize", "../config").Output()
	if err != nil {
		t.Fatal(err)
	}
	namespace := &corev1.Namespace{}
	namespace.Name = "commitlab-system"
	must(client.IgnoreAlreadyExists(kube.Create(t.Context(), namespace)))
	strict := client.WithFieldValidation(kube, "Strict")
	var kinds []string
	for documents := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(out), 4096); ; {
		o := &unstructured.Unstructured{}
		if err := documents.Decode(&o.Object); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, o.GetKind())
		err := strict.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(o), client.FieldOwner("kustomize"), client.ForceOwnership, client.DryRunAll)
		if err != nil {
			t.Errorf("%s %s: %v", o.GetKind(), o.GetName(), err)
		}
	}
	slices.Sort(kinds)
	want := []string{"ClusterRole", "ClusterRoleBinding", "CustomResourceDefinition", "CustomResourceDefinition", "Deployment", "Namespace", "Service", "ServiceAccount"}
	if !slices.Equal(kinds, want) {
		t.Errorf("%v", kinds)
	}
}
