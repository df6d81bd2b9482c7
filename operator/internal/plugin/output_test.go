package plugin

import (
	"encoding/json"
	"io"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"commitlab.dev/operator/api/v1alpha1"
)

// run gives what a command without arguments writes, in a namespace with one cluster and one test.
func run(t *testing.T, arguments ...string) (string, error) {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	c := &v1alpha1.CommitCluster{}
	c.Namespace, c.Name, c.Spec.Replicas = "n", "demo", 2
	c.Status.Master, c.Status.Epoch = "demo-1", 4
	var out strings.Builder
	s := &session{out: &out, namespace: "n", kube: fake.NewClientBuilder().WithScheme(scheme).WithObjects([]client.Object{c, failedTest()}...).Build()}
	root := newStatusCommand(s)
	if arguments[0] == "recovery" {
		root = newRecoveryCommand(s)
	}
	root.SetArgs(arguments[1:])
	root.SetOut(io.Discard)
	root.SetErr(io.Discard)
	err := root.ExecuteContext(t.Context())
	return out.String(), err
}

func TestReadingCommandsSpeakJSON(t *testing.T) {
	text, err := run(t, "status", "-o", "json")
	if err != nil {
		t.Fatal(err)
	}
	var read v1alpha1.CommitCluster
	if err := json.Unmarshal([]byte(text), &read); err != nil || read.Kind != "CommitCluster" || read.APIVersion != "commitlab.dev/v1alpha1" {
		t.Fatalf("%v\n%s", err, text)
	}
	if read.Name != "demo" || read.Status.Master != "demo-1" || read.Status.Epoch != 4 {
		t.Errorf("%s", text)
	}
	if text, err = run(t, "recovery", "report", "-o", "json"); err != nil {
		t.Fatal(err)
	}
	var test v1alpha1.RecoveryTest
	if err := json.Unmarshal([]byte(text), &test); err != nil || test.Kind != "RecoveryTest" || len(test.Status.LostCommits) != 1 || test.Status.LostCommits[0].ID != 77 {
		t.Errorf("%v\n%s", err, text)
	}
}

func TestWhoHasWrittenAFieldIsNotShown(t *testing.T) {
	c := &v1alpha1.CommitCluster{}
	c.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "somebody"}}
	var out strings.Builder
	if err := printJSON(&out, c); err != nil || strings.Contains(out.String(), "somebody") || len(c.ManagedFields) != 1 {
		t.Errorf("%v\n%s", err, out.String())
	}
}

func TestWithoutAnOutputPeopleAreSpokenTo(t *testing.T) {
	if text, err := run(t, "status"); err != nil || !strings.Contains(text, "Master") || strings.HasPrefix(text, "{") {
		t.Errorf("%v\n%s", err, text)
	}
	for _, arguments := range [][]string{{"status", "-o", "xml"}, {"recovery", "report", "-o", "json", "--html", "page"}} {
		if text, err := run(t, arguments...); err == nil || text != "" {
			t.Errorf("%v is taken: %q", arguments, text)
		}
	}
}
