package test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/certificate"
)

// installCertManager gives the API server its kind, once for all tests.
func installCertManager(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile("testdata/later/cert-manager.yaml")
	must(err)
	crd := &unstructured.Unstructured{}
	must(yaml.Unmarshal(text, &crd.Object))
	must(client.IgnoreAlreadyExists(kube.Create(t.Context(), crd)))
}

// issuer plays cert-manager with an authority of its own.
type issuer struct {
	*site
	authority certificate.Pair
}

func (s *site) certManager() *issuer {
	authority, err := certificate.NewAuthority("theirs", time.Now())
	must(err)
	return &issuer{s, authority}
}

func (i *issuer) find() (*unstructured.Unstructured, error) {
	found := &unstructured.Unstructured{}
	found.SetGroupVersionKind(schema.GroupVersionKind{Group: "cert-manager.io", Version: "v1", Kind: "Certificate"})
	return found, kube.Get(i.t.Context(), types.NamespacedName{Namespace: i.namespace, Name: "demo"}, found)
}

// asked waits for the Certificate of an issuer.
func (i *issuer) asked(of string) *unstructured.Unstructured {
	i.t.Helper()
	var found *unstructured.Unstructured
	i.eventually("a Certificate of "+of, func() (err error) {
		if found, err = i.find(); err != nil {
			return err
		}
		if name, _, _ := unstructured.NestedString(found.Object, "spec", "issuerRef", "name"); name != of {
			return fmt.Errorf("%v", found.Object["spec"])
		}
		return nil
	})
	return found
}

// says sets the condition Ready, as of a generation.
func (i *issuer) says(status, reason, message string, generation int64) {
	i.t.Helper()
	i.eventually("Ready is "+status, func() error {
		c, err := i.find()
		if err != nil {
			return err
		}
		c.Object["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Issuing", "status": "False"},
			map[string]any{"type": "Ready", "status": status, "reason": reason, "message": message, "observedGeneration": generation}}}
		return kube.Status().Update(i.t.Context(), c)
	})
}

// issue writes the Secret that the Certificate asks for, with these names, or with all that are asked for.
func (i *issuer) issue(names ...string) {
	i.t.Helper()
	c, err := i.find()
	must(err)
	if asked, _, _ := unstructured.NestedStringSlice(c.Object, "spec", "dnsNames"); len(names) == 0 {
		names = asked
	}
	leaf, err := i.authority.Sign(names, time.Now())
	must(err)
	secretName, _, _ := unstructured.NestedString(c.Object, "spec", "secretName")
	written := i.secret(secretName)
	written.Namespace, written.Name = i.namespace, secretName
	written.Annotations = map[string]string{"cert-manager.io/certificate-name": c.GetName()}
	written.Data = map[string][]byte{"ca.crt": i.authority.Certificate, "tls.crt": leaf.Certificate, "tls.key": leaf.Key}
	if written.ResourceVersion == "" {
		must(kube.Create(i.t.Context(), written))
	} else {
		must(kube.Update(i.t.Context(), written))
	}
	i.says("True", "Ready", "Certificate is up to date and has not expired", c.GetGeneration())
}

func issuedBy(name string) *v1alpha1.TLSSpec {
	return &v1alpha1.TLSSpec{IssuerRef: &v1alpha1.IssuerReference{Name: name}}
}

// look has the operator look at the objects now: what is not watched it looks at twice a minute.
func (s *site) look() {
	s.change(func(c *v1alpha1.CommitCluster) {
		c.Spec.Failover.HeartbeatTimeout = &metav1.Duration{Duration: c.Spec.Failover.HeartbeatTimeout.Duration + time.Millisecond}
	})
}

// TestCertManagersCertificates begins without cert-manager's kind, so it is one story.
func TestCertManagersCertificates(t *testing.T) {
	s := newSite(t, "demo-0", "demo-1")
	c := demo(s.namespace, 1)
	c.Spec.TLS = issuedBy("ours")
	must(kube.Create(t.Context(), c))
	s.awaitConfiguration(metav1.ConditionFalse, "install cert-manager, or leave issuerRef out")

	installCertManager(t)
	i := s.certManager()
	asked := i.asked("ours")
	s.awaitConfiguration(metav1.ConditionUnknown, "does cert-manager run?")
	spec := asked.Object["spec"].(map[string]any)
	names, _, _ := unstructured.NestedStringSlice(spec, "dnsNames")
	usages, _, _ := unstructured.NestedStringSlice(spec, "usages")
	if !slices.Contains(names, "*.demo."+s.namespace+".svc") || !slices.Contains(names, "demo-master."+s.namespace+".svc") ||
		!slices.Contains(usages, "client auth") || !slices.Contains(usages, "server auth") || spec["duration"] != "2160h0m0s" ||
		spec["renewBefore"] != "720h0m0s" || spec["secretName"] != "demo-issued-tls" || !metav1.IsControlledBy(asked, s.get()) {
		t.Errorf("asked for %v", asked.Object)
	}
	i.says("False", "DoesNotExist", "Issuer.cert-manager.io ours not found", asked.GetGeneration())
	s.awaitConfiguration(metav1.ConditionUnknown, "DoesNotExist: Issuer.cert-manager.io ours not found")
	i.issue("*.elsewhere.svc")
	s.awaitConfiguration(metav1.ConditionFalse, "not demo-master."+s.namespace+".svc")
	if len(s.servers()) > 0 {
		t.Error("servers were made")
	}

	i.issue()
	s.awaitRoles("demo-0", "demo-1")
	s.awaitAllAsk("X509")
	s.awaitConfiguration(metav1.ConditionTrue, "can be used")
	if len(s.secret("demo-tls").Data)+len(s.secret("demo-ca").Data) > 0 {
		t.Error("an authority was made for nothing")
	}

	must(kube.Patch(t.Context(), asked, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"usages":["server auth"],"renewBeforePercentage":10}}`))))
	s.look()
	s.eventually("what somebody has changed of the Certificate is put right", func() error {
		now, err := i.find()
		if usages, _, _ := unstructured.NestedStringSlice(now.Object, "spec", "usages"); err != nil || len(usages) != 3 {
			return fmt.Errorf("%v %v", usages, err)
		}
		return nil
	})
	s.awaitConfiguration(metav1.ConditionUnknown, "is not ready") // of its generation
	now, err := i.find()
	must(err)
	i.says("True", "Ready", "it is", now.GetGeneration())
	s.awaitConfiguration(metav1.ConditionTrue, "can be used")
	s.isWhole()
}

// Who changes where certificates come from is told to have all servers start without; whoever does it in two steps at once is, too.
// Nobody is locked out meanwhile, and in the end the cluster has what was asked for.
func TestCertificatesFromElsewhereTakeTheWayOverNone(t *testing.T) {
	installCertManager(t)
	s := newSite(t, "demo-0", "demo-1")
	i := s.certManager()
	c := demo(s.namespace, 1)
	c.Spec.TLS = &v1alpha1.TLSSpec{}
	must(kube.Create(t.Context(), c))
	s.awaitRoles("demo-0", "demo-1")
	s.awaitAllAsk("X509")
	refused := func(text string, tls *v1alpha1.TLSSpec) {
		t.Helper()
		s.eventually("it is refused", func() error {
			c := s.get()
			c.Spec.TLS = tls
			if err := kube.Update(t.Context(), c); err == nil || !strings.Contains(err.Error(), text) {
				return fmt.Errorf("%v", err)
			}
			return nil
		})
	}
	refused("issuerRef cannot be changed while servers use", issuedBy("ours"))
	refused("has both secretName and issuerRef", &v1alpha1.TLSSpec{SecretName: "mine", IssuerRef: issuedBy("ours").IssuerRef})
	ask := func(tls *v1alpha1.TLSSpec) { s.change(func(c *v1alpha1.CommitCluster) { c.Spec.TLS = tls }) }
	from := func(secret, asks string) {
		t.Helper()
		s.eventually("certificates of "+secret, func() error {
			if got := s.get().Status.Certificates; got != secret {
				return fmt.Errorf("%q", got)
			}
			return nil
		})
		s.awaitAllAsk(asks)
		s.awaitCondition(v1alpha1.ConditionReady, true)
		s.awaitCondition(v1alpha1.ConditionProgressing, false)
		s.isWhole()
	}
	ask(nil)
	ask(issuedBy("ours"))
	s.awaitConfiguration(metav1.ConditionFalse, "servers still serve with the certificates of Secret demo-tls")
	ask(nil)
	from("", "NONE")

	must(kube.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "demo-issued-tls"}}))
	ask(issuedBy("ours"))
	s.awaitConfiguration(metav1.ConditionFalse, "which cert-manager would write over")
	must(kube.Delete(t.Context(), s.secret("demo-issued-tls")))
	i.asked("ours")
	i.issue()
	from("demo-issued-tls", "X509")

	refused("issuerRef cannot be changed while servers use", issuedBy("others"))
	ask(nil)
	ask(issuedBy("others"))
	s.awaitConfiguration(metav1.ConditionFalse, "servers still serve with certificates of Issuer ours")
	ask(nil)
	from("", "NONE")
	ask(&v1alpha1.TLSSpec{})
	from("demo-tls", "X509")
}
