// Package cluster brings the local cluster up and takes it down.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"commitlab.dev/localcluster/internal/addons"
	"commitlab.dev/localcluster/internal/host"
	"commitlab.dev/localcluster/internal/image"
	"commitlab.dev/localcluster/internal/layout"
	"commitlab.dev/localcluster/internal/node"
	"commitlab.dev/localcluster/internal/pki"
)

const (
	sysctlRoot = "/proc/sys"
	cgroupRoot = "/sys/fs/cgroup"

	readyLimit = 2 * time.Minute
)

// ErrNotRunning is returned by what needs a running cluster.
var ErrNotRunning = errors.New("the local cluster is not running: start it with `localcluster up`")

// Up brings the cluster up, or finds it running, and returns when it is usable.
func Up(ctx context.Context, l layout.Layout, out io.Writer) error {
	p := newProgress(out)
	owner, err := host.ReadOwner(layout.OwnerFile)
	if err != nil {
		return err
	}
	if err := owner.CheckFree(l.Build); err != nil {
		return err
	}
	if l.Network, err = chooseNetwork(l.Network, owner); err != nil {
		return err
	}
	if err := preflight(l); err != nil {
		return err
	}
	if owner != nil && owner.Process.Alive() {
		p.done("node is running (process %d)", owner.Process.PID)
	} else if owner, err = startNode(l, owner); err != nil {
		return err
	} else {
		p.done("node started (process %d)", owner.Process.PID)
	}
	return finish(ctx, l, owner.Process, p)
}

// startNode makes a node with fresh state; stale is the record of one that is gone.
func startNode(l layout.Layout, stale *host.Owner) (*host.Owner, error) {
	if stale != nil {
		if err := cleanUp(layout.Layout{Build: stale.Build}, stale); err != nil {
			return nil, err
		}
	}
	if err := os.RemoveAll(l.State()); err != nil {
		return nil, err
	}
	if err := pki.WriteAll(l.State("pki"), l.Network); err != nil {
		return nil, err
	}
	if err := node.WriteConfig(l.State("config"), l.Network); err != nil {
		return nil, err
	}
	if err := os.Symlink("pki/admin.kubeconfig", l.Kubeconfig()); err != nil {
		return nil, err
	}
	// Recorded before anything is changed, so that what was is never lost.
	owner := &host.Owner{Build: l.Build, Network: l.Network.String(), Sysctls: host.SaveSysctls(sysctlRoot)}
	if err := owner.Write(layout.OwnerFile); err != nil {
		return nil, err
	}
	pid, err := node.Start(l)
	if err != nil {
		return nil, err
	}
	if owner.Process, err = host.Identify(pid); err != nil {
		return nil, fmt.Errorf("the node ended at once: see %s", l.State("log", "node.log"))
	}
	return owner, owner.Write(layout.OwnerFile)
}

// finish takes a node that was started to a cluster that can be used. Every
// step may be repeated.
func finish(ctx context.Context, l layout.Layout, process host.Process, p *progress) error {
	ctx, cancel := context.WithTimeout(ctx, readyLimit)
	defer cancel()
	steps := []struct {
		reached string
		run     func() error
	}{
		{"container runtime ready", func() error {
			return wait(ctx, l, process, "containerd", func() error { return dial("unix", runtimeSocket(process)) })
		}},
		{"images loaded: " + strings.Join(addons.BaseImages, ", "), func() error { return load(l, process, addons.BaseImages) }},
		{"API server ready", func() error {
			return wait(ctx, l, process, "kube-apiserver", func() error { return addons.Kubectl(l, "", "get", "--raw", "/readyz") })
		}},
		{"node Ready", func() error {
			return wait(ctx, l, process, "kubelet", func() error {
				return addons.Kubectl(l, "", "wait", "node/"+layout.NodeName, "--for=condition=Ready", "--timeout=2s")
			})
		}},
		{"cluster DNS and storage class created", func() error { return addons.InstallBase(l) }},
		{"cluster DNS and storage class ready", func() error { return addons.WaitForBase(l, readyLimit) }},
	}
	for _, step := range steps {
		if err := step.run(); err != nil {
			return err
		}
		p.done("%s", step.reached)
	}
	return nil
}

// wait repeats try until it succeeds, the node ends or the time is up.
func wait(ctx context.Context, l layout.Layout, process host.Process, component string, try func() error) error {
	for {
		err := try()
		if err == nil {
			return nil
		}
		if !process.Alive() {
			return fmt.Errorf("the node ended: see %s", l.State("log", "node.log"))
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready (%w): see %s", component, err, l.State("log", component+".log"))
		case <-time.After(200 * time.Millisecond):
		}
	}
}

func dial(network, address string) error {
	connection, err := net.Dial(network, address)
	if err != nil {
		return err
	}
	return connection.Close()
}

// runtimeSocket is containerd's socket as the host sees it.
func runtimeSocket(process host.Process) string {
	return fmt.Sprintf("/proc/%d/root%s", process.PID, layout.NodeContainerd)
}

func load(l layout.Layout, process host.Process, names []string) error {
	archives := make([]string, len(names))
	for i, name := range names {
		archives[i] = l.ImageArchive(name)
	}
	return image.Load(l.Debian("usr/bin/ctr"), runtimeSocket(process), archives...)
}

// running returns this checkout's cluster.
func running(l layout.Layout) (*host.Owner, error) {
	owner, err := host.ReadOwner(layout.OwnerFile)
	if err != nil {
		return nil, err
	}
	if err := owner.CheckFree(l.Build); err != nil {
		return nil, err
	}
	if owner == nil || !owner.Process.Alive() {
		return nil, ErrNotRunning
	}
	return owner, nil
}

// LoadImages imports image archives.
func LoadImages(l layout.Layout, archives []string) error {
	owner, err := running(l)
	if err != nil {
		return err
	}
	return image.Load(l.Debian("usr/bin/ctr"), runtimeSocket(owner.Process), archives...)
}

// InstallChaosMesh installs Chaos Mesh with the images built here.
func InstallChaosMesh(l layout.Layout, out io.Writer) error {
	owner, err := running(l)
	if err != nil {
		return err
	}
	p := newProgress(out)
	if err := load(l, owner.Process, addons.ChaosMeshImages); err != nil {
		return err
	}
	p.done("Chaos Mesh images loaded")
	if err := addons.InstallChaosMesh(l, readyLimit); err != nil {
		return err
	}
	p.done("Chaos Mesh ready")
	return nil
}

// Status prints how the cluster is; it fails when there is none.
func Status(l layout.Layout, out io.Writer) error {
	owner, err := running(l)
	if err != nil {
		return err
	}
	address, err := Address(l)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "node process  %d\nstate         %s\nkubeconfig    %s\nnode address  %s\n",
		owner.Process.PID, l.State(), l.Kubeconfig(), address)
	if err := addons.Kubectl(l, "", "wait", "node/"+layout.NodeName, "--for=condition=Ready", "--timeout=2s"); err != nil {
		return err
	}
	fmt.Fprintln(out, "node          Ready")
	return nil
}

// Address returns the address that the node has, or will have when it is brought up: its NodePorts are there.
func Address(l layout.Layout) (string, error) {
	owner, err := host.ReadOwner(layout.OwnerFile)
	if err != nil {
		return "", err
	}
	network, err := chooseNetwork(l.Network, owner)
	if err != nil {
		return "", err
	}
	return network.Node(), nil
}

// Down ends the cluster and removes everything it made.
func Down(l layout.Layout, out io.Writer) error {
	p := newProgress(out)
	owner, err := host.ReadOwner(layout.OwnerFile)
	if err != nil {
		return err
	}
	if err := owner.CheckFree(l.Build); err != nil {
		return err
	}
	if owner == nil {
		p.done("no local cluster is running")
		return os.RemoveAll(l.State())
	}
	if err := stopNode(owner.Process); err != nil {
		return err
	}
	p.done("node stopped")
	if err := cleanUp(layout.Layout{Build: owner.Build}, owner); err != nil {
		return err
	}
	p.done("state removed")
	return nil
}

// stopNode kills the node's first process; the kernel then kills the others
// and drops the node's mounts and network.
func stopNode(process host.Process) error {
	if !process.Alive() {
		return nil
	}
	if err := syscall.Kill(process.PID, syscall.SIGKILL); err != nil {
		return err
	}
	for deadline := time.Now().Add(30 * time.Second); process.Alive(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			return fmt.Errorf("process %d does not end", process.PID)
		}
	}
	return nil
}

// cleanUp removes what outlives the node's processes.
func cleanUp(l layout.Layout, owner *host.Owner) error {
	if err := node.DisconnectHost(); err != nil {
		return err
	}
	host.RemoveCgroups(cgroupRoot)
	if err := host.RestoreSysctls(sysctlRoot, owner.Sysctls); err != nil {
		return err
	}
	if err := os.RemoveAll(l.State()); err != nil {
		return err
	}
	return os.Remove(layout.OwnerFile)
}
