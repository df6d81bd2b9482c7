//go:build e2e

// Package e2e brings a real local cluster up, uses it and takes it down. It
// needs root and build/bin; `make e2e` provides both.
package e2e

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"commitlab.dev/localcluster/internal/host"
	"commitlab.dev/localcluster/internal/layout"
)

const limit = 2 * time.Minute

var build = layout.Layout{Build: must(filepath.Abs("../../../build"))}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func TestLocalCluster(t *testing.T) {
	if owner, err := host.ReadOwner(layout.OwnerFile); err != nil || owner != nil {
		t.Fatalf("a local cluster is running (or %v): this test would end it; run `make demo-down` first", err)
	}
	sysctls := host.SaveSysctls("/proc/sys")
	t.Cleanup(func() {
		localcluster(t, "down")
		checkNothingIsLeft(t, sysctls)
	})

	localcluster(t, "up")
	t.Run("up again changes nothing", func(t *testing.T) { localcluster(t, "up") })
	kubectl(t, "apply", "-f", "web.yaml")
	kubectl(t, "rollout", "status", "statefulset/web", "--timeout", limit.String())

	t.Run("services", testServices)
	t.Run("a volume outlives its pod", testVolumeOutlivesPod)
	localcluster(t, "chaos-mesh", "install")
	t.Run("chaos", testChaos)
}

func testServices(t *testing.T) {
	for name, address := range map[string]string{
		"another pod by its name": "web-1.web 8080",
		"a pod, by the service":   "web-vip 80",
	} {
		if !reaches("web-0", address) {
			t.Errorf("web-0 does not reach %s (%s)", name, address)
		}
	}
	answer := ""
	eventually(t, "the node port to answer", func() bool {
		connection, err := net.DialTimeout("tcp", layout.DefaultNetwork.Node()+":30080", time.Second)
		if err != nil {
			return false
		}
		defer connection.Close()
		answer, _ = bufio.NewReader(connection).ReadString('\n')
		return strings.HasPrefix(answer, "web-")
	})
}

func testVolumeOutlivesPod(t *testing.T) {
	before := podField(t, "web-0", "{.metadata.uid}")
	kubectl(t, "delete", "pod", "web-0")
	eventually(t, "web-0 to run again", func() bool {
		return running("web-0") && podField(t, "web-0", "{.metadata.uid}") != before
	})
	eventually(t, "a second start on the same volume", func() bool { return starts("web-0") == 2 })
}

func testChaos(t *testing.T) {
	killed := podField(t, "web-0", "{.metadata.uid}")
	if !reaches("web-2", podAddress(t, "web-1")) {
		t.Fatal("web-2 does not reach web-1 before anything happened")
	}
	kubectl(t, "apply", "-f", "chaos.yaml")
	eventually(t, "web-0 to be killed and replaced", func() bool {
		return running("web-0") && podField(t, "web-0", "{.metadata.uid}") != killed
	})
	eventually(t, "web-1's container to be killed and restarted", func() bool {
		return podField(t, "web-1", "{.status.containerStatuses[0].restartCount}") == "1" && running("web-1")
	})
	eventually(t, "web-2 to be cut off from web-1", func() bool { return !reaches("web-2", podAddress(t, "web-1")) })
	if !reaches("web-2", podAddress(t, "web-0")) {
		t.Error("web-2 is cut off from web-0 too")
	}
	kubectl(t, "delete", "-f", "chaos.yaml", "--timeout", limit.String())
	eventually(t, "the partition to heal", func() bool { return reaches("web-2", podAddress(t, "web-1")) })
}

func checkNothingIsLeft(t *testing.T, sysctls map[string]string) {
	for _, path := range []string{layout.OwnerFile, build.State(), "/sys/fs/cgroup/kubepods", "/sys/fs/cgroup/memory/kubepods"} {
		if _, err := os.Lstat(path); err == nil {
			t.Errorf("%s is left", path)
		}
	}
	if _, err := net.InterfaceByName(layout.HostInterface); err == nil {
		t.Errorf("interface %s is left", layout.HostInterface)
	}
	if mounts := must(os.ReadFile("/proc/mounts")); strings.Contains(string(mounts), build.State()) {
		t.Error("a mount is left")
	}
	for name, value := range host.SaveSysctls("/proc/sys") {
		if value != sysctls[name] {
			t.Errorf("%s is %s and was %s", name, value, sysctls[name])
		}
	}
}

func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(limit); !done(); time.Sleep(200 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

func running(pod string) bool {
	out, err := tool("kubectl", "get", "pod", pod, "-o", "jsonpath={.status.containerStatuses[0].ready}")
	return err == nil && out == "true"
}

func starts(pod string) int {
	out, err := tool("kubectl", "exec", pod, "--", "cat", "/data/starts")
	if err != nil {
		return 0
	}
	return strings.Count(out, pod+" started")
}

// reaches tries "HOST PORT" from inside a pod.
func reaches(pod, address string) bool {
	_, err := tool("kubectl", append([]string{"exec", pod, "--", "nc", "-w", "2"}, strings.Fields(address)...)...)
	return err == nil
}

func podAddress(t *testing.T, pod string) string {
	t.Helper()
	return podField(t, pod, "{.status.podIP}") + " 8080"
}

func podField(t *testing.T, pod, path string) string {
	t.Helper()
	return kubectl(t, "get", "pod", pod, "--ignore-not-found", "-o", "jsonpath="+path)
}

func kubectl(t *testing.T, args ...string) string {
	t.Helper()
	return check(t)(tool("kubectl", args...))
}

func localcluster(t *testing.T, args ...string) {
	t.Helper()
	t.Log(check(t)(tool("localcluster", args...)))
}

func check(t *testing.T) func(string, error) string {
	return func(out string, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
}

func tool(name string, args ...string) (string, error) {
	cmd := exec.Command(build.Bin(name), args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+build.Kubeconfig())
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, out)
	}
	return string(out), nil
}
