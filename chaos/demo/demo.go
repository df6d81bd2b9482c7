package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

const (
	clusterName = "demo" // of operator/config/samples/commitcluster.yaml

	operatorNamespace   = "commitlab-system"
	monitoringNamespace = "commitlab-monitoring"

	// Enough acknowledged commits, on either side of the kill, for the verdict to mean something.
	enoughCommits = 500
)

// demo carries what one step finds out to the next.
type demo struct {
	tools   tools
	ledger  ledgerClient
	metrics prometheusClient
	begun   time.Time
	outcome outcome
}

func newDemo(t tools) *demo {
	return &demo{
		tools:   t,
		ledger:  ledgerClient{url: t.ledgerURL()},
		metrics: prometheusClient{url: t.prometheusURL()},
		begun:   time.Now(),
	}
}

// steps are done one after the other, those in one bracket at the same time: they mostly wait for pods.
func (d *demo) steps() [][]step {
	kubectl := "KUBECONFIG=" + d.tools.kubeconfig + " " + d.tools.path("build", "bin", "kubectl") + " "
	operatorLog := kubectl + "-n " + operatorNamespace + " logs deploy/commitlab-operator"
	cluster := kubectl + "describe commitcluster " + clusterName
	pods := kubectl + "get pods -A -o wide"
	ledgerLog := kubectl + "logs deploy/ledger"
	return [][]step{
		{{"Kubernetes", 3 * time.Minute, d.bringUp, []string{d.tools.path("build", "localcluster", "node", "log")}}},
		{{"images", 2 * time.Minute, d.loadImages, []string{d.tools.path("build", "images")}}},
		{
			{"Chaos Mesh", 3 * time.Minute, d.installChaosMesh, []string{kubectl + "-n chaos-mesh describe pods"}},
			{"monitoring", 3 * time.Minute, d.installMonitoring, []string{kubectl + "-n " + monitoringNamespace + " describe pods"}},
			{"operator", 3 * time.Minute, d.installOperator, []string{kubectl + "-n " + operatorNamespace + " describe pods", operatorLog}},
		},
		{{"cluster of three", 3 * time.Minute, d.createCluster, []string{cluster, pods, operatorLog}}},
		{{"ledger", 2 * time.Minute, d.startLedger, []string{ledgerLog, pods}}},
		{{"k6 load", 2 * time.Minute, d.startLoad, []string{kubectl + "logs job/k6-slap-write"}}},
		{{"master killed", time.Minute, d.killMaster, []string{kubectl + "describe podchaos kill-master", pods}}},
		{{"new master", 2 * time.Minute, d.awaitNewMaster, []string{cluster, operatorLog, ledgerLog}}},
		{{"killed server is back", 3 * time.Minute, d.awaitRejoin, []string{cluster, operatorLog, pods}}},
		{{"metrics", 2 * time.Minute, d.awaitMetrics, []string{d.metrics.url + "/targets"}}},
		{{"verdict", 4 * time.Minute, d.judge, []string{ledgerLog}}},
	}
}

func (d *demo) bringUp(ctx context.Context) (string, error) {
	begun := time.Now()
	_, err := d.tools.output(ctx, "localcluster", "up")
	d.outcome.clusterReady = time.Since(begun)
	if err == nil {
		err = d.tools.openNode(ctx) // a demo that was broken off may have left it closed
	}
	return "one real node, DNS and volumes", err
}

func (d *demo) loadImages(ctx context.Context) (string, error) {
	archives, err := filepath.Glob(d.tools.path("build", "images", "*.tar"))
	if err != nil || len(archives) == 0 {
		return "", fmt.Errorf("no archives in build/images: run `make images`")
	}
	_, err = d.tools.output(ctx, "localcluster", append([]string{"image", "load"}, archives...)...)
	return fmt.Sprintf("%d loaded", len(archives)), err
}

func (d *demo) installChaosMesh(ctx context.Context) (string, error) {
	_, err := d.tools.output(ctx, "localcluster", "chaos-mesh", "install")
	return "installed", err
}

func (d *demo) installMonitoring(ctx context.Context) (string, error) {
	err := d.tools.helmInstall(ctx, "commitlab-monitoring", monitoringNamespace,
		fmt.Sprintf("prometheus.service.nodePort=%d", d.tools.ports.prometheus))
	return "Prometheus at " + d.metrics.url, explainPort(err, "PROMETHEUS_PORT")
}

func (d *demo) installOperator(ctx context.Context) (string, error) {
	return "installed", d.tools.helmInstall(ctx, "commitlab", operatorNamespace)
}

func (d *demo) createCluster(ctx context.Context) (string, error) {
	if err := d.tools.apply(ctx, d.tools.path("operator", "config", "samples", "commitcluster.yaml")); err != nil {
		return "", err
	}
	c, err := d.waitReady(ctx)
	return fmt.Sprintf("master %s, %d replicas attached, epoch %d", c.Status.Master, c.Status.ReadyReplicas, c.Status.Epoch), err
}

func (d *demo) startLedger(ctx context.Context) (string, error) {
	if err := d.deployLedger(ctx); err != nil {
		return "", err
	}
	acknowledged, err := d.awaitCommits(ctx, enoughCommits)
	return fmt.Sprintf("%d commits acknowledged", acknowledged), err
}

// deployLedger puts the ledger's NodePort where it was asked for.
func (d *demo) deployLedger(ctx context.Context) error {
	if err := d.tools.remove(ctx, d.tools.path("chaos", "ledger.yaml")); err != nil {
		return err
	}
	manifest, err := os.ReadFile(d.tools.path("chaos", "ledger.yaml"))
	if err != nil {
		return err
	}
	manifest, err = withNodePort(manifest, d.tools.ports.ledger)
	if err != nil {
		return err
	}
	return explainPort(d.tools.applyText(ctx, manifest), "LEDGER_PORT")
}

var nodePort = regexp.MustCompile(`nodePort: \d+`)

// withNodePort replaces the one NodePort of a manifest.
func withNodePort(manifest []byte, port int) ([]byte, error) {
	if found := len(nodePort.FindAll(manifest, -1)); found != 1 {
		return nil, fmt.Errorf("the manifest names %d NodePorts, not one", found)
	}
	return nodePort.ReplaceAll(manifest, fmt.Appendf(nil, "nodePort: %d", port)), nil
}

// awaitCommits waits until the ledger counts at least that many.
func (d *demo) awaitCommits(ctx context.Context, count int) (int, error) {
	var status ledgerStatus
	err := poll(ctx, func() (bool, error) {
		var err error
		if status, err = d.ledger.status(ctx); err != nil {
			return false, err
		}
		return status.Acknowledged >= count, fmt.Errorf("%d of %d commits acknowledged", status.Acknowledged, count)
	})
	return status.Acknowledged, err
}

func (d *demo) startLoad(ctx context.Context) (string, error) {
	if err := d.tools.applyAnew(ctx, d.tools.path("benchmarks", "k8s", "k6-job.yaml")); err != nil {
		return "", err
	}
	var job struct {
		Status struct {
			Ready int `json:"ready"`
		} `json:"status"`
	}
	err := poll(ctx, func() (bool, error) {
		err := d.tools.get(ctx, &job, "job", "k6-slap-write")
		return err == nil && job.Status.Ready > 0, err
	})
	return "slap-write is running", err
}

func (d *demo) killMaster(ctx context.Context) (string, error) {
	before, err := d.cluster(ctx)
	if err != nil {
		return "", err
	}
	d.outcome.killed, d.outcome.epochBefore = before.Status.Master, before.Status.Epoch
	uid, err := d.podUID(ctx, d.outcome.killed)
	if err != nil {
		return "", err
	}
	experiment := d.tools.path("chaos", "experiments", "kill-master.yaml")
	if err := d.tools.remove(ctx, experiment); err != nil {
		return "", err
	}
	// The killed server would be back in two seconds and, holding everything, get its role again: that is a restart. As when its
	// machine were lost, its pod finds no place until another server has taken over.
	if err := d.tools.closeNode(ctx); err != nil {
		return "", err
	}
	if err := d.ledger.markFault(ctx, "kill-master"); err != nil {
		return "", err
	}
	if err := d.tools.apply(ctx, experiment); err != nil {
		return "", err
	}
	if err := d.proveKill(ctx, uid); err != nil {
		return "", err
	}
	return d.outcome.killed + ", by Chaos Mesh, without grace", nil
}

// proveKill waits until the pod of that name is gone, or another one, and gives that to the ledger as the proof that the kill happened.
func (d *demo) proveKill(ctx context.Context, uid string) error {
	after := ""
	err := poll(ctx, func() (bool, error) {
		now, err := d.podUID(ctx, d.outcome.killed)
		switch {
		case isNotFound(err):
			after = "deleted"
		case err == nil && now != uid:
			after = now
		default:
			return false, errors.Join(fmt.Errorf("pod %s has not been killed by Chaos Mesh", d.outcome.killed), err)
		}
		return true, nil
	})
	if err != nil {
		return err
	}
	return d.ledger.proveFault(ctx, "kill-master", "pod-uid", d.outcome.killed, uid, after)
}

func (d *demo) awaitNewMaster(ctx context.Context) (string, error) {
	// The killed server may come back now, also when nobody took over.
	defer func() { _ = d.tools.openNode(context.WithoutCancel(ctx)) }()
	err := poll(ctx, func() (bool, error) {
		c, err := d.cluster(ctx)
		if err != nil {
			return false, err
		}
		d.outcome.newMaster, d.outcome.epochAfter = c.Status.Master, c.Status.Epoch
		status, err := d.ledger.status(ctx)
		if err != nil {
			return false, err
		}
		return c.Status.Master != d.outcome.killed && c.Status.Epoch > d.outcome.epochBefore && status.Recovered,
			fmt.Errorf("master is %q in epoch %d; the ledger's writes go on: %v", c.Status.Master, c.Status.Epoch, status.Recovered)
	})
	return d.outcome.describeMaster() + "; commits go on", err
}

func (d *demo) awaitRejoin(ctx context.Context) (string, error) {
	c, err := d.waitReady(ctx)
	return fmt.Sprintf("%d replicas attached to %s, epoch %d", c.Status.ReadyReplicas, c.Status.Master, c.Status.Epoch), err
}

// awaitMetrics waits until Prometheus has seen every server, the load, and the
// new master's commits.
func (d *demo) awaitMetrics(ctx context.Context) (string, error) {
	c, err := d.cluster(ctx)
	if err != nil {
		return "", err
	}
	servers := c.Spec.Replicas + 1
	err = poll(ctx, func() (bool, error) {
		for _, query := range []string{
			fmt.Sprintf(`count(up{job="commitd"} == 1) == %d`, servers),
			"sum(k6_mysql_statements_total) > 0",
		} {
			if _, err := d.metrics.value(ctx, query); err != nil {
				return false, err
			}
		}
		var err error
		d.outcome.commits, err = d.metrics.commitPath(ctx, d.outcome.newMaster)
		return err == nil, err
	})
	return fmt.Sprintf("Prometheus sees %d servers and k6", servers), err
}

func (d *demo) judge(ctx context.Context) (string, error) {
	status, err := d.ledger.status(ctx)
	if err != nil {
		return "", err
	}
	if _, err := d.awaitCommits(ctx, status.Acknowledged+enoughCommits); err != nil {
		return "", err
	}
	if err := d.ledger.stop(ctx); err != nil {
		return "", err
	}
	err = poll(ctx, func() (bool, error) {
		v, err := d.ledger.verdict(ctx)
		if v != nil {
			d.outcome.verdict = *v
		}
		return v != nil, err
	})
	d.outcome.took = time.Since(d.begun)
	return d.outcome.verdict.Result, err
}
