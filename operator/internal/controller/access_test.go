package controller

import (
	"maps"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/certificate"
)

// vault is an API server that has Secrets only, and an observer that reads them.
func vault(t *testing.T, c *v1alpha1.CommitCluster) (*memory, *Observer) {
	t.Helper()
	m := newMemory()
	put(m, c, credentialsSecret(c), map[string][]byte{keyOperatorPassword: []byte("o"), keyReplicationPassword: []byte("r")})
	return m, &Observer{Client: m, Reader: m}
}

func put(m *memory, c *v1alpha1.CommitCluster, name string, data map[string][]byte) {
	secret := &corev1.Secret{Data: data}
	secret.Namespace, secret.Name = c.Namespace, name
	m.store(secret)
}

func certificatesOf(t *testing.T, c *v1alpha1.CommitCluster) map[string][]byte {
	t.Helper()
	authority, err := certificate.NewAuthority("demo", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := authority.Sign(certificateNames(c), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{keyAuthority: authority.Certificate, corev1.TLSCertKey: leaf.Certificate, corev1.TLSPrivateKeyKey: leaf.Key}
}

// Whatever somebody does to the Secret with the certificates, the operator reaches servers by those that it had, until there are
// others that can be used.
func TestASpoiltSecretTakesNobodysAccessAway(t *testing.T) {
	c := protected()
	m, o := vault(t, c)
	good := certificatesOf(t, c)
	has := func(data map[string][]byte) {
		t.Helper()
		a, err := o.accessTo(t.Context(), c)
		if err != nil || a.tls.Certificate != string(data[corev1.TLSCertKey]) || a.tls.Key != string(data[corev1.TLSPrivateKeyKey]) ||
			a.tls.Authorities != string(data[keyAuthority]) {
			t.Errorf("%v: %d bytes of a certificate by %d bytes of authorities", err, len(a.tls.Certificate), len(a.tls.Authorities))
		}
	}
	with := func(key, value string) map[string][]byte {
		spoilt := map[string][]byte{}
		for k, v := range good {
			spoilt[k] = v
		}
		spoilt[key] = []byte(value)
		return spoilt
	}
	put(m, c, "demo-tls", good)
	has(good)
	for what, spoilt := range map[string]map[string][]byte{
		"empty":                {},
		"no certificate":       with(corev1.TLSCertKey, ""),
		"half a certificate":   with(corev1.TLSCertKey, string(good[corev1.TLSCertKey][:100])),
		"no key":               with(corev1.TLSPrivateKeyKey, ""),
		"the key of another":   with(corev1.TLSPrivateKeyKey, string(certificatesOf(t, c)[corev1.TLSPrivateKeyKey])),
		"no authority":         with(keyAuthority, ""),
		"no authority at all":  with(keyAuthority, "nothing"),
		"something else in it": {"mine": []byte("precious")},
	} {
		t.Run(what, func(t *testing.T) {
			put(m, c, "demo-tls", spoilt)
			has(good)
		})
	}
	other := certificatesOf(t, c)
	put(m, c, "demo-tls", other)
	has(other)
}

func TestASecretThatIsGoneTakesNobodysAccessAway(t *testing.T) {
	c := protected()
	m, o := vault(t, c)
	put(m, c, "demo-tls", certificatesOf(t, c))
	before, err := o.accessTo(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	o.Reader = newMemory()
	if after, err := o.accessTo(t.Context(), c); err != nil || after.tls != before.tls || !maps.Equal(after.logins, before.logins) {
		t.Errorf("%v", err)
	}
	if _, err := (&Observer{Client: m, Reader: newMemory()}).accessTo(t.Context(), c); err == nil {
		t.Error("an operator that has never seen the Secret cannot know the password")
	}
}
