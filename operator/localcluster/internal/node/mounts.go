package node

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"commitlab.dev/localcluster/internal/layout"
)

// mountNode arranges the node's view of the file system. Everything happens in
// a mount namespace of its own: it is gone when the last process in it is.
//
// The host's root stays visible, but /run and /var, where Kubernetes and
// containerd keep their state, are the node's own.
func mountNode(l layout.Layout) error {
	steps := []func() error{
		// Nothing done here may reach the host, but pods must be able to
		// share mounts with the node (mount propagation).
		func() error { return unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "") },
		func() error { return unix.Mount("", "/", "", unix.MS_REC|unix.MS_SHARED, "") },
		func() error { return unix.Mount("proc", "/proc", "proc", 0, "") },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return fmt.Errorf("prepare the node's mount namespace: %w", err)
		}
	}
	return mountOwnDirectories(l)
}

func mountOwnDirectories(l layout.Layout) error {
	// Opened before /run and /var are covered: the checkout may lie below them.
	binds := map[string]string{
		layout.NodeBin:    l.Bin(""),
		layout.NodeDebian: l.Debian(""),
		layout.NodeState:  l.State(),
		"/var":            l.State("var"),
	}
	sources := map[string]*os.File{}
	for target, source := range binds {
		dir, err := os.Open(source)
		if err != nil {
			return err
		}
		defer dir.Close()
		sources[target] = dir
	}
	if err := unix.Mount("tmpfs", "/run", "tmpfs", 0, "mode=755"); err != nil {
		return fmt.Errorf("mount the node's /run: %w", err)
	}
	for _, target := range []string{layout.NodeBin, layout.NodeDebian, layout.NodeState, "/var"} {
		if err := os.MkdirAll(target, 0o755); err != nil {
			return err
		}
		source := fmt.Sprintf("/proc/self/fd/%d", sources[target].Fd())
		if err := unix.Mount(source, target, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
			return fmt.Errorf("mount %s on the node's %s: %w", binds[target], target, err)
		}
	}
	return nil
}

// makeVar creates what programs expect to find in /var.
func makeVar(dir string) error {
	for _, sub := range []string{"/lib/kubelet", "/lib/etcd", "/log", "/cache", "/tmp"} {
		if err := os.MkdirAll(dir+sub, 0o755); err != nil {
			return err
		}
	}
	if err := os.Symlink("/run", dir+"/run"); err != nil && !os.IsExist(err) {
		return err
	}
	return nil
}
