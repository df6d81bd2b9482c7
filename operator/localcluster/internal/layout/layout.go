// Package layout says where the local cluster keeps things: on the host, inside
// the node, and on the network between the two.
package layout

import (
	"fmt"
	"os"
	"path/filepath"
)

// Paths inside the node's mount namespace. They are the same on every machine,
// so that configuration files need no templating and sockets stay short.
const (
	NodeRun        = "/run/commitlab"
	NodeBin        = NodeRun + "/bin"    // Layout.Bin
	NodeDebian     = NodeRun + "/debian" // Layout.Debian
	NodeState      = NodeRun + "/state"  // Layout.State
	NodePKI        = NodeState + "/pki"
	NodeConfig     = NodeState + "/config"
	NodeContainerd = "/run/containerd/containerd.sock"
)

// OwnerFile names the one running cluster of this machine.
const OwnerFile = "/run/commitlab-localcluster.json"

// Layout finds things on the host, below the build folder of a checkout, and on the network to the node.
type Layout struct {
	Build   string
	Network Network
}

// Find takes the build folder from the place of the running program, which is
// build/bin/localcluster.
func Find() (Layout, error) {
	exe, err := os.Executable()
	if err != nil {
		return Layout{}, err
	}
	bin := filepath.Dir(exe)
	if filepath.Base(bin) != "bin" {
		return Layout{}, fmt.Errorf("%s is not in a build/bin folder: say with --build-dir where the build folder is", exe)
	}
	return Layout{Build: filepath.Dir(bin)}, nil
}

// Bin holds the programs that were compiled.
func (l Layout) Bin(name string) string { return filepath.Join(l.Build, "bin", name) }

// Debian holds unpacked (not installed) Debian packages.
func (l Layout) Debian(path string) string {
	return filepath.Join(l.Build, "localcluster", "debian", path)
}

// ImageArchive is where the archive of one of the cluster's own images lies.
func (l Layout) ImageArchive(name string) string {
	return filepath.Join(l.Build, "localcluster", "images", name+".tar")
}

// Charts holds other projects' Helm charts as they are installed here.
func (l Layout) Charts(name string) string {
	return filepath.Join(l.Build, "localcluster", "charts", name)
}

// State holds everything a running cluster writes; `down` deletes it.
func (l Layout) State(elem ...string) string {
	return filepath.Join(append([]string{l.Build, "localcluster", "node"}, elem...)...)
}

// Kubeconfig is the administrator's kubeconfig.
func (l Layout) Kubeconfig() string { return l.State("kubeconfig") }
