package server

import (
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// The peer lives in a network namespace of its own and loses its link: no reset, no answer, as when a node or a pod's network goes away.
func TestAPeerThatVanishesWithoutAResetIsNoticed(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can take a link down")
	}
	connection := dialIntoNamespace(t)
	run(t, "ip link set lgrtest0 down")
	began := time.Now()
	if err := connection.SetReadDeadline(began.Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	_, err := connection.Read(make([]byte, 1))
	if netErr, ok := err.(net.Error); err == nil || ok && netErr.Timeout() && time.Since(began) > 25*time.Second {
		t.Fatalf("the dead peer was not noticed: %v after %s", err, time.Since(began))
	}
}

func dialIntoNamespace(t *testing.T) net.Conn {
	t.Helper()
	run(t, "ip netns add lgrtest")
	t.Cleanup(func() { run(t, "ip netns del lgrtest") })
	run(t, "ip link add lgrtest0 type veth peer name lgrtest1 netns lgrtest")
	t.Cleanup(func() { run(t, "ip link del lgrtest0") })
	run(t, "ip addr add 198.18.211.1/30 dev lgrtest0")
	run(t, "ip link set lgrtest0 up")
	run(t, "ip -n lgrtest addr add 198.18.211.2/30 dev lgrtest1")
	run(t, "ip -n lgrtest link set lgrtest1 up")
	server := exec.Command("ip", "netns", "exec", "lgrtest", "python3", "-c",
		"import socket,time; s=socket.create_server(('198.18.211.2',7)); c,_=s.accept(); time.sleep(60)")
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Process.Kill(); _ = server.Wait() })
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		connection, err := dial(t.Context(), "tcp", "198.18.211.2:7")
		if err == nil {
			t.Cleanup(func() { connection.Close() })
			return connection
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

func run(t *testing.T, command string) {
	t.Helper()
	words := strings.Fields(command)
	if output, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", command, err, output)
	}
}
