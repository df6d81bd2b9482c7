// Package stage is what the demo and the end-to-end tests of the operator are played on: programs of build/bin, a CommitCluster, the ledger, and
// steps that say how far they are.
package stage

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// Tools are the programs of a checkout, and the cluster and namespace that those act on which talk to one.
type Tools struct {
	Root       string
	Kubeconfig string // empty: what kubectl finds by itself
	Context    string // empty: the kubeconfig's own
	Namespace  string // empty: the context's own
}

// NewTools returns the programs of the checkout at root.
func NewTools(root string) (Tools, error) {
	absolute, err := filepath.Abs(root)
	return Tools{Root: absolute}, err
}

// OnLocalCluster returns the tools for the cluster of this machine, and the address of its node.
func (t Tools) OnLocalCluster(ctx context.Context) (on Tools, address string, err error) {
	for command, answer := range map[string]*string{"kubeconfig": &t.Kubeconfig, "address": &address} {
		out, err := t.Output(ctx, "localcluster", command)
		if err != nil {
			return t, "", fmt.Errorf("%w (make builds it)", err)
		}
		*answer = strings.TrimSpace(out)
	}
	return t, address, nil
}

// In returns the tools for another namespace.
func (t Tools) In(namespace string) Tools {
	t.Namespace = namespace
	return t
}

// Path is that of a file of the checkout.
func (t Tools) Path(elem ...string) string {
	return filepath.Join(append([]string{t.Root}, elem...)...)
}

// Bin is the path of a program.
func (t Tools) Bin(program string) string { return t.Path("build", "bin", program) }

// Output runs a program of build/bin and returns what it printed.
func (t Tools) Output(ctx context.Context, program string, args ...string) (string, error) {
	return t.answer(ctx, nil, program, args...)
}

func (t Tools) answer(ctx context.Context, input []byte, program string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, t.Bin(program), args...)
	var out, problems bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(input), &out, &problems
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", program, strings.Join(args, " "), err, lastLines(problems.String()+out.String(), 8))
	}
	return out.String(), nil
}

// Connection are the flags, kubectl's, that say which cluster and namespace.
func (t Tools) Connection() (flags []string) {
	for flag, value := range map[string]string{"--kubeconfig": t.Kubeconfig, "--context": t.Context, "--namespace": t.Namespace} {
		if value != "" {
			flags = append(flags, flag, value)
		}
	}
	return flags
}

// Kubectl runs kubectl on the cluster.
func (t Tools) Kubectl(ctx context.Context, args ...string) (string, error) {
	return t.Output(ctx, "kubectl", append(t.Connection(), args...)...)
}

// Get decodes one object; kubectl reports what is not there.
func (t Tools) Get(ctx context.Context, object any, args ...string) error {
	out, err := t.Kubectl(ctx, append([]string{"get", "-o", "json"}, args...)...)
	if err != nil {
		return err
	}
	return json.Unmarshal([]byte(out), object)
}

// IsNotFound tells an object that is not there from an API server that does not answer.
func IsNotFound(err error) bool { return err != nil && strings.Contains(err.Error(), "(NotFound)") }

// Apply applies a file.
func (t Tools) Apply(ctx context.Context, manifest string) error {
	_, err := t.Kubectl(ctx, "apply", "-f", manifest)
	return err
}

// ApplyText applies what a file would hold.
func (t Tools) ApplyText(ctx context.Context, manifest []byte) error {
	_, err := t.answer(ctx, manifest, "kubectl", append(t.Connection(), "apply", "-f", "-")...)
	return err
}

// CloseNode keeps pods that come back from finding a place; those that run there stay.
func (t Tools) CloseNode(ctx context.Context) error {
	_, err := t.Kubectl(ctx, "cordon", "--selector", "kubernetes.io/hostname")
	return err
}

// OpenNode ends that.
func (t Tools) OpenNode(ctx context.Context) error {
	_, err := t.Kubectl(ctx, "uncordon", "--selector", "kubernetes.io/hostname")
	return err
}

// Remove deletes what an earlier run may have left of the manifest.
func (t Tools) Remove(ctx context.Context, manifest string) error {
	_, err := t.Kubectl(ctx, "delete", "--ignore-not-found", "--wait", "-f", manifest)
	return err
}

// ApplyAnew removes what is there of the manifest first.
func (t Tools) ApplyAnew(ctx context.Context, manifest string) error {
	if err := t.Remove(ctx, manifest); err != nil {
		return err
	}
	return t.Apply(ctx, manifest)
}

// LoadImages gives archives to the node of the local cluster.
func (t Tools) LoadImages(ctx context.Context, archives ...string) error {
	_, err := t.Output(ctx, "localcluster", append([]string{"image", "load"}, archives...)...)
	return err
}

// HelmInstall installs a chart of the checkout, and waits until its pods are ready.
func (t Tools) HelmInstall(ctx context.Context, release, namespace string, settings ...string) error {
	args := []string{"upgrade", "--install", release, t.Path("charts", release), "--create-namespace", "--wait", "--timeout", "2m"}
	for _, flag := range t.In(namespace).Connection() {
		if flag == "--context" {
			flag = "--kube-context"
		}
		args = append(args, flag)
	}
	for _, setting := range settings {
		args = append(args, "--set", setting)
	}
	_, err := t.Output(ctx, "helm", args...)
	return err
}

func lastLines(text string, count int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-count):], "\n")
}
