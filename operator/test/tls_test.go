package test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/certificate"
	"commitlab.dev/operator/internal/engine"
)

func (s *site) secret(name string) *corev1.Secret {
	found := &corev1.Secret{}
	if err := kube.Get(s.t.Context(), types.NamespacedName{Namespace: s.namespace, Name: name}, found); client.IgnoreNotFound(err) != nil {
		s.t.Fatal(err)
	}
	return found
}

// awaitAllAsk waits until every server asks for certificates, or none does.
func (s *site) awaitAllAsk(want string) {
	s.t.Helper()
	s.awaitValue("commitd_built_in_accounts_require", want)
}

func (s *site) isWhole() {
	s.t.Helper()
	if s.world.Broken != "" || len(s.world.Lost()) > 0 {
		s.t.Error(s.world.Broken, s.world.Lost())
	}
}

func TestAClusterWithCertificatesAsksForThemOnceAllHaveThem(t *testing.T) {
	s := newSite(t, "demo-0", "demo-1", "demo-2")
	c := demo(s.namespace, 2)
	c.Spec.TLS = &v1alpha1.TLSSpec{RequireSecureTransport: true}
	must(kube.Create(t.Context(), c))
	s.awaitRoles("demo-0", "demo-1", "demo-2")
	s.awaitAllAsk("X509")
	s.awaitValue("require_secure_transport", "ON")
	s.awaitCondition(v1alpha1.ConditionReady, true)
	status, err := s.world.Server("demo-1").WithoutCertificate().Status(t.Context())
	if !errors.Is(err, engine.ErrDenied) {
		t.Errorf("the operator's account gets in without a certificate: %v, %v", status, err)
	}
	leaf := s.secret("demo-tls")
	names := []string{"demo-master." + s.namespace + ".svc", "demo-2.demo." + s.namespace + ".svc"}
	if err := certificate.Check(certificate.Pair{Certificate: leaf.Data["tls.crt"], Key: leaf.Data["tls.key"]}, leaf.Data["ca.crt"], names, time.Now()); err != nil {
		t.Error(err)
	}
	public := &corev1.ConfigMap{}
	must(kube.Get(t.Context(), types.NamespacedName{Namespace: s.namespace, Name: "demo-ca"}, public))
	if public.Data["ca.crt"] != string(leaf.Data["ca.crt"]) {
		t.Error("applications are told of another authority")
	}
	s.world.Kill("demo-0")
	s.eventually("another master, by certificates alone", func() error {
		if st := s.get().Status; st.Master == "demo-0" || st.Quorum == nil || len(st.PriorQuorums) > 0 {
			return fmt.Errorf("%+v", st.Record)
		}
		return nil
	})
	s.isWhole()
}

func TestCertificatesComeAndGoByARollingRestart(t *testing.T) {
	s := newSite(t, "demo-0", "demo-1", "demo-2")
	must(kube.Create(t.Context(), demo(s.namespace, 2)))
	s.awaitRoles("demo-0", "demo-1", "demo-2")
	s.awaitCondition(v1alpha1.ConditionReady, true)
	s.world.Write("demo-0", 1)
	for _, step := range []struct {
		tls  *v1alpha1.TLSSpec
		asks string
	}{{&v1alpha1.TLSSpec{}, "X509"}, {nil, "NONE"}} {
		before := s.servers()
		s.change(func(c *v1alpha1.CommitCluster) { c.Spec.TLS = step.tls })
		s.eventually("every pod is another one", func() error {
			after := s.servers()
			for name := range before {
				if after[name] == "" || after[name] == before[name] {
					return fmt.Errorf("%s is not: %+v", name, s.get().Status.Conditions)
				}
			}
			return nil
		})
		s.awaitAllAsk(step.asks)
		s.awaitCondition(v1alpha1.ConditionReady, true)
		s.awaitCondition(v1alpha1.ConditionProgressing, false)
	}
	s.eventually("nothing is left of them", func() error {
		if st := s.get().Status; st.Certificates != "" || st.CertificatesRequired {
			return fmt.Errorf("%s %v", st.Certificates, st.CertificatesRequired)
		}
		return nil
	})
	s.isWhole()
}

func TestALostCertificateIsMadeAnewAndWhoWasTrustedStaysSo(t *testing.T) {
	s := newSite(t, "demo-0", "demo-1")
	c := demo(s.namespace, 1)
	c.Spec.TLS = &v1alpha1.TLSSpec{}
	must(kube.Create(t.Context(), c))
	s.awaitRoles("demo-0", "demo-1")
	before, authority := s.secret("demo-tls"), s.secret("demo-ca")
	must(kube.Delete(t.Context(), authority))
	must(kube.Delete(t.Context(), s.secret("demo-tls")))
	s.change(func(c *v1alpha1.CommitCluster) {
		c.Spec.Failover.HeartbeatTimeout = &metav1.Duration{Duration: 3001 * time.Millisecond}
	})
	s.eventually("another certificate", func() error {
		after := s.secret("demo-tls")
		if len(after.Data) == 0 || bytes.Equal(after.Data["tls.crt"], before.Data["tls.crt"]) {
			return fmt.Errorf("%d keys", len(after.Data))
		}
		return nil
	})
	s.eventually("it is said", func() error {
		if said := s.events("CertificatesRenewed"); len(said) < 2 {
			return fmt.Errorf("%v", said)
		}
		return nil
	})
}

func TestACertificateOfSomebodyElseIsCheckedBeforeAnyServerGetsIt(t *testing.T) {
	s := newSite(t, "demo-0", "demo-1")
	c := demo(s.namespace, 1)
	c.Spec.TLS = &v1alpha1.TLSSpec{SecretName: "theirs"}
	must(kube.Create(t.Context(), c))
	s.awaitConfiguration(metav1.ConditionFalse, `"theirs" not found`)
	authority, err := certificate.NewAuthority("theirs", time.Now())
	must(err)
	theirs := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "theirs"}}
	put := func(names ...string) {
		leaf, err := authority.Sign(names, time.Now())
		must(err)
		theirs.Data = map[string][]byte{"ca.crt": authority.Certificate, "tls.crt": leaf.Certificate, "tls.key": leaf.Key}
		if theirs.ResourceVersion == "" {
			must(kube.Create(t.Context(), theirs))
		} else {
			must(kube.Update(t.Context(), theirs))
		}
		s.change(func(c *v1alpha1.CommitCluster) { c.Annotations = map[string]string{"look": names[0]} })
	}
	put("*.elsewhere.svc")
	s.change(func(c *v1alpha1.CommitCluster) {
		c.Spec.Failover.HeartbeatTimeout = &metav1.Duration{Duration: 3001 * time.Millisecond}
	})
	s.awaitConfiguration(metav1.ConditionFalse, "not demo-master."+s.namespace+".svc")
	if len(s.servers()) > 0 {
		t.Error("servers were made")
	}
	put("*.demo."+s.namespace+".svc", "demo-master."+s.namespace+".svc")
	s.change(func(c *v1alpha1.CommitCluster) {
		c.Spec.Failover.HeartbeatTimeout = &metav1.Duration{Duration: 3002 * time.Millisecond}
	})
	s.awaitRoles("demo-0", "demo-1")
	s.awaitAllAsk("X509")
	if err := kube.Get(t.Context(), types.NamespacedName{Namespace: s.namespace, Name: "demo-ca"}, &corev1.Secret{}); err == nil {
		t.Error("an authority was made for nothing")
	}
	s.eventually("another Secret is refused", func() error {
		c := s.get()
		c.Spec.TLS.SecretName = "others"
		if err := kube.Update(t.Context(), c); err == nil || !strings.Contains(err.Error(), "secretName cannot be changed") {
			return fmt.Errorf("%v", err)
		}
		return nil
	})
}

func TestASecretOfThatNameThatIsNotTheClustersIsNotTouched(t *testing.T) {
	s := newSite(t, "demo-0", "demo-1")
	taken := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "demo-tls"}, Data: map[string][]byte{"mine": []byte("precious")}}
	must(kube.Create(t.Context(), taken))
	c := demo(s.namespace, 1)
	c.Spec.TLS = &v1alpha1.TLSSpec{}
	must(kube.Create(t.Context(), c))
	s.awaitConfiguration(metav1.ConditionFalse, "there is a Secret demo-tls that is not this cluster's")
	if after := s.secret("demo-tls"); len(after.Data) != 1 || !slices.Equal(after.Data["mine"], taken.Data["mine"]) {
		t.Error(after.Data)
	}
}
