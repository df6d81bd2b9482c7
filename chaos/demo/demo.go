package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"commitlab.dev/demo/stage"
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
	ledger  stage.Ledger
	metrics prometheusClient
	begun   time.Time
	outcome outcome
}

func newDemo(t tools) *demo {
	return &demo{
		tools:   t,
		ledger:  stage.Ledger{URL: t.ledgerURL()},
		metrics: prometheusClient{url: t.prometheusURL()},
		begun:   time.Now(),
	}
}

// steps are done one after the other, those in one bracket at the same time: they mostly wait for pods.
func (d *demo) steps() [][]stage.Step {
	kubectl := "KUBECONFIG=" + d.tools.Kubeconfig + " " + d.tools.Path("build", "bin", "kubectl") + " "
	operatorLog := kubectl + "-n " + operatorNamespace + " logs deploy/commitlab-operator"
	cluster := kubectl + "describe commitcluster " + clusterName
	pods := kubectl + "get pods -A -o wide"
	ledgerLog := kubectl + "logs deploy/ledger"
	return [][]stage.Step{
		{stage.NewStep("Kubernetes", 3*time.Minute, d.bringUp, d.tools.Path("build", "localcluster", "node", "log"))},
		{stage.NewStep("images", 2*time.Minute, d.loadImages, d.tools.Path("build", "images"))},
		{
			stage.NewStep("Chaos Mesh", 3*time.Minute, d.installChaosMesh, kubectl+"-n chaos-mesh describe pods"),
			stage.NewStep("monitoring", 3*time.Minute, d.installMonitoring, kubectl+"-n "+monitoringNamespace+" describe pods"),
			stage.NewStep("operator", 3*time.Minute, d.installOperator, kubectl+"-n "+operatorNamespace+" describe pods", operatorLog),
		},
		{stage.NewStep("cluster of three", 3*time.Minute, d.createCluster, cluster, pods, operatorLog)},
		{stage.NewStep("ledger", 2*time.Minute, d.startLedger, ledgerLog, pods)},
		{stage.NewStep("k6 load", 2*time.Minute, d.startLoad, kubectl+"logs job/k6-slap-write")},
		{stage.NewStep("master killed", time.Minute, d.killMaster, kubectl+"describe podchaos kill-master", pods)},
		{stage.NewStep("new master", 2*time.Minute, d.awaitNewMaster, cluster, operatorLog, ledgerLog)},
		{stage.NewStep("killed server is back", 3*time.Minute, d.awaitRejoin, cluster, operatorLog, pods)},
		{stage.NewStep("metrics", 2*time.Minute, d.awaitMetrics, d.metrics.url+"/targets")},
		{stage.NewStep("verdict", 4*time.Minute, d.judge, ledgerLog)},
	}
}

func (d *demo) bringUp(ctx context.Context) (string, error) {
	begun := time.Now()
	_, err := d.tools.Output(ctx, "localcluster", "up")
	d.outcome.clusterReady = time.Since(begun)
	if err == nil {
		err = d.tools.OpenNode(ctx) // a demo that was broken off may have left it closed
	}
	return "one real node, DNS and volumes", err
}

func (d *demo) loadImages(ctx context.Context) (string, error) {
	archives, err := filepath.Glob(d.tools.Path("build", "images", "*.tar"))
	if err != nil || len(archives) == 0 {
		return "", fmt.Errorf("no archives in build/images: run `make images`")
	}
	err = d.tools.LoadImages(ctx, archives...)
	return fmt.Sprintf("%d loaded", len(archives)), err
}

func (d *demo) installChaosMesh(ctx context.Context) (string, error) {
	_, err := d.tools.Output(ctx, "localcluster", "chaos-mesh", "install")
	return "installed", err
}

func (d *demo) installMonitoring(ctx context.Context) (string, error) {
	err := d.tools.HelmInstall(ctx, "commitlab-monitoring", monitoringNamespace,
		fmt.Sprintf("prometheus.service.nodePort=%d", d.tools.ports.prometheus))
	return "Prometheus at " + d.metrics.url, explainPort(err, "PROMETHEUS_PORT")
}

func (d *demo) installOperator(ctx context.Context) (string, error) {
	return "installed", d.tools.HelmInstall(ctx, "commitlab", operatorNamespace)
}

func (d *demo) createCluster(ctx context.Context) (string, error) {
	if err := d.tools.Apply(ctx, d.tools.Path("operator", "config", "samples", "commitcluster.yaml")); err != nil {
		return "", err
	}
	c, err := d.tools.WaitReady(ctx, clusterName)
	return fmt.Sprintf("master %s, %d replicas attached, epoch %d", c.Status.Master, c.Status.ReadyReplicas, c.Status.Epoch), err
}

func (d *demo) startLedger(ctx context.Context) (string, error) {
	if err := d.deployLedger(ctx); err != nil {
		return "", err
	}
	acknowledged, err := d.ledger.AwaitCommits(ctx, enoughCommits)
	return fmt.Sprintf("%d commits acknowledged", acknowledged), err
}

// deployLedger puts the ledger's NodePort where it was asked for.
func (d *demo) deployLedger(ctx context.Context) error {
	if err := d.tools.Remove(ctx, d.tools.Path("chaos", "ledger.yaml")); err != nil {
		return err
	}
	manifest, err := os.ReadFile(d.tools.Path("chaos", "ledger.yaml"))
	if err != nil {
		return err
	}
	manifest, err = withNodePort(manifest, d.tools.ports.ledger)
	if err != nil {
		return err
	}
	return explainPort(d.tools.ApplyText(ctx, manifest), "LEDGER_PORT")
}

var nodePort = regexp.MustCompile(`nodePort: \d+`)

// withNodePort replaces the one NodePort of a manifest.
func withNodePort(manifest []byte, port int) ([]byte, error) {
	if found := len(nodePort.FindAll(manifest, -1)); found != 1 {
		return nil, fmt.Errorf("the manifest names %d NodePorts, not one", found)
	}
	return nodePort.ReplaceAll(manifest, fmt.Appendf(nil, "nodePort: %d", port)), nil
}

func (d *demo) startLoad(ctx context.Context) (string, error) {
	if err := d.tools.ApplyAnew(ctx, d.tools.Path("benchmarks", "k8s", "k6-job.yaml")); err != nil {
		return "", err
	}
	var job struct {
		Status struct {
			Ready int `json:"ready"`
		} `json:"status"`
	}
	err := stage.Poll(ctx, func() (bool, error) {
		err := d.tools.Get(ctx, &job, "job", "k6-slap-write")
		return err == nil && job.Status.Ready > 0, err
	})
	return "slap-write is running", err
}

func (d *demo) killMaster(ctx context.Context) (string, error) {
	before, err := d.tools.Cluster(ctx, clusterName)
	if err != nil {
		return "", err
	}
	d.outcome.killed, d.outcome.epochBefore = before.Status.Master, before.Status.Epoch
	uid, err := d.tools.PodUID(ctx, d.outcome.killed)
	if err != nil {
		return "", err
	}
	experiment := d.tools.Path("chaos", "experiments", "kill-master.yaml")
	if err := d.tools.Remove(ctx, experiment); err != nil {
		return "", err
	}
	// The killed server would be back in two seconds and, holding everything, get its role again: that is a restart. As when its
	// machine were lost, its pod finds no place until another server has taken over.
	if err := d.tools.CloseNode(ctx); err != nil {
		return "", err
	}
	if err := d.ledger.Mark(ctx, stage.Mark{Name: "kill-master"}); err != nil {
		return "", err
	}
	if err := d.tools.Apply(ctx, experiment); err != nil {
		return "", err
	}
	if err := d.tools.ProveKilled(ctx, d.ledger, "kill-master", d.outcome.killed, uid); err != nil {
		return "", err
	}
	return d.outcome.killed + ", by Chaos Mesh, without grace", nil
}

func (d *demo) awaitNewMaster(ctx context.Context) (string, error) {
	// The killed server may come back now, also when nobody took over.
	defer func() { _ = d.tools.OpenNode(context.WithoutCancel(ctx)) }()
	err := stage.Poll(ctx, func() (bool, error) {
		c, err := d.tools.Cluster(ctx, clusterName)
		if err != nil {
			return false, err
		}
		d.outcome.newMaster, d.outcome.epochAfter = c.Status.Master, c.Status.Epoch
		status, err := d.ledger.Status(ctx)
		if err != nil {
			return false, err
		}
		return c.Status.Master != d.outcome.killed && c.Status.Epoch > d.outcome.epochBefore && status.Recovered,
			fmt.Errorf("master is %q in epoch %d; the ledger's writes go on: %v", c.Status.Master, c.Status.Epoch, status.Recovered)
	})
	return d.outcome.describeMaster() + "; commits go on", err
}

func (d *demo) awaitRejoin(ctx context.Context) (string, error) {
	c, err := d.tools.WaitReady(ctx, clusterName)
	return fmt.Sprintf("%d replicas attached to %s, epoch %d", c.Status.ReadyReplicas, c.Status.Master, c.Status.Epoch), err
}

// awaitMetrics waits until Prometheus has seen every server, the load, and the
// new master's commits.
func (d *demo) awaitMetrics(ctx context.Context) (string, error) {
	c, err := d.tools.Cluster(ctx, clusterName)
	if err != nil {
		return "", err
	}
	servers := c.Spec.Replicas + 1
	err = stage.Poll(ctx, func() (bool, error) {
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
	var err error
	d.outcome.verdict, err = d.ledger.Judge(ctx, enoughCommits)
	d.outcome.took = time.Since(d.begun)
	return d.outcome.verdict.Result, err
}
