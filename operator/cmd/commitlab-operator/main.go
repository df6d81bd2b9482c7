// Command commitlab-operator runs the controllers.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/controller"
	"commitlab.dev/operator/internal/engine"
	"commitlab.dev/operator/internal/recovery"
	"commitlab.dev/operator/internal/recovery/ledger"
)

type options struct {
	metricsAddress string
	healthAddress  string
	leaderElection bool
	namespace      string
	namespaces     []string
	image          string
	ledgerImage    string
	probeInterval  time.Duration
	logging        zap.Options
}

func main() {
	var o options
	flag.StringVar(&o.metricsAddress, "metrics-bind-address", ":8080", "address of /metrics; 0 turns it off")
	flag.StringVar(&o.healthAddress, "health-probe-bind-address", ":8081", "address of /healthz and /readyz")
	flag.BoolVar(&o.leaderElection, "leader-elect", false, "let only one of several operators act")
	flag.StringVar(&o.namespace, "leader-election-namespace", "", "namespace of the leader's lease; empty = the operator's own")
	flag.Func("namespaces", "namespaces of the clusters to look after, with commas between them; empty = all", func(list string) error {
		o.namespaces = strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
		return nil
	})
	flag.StringVar(&o.image, "default-image", "commitlab.dev/commitd:dev", "image of clusters that do not name one")
	flag.StringVar(&o.ledgerImage, "ledger-image", "commitlab.dev/ledger:dev", "image of the ledger, for recovery tests that do not name one")
	flag.DurationVar(&o.probeInterval, "probe-interval", time.Second, "how often every server is asked for its status")
	o.logging.BindFlags(flag.CommandLine)
	flag.Parse()
	ctrl.SetLogger(zap.New(zap.UseFlagOptions(&o.logging)))
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "commitlab-operator:", err)
		os.Exit(1)
	}
}

func run(o options) error {
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return err
	}
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return err
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("no cluster to talk to (set KUBECONFIG, or run in a pod): %w", err)
	}
	watched, err := controller.CacheOptions(o.namespaces...)
	if err != nil {
		return err
	}
	mgr, err := ctrl.NewManager(config, manager.Options{
		Cache:                   watched,
		Scheme:                  scheme,
		Metrics:                 metricsserver.Options{BindAddress: o.metricsAddress},
		HealthProbeBindAddress:  o.healthAddress,
		LeaderElection:          o.leaderElection,
		LeaderElectionID:        "commitlab-operator",
		LeaderElectionNamespace: o.namespace,
		// Commands carry epochs, so an operator that is paused here does no harm; giving the lease up early makes upgrades quick.
		LeaderElectionReleaseOnCancel: true,
	})
	if err != nil {
		return err
	}
	if err := addControllers(mgr, o); err != nil {
		return err
	}
	return mgr.Start(ctrl.SetupSignalHandler())
}

func addControllers(mgr manager.Manager, o options) error {
	observer := &controller.Observer{Client: mgr.GetClient(), Reader: mgr.GetAPIReader(), Engines: engine.NewPool()}
	prober := controller.NewProber(mgr.GetClient(), observer, o.probeInterval)
	reconciler := &controller.Reconciler{
		Client:       mgr.GetClient(),
		Reader:       mgr.GetAPIReader(),
		Recorder:     mgr.GetEventRecorder("commitlab-operator"),
		Observer:     observer,
		DefaultImage: o.image,
	}
	if err := reconciler.SetupWithManager(mgr, prober); err != nil {
		return err
	}
	if err := mgr.Add(prober); err != nil {
		return err
	}
	if err := addRecoveryTests(mgr, o); err != nil {
		return err
	}
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return err
	}
	return mgr.AddReadyzCheck("ping", healthz.Ping)
}

// addRecoveryTests runs the tests and serves their verdicts beside the metrics.
func addRecoveryTests(mgr manager.Manager, o options) error {
	tests := &recovery.Reconciler{
		Client:      mgr.GetClient(),
		Reader:      mgr.GetAPIReader(),
		Recorder:    mgr.GetEventRecorder("commitlab-operator"),
		Ledgers:     ledger.Network{},
		Servers:     recovery.Network{},
		LedgerImage: o.ledgerImage,
		Now:         time.Now,
		// The downward API tells a pod who it is; outside of a cluster nobody does.
		Operator: recovery.OperatorPod{Namespace: os.Getenv("POD_NAMESPACE"), Name: os.Getenv("POD_NAME"), UID: types.UID(os.Getenv("POD_UID"))},
	}
	if err := tests.SetupWithManager(mgr); err != nil {
		return err
	}
	return mgr.AddMetricsServerExtraHandler(recovery.VerdictPath, recovery.VerdictHandler(mgr.GetClient()))
}
