package controller

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/cluster"
	"commitlab.dev/operator/internal/engine"
	enginefake "commitlab.dev/operator/internal/engine/fake"
)

// stage is an API server and commitd servers, both in memory, and an operator's process in front of them.
type stage struct {
	t     *testing.T
	store *memory
	world *enginefake.World
	// what the kubelet has run, and what clients have written.
	pods    map[string]int
	logins  map[string]cluster.Logins
	written int
	// lossAccepted is the last epoch in which a person has given something up.
	lossAccepted int64

	// the process: gone when it has ended. It has looked after the objects as they were watched last.
	reconciler *Reconciler
	gone       bool
	watched    string

	mu      sync.Mutex
	calls   []call
	times   map[string]int
	at      string
	how     ending
	tripped bool
}

func crashCluster() *v1alpha1.CommitCluster {
	c := demo()
	c.Spec.Semisync.Durability, c.Spec.Semisync.MinSyncReplicas = v1alpha1.DurabilityRequired, 1
	c.Spec.Bootstrap.Database, c.Spec.Bootstrap.User = "app", "app"
	c.Spec.Failover.UnreachableAfter = &metav1.Duration{Duration: 1}
	c.Spec.Failover.SourceLease = &metav1.Duration{} // the calls are counted, and a lease is waited for by the clock
	return c
}

func newStage(t *testing.T) *stage {
	world := enginefake.New("demo-0", "demo-1", "demo-2", "demo-3")
	world.LeastWaitCount = 1
	s := &stage{t: t, store: newMemory(), world: world, pods: map[string]int{}, logins: map[string]cluster.Logins{}, times: map[string]int{}}
	s.start()
	return s
}

// copy is another stage on which everything is as it is here, and an operator that has just started.
func (s *stage) copy(t *testing.T) *stage {
	c := &stage{t: t, store: s.store.copy(), world: s.world.Clone(), pods: maps.Clone(s.pods), logins: maps.Clone(s.logins), times: map[string]int{}, written: s.written}
	c.start()
	return c
}

// play makes the change, with whatever goes wrong, until there is nothing left to do.
func (s *stage) play(c change) error {
	c.begin(s)
	if err := s.until(func() error { return c.done(s) }); err != nil {
		return fmt.Errorf("%w\n%+v\n%s", err, s.get().Status.Record, s.world)
	}
	s.world.Run() // the last writes arrive
	if lost := s.world.Lost(); len(lost) > 0 {
		return fmt.Errorf("lost: %v\n%s", lost, s.world)
	}
	return nil
}

// turns are more than any change takes. When half of them have passed, so has an hour: what came to nothing is tried again then.
const turns = 80

// until lets controllers, servers and clients take turns. An operator that has ended is followed by another one.
func (s *stage) until(done func() error) error {
	var last error
	for turn := range turns {
		if s.gone {
			s.start()
		}
		if turn == turns/2 {
			s.anHourPasses()
		}
		s.world.Run()
		if err := s.runPods(); err != nil {
			return err
		}
		before := len(s.calls)
		s.reconcile()
		if err := s.broken(); err != nil {
			return err
		}
		s.writeEverywhere()
		if last = errors.Join(done(), s.rested(before)); last == nil {
			return nil
		}
	}
	return fmt.Errorf("after %d turns still %w", turns, last)
}

// anHourPasses moves what is on record into the past.
func (s *stage) anHourPasses() {
	c := s.get()
	if last := c.Status.Switchover; last != nil && last.CompletedAt != nil {
		last.CompletedAt = &metav1.Time{Time: last.CompletedAt.Add(-time.Hour)}
	}
	s.must(s.store.Status().Update(context.Background(), c))
}

// rested: an operator that has nothing to do writes nothing.
func (s *stage) rested(since int) error {
	for _, c := range s.calls[since:] {
		if c.writes {
			return fmt.Errorf("the operator has still to %s", c.name)
		}
	}
	return nil
}

func (s *stage) writeEverywhere() {
	for _, name := range s.world.Names() {
		if s.world.Write(name, s.written+1) {
			s.written++
		}
	}
}

// broken says which promise is broken.
func (s *stage) broken() error {
	if masters := s.labelled(v1alpha1.RoleMaster); len(masters) > 1 {
		return fmt.Errorf("the Service selects %v", masters)
	}
	if s.world.Broken != "" {
		return errors.New(s.world.Broken)
	}
	return nil
}

// start is a new process: it remembers nothing.
func (s *stage) start() {
	s.gone, s.watched = false, ""
	api := &tappedAPI{stage: s}
	observer := &Observer{Client: api, Reader: api, Engines: &tappedServers{s}}
	s.reconciler = &Reconciler{Client: api, Reader: api, Observer: observer, Recorder: noEvents{}, DefaultImage: "commitd:test",
		clones: clones{synchronous: true}}
}

type noEvents struct{}

func (noEvents) Eventf(runtime.Object, runtime.Object, string, string, string, string, ...any) {}

var crashRequest = ctrl.Request{NamespacedName: client.ObjectKey{Namespace: "shop", Name: "demo"}}

func (s *stage) reconcile() {
	if watched := s.objectsWatched(); watched != s.watched {
		result, err := s.reconciler.reconcileObjects(context.Background(), crashRequest)
		if err == nil && result.RequeueAfter >= idleRequeue {
			s.watched = watched
		}
	}
	if !s.gone {
		_, _ = s.reconciler.reconcileProtocol(context.Background(), crashRequest)
	}
	if st := s.get().Status; st.LossAcceptedEpoch != s.lossAccepted {
		s.lossAccepted = st.LossAcceptedEpoch
		s.world.GiveUpWhatIsNotOn(st.Master)
	}
}

// objectsWatched is what calls the controller of the objects when it changes.
func (s *stage) objectsWatched() string {
	c := s.get()
	watched := fmt.Sprint(c.Generation, podCount(c), c.Status.Released)
	for _, p := range s.listPods(validationLabels(c)) {
		watched += p.Name + string(p.Status.Phase)
	}
	return watched
}

func (s *stage) listPods(labels map[string]string) []corev1.Pod {
	var pods corev1.PodList
	s.must(s.store.List(context.Background(), &pods, client.InNamespace("shop"), client.MatchingLabels(labels)))
	return pods.Items
}

func (s *stage) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *stage) get() *v1alpha1.CommitCluster {
	c := &v1alpha1.CommitCluster{}
	s.must(s.store.Get(context.Background(), crashRequest.NamespacedName, c))
	return c
}

func (s *stage) edit(do func(*v1alpha1.CommitCluster)) {
	c := s.get()
	do(c)
	c.Generation++
	s.must(s.store.Update(context.Background(), c))
}

func (s *stage) annotate(name, value string) {
	s.edit(func(c *v1alpha1.CommitCluster) { metav1.SetMetaDataAnnotation(&c.ObjectMeta, name, value) })
}

// fenced says whether the operator has fenced a server that a person wants out, in an epoch of its own.
func (s *stage) fenced(name string) error {
	for _, m := range s.get().Status.Members {
		if m.Name == name && m.Fenced && m.Role == string(engine.RoleFenced) && s.get().Status.Epoch > 1 {
			return nil
		}
	}
	return fmt.Errorf("%s is not fenced: %+v", name, s.get().Status.Members)
}

// hibernates: no pod is left, and nobody took the end of one for a loss.
func (s *stage) hibernates() error {
	st := s.get().Status
	if left := s.listPods(selectorLabels(s.get())); len(left) > 0 || st.Phase != v1alpha1.PhaseHibernated || st.Epoch != 1 {
		return fmt.Errorf("%d pods are left, %s in epoch %d", len(left), st.Phase, st.Epoch)
	}
	return nil
}

// labelled are the pods that a Service would select.
func (s *stage) labelled(role string) []string {
	names := []string{}
	for _, p := range s.listPods(map[string]string{v1alpha1.LabelRole: role}) {
		names = append(names, p.Name)
	}
	slices.Sort(names)
	return names
}

// serves says what is missing of a cluster of so many servers that is as it should be.
func (s *stage) serves(servers int) error {
	c := s.get()
	if ready := meta.FindStatusCondition(c.Status.Conditions, v1alpha1.ConditionReady); ready == nil || ready.Status != metav1.ConditionTrue {
		return fmt.Errorf("not Ready: %+v", ready)
	}
	if c.Status.Election != nil || len(c.Status.PriorQuorums) > 0 || len(c.Status.Quorum.Members) != servers-1 || c.Status.AccountsRevision == "" {
		return fmt.Errorf("%+v", c.Status)
	}
	// These servers keep them where they were made: with the first master.
	if len(s.world.Accounts(c.Status.Master)) == 0 && c.Status.Epoch == 1 {
		return errors.New("there are no accounts")
	}
	masters, replicas := s.labelled(v1alpha1.RoleMaster), s.labelled(v1alpha1.RoleReplica)
	if !slices.Equal(masters, []string{c.Status.Master}) || len(replicas) != servers-1 {
		return fmt.Errorf("masters %v, replicas %v", masters, replicas)
	}
	v, err := (&Observer{Client: s.store, Reader: s.store, Engines: worldsServers{s.world}}).View(context.Background(), c, access{})
	if err != nil || !cluster.Writable(v) || len(v.Servers)-len(v.KeptOut) != servers {
		return fmt.Errorf("not writable, or %d servers (%w)", len(v.Servers), err)
	}
	return nil
}

// cloned: the pod's server has become another one.
func (s *stage) cloned(name string) error {
	for _, m := range s.get().Status.Members {
		if m.Name == name && strings.Contains(m.ServerUUID, "-0002-") {
			return nil
		}
	}
	return fmt.Errorf("%s is not another server: %+v", name, s.get().Status.Members)
}

type worldsServers struct{ world *enginefake.World }

func (w worldsServers) Connect(t engine.Target) (engine.Server, error) {
	return w.world.Server(t.Name[len("shop/demo/"):]), nil
}

func (worldsServers) Forget(func(string) bool) {}
