package pki

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"commitlab.dev/localcluster/internal/layout"
)

var kubeconfigTemplate = template.Must(template.New("kubeconfig").Parse(`apiVersion: v1
kind: Config
clusters:
- name: commitlab
  cluster:
    server: {{ .Server }}
    certificate-authority-data: {{ .CA }}
users:
- name: {{ .User }}
  user:
    client-certificate-data: {{ .Cert }}
    client-key-data: {{ .Key }}
contexts:
- name: commitlab
  context: {cluster: commitlab, user: {{ .User }}}
current-context: commitlab
`))

// apiServerHosts are the names under which the API server is called.
func apiServerHosts(network layout.Network) []string {
	return []string{
		"127.0.0.1", network.Node(), layout.APIVIP, "localhost",
		"kubernetes", "kubernetes.default", "kubernetes.default.svc",
		"kubernetes.default.svc." + layout.ClusterDomain,
	}
}

// leaves are the certificates kept as NAME.crt and NAME.key.
func leaves(network layout.Network) map[string]Leaf {
	return map[string]Leaf{
		"apiserver":                {CommonName: "kube-apiserver", Hosts: apiServerHosts(network)},
		"apiserver-kubelet-client": {CommonName: "apiserver-kubelet-client", Organization: "system:masters"},
		"kubelet-server": {
			CommonName: "system:node:" + layout.NodeName, Organization: "system:nodes",
			Hosts: []string{network.Node(), layout.NodeName},
		},
	}
}

// users are the identities that get a kubeconfig, NAME.kubeconfig.
var users = map[string]Leaf{
	"admin":              {CommonName: "admin", Organization: "system:masters"},
	"controller-manager": {CommonName: "system:kube-controller-manager"},
	"scheduler":          {CommonName: "system:kube-scheduler"},
	"proxy":              {CommonName: "system:kube-proxy"},
	"kubelet":            {CommonName: "system:node:" + layout.NodeName, Organization: "system:nodes"},
}

// WriteAll makes the keys of a whole cluster on the network in dir. What is there is replaced.
func WriteAll(dir string, network layout.Network) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	ca, err := NewCA("commitlab local cluster")
	if err != nil {
		return err
	}
	if err := writePair(dir, "ca", &ca.Pair); err != nil {
		return err
	}
	for name, leaf := range leaves(network) {
		if err := signInto(dir, name, ca, leaf); err != nil {
			return err
		}
	}
	for name, leaf := range users {
		if err := writeKubeconfig(filepath.Join(dir, name+".kubeconfig"), network.APIServerURL(), ca, leaf); err != nil {
			return err
		}
	}
	if err := writeFrontProxy(dir); err != nil {
		return err
	}
	return writeServiceAccountKey(dir)
}

// writeFrontProxy makes the separate authority by which aggregated API servers
// recognise the API server.
func writeFrontProxy(dir string) error {
	ca, err := NewCA("commitlab front proxy")
	if err != nil {
		return err
	}
	if err := writePair(dir, "front-proxy-ca", &ca.Pair); err != nil {
		return err
	}
	return signInto(dir, "front-proxy-client", ca, Leaf{CommonName: "front-proxy-client"})
}

func writeServiceAccountKey(dir string) error {
	pair, err := NewCA("service accounts")
	if err != nil {
		return err
	}
	public, err := pair.PublicKeyPEM()
	if err != nil {
		return err
	}
	private, err := pair.KeyPEM()
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "sa.pub"), public, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "sa.key"), private, 0o600)
}

func signInto(dir, name string, ca *CA, leaf Leaf) error {
	pair, err := ca.Sign(leaf)
	if err != nil {
		return err
	}
	return writePair(dir, name, pair)
}

func writePair(dir, name string, pair *Pair) error {
	key, err := pair.KeyPEM()
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, name+".key"), key, 0o600); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, name+".crt"), pair.CertPEM(), 0o644)
}

func writeKubeconfig(path, server string, ca *CA, user Leaf) error {
	pair, err := ca.Sign(user)
	if err != nil {
		return err
	}
	key, err := pair.KeyPEM()
	if err != nil {
		return err
	}
	var text strings.Builder
	err = kubeconfigTemplate.Execute(&text, map[string]string{
		"Server": server,
		"User":   user.CommonName,
		"CA":     base64.StdEncoding.EncodeToString(ca.CertPEM()),
		"Cert":   base64.StdEncoding.EncodeToString(pair.CertPEM()),
		"Key":    base64.StdEncoding.EncodeToString(key),
	})
	if err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text.String()), 0o600)
}
