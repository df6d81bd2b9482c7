// Package node is the machine the cluster runs on: a process tree with mount,
// PID and network namespaces of its own. Ending its first process ends all of
// it, and the kernel takes the mounts and the network away.
package node

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"syscall"
	"time"

	"commitlab.dev/localcluster/internal/layout"
)

// Command is the subcommand under which the program runs as the node's first
// process.
const Command = "node"

// Start makes the node and returns its first process's id, as the host sees it.
func Start(l layout.Layout) (pid int, err error) {
	for _, dir := range []string{l.State("log"), l.State("var")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return 0, err
		}
	}
	if err := makeVar(l.State("var")); err != nil {
		return 0, err
	}
	log, err := os.Create(l.State("log", "node.log"))
	if err != nil {
		return 0, err
	}
	defer log.Close()
	cmd := exec.Command("/proc/self/exe", Command, "--build-dir", l.Build, "--node-network", l.Network.String())
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Setsid:     true,
		Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET,
	}
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("make the node's namespaces (this needs root): %w", err)
	}
	if err := connectHost(cmd.Process.Pid, l.Network); err != nil {
		cmd.Process.Kill()
		cmd.Wait()
		return 0, err
	}
	pid = cmd.Process.Pid // Release forgets it
	return pid, cmd.Process.Release()
}

// Main is the node's first process. It returns only when it cannot go on.
func Main(l layout.Layout) error {
	if os.Getpid() != 1 {
		return fmt.Errorf("%q is started by \"up\", in namespaces of its own", Command)
	}
	if err := mountNode(l); err != nil {
		return err
	}
	if err := configureNetwork(l.Network); err != nil {
		return err
	}
	s := newSupervisor(layout.NodeState+"/log", []string{
		"PATH=" + layout.NodeDebian + "/usr/sbin:" + layout.NodeDebian + "/usr/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"HOME=/root",
	})
	go s.reap()
	if err := s.startAll(apiServerComponents(l.Network)); err != nil {
		return err
	}
	if err := waitForAPIServer(l.Network.APIServerURL()); err != nil {
		return err
	}
	if err := s.startAll(nodeComponents(l.Network)); err != nil {
		return err
	}
	select {}
}

func waitForAPIServer(url string) error {
	ca, err := os.ReadFile(pki("ca.crt"))
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	client := &http.Client{
		Timeout:   2 * time.Second,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}},
	}
	for {
		answer, err := client.Get(url + "/readyz")
		if err == nil {
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return nil
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
}
