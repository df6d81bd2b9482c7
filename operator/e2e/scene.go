package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"commitlab.dev/demo/stage"
)

// clusterName is the CommitCluster's in every case: the experiments and the ledger's manifest are written for it. Namespaces keep the cases apart.
const clusterName = "demo"

// scene is the namespace of one case: a CommitCluster of a master and two replicas, and the ledger.
type scene struct {
	stage.Tools
	place    place
	progress *stage.Progress
	of       testCase
	ledger   stage.Ledger
	stops    []func()
}

func newScene(p place, progress *stage.Progress, c testCase) *scene {
	return &scene{Tools: p.tools.In("e2e-" + c.name), place: p, progress: progress, of: c}
}

// step does one thing and says how far it came.
func (s *scene) step(ctx context.Context, title string, limit time.Duration, run func(context.Context) (string, error)) error {
	return s.progress.Do(ctx, stage.NewStep(title, limit, run))
}

func (s *scene) close() {
	for _, stop := range s.stops {
		stop()
	}
}

// create makes the cluster of the sample in a namespace of its own.
func (s *scene) create(ctx context.Context) (string, error) {
	if _, err := s.In("").Kubectl(ctx, "delete", "namespace", s.Namespace, "--ignore-not-found", "--wait"); err != nil {
		return "", err
	}
	if _, err := s.In("").Kubectl(ctx, "create", "namespace", s.Namespace); err != nil {
		return "", err
	}
	if err := s.Apply(ctx, s.sample()); err != nil {
		return "", err
	}
	return s.awaitWhole(ctx)
}

func (s *scene) sample() string { return s.Path("operator", "config", "samples", "commitcluster.yaml") }

func (s *scene) experiment(name string) string {
	return s.Path("chaos", "experiments", name+".yaml")
}

func (s *scene) discard(ctx context.Context) {
	_, _ = s.In("").Kubectl(ctx, "delete", "namespace", s.Namespace, "--wait=false")
}

// servers are the pods that there are in the end.
func (s *scene) servers() (names []string) {
	count := s.of.leaves
	if count == 0 {
		count = 3
	}
	for i := range count {
		names = append(names, fmt.Sprintf("%s-%d", clusterName, i))
	}
	return names
}

// look returns the cluster as it is now.
func (s *scene) look(ctx context.Context) (stage.Cluster, error) { return s.Cluster(ctx, clusterName) }

// awaitWhole waits until every server has its role, acknowledges, and nothing is under way.
func (s *scene) awaitWhole(ctx context.Context) (string, error) {
	c, err := s.awaitCluster(ctx, func(c stage.Cluster) error {
		if err := c.Readiness(); err != nil {
			return err
		}
		if under, _ := c.Condition("Progressing"); under.Status != "False" {
			return fmt.Errorf("%s: %s", under.Reason, under.Message)
		}
		return nil
	})
	return fmt.Sprintf("master %s, epoch %d, %s", c.Status.Master, c.Status.Epoch, c.Status.Semisync), err
}

// awaitCluster waits until the cluster is as it should be.
func (s *scene) awaitCluster(ctx context.Context, missing func(stage.Cluster) error) (c stage.Cluster, err error) {
	err = stage.Poll(ctx, func() (bool, error) {
		var err error
		if c, err = s.look(ctx); err == nil {
			err = missing(c)
		}
		return err == nil, err
	})
	return c, err
}

// change merges a patch into the CommitCluster.
func (s *scene) change(ctx context.Context, patch string) error {
	_, err := s.Kubectl(ctx, "patch", "commitcluster", clusterName, "--type", "merge", "--patch", patch)
	return err
}

// field returns what a path of an object holds, as kubectl's jsonpath prints it.
func (s *scene) field(ctx context.Context, kind, name, path string) (string, error) {
	return s.Kubectl(ctx, "get", kind, name, "--output", "jsonpath={"+path+"}")
}

// podFields returns a field of each of the cluster's pods, by name.
func (s *scene) podFields(ctx context.Context, path string) (map[string]string, error) {
	out, err := s.Kubectl(ctx, "get", "pods", "--selector", "app.kubernetes.io/name=commitd,commitlab.dev/cluster="+clusterName,
		"--output", `jsonpath={range .items[*]}{.metadata.name}{" "}{`+path+`}{"\n"}{end}`)
	fields := map[string]string{}
	for line := range strings.Lines(out) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		fields[name] = value
	}
	return fields, err
}

// keepLogs writes down what a person would want to see of a case that failed; its namespace stays.
func (s *scene) keepLogs(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	folder := s.Path("build", "e2e", "logs", s.of.name)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return
	}
	keep := func(file string, t stage.Tools, args ...string) {
		out, err := t.Kubectl(ctx, args...)
		if err != nil {
			out += err.Error()
		}
		_ = os.WriteFile(filepath.Join(folder, file), []byte(out), 0o644)
	}
	keep("cluster.yaml", s.Tools, "get", "commitcluster", clusterName, "-o", "yaml")
	keep("pods.txt", s.Tools, "get", "pods,pvc,podchaos,networkchaos", "-o", "wide")
	keep("events.txt", s.Tools, "get", "events", "--sort-by", ".lastTimestamp")
	keep("operator.log", s.place.operator(), "logs", "deployment/commitlab-operator", "--since", "15m")
	keep("ledger.log", s.Tools, "logs", "deployment/ledger")
	for _, pod := range s.servers() {
		keep(pod+".log", s.Tools, "logs", pod)
		keep(pod+"-previous.log", s.Tools, "logs", pod, "--previous")
	}
	s.progress.Line("", "look at: "+folder)
}
