package controller

import (
	"slices"
	"strings"
	"testing"

	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/cluster"
)

func protected() *v1alpha1.CommitCluster {
	c := demo()
	c.Spec.TLS = &v1alpha1.TLSSpec{RequireSecureTransport: true}
	return c
}

func TestServersServeWithTheClustersCertificates(t *testing.T) {
	set, err := BuildStatefulSet(protected(), "commitd:1")
	if err != nil {
		t.Fatal(err)
	}
	pod := set.Spec.Template.Spec
	args := strings.Join(pod.Containers[0].Args, " ")
	for _, want := range []string{"--ssl-ca=/etc/commitd/tls/ca.crt", "--ssl-cert=/etc/commitd/tls/tls.crt", "--ssl-key=/etc/commitd/tls/tls.key",
		"--clone-ssl-ca=/etc/commitd/tls/ca.crt", "--commitd-tls-reload-interval="} {
		if !strings.Contains(args, want) {
			t.Errorf("%s is missing in %s", want, args)
		}
	}
	volume := pod.Volumes[len(pod.Volumes)-1]
	if *volume.Secret.SecretName != "demo-tls" || len(volume.Secret.Items) != 3 {
		t.Errorf("%+v", volume.Secret)
	}
	if !slices.ContainsFunc(pod.Containers[0].VolumeMounts, func(m corev1ac.VolumeMountApplyConfiguration) bool { return *m.MountPath == "/etc/commitd/tls" }) {
		t.Error("it is not mounted")
	}
	if strings.Contains(args, "require") && !strings.Contains(args, "--require-bootstrap") || strings.Contains(args, "secure-transport") {
		t.Error("certificates are asked for before every server has one")
	}
}

func TestWhoStartsWhenAllHaveCertificatesAsksForThemAtOnce(t *testing.T) {
	c := protected()
	c.Status.CertificatesRequired = true
	args := strings.Join(tlsArgs(c), " ")
	if !strings.Contains(args, "--commitd-built-in-accounts-require=X509 --require-secure-transport=ON") {
		t.Error(args)
	}
	c.Spec.TLS.RequireSecureTransport = false
	if args := strings.Join(tlsArgs(c), " "); !strings.Contains(args, "--require-secure-transport=OFF") {
		t.Error(args)
	}
	c.Spec.TLS = nil
	if args := tlsArgs(c); args != nil {
		t.Error(args)
	}
}

func TestCertificatesAreAskedForOnceNobodyIsLeftWithout(t *testing.T) {
	seen := func(with ...bool) (v cluster.View) {
		for _, has := range with {
			s := cluster.Server{PodUID: "there"}
			if has {
				s.TLSName = "name"
			}
			v.Servers = append(v.Servers, s)
		}
		return v
	}
	c := protected()
	for _, step := range []struct {
		tls      bool
		view     cluster.View
		required bool
		secret   string
	}{
		{true, seen(false, false, false), false, "demo-tls"},
		{true, seen(false, true, true), false, "demo-tls"},
		{true, cluster.View{}, false, "demo-tls"},
		{true, seen(true, true, true), true, "demo-tls"},
		{true, seen(true, true, false), true, "demo-tls"}, // one that is being made
		{false, seen(true, true, true), false, "demo-tls"},
		{false, seen(true, false, false), false, "demo-tls"},
		{false, cluster.View{Servers: []cluster.Server{{}}}, false, "demo-tls"}, // whose pod is not seen
		{false, seen(false, false, false), false, ""},
	} {
		if c.Spec.TLS = nil; step.tls {
			c.Spec.TLS = &v1alpha1.TLSSpec{}
		}
		noteCertificates(c, step.view)
		if c.Status.CertificatesRequired != step.required || c.Status.Certificates != step.secret {
			t.Errorf("%+v: required %v, from %q", step, c.Status.CertificatesRequired, c.Status.Certificates)
		}
	}
}

// Another Secret, asked for before every server has left the former one's certificates.
func TestWhoHasTheFormerCertificatesIsReachedByThem(t *testing.T) {
	c := protected()
	c.Status.Certificates = "former"
	noteCertificates(c, cluster.View{Servers: []cluster.Server{{PodUID: "p", TLSName: "n"}}})
	if c.Status.Certificates != "former" || certificatesInUse(c) != "former" {
		t.Errorf("%q", c.Status.Certificates)
	}
	if err := (&Reconciler{}).ensureCertificates(t.Context(), c); err == nil || !strings.Contains(err.Error(), "Secret former") {
		t.Error(err)
	}
}

func TestOtherCertificatesTakeARestartAndReplacedOnesDoNot(t *testing.T) {
	plain, err := configurationOf(demo())
	if err != nil {
		t.Fatal(err)
	}
	with, err := configurationOf(protected())
	if err != nil {
		t.Fatal(err)
	}
	never := func(string) bool { return false }
	if changesOf(&plain, &with).outdated(never) != "tls" || changesOf(&with, &plain).outdated(never) != "tls" || changesOf(&with, &with).outdated(never) != "" {
		t.Error("a server's certificates are what its Secret has")
	}
}

func TestVariablesOfTLSBelongToTheSpecsOwnField(t *testing.T) {
	for _, name := range []string{"ssl_ca", "require_secure_transport", "clone-ssl-key", "loose_commitd_built_in_accounts_require"} {
		if _, err := variableFlags(variables(demo(), name, `"x"`)); err == nil || !strings.Contains(err.Error(), "spec.tls") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
