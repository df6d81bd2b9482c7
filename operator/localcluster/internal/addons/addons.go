// Package addons installs what a bare Kubernetes lacks: cluster DNS, a storage
// class and, on demand, Chaos Mesh.
package addons

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"commitlab.dev/localcluster/internal/layout"
)

var (
	//go:embed coredns.yaml
	coreDNS string
	//go:embed local-path.yaml
	localPath string
	//go:embed chaos-mesh-values.yaml
	chaosMeshValues string
)

// BaseImages are the images that InstallBase and every pod need.
var BaseImages = []string{"pause", "coredns", "busybox", "local-path-provisioner"}

// ChaosMeshImages are the images that InstallChaosMesh needs.
var ChaosMeshImages = []string{"chaos-mesh", "chaos-daemon"}

// ChaosMeshNamespace is where Chaos Mesh runs.
const ChaosMeshNamespace = "chaos-mesh"

// InstallBase creates cluster DNS and the default storage class.
func InstallBase(l layout.Layout) error {
	return Kubectl(l, coreDNS+"---\n"+localPath, "apply", "--server-side", "--force-conflicts", "-f", "-")
}

// WaitForBase returns when DNS and the storage class are served.
func WaitForBase(l layout.Layout, limit time.Duration) error {
	for _, deployment := range [][2]string{
		{"kube-system", "coredns"}, {"local-path-storage", "local-path-provisioner"},
	} {
		if err := waitForRollout(l, deployment[0], "deployment/"+deployment[1], limit); err != nil {
			return err
		}
	}
	return nil
}

// InstallChaosMesh installs the chart and returns when its webhooks answer.
func InstallChaosMesh(l layout.Layout, limit time.Duration) error {
	if !chaosMeshDeployed(l) {
		if err := deployChaosMesh(l); err != nil {
			return err
		}
	}
	for _, workload := range []string{"deployment/chaos-controller-manager", "daemonset/chaos-daemon"} {
		if err := waitForRollout(l, ChaosMeshNamespace, workload, limit); err != nil {
			return err
		}
	}
	return waitForWebhook(l, limit)
}

// chaosMeshDeployed saves an upgrade that changes nothing: the chart makes new
// certificates each time, and restarts everything with them.
func chaosMeshDeployed(l layout.Layout) bool {
	out, err := exec.Command(l.Bin("helm"), "status", "chaos-mesh",
		"--kubeconfig", l.Kubeconfig(), "--namespace", ChaosMeshNamespace).Output()
	return err == nil && strings.Contains(string(out), "STATUS: deployed")
}

func deployChaosMesh(l layout.Layout) error {
	values, err := os.CreateTemp("", "chaos-mesh-values-*.yaml")
	if err != nil {
		return err
	}
	defer os.Remove(values.Name())
	defer values.Close()
	if _, err := values.WriteString(chaosMeshValues); err != nil {
		return err
	}
	return run(exec.Command(l.Bin("helm"), "upgrade", "--install", "chaos-mesh", l.Charts("chaos-mesh"),
		"--kubeconfig", l.Kubeconfig(), "--namespace", ChaosMeshNamespace, "--create-namespace",
		"--values", values.Name()))
}

// probeExperiment is only ever sent as a dry run, to hear from the webhook.
const probeExperiment = `apiVersion: chaos-mesh.org/v1alpha1
kind: PodChaos
metadata: {name: webhook-probe, namespace: ` + ChaosMeshNamespace + `}
spec: {action: pod-kill, mode: one, selector: {namespaces: [` + ChaosMeshNamespace + `], labelSelectors: {none: such}}}
`

// waitForWebhook is needed because the pods are ready before the webhook listens.
func waitForWebhook(l layout.Layout, limit time.Duration) error {
	for deadline := time.Now().Add(limit); ; time.Sleep(300 * time.Millisecond) {
		err := Kubectl(l, probeExperiment, "apply", "--dry-run=server", "-f", "-")
		if err == nil || time.Now().After(deadline) {
			return err
		}
	}
}

func waitForRollout(l layout.Layout, namespace, workload string, limit time.Duration) error {
	err := Kubectl(l, "", "rollout", "status", "--namespace", namespace, workload, "--timeout", limit.String())
	if err != nil {
		return fmt.Errorf("%w\nlook at: kubectl --kubeconfig %s -n %s describe pods", err, l.Kubeconfig(), namespace)
	}
	return nil
}

// Kubectl runs kubectl as the cluster's administrator.
func Kubectl(l layout.Layout, stdin string, args ...string) error {
	cmd := exec.Command(l.Bin("k8s"), append([]string{"kubectl", "--kubeconfig", l.Kubeconfig()}, args...)...)
	cmd.Stdin = strings.NewReader(stdin)
	return run(cmd)
}

func run(cmd *exec.Cmd) error {
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, strings.TrimSpace(string(out)))
	}
	return err
}
