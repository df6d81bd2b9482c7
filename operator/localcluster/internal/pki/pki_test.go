package pki

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"commitlab.dev/localcluster/internal/layout"
)

func TestServersAreTrustedUnderEveryNameTheyAreCalledBy(t *testing.T) {
	dir := writeAll(t)
	roots := pool(t, filepath.Join(dir, "ca.crt"))
	for _, host := range []string{"10.123.0.2", "127.0.0.1", "10.96.0.1", "kubernetes.default.svc"} {
		verify(t, filepath.Join(dir, "apiserver.crt"), x509.VerifyOptions{Roots: roots, DNSName: host})
	}
	verify(t, filepath.Join(dir, "kubelet-server.crt"), x509.VerifyOptions{Roots: roots, DNSName: layout.DefaultNetwork.Node()})
}

func TestFrontProxyHasItsOwnAuthority(t *testing.T) {
	dir := writeAll(t)
	asClient := []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	client := filepath.Join(dir, "front-proxy-client.crt")
	verify(t, client, x509.VerifyOptions{Roots: pool(t, filepath.Join(dir, "front-proxy-ca.crt")), KeyUsages: asClient})
	_, err := parse(t, client).Verify(x509.VerifyOptions{Roots: pool(t, filepath.Join(dir, "ca.crt")), KeyUsages: asClient})
	if err == nil {
		t.Error("the cluster's authority vouches for the front proxy: any client could pose as it")
	}
}

func TestKubeconfigsCarryTheIdentityThatAuthorizationKnows(t *testing.T) {
	dir := writeAll(t)
	want := map[string]string{
		"admin":              "admin/system:masters",
		"kubelet":            "system:node:" + layout.NodeName + "/system:nodes",
		"controller-manager": "system:kube-controller-manager/",
		"scheduler":          "system:kube-scheduler/",
		"proxy":              "system:kube-proxy/",
	}
	for name, identity := range want {
		pair := kubeconfigPair(t, filepath.Join(dir, name+".kubeconfig"))
		got := pair.Leaf.Subject.CommonName + "/"
		for _, organization := range pair.Leaf.Subject.Organization {
			got += organization
		}
		if got != identity {
			t.Errorf("%s.kubeconfig identifies %q, want %q", name, got, identity)
		}
	}
}

func TestPrivateKeysAreReadableByTheirOwnerOnly(t *testing.T) {
	keys, err := filepath.Glob(filepath.Join(writeAll(t), "*.key"))
	if err != nil || len(keys) == 0 {
		t.Fatalf("no keys: %v", err)
	}
	for _, key := range keys {
		if info, err := os.Stat(key); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v (%v)", key, info.Mode(), err)
		}
	}
}

func writeAll(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := WriteAll(dir, layout.DefaultNetwork); err != nil {
		t.Fatal(err)
	}
	return dir
}

func kubeconfigPair(t *testing.T, path string) tls.Certificate {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	field := func(name string) []byte {
		match := regexp.MustCompile(name + `-data: (\S+)`).FindSubmatch(text)
		if match == nil {
			t.Fatalf("%s has no %s", path, name)
		}
		value, err := base64.StdEncoding.DecodeString(string(match[1]))
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
	pair, err := tls.X509KeyPair(field("client-certificate"), field("client-key"))
	if err != nil {
		t.Fatal(err)
	}
	return pair
}

func verify(t *testing.T, path string, options x509.VerifyOptions) {
	t.Helper()
	if _, err := parse(t, path).Verify(options); err != nil {
		t.Errorf("%s as %q: %v", filepath.Base(path), options.DNSName, err)
	}
}

func parse(t *testing.T, path string) *x509.Certificate {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(content)
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

func pool(t *testing.T, path string) *x509.CertPool {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AddCert(parse(t, path))
	return roots
}
