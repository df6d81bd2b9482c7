package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// nodeAddress is where the local cluster's NodePorts are.
const nodeAddress = "10.123.0.2"

// tools are the programs that the demo calls.
type tools struct {
	root       string
	kubeconfig string
}

func newTools(root string) (tools, error) {
	absolute, err := filepath.Abs(root)
	if err != nil {
		return tools{}, err
	}
	t := tools{root: absolute}
	path, err := t.output(context.Background(), "localcluster", "kubeconfig")
	if err != nil {
		return tools{}, fmt.Errorf("%w (run `make demo`, which builds it)", err)
	}
	t.kubeconfig = strings.TrimSpace(path)
	return t, nil
}

func (t tools) path(elem ...string) string {
	return filepath.Join(append([]string{t.root}, elem...)...)
}

// output runs a program of build/bin and returns what it printed.
func (t tools) output(ctx context.Context, program string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, t.path("build", "bin", program), args...)
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", program, strings.Join(args, " "), err, lastLines(problems.String()+out.String(), 8))
	}
	return out.String(), nil
}

func (t tools) kubectl(ctx context.Context, args ...string) (string, error) {
	return t.output(ctx, "kubectl", append([]string{"--kubeconfig", t.kubeconfig}, args...)...)
}

// get decodes one object; kubectl reports what is not there.
func (t tools) get(ctx context.Context, object any, args ...string) error {
	out, err := t.kubectl(ctx, append([]string{"get", "-o", "json"}, args...)...)
	if err != nil {
		return err
	}
	return json.Unmarshal([]byte(out), object)
}

// isNotFound tells an object that is not there from an API server that does not answer.
func isNotFound(err error) bool { return err != nil && strings.Contains(err.Error(), "(NotFound)") }

func (t tools) apply(ctx context.Context, manifest string) error {
	_, err := t.kubectl(ctx, "apply", "-f", manifest)
	return err
}

// Pods that come back find no place on a closed node; those that run there stay.
func (t tools) closeNode(ctx context.Context) error {
	_, err := t.kubectl(ctx, "cordon", "--selector", "kubernetes.io/hostname")
	return err
}

func (t tools) openNode(ctx context.Context) error {
	_, err := t.kubectl(ctx, "uncordon", "--selector", "kubernetes.io/hostname")
	return err
}

// remove deletes what an earlier demo may have left of the manifest.
func (t tools) remove(ctx context.Context, manifest string) error {
	_, err := t.kubectl(ctx, "delete", "--ignore-not-found", "--wait", "-f", manifest)
	return err
}

func (t tools) applyAnew(ctx context.Context, manifest string) error {
	if err := t.remove(ctx, manifest); err != nil {
		return err
	}
	return t.apply(ctx, manifest)
}

func (t tools) helmInstall(ctx context.Context, release, namespace string) error {
	_, err := t.output(ctx, "helm", "upgrade", "--install", release, t.path("charts", release),
		"--kubeconfig", t.kubeconfig, "--namespace", namespace, "--create-namespace", "--wait", "--timeout", "2m")
	return err
}

func lastLines(text string, count int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-count):], "\n")
}
