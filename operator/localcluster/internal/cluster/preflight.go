package cluster

import (
	"errors"
	"fmt"
	"os"
	"os/exec"

	"commitlab.dev/localcluster/internal/addons"
	"commitlab.dev/localcluster/internal/host"
	"commitlab.dev/localcluster/internal/layout"
)

// preflight finds out what is missing before anything is changed.
func preflight(l layout.Layout) error {
	if os.Geteuid() != 0 {
		return errors.New("the local cluster makes namespaces, mounts and control groups: run this as root (sudo)")
	}
	for _, program := range []string{"ip", "iptables", "mount"} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("%w: run `make -C operator/localcluster deps`", err)
		}
	}
	if err := networkIsFree(l.Network); err != nil {
		return err
	}
	artefacts := []string{l.Bin("k8s"), l.Debian("usr/bin/containerd"), l.Debian("usr/sbin/runc"), l.Debian("usr/lib/cni/bridge")}
	for _, name := range addons.BaseImages {
		artefacts = append(artefacts, l.ImageArchive(name))
	}
	for _, path := range artefacts {
		if _, err := os.Stat(path); err != nil {
			return fmt.Errorf("%w: run `make -C operator/localcluster build`", err)
		}
	}
	return nil
}

// chooseNetwork returns the network of the cluster that runs, where one does, and else what was asked for.
func chooseNetwork(asked layout.Network, owner *host.Owner) (layout.Network, error) {
	if owner == nil || !owner.Process.Alive() {
		if asked == (layout.Network{}) {
			return layout.DefaultNetwork, nil
		}
		return asked, nil
	}
	running := layout.DefaultNetwork
	if owner.Network != "" {
		var err error
		if running, err = layout.ParseNetwork(owner.Network); err != nil {
			return layout.Network{}, fmt.Errorf("%s: %w", layout.OwnerFile, err)
		}
	}
	if asked != (layout.Network{}) && asked != running {
		return layout.Network{}, fmt.Errorf("the local cluster runs in the network %s, not in %s: `localcluster down` first, or do not ask for another", running, asked)
	}
	return running, nil
}

// networkIsFree refuses a network that would take addresses away from this machine.
func networkIsFree(network layout.Network) error {
	uses, err := host.Uses(layout.HostInterface)
	if err != nil {
		return err
	}
	if use, found := host.Conflict(network.Prefix(), uses); found {
		return fmt.Errorf("the node's network %s is in use on this machine (%s, %s): choose another, such as --node-network 192.168.77.0/24 or %s=192.168.77.0/24 make demo",
			network, use.Prefix, use.What, layout.NetworkVariable)
	}
	return nil
}
