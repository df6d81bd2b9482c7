package node

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"time"

	"commitlab.dev/localcluster/internal/layout"
)

// connectHost gives the node's process a network: a veth pair whose other end
// the host keeps.
func connectHost(pid int, network layout.Network) error {
	return ip(
		[]string{"link", "add", layout.HostInterface, "type", "veth",
			"peer", "name", layout.NodeInterface, "netns", fmt.Sprint(pid)},
		[]string{"addr", "add", network.WithBits(network.Host()), "dev", layout.HostInterface},
		[]string{"link", "set", layout.HostInterface, "up"},
	)
}

// DisconnectHost removes the host's end. The kernel does it too when it drops
// the node's namespace, but in its own time.
func DisconnectHost() error {
	if _, err := net.InterfaceByName(layout.HostInterface); err != nil {
		return nil
	}
	return ip([]string{"link", "del", layout.HostInterface})
}

// configureNetwork runs inside the node, once the host has connected it.
func configureNetwork(network layout.Network) error {
	if err := waitForInterface(layout.NodeInterface, 10*time.Second); err != nil {
		return err
	}
	err := ip(
		[]string{"link", "set", "lo", "up"},
		[]string{"addr", "add", network.WithBits(network.Node()), "dev", layout.NodeInterface},
		[]string{"link", "set", layout.NodeInterface, "up"},
		[]string{"route", "add", "default", "via", network.Host()},
	)
	if err != nil {
		return err
	}
	return enableForwarding()
}

func enableForwarding() error {
	if err := os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0o644); err != nil {
		return err
	}
	// Two pods on one bridge reach each other through a Service only if
	// bridged packets pass the NAT rules.
	const bridged = "/proc/sys/net/bridge/bridge-nf-call-iptables"
	if err := os.WriteFile(bridged, []byte("1"), 0o644); err != nil {
		return fmt.Errorf("%w: load the kernel module br_netfilter (modprobe br_netfilter)", err)
	}
	return nil
}

func waitForInterface(name string, limit time.Duration) error {
	for deadline := time.Now().Add(limit); ; time.Sleep(20 * time.Millisecond) {
		_, err := net.InterfaceByName(name)
		if err == nil {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the host did not connect the node's network: %w", err)
		}
	}
}

func ip(commands ...[]string) error {
	for _, args := range commands {
		out, err := exec.Command("ip", args...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("ip %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(out)))
		}
	}
	return nil
}
