package recovery

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"commitlab.dev/operator/api/v1alpha1"
)

const (
	// lookEvery is how often a run is looked at; waitEvery one that waits for a person or for another test.
	lookEvery = 500 * time.Millisecond
	waitEvery = 2 * time.Second
	// settleFor is how long commits go on between two faults, and behind the last.
	settleFor = 3 * time.Second
	// injectPatience is how long an injection may take to be seen.
	injectPatience = time.Minute
	// refusalPatience is how long Chaos Mesh may say that it cannot before it is believed.
	refusalPatience = 10 * time.Second
	// verifyPatience is how long the ledger may take for its verdict once the run's duration is over.
	verifyPatience = 5 * time.Minute
	// enoughCommits before the first fault.
	enoughCommits = 50

	defaultRunDuration = 15 * time.Minute
	defaultRTO         = time.Minute
)

// Decide is a function of what was gathered: it reads no clock and asks nobody.
func Decide(v View) Plan {
	d := &decision{view: v, status: *v.Test.Status.DeepCopy()}
	d.status.ObservedGeneration = v.Test.Generation
	d.decide()
	d.setCondition()
	return Plan{Status: d.status, Actions: d.actions, Again: d.again, Events: d.events}
}

type decision struct {
	view     View
	status   v1alpha1.RecoveryTestStatus
	schedule []Fault
	actions  []Action
	events   []Event
	again    time.Duration
}

func (d *decision) do(a Action) { d.actions = append(d.actions, a) }

func (d *decision) tell(warning bool, reason, format string, args ...any) {
	d.events = append(d.events, Event{Warning: warning, Reason: reason, Message: fmt.Sprintf(format, args...)})
}

// wait says what for.
func (d *decision) wait(phase, format string, args ...any) {
	d.status.Phase, d.status.Message, d.again = phase, fmt.Sprintf(format, args...), waitEvery
}

func (d *decision) decide() {
	t := d.view.Test
	switch {
	case !t.DeletionTimestamp.IsZero():
		d.cleanUp()
	case !controllerutil.ContainsFinalizer(t, v1alpha1.FinalizerRecoveryTest):
		d.do(AddFinalizer{})
		d.again = lookEvery
	case t.Finished():
		d.afterwards()
	case t.Spec.Suspend:
		d.takeAway()
		d.wait(v1alpha1.RecoverySuspended, "suspended: set spec.suspend to false to let it go on")
	case d.status.StartTime == nil:
		d.begin()
	default:
		d.run()
	}
}

// takeAway removes faults and load; true when both are gone.
func (d *decision) takeAway() bool {
	d.endExperiments(func(string) bool { return true })
	d.mendAll()
	if d.view.LedgerPod.Exists && !d.view.LedgerPod.Terminating {
		d.do(DeleteLedger{})
	}
	return len(d.view.Experiments) == 0 && !d.view.LedgerPod.Exists
}

func (d *decision) endExperiments(over func(fault string) bool) {
	for _, fault := range slices.Sorted(maps.Keys(d.view.Experiments)) {
		if over(fault) {
			d.do(EndExperiment{Fault: fault, Force: d.neverTook(fault)})
		}
	}
}

// neverTook: Chaos Mesh could not do it, and nothing of it was seen. What was seen, in part perhaps, is for Chaos Mesh to take away.
func (d *decision) neverTook(fault string) bool {
	e := d.view.Experiments[fault]
	return slices.ContainsFunc(d.status.Faults, func(f v1alpha1.FaultStatus) bool {
		return f.Name == fault && f.InjectedAt == nil && !e.Injected && (e.Problem != "" || f.Phase == v1alpha1.FaultUnsupported)
	})
}

// cleanUp leaves nothing that goes on. Volume and history belong to the test and go with it.
func (d *decision) cleanUp() {
	if d.takeAway() && controllerutil.ContainsFinalizer(d.view.Test, v1alpha1.FinalizerRecoveryTest) {
		d.do(RemoveFinalizer{})
	}
	d.again = lookEvery
}

func (d *decision) afterwards() {
	if !d.takeAway() {
		d.again = lookEvery
		return
	}
	ttl := d.view.Test.Spec.TTLSecondsAfterFinished
	if ttl == nil {
		return
	}
	left := d.status.CompletionTime.Add(time.Duration(*ttl) * time.Second).Sub(d.view.Now)
	if left <= 0 {
		d.do(DeleteTest{})
		return
	}
	d.again = left
}

// begin waits until the cluster may be broken, and is whole. Then the schedule is fixed.
func (d *decision) begin() {
	c, name := d.view.Cluster, d.view.Test.Spec.Cluster.Name
	switch {
	case c == nil:
		d.wait(v1alpha1.RecoveryPending, "there is no CommitCluster %q in this namespace", name)
	case c.Annotations[v1alpha1.AnnotationAllowChaos] != "true":
		d.wait(v1alpha1.RecoveryPending, "CommitCluster %s does not allow it: kubectl annotate cc %s %s=true", name, name, v1alpha1.AnnotationAllowChaos)
	case d.view.BusyWith != "":
		d.wait(v1alpha1.RecoveryPending, "CommitCluster %s is being tested by %s", name, d.view.BusyWith)
	case settled(c) != "":
		d.wait(v1alpha1.RecoveryPending, "CommitCluster %s is not whole: %s", name, settled(c))
	default:
		d.fixSchedule()
	}
}

func (d *decision) fixSchedule() {
	t := d.view.Test
	now := metav1.NewTime(d.view.Now.Truncate(time.Second))
	seed := int64(t.CreationTimestamp.Unix())
	if r := t.Spec.Random; r != nil && r.Seed != nil {
		seed = *r.Seed
	}
	d.status.Injector = t.Spec.Injector
	if d.status.Injector == v1alpha1.InjectorAuto || d.status.Injector == "" {
		d.status.Injector = v1alpha1.InjectorBuiltIn
		if d.view.ChaosMesh {
			d.status.Injector = v1alpha1.InjectorChaosMesh
		}
	}
	d.status.StartTime, d.status.Seed, d.status.Run = &now, &seed, runName(t)
	d.status.Phase, d.status.Message = v1alpha1.RecoveryRunning, "starting the ledger"
	for _, f := range Schedule(t.Spec, seed, d.status.Injector) {
		d.status.Faults = append(d.status.Faults, v1alpha1.FaultStatus{Name: f.Name, Kind: f.Kind, Target: f.Target, Phase: v1alpha1.FaultPlanned})
	}
	d.again = lookEvery
	d.tell(false, "Started", "%d faults by %s, seed %d", len(d.status.Faults), d.status.Injector, seed)
}

// runName is part of the ledger's table names, which may have 24 characters.
func runName(t *v1alpha1.RecoveryTest) string {
	uid := strings.ReplaceAll(string(t.UID), "-", "")
	return "rt_" + uid[:min(len(uid), 20)]
}

// settled says what is missing until a cluster is whole; empty when it is.
func settled(c *v1alpha1.CommitCluster) string {
	ready := meta.FindStatusCondition(c.Status.Conditions, v1alpha1.ConditionReady)
	switch {
	case ready == nil:
		return "its operator has not reported yet"
	case ready.Status != metav1.ConditionTrue:
		return ready.Message
	case c.Status.ReadyReplicas < c.Spec.Replicas:
		return fmt.Sprintf("%d of %d replicas are attached", c.Status.ReadyReplicas, c.Spec.Replicas)
	}
	return ""
}

// over says that no fault is begun any more.
func (d *decision) over() bool {
	return d.view.Now.After(d.status.StartTime.Add(orDefault(d.view.Test.Spec.Limits.Duration, defaultRunDuration)))
}

func (d *decision) run() {
	d.again = lookEvery
	d.planFaults()
	deadline := d.status.StartTime.Add(orDefault(d.view.Test.Spec.Limits.Duration, defaultRunDuration) + verifyPatience)
	switch {
	case d.view.Cluster == nil:
		d.giveUp("CommitCluster %s was deleted during the run", d.view.Test.Spec.Cluster.Name)
	case d.view.Volume != "" && d.status.JournalUID != "" && d.view.Volume != d.status.JournalUID:
		d.giveUp("the journal's volume is another one: what was acknowledged before is not known any more")
	case len(d.schedule) != len(d.status.Faults):
		d.giveUp("the schedule is another one than it was: this operator makes others from the seed")
	case d.view.Now.After(deadline):
		d.giveUp("the ledger has not come to a verdict: %s", orText(d.view.LedgerPod.Problem, "see kubectl logs "+ledgerName(d.view.Test)))
	default:
		d.goOn()
	}
}

// planFaults makes the schedule anew, and adds what was chosen since.
func (d *decision) planFaults() {
	d.schedule = Schedule(d.view.Test.Spec, *d.status.Seed, d.status.Injector)
	for i := range min(len(d.schedule), len(d.status.Faults)) {
		d.schedule[i].Substituted = d.status.Faults[i].Substitute != ""
	}
}

// giveUp is the only verdict that is not the ledger's, which cannot give one.
func (d *decision) giveUp(format string, args ...any) {
	d.finish(v1alpha1.VerdictInconclusive, fmt.Sprintf(format, args...))
}

func (d *decision) goOn() {
	d.status.JournalUID = orText(d.status.JournalUID, d.view.Volume)
	if d.view.Volume == "" || !d.view.LedgerPod.Exists {
		if d.status.JournalUID == "" || d.view.Volume != "" {
			d.do(StartLedger{})
		} else {
			d.giveUp("the journal's volume is gone: what was acknowledged is not known any more")
			return
		}
	}
	if d.view.Ledger == nil {
		d.status.Message = "the ledger does not answer: " + orText(d.view.LedgerPod.Problem, "it is starting")
		return
	}
	d.count()
	if d.status.Phase == v1alpha1.RecoveryVerifying {
		d.verify()
	} else {
		d.status.Phase = v1alpha1.RecoveryRunning
		d.injectAndWait()
	}
	d.endExperiments(d.experimentIsOver)
}

func (d *decision) count() {
	acknowledged, indeterminate := d.view.Ledger.Acknowledged, d.view.Ledger.Indeterminate
	d.status.Acknowledged, d.status.Indeterminate = &acknowledged, &indeterminate
}

// verify ends the load, again if the ledger has been started anew meanwhile, and takes its verdict.
func (d *decision) verify() {
	d.status.Message = "the ledger compares every server with its journal"
	switch {
	case d.view.Verdict == nil && d.view.Ledger.Phase == phaseRunning:
		d.do(StopLoad{})
	case d.view.Verdict == nil:
	case !d.view.HistorySaved:
		d.do(SaveHistory{})
	default:
		d.takeVerdict()
	}
}

func (d *decision) finish(verdict v1alpha1.Verdict, message string) {
	now := metav1.NewTime(d.view.Now.Truncate(time.Second))
	d.status.Phase, d.status.Verdict, d.status.Message, d.status.CompletionTime = v1alpha1.RecoveryFinished, verdict, message, &now
	d.again = lookEvery
	d.tell(verdict != v1alpha1.VerdictPassed, string(verdict), "%s", orText(message, "every acknowledged commit is there, on every server"))
}

func (d *decision) setCondition() {
	condition := metav1.Condition{Type: v1alpha1.ConditionComplete, Status: metav1.ConditionFalse, Reason: orText(d.status.Phase, "New"),
		Message: d.status.Message, ObservedGeneration: d.view.Test.Generation}
	if d.status.Verdict != "" {
		condition.Status, condition.Reason = metav1.ConditionTrue, string(d.status.Verdict)
	}
	meta.SetStatusCondition(&d.status.Conditions, condition)
}

func orText[T ~string](text, otherwise T) T {
	if text == "" {
		return otherwise
	}
	return text
}
