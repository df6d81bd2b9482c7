package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"commitlab.dev/demo/stage"
)

const (
	clusterName = "demo" // of operator/config/samples/commitcluster.yaml

	operatorNamespace   = "commitlab-system"
	monitoringNamespace = "commitlab-monitoring"

	// The RecoveryTest of chaos/recovery, and its faults.
	testName     = "replica-then-master"
	replicaFault = "kill-replica"
	masterFault  = "kill-master"
)

// demo carries what one step finds out to the next.
type demo struct {
	tools   tools
	metrics prometheusClient
	begun   time.Time
	outcome outcome
}

func newDemo(t tools) *demo {
	return &demo{
		tools:   t,
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
	test := kubectl + "describe recoverytest " + testName
	return [][]stage.Step{
		{stage.NewStep("Kubernetes", 3*time.Minute, d.bringUp, d.tools.Path("build", "localcluster", "node", "log"))},
		{stage.NewStep("images", 2*time.Minute, d.loadImages, d.tools.Path("build", "images"))},
		{
			stage.NewStep("Chaos Mesh", 3*time.Minute, d.installChaosMesh, kubectl+"-n chaos-mesh describe pods"),
			stage.NewStep("monitoring", 3*time.Minute, d.installMonitoring, kubectl+"-n "+monitoringNamespace+" describe pods"),
			stage.NewStep("operator", 3*time.Minute, d.installOperator, kubectl+"-n "+operatorNamespace+" describe pods", operatorLog),
		},
		{stage.NewStep("cluster of three", 3*time.Minute, d.createCluster, cluster, pods, operatorLog)},
		{stage.NewStep("k6 load", 2*time.Minute, d.startLoad, kubectl+"logs job/k6-slap-write")},
		{stage.NewStep("replica killed", 2*time.Minute, d.killReplica, test, pods, operatorLog)},
		{stage.NewStep("master killed", time.Minute, d.killMaster, test, pods)},
		{stage.NewStep("new master", 2*time.Minute, d.awaitNewMaster, cluster, operatorLog, test)},
		{stage.NewStep("killed server is back", 3*time.Minute, d.awaitRejoin, cluster, operatorLog, pods)},
		{stage.NewStep("verdict", 4*time.Minute, d.judge, test)},
		{stage.NewStep("metrics", 2*time.Minute, d.awaitMetrics, d.metrics.url+"/targets")},
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

// killReplica begins the RecoveryTest, whose operator does the rest. Behind its first fault commits go on for a few seconds before the second one.
func (d *demo) killReplica(ctx context.Context) (string, error) {
	before, err := d.tools.Cluster(ctx, clusterName)
	if err != nil {
		return "", err
	}
	d.outcome.epochBefore = before.Status.Epoch
	if _, err := d.tools.Kubectl(ctx, "annotate", "--overwrite", "commitcluster", clusterName, "commitlab.dev/allow-chaos=true"); err != nil {
		return "", err
	}
	if err := d.tools.ApplyAnew(ctx, d.tools.Path("chaos", "recovery", testName+".yaml")); err != nil {
		return "", err
	}
	test, err := d.awaitFault(ctx, replicaFault, func(f testFault) bool { return f.Phase == "Recovered" })
	if err != nil {
		return "", err
	}
	// The master, killed next, would be back in two seconds and, holding everything, get its role again: that is a restart. As when its
	// machine were lost, its pod finds no place until another server has taken over.
	if err := d.tools.CloseNode(ctx); err != nil {
		return "", err
	}
	f := test.fault(replicaFault)
	return fmt.Sprintf("%s, by Chaos Mesh; longest pause of commits %s, %s", f.object(), f.RTO, f.RecoveredBy), nil
}

func (d *demo) killMaster(ctx context.Context) (string, error) {
	test, err := d.awaitFault(ctx, masterFault, func(f testFault) bool { return f.InjectedAt != "" })
	if err != nil {
		return "", errors.Join(err, d.tools.OpenNode(context.WithoutCancel(ctx)))
	}
	f := test.fault(masterFault)
	d.outcome.killed = f.object()
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
		ready, _ := c.Condition("Ready")
		return c.Status.Master != d.outcome.killed && c.Status.Epoch > d.outcome.epochBefore && ready.Status == "True",
			fmt.Errorf("master is %q in epoch %d, Ready %s: %s", c.Status.Master, c.Status.Epoch, ready.Status, ready.Message)
	})
	return d.outcome.describeMaster(), err
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
	d.outcome.took = time.Since(d.begun)
	return fmt.Sprintf("Prometheus sees %d servers and k6", servers), err
}

// judge waits for the verdict of the RecoveryTest, and writes its page.
func (d *demo) judge(ctx context.Context) (string, error) {
	err := stage.Poll(ctx, func() (bool, error) {
		test, err := d.recoveryTest(ctx)
		d.outcome.test = test
		return err == nil && test.Status.Verdict != "", errors.Join(err, errors.New(test.Status.Message))
	})
	if err == nil {
		d.outcome.page = d.tools.Path("build", "demo-verdict.html")
		_, err = d.tools.Output(ctx, "kubectl-commitlab", append(d.tools.Connection(), "recovery", "report", testName, "--html", d.outcome.page)...)
	}
	return d.outcome.test.Status.Verdict, err
}
