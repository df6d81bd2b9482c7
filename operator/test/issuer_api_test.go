package test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"commitlab.dev/operator/api/v1alpha1"
)

func TestAnIssuerIsCertManagersInTheClustersNamespaceByDefault(t *testing.T) {
	s := newSite(t)
	c := demo(s.namespace, 2)
	c.Spec.TLS = issuedBy("ours")
	must(kube.Create(t.Context(), c, client.DryRunAll))
	if got := *c.Spec.TLS.IssuerRef; got != (v1alpha1.IssuerReference{Name: "ours", Kind: "Issuer", Group: "cert-manager.io"}) {
		t.Errorf("%+v", got)
	}
}

func TestIssuersThatCannotBeAreRefusedWithAHint(t *testing.T) {
	s := newSite(t)
	for what, c := range map[string]struct{ tls, want string }{
		"no name":           {`{"issuerRef":{"kind":"ClusterIssuer"}}`, "spec.tls.issuerRef.name: Required value"},
		"an empty name":     {`{"issuerRef":{"name":""}}`, "spec.tls.issuerRef.name"},
		"an empty kind":     {`{"issuerRef":{"name":"ours","kind":""}}`, "spec.tls.issuerRef.kind"},
		"an empty group":    {`{"issuerRef":{"name":"ours","group":""}}`, "spec.tls.issuerRef.group"},
		"a Secret as well":  {`{"secretName":"mine","issuerRef":{"name":"ours"}}`, "leave one of them out; with issuerRef cert-manager writes a Secret of its own"},
		"an unknown field":  {`{"issuerRef":{"name":"ours","apiVersion":"v1"}}`, `unknown field "spec.tls.issuerRef.apiVersion"`},
		"an empty Secret's": {`{"secretName":""}`, "spec.tls.secretName"},
	} {
		t.Run(what, func(t *testing.T) {
			o := unstructuredDemo(s.namespace, c.tls)
			err := client.WithFieldValidation(kube, "Strict").Create(t.Context(), o, client.DryRunAll)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("want an error with %q, got %v", c.want, err)
			}
		})
	}
}

// unstructuredDemo has exactly what a person has written for spec.tls.
func unstructuredDemo(namespace, tls string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"replicas": int64(2), "storage": map[string]any{"size": "1Gi"}}}}
	o.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("CommitCluster"))
	o.SetNamespace(namespace)
	o.SetName("demo")
	written := map[string]any{}
	must(json.Unmarshal([]byte(tls), &written))
	must(unstructured.SetNestedMap(o.Object, written, "spec", "tls"))
	return o
}

// Another issuer under the same name is another one, too.
func TestAnIssuerInUseCannotBeExchanged(t *testing.T) {
	s := newSite(t)
	c := demo(s.namespace, 2)
	c.Spec.TLS = issuedBy("ours")
	c.Spec.Paused = true
	must(kube.Create(t.Context(), c))
	for what, change := range map[string]func(*v1alpha1.IssuerReference){
		"name":  func(r *v1alpha1.IssuerReference) { r.Name = "others" },
		"kind":  func(r *v1alpha1.IssuerReference) { r.Kind = "ClusterIssuer" },
		"group": func(r *v1alpha1.IssuerReference) { r.Group = "issuers.example" },
	} {
		s.eventually(what, func() error {
			c := s.get()
			change(c.Spec.TLS.IssuerRef)
			if err := kube.Update(t.Context(), c, client.DryRunAll); err == nil || !strings.Contains(err.Error(), "issuerRef cannot be changed while servers use") {
				return fmt.Errorf("it is taken, or refused by %w", err)
			}
			return nil
		})
	}
}

// What the sample says about an issuer, and about a Secret, is what the API takes.
func TestTheSampleOfTLSIsTakenInEachOfItsWays(t *testing.T) {
	s := newSite(t)
	text, err := os.ReadFile("../config/samples/commitcluster-tls.yaml")
	must(err)
	for comments, check := range map[string]func(*v1alpha1.TLSSpec) bool{
		"":          func(tls *v1alpha1.TLSSpec) bool { return tls.IssuerRef == nil && tls.SecretName == "" },
		"issuerRef": func(tls *v1alpha1.TLSSpec) bool { return tls.IssuerRef != nil && tls.IssuerRef.Kind == "ClusterIssuer" },
		"secretName": func(tls *v1alpha1.TLSSpec) bool {
			return tls.SecretName == "secure-certificates"
		},
	} {
		c := &v1alpha1.CommitCluster{}
		must(yaml.UnmarshalStrict([]byte(uncommented(string(text), comments)), c))
		c.Namespace = s.namespace
		if err := kube.Create(t.Context(), c, client.DryRunAll); err != nil || !check(c.Spec.TLS) {
			t.Errorf("%q: %+v: %v", comments, c.Spec.TLS, err)
		}
	}
}

// uncommented takes the comment off a field, and off what belongs to it.
func uncommented(text, field string) string {
	if field == "" {
		return text
	}
	var lines []string
	inside := false
	for line := range strings.Lines(text) {
		bare, isComment := strings.CutPrefix(line, "    # ")
		begins := isComment && strings.HasPrefix(bare, field+":")
		if inside = begins || (inside && isComment && strings.HasPrefix(bare, "  ")); inside {
			line = "    " + bare
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "")
}
