package main

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"commitlab.dev/demo/stage"
)

// standIns puts scripts in the place of programs, which write down how they were called. kind knows of these clusters.
func standIns(t *testing.T, root, clusters string) (calls func() []string) {
	t.Helper()
	log, bin := filepath.Join(root, "calls"), filepath.Join(root, "build", "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	for program, does := range map[string]string{
		"kind":    `[ "$1" != get ] || echo ` + clusters,
		"kubectl": `case "$*" in *"get crd"*) echo 'Error from server (NotFound)' >&2; exit 1;; esac`,
		"helm":    ":",
	} {
		script := "#!/bin/sh\necho \"" + program + " $*\" >> " + log + "\n" + does + "\n"
		if err := os.WriteFile(filepath.Join(bin, program), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	return func() []string {
		text, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Split(strings.TrimSpace(string(text)), "\n")
	}
}

func setUp(t *testing.T, root string, p place) place {
	t.Helper()
	tools, err := stage.NewTools(root)
	if err == nil {
		err = p.setUp(t.Context(), tools, stage.NewProgress(io.Discard))
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestAClusterOfKindsIsMadeOnceAndGetsTheImagesAndTheirOperator(t *testing.T) {
	for clusters, created := range map[string]bool{"another": true, "another commitlab-e2e": false} {
		root := t.TempDir()
		calls := standIns(t, root, clusters)
		p := setUp(t, root, place{kind: "kind"})
		if p.chaosMesh {
			t.Error("Chaos Mesh was found")
		}
		said := calls()
		if slices.Contains(said, "kind create cluster --name commitlab-e2e --wait 3m") != created {
			t.Errorf("with %q: %q", clusters, said)
		}
		text := strings.Join(said, "\n")
		for _, image := range []string{"images/commitd.tar", "images/commitlab-operator.tar", "images/ledger.tar", "e2e/commitd-next.tar"} {
			if !strings.Contains(text, "kind load image-archive "+root+"/build/"+image+" --name commitlab-e2e") {
				t.Errorf("%s was not loaded:\n%s", image, text)
			}
		}
		if !strings.Contains(text, "rollout restart deployment/commitlab-operator") {
			t.Errorf("an operator of an earlier build goes on:\n%s", text)
		}
		for _, call := range said {
			if strings.HasPrefix(call, "kubectl") && !strings.Contains(call, "--context kind-commitlab-e2e") {
				t.Errorf("elsewhere: %s", call)
			}
		}
	}
}

func TestSomebodysOwnClusterIsGivenNoImages(t *testing.T) {
	root := t.TempDir()
	calls := standIns(t, root, "")
	setUp(t, root, place{kind: "local", context: "mine", registry: "registry.example/team", tag: "v1"})
	text := strings.Join(calls(), "\n")
	if strings.Contains(text, "kind ") || strings.Contains(text, "rollout restart") ||
		!strings.Contains(text, "image.repository=registry.example/team/commitlab-operator") {
		t.Error(text)
	}
}
