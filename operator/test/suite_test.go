// Package test runs the operator against a real API server and commitd servers in memory.
package test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/yaml"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/controller"
	"commitlab.dev/operator/internal/engine"
	"commitlab.dev/operator/internal/engine/fake"
	"commitlab.dev/operator/internal/recovery"
)

// patience bounds every wait; nothing is asserted about how long things take.
const patience = 20 * time.Second

var probeInterval = flag.Duration("probe.interval", 100*time.Millisecond, "how often operators look at each cluster")

var (
	kube client.WithWatch
	// operatorConfig has the rights of the chart's ClusterRole, and no others.
	operatorConfig *rest.Config
	// tenantConfig has no rights but those that a test gives.
	tenantConfig *rest.Config
	// personsKubeconfig is that of somebody who may do everything.
	personsKubeconfig []byte
	scheme            = runtime.NewScheme()
	// stopOperator ends the one that runs.
	stopOperator func()
	labs         = &worlds{byNamespace: map[string]*fake.World{}}
)

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(withAPIServer(m.Run))
}

func withAPIServer(run func() int) int {
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		fmt.Fprintln(os.Stderr, "these tests need an API server: run 'make -C operator test', which builds one")
		return 1
	}
	if testing.Verbose() {
		ctrl.SetLogger(zap.New(zap.UseDevMode(true)))
	} else {
		ctrl.SetLogger(zap.New(zap.WriteTo(nowhere{})))
	}
	must(clientgoscheme.AddToScheme(scheme))
	must(v1alpha1.AddToScheme(scheme))
	env := &envtest.Environment{CRDDirectoryPaths: []string{"../config/crd", "testdata"}, ErrorIfCRDPathMissing: true,
		ControlPlaneStartTimeout: 6 * patience, ControlPlaneStopTimeout: 6 * patience}
	// Two addresses for each cluster, and there may be a thousand of them.
	env.ControlPlane.GetAPIServer().Configure().Set("service-cluster-ip-range", "10.0.0.0/16")
	config, err := env.Start()
	must(err)
	defer func() { must(env.Stop()) }()
	kube, err = client.NewWithWatch(config, client.Options{Scheme: scheme})
	must(err)
	operatorConfig = restricted(env)
	tenantConfig = operatorUser(env, tenant)
	person, err := env.AddUser(envtest.User{Name: "person", Groups: []string{"system:masters"}}, nil)
	must(err)
	personsKubeconfig, err = person.KubeConfig()
	must(err)
	stopOperator = startOperator("commitd:test")
	defer func() { stopOperator() }()
	return run()
}

// restricted makes a user with the rights that controller-gen read from the code.
func restricted(env *envtest.Environment) *rest.Config {
	role := generatedRole()
	must(kube.Create(context.Background(), role))
	binding := &rbacv1.ClusterRoleBinding{RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: "operator"}}}
	binding.Name = role.Name
	must(kube.Create(context.Background(), binding))
	return operatorUser(env, "operator")
}

func generatedRole() *rbacv1.ClusterRole {
	data, err := os.ReadFile("../config/rbac/role.yaml")
	must(err)
	role := &rbacv1.ClusterRole{}
	must(yaml.Unmarshal(data, role))
	return role
}

// operatorUser is one whose requests are counted.
func operatorUser(env *envtest.Environment, name string) *rest.Config {
	user, err := env.AddUser(envtest.User{Name: name}, &rest.Config{QPS: 1000, Burst: 2000})
	must(err)
	config := user.Config()
	config.WrapTransport = asked.counted
	return config
}

type nowhere struct{}

func (nowhere) Write(p []byte) (int, error) { return len(p), nil }

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// startOperator runs an operator until the returned function is called. Its image is that of clusters that name none.
func startOperator(image string) func() {
	return startOperatorWith(operatorConfig, image, func(*manager.Options) {})
}

// startOperatorWith has it use these rights, and some options of its own.
func startOperatorWith(config *rest.Config, image string, change func(*manager.Options)) func() {
	watched, err := controller.CacheOptions()
	must(err)
	options := manager.Options{Scheme: scheme, Cache: watched, Metrics: metricsserver.Options{BindAddress: "0"}, Controller: skipNameValidation()}
	change(&options)
	mgr, err := ctrl.NewManager(config, options)
	must(err)
	observer := &controller.Observer{Client: mgr.GetClient(), Reader: mgr.GetAPIReader(), Engines: labs}
	prober := controller.NewProber(mgr.GetClient(), observer, *probeInterval)
	reconciler := &controller.Reconciler{Client: mgr.GetClient(), Reader: mgr.GetAPIReader(), Observer: observer,
		Recorder: mgr.GetEventRecorder("commitlab-operator"), DefaultImage: image}
	must(reconciler.SetupWithManager(mgr, prober))
	must(mgr.Add(prober))
	tests := &recovery.Reconciler{Client: mgr.GetClient(), Reader: mgr.GetAPIReader(), Recorder: mgr.GetEventRecorder("commitlab-operator"),
		Ledgers: books, Servers: reachable{}, LedgerImage: "ledger:test", Now: time.Now}
	must(tests.SetupWithManager(mgr))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := mgr.Start(ctx); err != nil {
			fmt.Fprintln(os.Stderr, "operator:", err)
		}
	}()
	return func() { cancel(); <-done }
}

// worlds connects the operator to the servers of a namespace.
type worlds struct {
	mu          sync.Mutex
	byNamespace map[string]*fake.World
	// silent are the namespaces whose servers take connections and answer nothing.
	silent map[string]bool
}

func (w *worlds) Connect(t engine.Target) (engine.Server, error) {
	parts := strings.Split(t.Name, "/") // namespace, cluster, pod
	w.mu.Lock()
	defer w.mu.Unlock()
	server := w.byNamespace[parts[0]].Server(parts[2])
	if t.TLS == (engine.TLS{}) {
		server = server.WithoutCertificate()
	}
	if w.silent[parts[0]] {
		return silentServer{server}, nil
	}
	return server, nil
}

// Forget does nothing: there is nothing to close.
func (w *worlds) Forget(func(string) bool) {}

func (w *worlds) add(namespace string, world *fake.World) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.byNamespace[namespace] = world
}

// restrictedPods has the API server refuse pods that may do more than the profile `restricted` allows.
var restrictedPods = map[string]string{"pod-security.kubernetes.io/enforce": "restricted"}

// site is a namespace with a cluster in it, and stand-ins for the StatefulSet controller, the kubelet and the servers.
type site struct {
	t         *testing.T
	namespace string
	world     *fake.World

	mu sync.Mutex
	// made are the pods, in the order in which they were made.
	made []string
}

func newSite(t *testing.T, pods ...string) *site {
	t.Helper()
	ns := &corev1.Namespace{}
	ns.GenerateName = "site-"
	ns.Labels = restrictedPods
	must(kube.Create(t.Context(), ns))
	s := &site{t: t, namespace: ns.Name, world: fake.New(pods...)}
	labs.add(ns.Name, s.world)
	ctx, cancel := context.WithCancel(context.Background())
	var wait sync.WaitGroup
	wait.Go(func() { every(ctx, 5*time.Millisecond, s.world.Run) })
	wait.Go(func() { every(ctx, tick, func() { s.world.Pass(tick) }) })
	wait.Go(func() { every(ctx, 50*time.Millisecond, func() { s.runPods(ctx) }) })
	t.Cleanup(func() {
		_ = kube.DeleteAllOf(context.Background(), &v1alpha1.CommitCluster{}, client.InNamespace(s.namespace))
		cancel()
		wait.Wait()
	})
	return s
}

func every(ctx context.Context, interval time.Duration, do func()) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			do()
		}
	}
}

// eventually waits for a condition and says at the end what it last saw.
func (s *site) eventually(what string, check func() error) {
	s.t.Helper()
	deadline := time.Now().Add(patience)
	var last error
	for time.Now().Before(deadline) {
		if last = check(); last == nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	s.t.Fatalf("%s: still %v", what, last)
}
