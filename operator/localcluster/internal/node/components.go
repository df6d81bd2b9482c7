package node

import (
	"bytes"
	"embed"
	"io/fs"
	"os"
	"path/filepath"

	"commitlab.dev/localcluster/internal/layout"
)

//go:embed config
var configFiles embed.FS

// WriteConfig copies the programs' configuration files to dir; @NODE@ in them is the node's address.
func WriteConfig(dir string, network layout.Network) error {
	return fs.WalkDir(configFiles, "config", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel("config", path)
		if err != nil {
			return err
		}
		target := filepath.Join(dir, rel)
		if entry.IsDir() {
			return os.MkdirAll(target, 0o755)
		}
		content, err := configFiles.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(target, bytes.ReplaceAll(content, []byte("@NODE@"), []byte(network.Node())), 0o644)
	})
}

// Component is a program that the node keeps running.
type Component struct {
	Name string
	Path string
	Args []string // without the program's own name
}

func kubernetes(name string, args ...string) Component {
	return Component{Name: name, Path: layout.NodeBin + "/k8s", Args: args}
}

func pki(name string) string { return layout.NodePKI + "/" + name }

// apiServerComponents must run before the rest can do anything useful.
func apiServerComponents(network layout.Network) []Component {
	return []Component{
		{
			Name: "containerd", Path: layout.NodeDebian + "/usr/bin/containerd",
			Args: []string{"--config", layout.NodeConfig + "/containerd.toml"},
		},
		kubernetes("etcd",
			"--name=commitlab", "--data-dir=/var/lib/etcd",
			"--listen-client-urls=http://127.0.0.1:2379", "--advertise-client-urls=http://127.0.0.1:2379",
			"--listen-peer-urls=http://127.0.0.1:2380", "--initial-advertise-peer-urls=http://127.0.0.1:2380",
			"--initial-cluster=commitlab=http://127.0.0.1:2380",
			// The cluster lives no longer than the machine runs, and its disk
			// should be busy with the databases under test only.
			"--unsafe-no-fsync", "--log-level=warn"),
		kubernetes("kube-apiserver",
			"--etcd-servers=http://127.0.0.1:2379",
			"--bind-address=0.0.0.0", "--advertise-address="+network.Node(), "--secure-port="+layout.APIPort,
			"--service-cluster-ip-range="+layout.ServiceCIDR,
			"--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction", "--allow-privileged=true",
			"--client-ca-file="+pki("ca.crt"),
			"--tls-cert-file="+pki("apiserver.crt"), "--tls-private-key-file="+pki("apiserver.key"),
			"--kubelet-client-certificate="+pki("apiserver-kubelet-client.crt"),
			"--kubelet-client-key="+pki("apiserver-kubelet-client.key"),
			"--kubelet-certificate-authority="+pki("ca.crt"), "--kubelet-preferred-address-types=InternalIP",
			"--service-account-issuer=https://kubernetes.default.svc."+layout.ClusterDomain,
			"--service-account-key-file="+pki("sa.pub"), "--service-account-signing-key-file="+pki("sa.key"),
			"--requestheader-client-ca-file="+pki("front-proxy-ca.crt"),
			"--requestheader-allowed-names=front-proxy-client",
			"--requestheader-extra-headers-prefix=X-Remote-Extra-",
			"--requestheader-group-headers=X-Remote-Group", "--requestheader-username-headers=X-Remote-User",
			"--proxy-client-cert-file="+pki("front-proxy-client.crt"),
			"--proxy-client-key-file="+pki("front-proxy-client.key"),
			"--profiling=false"),
	}
}

// nodeComponents need an API server.
func nodeComponents(network layout.Network) []Component {
	return []Component{
		kubernetes("kube-controller-manager",
			"--kubeconfig="+pki("controller-manager.kubeconfig"),
			"--authentication-kubeconfig="+pki("controller-manager.kubeconfig"),
			"--authorization-kubeconfig="+pki("controller-manager.kubeconfig"),
			"--bind-address=127.0.0.1", "--leader-elect=false", "--use-service-account-credentials",
			"--service-account-private-key-file="+pki("sa.key"), "--root-ca-file="+pki("ca.crt"),
			"--cluster-signing-cert-file="+pki("ca.crt"), "--cluster-signing-key-file="+pki("ca.key"),
			"--cluster-cidr="+layout.PodCIDR, "--service-cluster-ip-range="+layout.ServiceCIDR,
			"--flex-volume-plugin-dir=/var/lib/kubelet/volumeplugins", "--node-monitor-grace-period=20s"),
		kubernetes("kube-scheduler",
			"--kubeconfig="+pki("scheduler.kubeconfig"),
			"--authentication-kubeconfig="+pki("scheduler.kubeconfig"),
			"--authorization-kubeconfig="+pki("scheduler.kubeconfig"),
			"--bind-address=127.0.0.1", "--leader-elect=false"),
		kubernetes("kubelet",
			"--config="+layout.NodeConfig+"/kubelet.yaml", "--kubeconfig="+pki("kubelet.kubeconfig"),
			"--hostname-override="+layout.NodeName, "--node-ip="+network.Node()),
		kubernetes("kube-proxy", "--config="+layout.NodeConfig+"/kube-proxy.yaml"),
	}
}
