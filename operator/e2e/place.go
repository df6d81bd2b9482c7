package main

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"commitlab.dev/demo/stage"
)

const operatorNamespace = "commitlab-system"

// place is the Kubernetes that the cases run on.
type place struct {
	kind     string // local or kind, when no context is given
	context  string
	registry string
	tag      string
	next     string // commitd's image under another name

	// theirs: somebody's own cluster, whose nodes have the images from a registry.
	theirs bool
	tools  stage.Tools
	// chaosMesh is there: what only it can do can be done.
	chaosMesh bool
}

const kindCluster = "commitlab-e2e"

// setUp makes sure of a Kubernetes with the images, the operator and, where that is possible, Chaos Mesh.
func (p *place) setUp(ctx context.Context, checkout stage.Tools, progress *stage.Progress) error {
	p.tools, p.theirs = checkout, p.context != ""
	steps := []stage.Step{stage.NewStep("Kubernetes", 5*time.Minute, p.bringUp)}
	if !p.theirs {
		steps = append(steps, stage.NewStep("images", 3*time.Minute, p.loadImages))
	}
	steps = append(steps,
		stage.NewStep("Chaos Mesh", 3*time.Minute, p.findChaosMesh),
		stage.NewStep("operator", 3*time.Minute, p.installOperator, "kubectl -n "+operatorNamespace+" describe pods"))
	for _, step := range steps {
		if err := progress.Do(ctx, step); err != nil {
			return err
		}
	}
	return nil
}

func (p *place) local() bool { return p.context == "" && p.kind == "local" }

func (p *place) bringUp(ctx context.Context) (string, error) {
	switch {
	case p.local():
		if _, err := p.tools.Output(ctx, "localcluster", "up"); err != nil {
			return "", err
		}
		var err error
		if p.tools, _, err = p.tools.OnLocalCluster(ctx); err != nil {
			return "", err
		}
		return "the local one", p.tools.OpenNode(ctx) // whatever was broken off may have left it closed
	case p.context == "" && p.kind == "kind":
		p.context = "kind-" + kindCluster
		if err := makeKindCluster(ctx); err != nil {
			return "", err
		}
	case p.context == "":
		return "", fmt.Errorf("CLUSTER is local or kind, not %q; CONTEXT=NAME for a cluster of your own", p.kind)
	}
	p.tools.Context = p.context
	_, err := p.tools.Kubectl(ctx, "get", "namespaces", "-o", "name")
	return "context " + p.context, err
}

func makeKindCluster(ctx context.Context) error {
	known, err := exec.CommandContext(ctx, "kind", "get", "clusters").Output()
	if err != nil {
		return fmt.Errorf("kind get clusters: %w", err)
	}
	for _, name := range strings.Fields(string(known)) {
		if name == kindCluster {
			return nil
		}
	}
	if out, err := exec.CommandContext(ctx, "kind", "create", "cluster", "--name", kindCluster, "--wait", "3m").CombinedOutput(); err != nil {
		return fmt.Errorf("kind create cluster: %w\n%s", err, out)
	}
	return nil
}

func (p *place) loadImages(ctx context.Context) (string, error) {
	archives := []string{p.tools.Path("build", "e2e", "commitd-next.tar")}
	for _, image := range []string{"commitd", "commitlab-operator", "ledger"} {
		archives = append(archives, p.tools.Path("build", "images", image+".tar"))
	}
	if p.local() {
		return fmt.Sprintf("%d loaded", len(archives)), p.tools.LoadImages(ctx, archives...)
	}
	for _, archive := range archives {
		if out, err := exec.CommandContext(ctx, "kind", "load", "image-archive", archive, "--name", kindCluster).CombinedOutput(); err != nil {
			return "", fmt.Errorf("kind load image-archive %s: %w\n%s", archive, err, out)
		}
	}
	return fmt.Sprintf("%d loaded", len(archives)), nil
}

// findChaosMesh installs it on the local cluster only: elsewhere it is its owner's.
func (p *place) findChaosMesh(ctx context.Context) (string, error) {
	if p.local() {
		_, err := p.tools.Output(ctx, "localcluster", "chaos-mesh", "install")
		p.chaosMesh = err == nil
		return "installed", err
	}
	_, err := p.tools.Kubectl(ctx, "get", "crd", "networkchaos.chaos-mesh.org")
	p.chaosMesh = err == nil
	if stage.IsNotFound(err) {
		return "not there: the cases that need it are skipped", nil
	}
	return "is there", err
}

func (p *place) installOperator(ctx context.Context) (string, error) {
	var settings []string
	if p.registry != "" {
		settings = append(settings, "image.repository="+p.registry+"/commitlab-operator", "image.tag="+p.tag,
			"commitdImage.repository="+p.registry+"/commitd", "commitdImage.tag="+p.tag)
	}
	if err := p.tools.HelmInstall(ctx, "commitlab", operatorNamespace, settings...); err != nil {
		return "", err
	}
	if !p.theirs { // an operator of an earlier build may run under the same tag
		if _, err := p.operator().Kubectl(ctx, "rollout", "restart", "deployment/commitlab-operator"); err != nil {
			return "", err
		}
	}
	_, err := p.operator().Kubectl(ctx, "rollout", "status", "deployment/commitlab-operator", "--timeout", "2m")
	return "runs", err
}

func (p *place) operator() stage.Tools { return p.tools.In(operatorNamespace) }

// ledgerImage is where the nodes find it.
func (p *place) ledgerImage() string {
	if p.registry == "" {
		return "commitlab.dev/ledger:dev"
	}
	return p.registry + "/ledger:" + p.tag
}
