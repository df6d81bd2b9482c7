package cluster

import (
	"errors"
	"fmt"
	"os"
	"os/exec"

	"commitlab.dev/localcluster/internal/addons"
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
