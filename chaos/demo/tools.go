package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// tools are the programs that the demo calls.
type tools struct {
	root       string
	kubeconfig string
	address    string // of the node: its NodePorts are there
	ports      ports
}

// ports are the NodePorts of what a person may want to look at.
type ports struct{ prometheus, ledger int }

func (t tools) prometheusURL() string {
	return fmt.Sprintf("http://%s:%d", t.address, t.ports.prometheus)
}

func (t tools) ledgerURL() string { return fmt.Sprintf("http://%s:%d", t.address, t.ports.ledger) }

func newTools(root string, ports ports) (tools, error) {
	absolute, err := filepath.Abs(root)
	if err != nil {
		return tools{}, err
	}
	t := tools{root: absolute, ports: ports}
	for command, answer := range map[string]*string{"kubeconfig": &t.kubeconfig, "address": &t.address} {
		out, err := t.output(context.Background(), "localcluster", command)
		if err != nil {
			return tools{}, fmt.Errorf("%w (run `make demo`, which builds it)", err)
		}
		*answer = strings.TrimSpace(out)
	}
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

func (t tools) applyText(ctx context.Context, manifest []byte) error {
	file, err := os.CreateTemp("", "commitlab-*.yaml")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	if _, err := file.Write(manifest); err != nil {
		return err
	}
	return t.apply(ctx, file.Name())
}

// explainPort says what to do where another Service has a NodePort that the demo wants.
func explainPort(err error, variable string) error {
	if err != nil && strings.Contains(err.Error(), "provided port is already allocated") {
		return fmt.Errorf("%w\nanother Service has this NodePort: choose another, such as `make demo %s=30150`", err, variable)
	}
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

func (t tools) helmInstall(ctx context.Context, release, namespace string, settings ...string) error {
	args := []string{"upgrade", "--install", release, t.path("charts", release),
		"--kubeconfig", t.kubeconfig, "--namespace", namespace, "--create-namespace", "--wait", "--timeout", "2m"}
	for _, setting := range settings {
		args = append(args, "--set", setting)
	}
	_, err := t.output(ctx, "helm", args...)
	return err
}

func lastLines(text string, count int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-count):], "\n")
}
