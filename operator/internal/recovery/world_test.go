package recovery

import (
	"fmt"
	"maps"
	"math"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/recovery/ledger"
	"commitlab.dev/operator/internal/recovery/ledger/fake"
)

// world is a cluster, a ledger and whoever injects, in memory. A round is a look of the operator and half a second.
type world struct {
	t         *testing.T
	now       time.Time
	test      *v1alpha1.RecoveryTest
	gone      bool // the test
	cluster   *v1alpha1.CommitCluster
	servers   []Server
	back      map[string]time.Time // when a killed server runs again
	ledger    *fake.Ledger
	ledgerPod bool
	volume    types.UID
	history   bool
	busy      string
	chaosMesh bool
	operator  OperatorPod
	// experiments that were begun, by fault.
	experiments map[string]Experiment
	refusal     string // of Chaos Mesh

	kills     map[string]int // by fault
	number    int
	nothing   bool     // injections have no effect
	idle      bool     // libraries do as they are told, and it comes to nothing
	held      int64    // by a library, of the memory that was asked for
	failover  bool     // another server takes over at once
	mended    []string // faults
	undoes    int64    // what each disk undoes at a loss of power
	noCommits bool
}

func newWorld(t *testing.T, faults ...v1alpha1.FaultSpec) *world {
	w := &world{t: t, now: time.Unix(1_000_000, 0), back: map[string]time.Time{}, experiments: map[string]Experiment{}, kills: map[string]int{},
		operator: OperatorPod{Namespace: "system", Name: "operator-1", UID: "operator-uid-0"}, undoes: 3, held: math.MaxInt64}
	w.test = &v1alpha1.RecoveryTest{}
	w.test.Name, w.test.Namespace, w.test.UID = "t", "n", "0123-4567-89ab"
	w.test.Spec.Cluster.Name, w.test.Spec.Faults = "demo", faults
	w.test.Spec.Limits.Duration = &metav1.Duration{Duration: 5 * time.Minute}
	w.cluster = &v1alpha1.CommitCluster{}
	w.cluster.Name, w.cluster.Spec.Replicas = "demo", 2
	w.cluster.Annotations = map[string]string{v1alpha1.AnnotationAllowChaos: "true"}
	w.cluster.Status.Master = "demo-0"
	for _, name := range []string{"demo-0", "demo-1", "demo-2"} {
		role := v1alpha1.RoleReplica
		if name == w.cluster.Status.Master {
			role = v1alpha1.RoleMaster
		}
		w.servers = append(w.servers, Server{Name: name, UID: w.uid(), ContainerID: string(w.uid()), Running: true, Role: role, Reached: true,
			Recovery: &CrashRecovery{Rows: 5, Took: time.Second}, PlainDisk: true})
	}
	w.live()
	return w
}

// forget gives every server a disk that forgets.
func (w *world) forget() {
	for i := range w.servers {
		w.servers[i].Disk, w.servers[i].PlainDisk = &Disk{Starts: 1}, false
	}
}

func (w *world) uid() types.UID { w.number++; return types.UID(fmt.Sprintf("uid-%d", w.number)) }

// live lets half a second pass: killed servers come back, commits go on while the master runs.
func (w *world) live() {
	w.now = w.now.Add(500 * time.Millisecond)
	ready, attached := metav1.ConditionTrue, int32(-1)
	for i := range w.servers {
		s := &w.servers[i]
		if !s.Running && w.now.After(w.back[s.Name]) {
			s.Running = true
		}
		if s.Running {
			attached++
		}
		if s.Name == w.cluster.Status.Master && !s.Running {
			ready = metav1.ConditionFalse
		}
	}
	if ready == metav1.ConditionFalse && w.failover {
		w.moveMastership()
	}
	w.cluster.Status.ReadyReplicas = attached
	w.cluster.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionReady, Status: ready, Message: "the master is away"}}
	if w.ledger != nil && w.ledgerPod && ready == metav1.ConditionTrue && !w.noCommits {
		w.ledger.Commit(20, w.now)
	}
}

func (w *world) moveMastership() {
	for _, s := range w.servers {
		if s.Running {
			w.cluster.Status.Master = s.Name
			return
		}
	}
}

func (w *world) view() View {
	v := View{Now: w.now, Test: w.test.DeepCopy(), Cluster: w.cluster, BusyWith: w.busy, ChaosMesh: w.chaosMesh, Operator: w.operator,
		Servers: append([]Server{}, w.servers...), Experiments: map[string]Experiment{}, Volume: w.volume, HistorySaved: w.history,
		LedgerPod: LedgerPod{Exists: w.ledgerPod}}
	for i := range v.Servers {
		if s := &v.Servers[i]; !s.Running {
			s.Disk, s.PlainDisk = nil, false // nobody asks it
		}
	}
	maps.Copy(v.Experiments, w.experiments)
	if w.ledgerPod {
		status, _ := w.ledger.Status(w.t.Context())
		v.Ledger = &status
		v.Verdict, _ = w.ledger.Verdict(w.t.Context())
	}
	return v
}

// round is one reconciliation. It returns the number of the steps that it took; it ends before step number crash.
func (w *world) round(crash int) (steps int) {
	plan := Decide(w.view())
	if crash == 0 {
		return 0 // before the status was written
	}
	w.test.Status = plan.Status
	steps = 1
	for _, a := range plan.Actions {
		if steps == crash {
			return steps
		}
		w.do(a)
		steps++
	}
	return steps
}

func (w *world) do(a Action) {
	var err error
	switch a := a.(type) {
	case AddFinalizer:
		controllerutil.AddFinalizer(w.test, v1alpha1.FinalizerRecoveryTest)
	case RemoveFinalizer:
		controllerutil.RemoveFinalizer(w.test, v1alpha1.FinalizerRecoveryTest)
		w.gone = true
	case DeleteTest:
		w.test.DeletionTimestamp = &metav1.Time{Time: w.now}
	case StartLedger:
		w.startLedger()
	case DeleteLedger:
		w.ledgerPod = false
	case Inject:
		w.inject(a)
	case EndExperiment:
		w.end(a)
	case Mend:
		w.mended = append(w.mended, a.Fault.Name)
	case Mark:
		err = w.ledger.Mark(w.t.Context(), a.Mark)
	case Prove:
		err = w.ledger.Prove(w.t.Context(), a.Proof)
	case StopLoad:
		err = w.ledger.Stop(w.t.Context())
	case SaveHistory:
		w.history = true
	default:
		w.t.Fatalf("what is %T?", a)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) startLedger() {
	if w.volume == "" {
		w.volume = w.uid()
	}
	if w.ledgerPod {
		return
	}
	w.ledgerPod = true
	if w.ledger == nil {
		w.ledger = fake.New(w.test.Status.Run)
	}
	w.ledger.Restart(w.test.Status.Run)
}

func (w *world) inject(i Inject) {
	byChaosMesh := usesChaosMesh(i.Fault, w.test.Status.Injector)
	if byChaosMesh && w.experiments[i.Fault.Name].Exists {
		return // it is there already
	}
	if byChaosMesh {
		w.experiments[i.Fault.Name] = Experiment{Exists: true, Injected: !w.nothing && w.refusal == "", Problem: w.refusal}
	}
	switch kind := i.Fault.Kind; {
	case byChaosMesh, i.Fault.Substituted, kind == v1alpha1.PodKill, kind == v1alpha1.OperatorKill, kind == v1alpha1.NodeDrain:
	default:
		w.t.Fatalf("the operator cannot do %s by itself", kind)
	}
	if w.nothing || w.refusal != "" {
		return
	}
	for _, o := range i.Objects {
		w.hit(i.Fault, o)
	}
}

// told is what a library says that has done what it was told.
func (w *world) told(f Fault) (all [troubleKinds]Told) {
	trouble := troubleOf(w.test, f)
	told := Told{ID: trouble.ID, Done: 7}
	switch {
	case w.idle:
		told.Done = 0
	case f.Kind == v1alpha1.MemoryStress:
		told.Done = min(f.Memory, w.held)
	}
	all[trouble.Kind] = told
	return all
}

// end takes an experiment away. What Chaos Mesh could not do it cannot take away either, unless it is told not to try.
func (w *world) end(e EndExperiment) {
	if w.refusal != "" && !e.Force {
		return
	}
	for i := range w.servers {
		w.servers[i].Reached, w.servers[i].ReachedIn = true, time.Millisecond
	}
	delete(w.experiments, e.Fault)
}

func (w *world) hit(f Fault, o v1alpha1.FaultObject) {
	if f.Kind == v1alpha1.OperatorKill {
		if w.operator.UID == o.UID {
			w.kills[f.Name]++
			w.operator.UID = w.uid()
		}
		return
	}
	v := View{Servers: w.servers}
	s := v.server(o.Name)
	switch {
	case f.Substituted:
		s.Disk = &Disk{Starts: s.Disk.Starts, Told: w.told(f)}
	case f.isRecorded():
	case f.Kind == v1alpha1.NetworkDelay:
		s.ReachedIn = f.Latency + time.Millisecond
	case f.isProbed():
		s.Reached = false
	case f.Kind == v1alpha1.Partition:
		w.ledger.SeeLink(f.Name, o.Name, w.now)
	case s.UID == o.UID:
		w.kills[f.Name]++
		s.Running, s.ContainerID = false, string(w.uid())
		if f.Kind == v1alpha1.PodKill || f.Kind == v1alpha1.NodeDrain {
			s.UID = w.uid()
		}
		if f.Kind == v1alpha1.PowerLoss && s.Disk != nil {
			s.Disk = &Disk{Starts: s.Disk.Starts + 1, Writes: w.undoes, Bytes: 100 * w.undoes, Files: 1}
		}
		w.back[o.Name] = w.now.Add(2 * time.Second)
	}
}

// run goes on until the test has finished, or rounds are over.
func (w *world) run() *v1alpha1.RecoveryTestStatus {
	w.t.Helper()
	for range 2000 {
		w.round(-1)
		w.live()
		if w.test.Finished() {
			return &w.test.Status
		}
	}
	w.t.Fatalf("the test has not finished: %+v", w.test.Status)
	return nil
}

func kill(name string, target v1alpha1.FaultTarget) v1alpha1.FaultSpec {
	return v1alpha1.FaultSpec{Name: name, Kind: v1alpha1.PodKill, Target: target}
}

var _ ledger.Ledger = &fake.Ledger{}
