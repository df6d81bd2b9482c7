package recovery

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"commitlab.dev/operator/api/v1alpha1"
)

func (w *world) expect(status *v1alpha1.RecoveryTestStatus, verdict v1alpha1.Verdict, because string) {
	w.t.Helper()
	if status.Verdict != verdict || !strings.Contains(status.Message, because) {
		w.t.Fatalf("%s because %q instead of %s because %q; faults %+v", status.Verdict, status.Message, verdict, because, status.Faults)
	}
}

func TestEveryKindOfFaultIsInjectedOnceAndPasses(t *testing.T) {
	for _, chaosMesh := range []bool{false, true} {
		for _, f := range []v1alpha1.FaultSpec{
			kill("a", v1alpha1.TargetMaster), kill("a", v1alpha1.TargetReplica), kill("a", v1alpha1.TargetAll),
			{Name: "a", Kind: v1alpha1.OperatorKill},
			{Name: "a", Kind: v1alpha1.ContainerKill},
			{Name: "a", Kind: v1alpha1.PowerLoss}, {Name: "a", Kind: v1alpha1.PowerLoss, Target: v1alpha1.TargetAll},
			{Name: "a", Kind: v1alpha1.Partition},
			{Name: "a", Kind: v1alpha1.Partition, From: v1alpha1.FromOperator},
			{Name: "a", Kind: v1alpha1.Partition, From: v1alpha1.FromClients, Target: v1alpha1.TargetReplica},
			{Name: "a", Kind: v1alpha1.PodFailure},
			{Name: "a", Kind: v1alpha1.NodeDrain, Target: v1alpha1.TargetReplica},
			{Name: "a", Kind: v1alpha1.NetworkDelay},
			{Name: "a", Kind: v1alpha1.NetworkLoss, Target: v1alpha1.TargetAll},
			{Name: "a", Kind: v1alpha1.DiskFull}, {Name: "a", Kind: v1alpha1.DiskError}, {Name: "a", Kind: v1alpha1.DiskSlow, Target: v1alpha1.TargetReplica},
			{Name: "a", Kind: v1alpha1.ClockSkew},
			{Name: "a", Kind: v1alpha1.CPUStress, Target: v1alpha1.TargetAll}, {Name: "a", Kind: v1alpha1.MemoryStress},
		} {
			w := newWorld(t, f)
			w.chaosMesh = chaosMesh
			if f.Kind == v1alpha1.PowerLoss {
				w.forget()
			}
			status := w.run()
			if !chaosMesh && (f.Kind == v1alpha1.ContainerKill || f.Kind == v1alpha1.PowerLoss || lasts(f.Kind)) {
				w.expect(status, v1alpha1.VerdictUnsupported, "Chaos Mesh")
				continue
			}
			w.expect(status, v1alpha1.VerdictPassed, "")
			fault := status.Faults[0]
			objects := map[v1alpha1.FaultTarget]int{v1alpha1.TargetAll: 3}[f.Target]
			ends := !lasts(f.Kind) || f.Kind == v1alpha1.PodFailure
			if ends && w.kills["a"] != max(1, objects) || w.ledger.Marks["a"] != 1 {
				t.Errorf("%+v: %d kills, %d marks", f, w.kills["a"], w.ledger.Marks["a"])
			}
			if fault.Phase != v1alpha1.FaultRecovered || fault.RTO == nil || len(fault.Evidence) < max(1, objects) || fault.RecoveredBy != "restart" {
				t.Errorf("%+v: %+v", f, fault)
			}
			if (f.Kind == v1alpha1.PodKill || f.Kind == v1alpha1.PowerLoss) && *fault.ReplayedRows != int64(5*max(1, objects)) {
				t.Errorf("%+v: %d rows replayed", f, *fault.ReplayedRows)
			}
			if len(w.experiments) > 0 {
				t.Errorf("%+v: %v is left", f, w.experiments)
			}
		}
	}
}

func TestAPartitionIsHeldForItsDuration(t *testing.T) {
	w := newWorld(t, v1alpha1.FaultSpec{Name: "cut", Kind: v1alpha1.Partition, Duration: &metav1.Duration{Duration: 20 * time.Second}})
	w.chaosMesh = true
	fault := w.run().Faults[0]
	if held := fault.EndedAt.Sub(fault.InjectedAt.Time); held < 20*time.Second || held > 25*time.Second {
		t.Fatalf("held for %s", held)
	}
}

// Whatever step of whatever round the operator dies before: the next one comes to the same end, and kills nobody twice.
func TestAnOperatorThatDiesAtAnyStepIsContinued(t *testing.T) {
	for _, chaosMesh := range []bool{false, true} {
		for n := 0; ; n++ {
			w := newWorld(t, kill("one", v1alpha1.TargetMaster), kill("two", v1alpha1.TargetAll), v1alpha1.FaultSpec{Name: "three", Kind: v1alpha1.OperatorKill})
			w.chaosMesh = chaosMesh
			if !w.runWithCrash(n) {
				if n < 30 {
					t.Fatalf("only %d steps were crashed at", n)
				}
				break
			}
			if w.test.Status.Verdict != v1alpha1.VerdictPassed || w.kills["one"] != 1 || w.kills["two"] != 3 || w.kills["three"] != 1 {
				t.Fatalf("crash before step %d: %s because %q, kills %v", n, w.test.Status.Verdict, w.test.Status.Message, w.kills)
			}
			for fault, marks := range w.ledger.Marks {
				if marks != 1 {
					t.Fatalf("crash before step %d: %s is marked %d times", n, fault, marks)
				}
			}
			if w.ledgerPod || len(w.experiments) > 0 {
				t.Fatalf("crash before step %d: load or faults are left", n)
			}
		}
	}
}

// runWithCrash returns false when the run was over before that step. Steps of rounds that only look are not counted.
func (w *world) runWithCrash(at int) bool {
	steps, crashed := 0, false
	for range 2000 {
		before := w.test.DeepCopy()
		plan := Decide(w.view())
		interesting := len(plan.Actions) > 0 || before.Status.Phase != plan.Status.Phase
		if !interesting || crashed {
			w.round(-1)
		} else if taken := w.round(at - steps); taken == at-steps {
			crashed = true
		} else {
			steps += taken
		}
		w.live()
		if w.test.Finished() && !w.ledgerPod && len(w.experiments) == 0 {
			return crashed
		}
	}
	w.t.Fatalf("crash before step %d: the test has not finished: %+v", at, w.test.Status)
	return false
}

func TestAFaultThatDidNotHappenEndsInconclusive(t *testing.T) {
	for _, chaosMesh := range []bool{false, true} {
		w := newWorld(t, kill("a", v1alpha1.TargetMaster), kill("b", v1alpha1.TargetMaster))
		w.chaosMesh, w.nothing = chaosMesh, true
		w.expect(w.run(), v1alpha1.VerdictInconclusive, "nothing proves that a was injected")
		if phase := w.test.Status.Faults[0].Phase; phase != v1alpha1.FaultUnproved || len(w.experiments) > 0 {
			t.Fatalf("%s, experiments %v", phase, w.experiments)
		}
	}
}

// Each proof is one that a fault without effect does not give.
func TestNoKindIsBelievedToHaveHappenedWithoutEffect(t *testing.T) {
	for _, kind := range []v1alpha1.FaultKind{v1alpha1.PowerLoss, v1alpha1.PodFailure, v1alpha1.NodeDrain, v1alpha1.NetworkDelay, v1alpha1.NetworkLoss, v1alpha1.DiskFull,
		v1alpha1.DiskError, v1alpha1.DiskSlow, v1alpha1.ClockSkew, v1alpha1.CPUStress, v1alpha1.MemoryStress} {
		w := newWorld(t, v1alpha1.FaultSpec{Name: "a", Kind: kind})
		w.chaosMesh, w.nothing = true, true
		if kind == v1alpha1.PowerLoss {
			w.forget()
		}
		status := w.run()
		if (Fault{Kind: kind}).isRecorded() {
			w.expect(status, v1alpha1.VerdictUnsupported, "has not done it within 1m0s and does not say why")
		} else {
			w.expect(status, v1alpha1.VerdictInconclusive, "nothing proves that a was injected")
		}
	}
}

func TestWhatChaosMeshCannotDoHereIsUnsupportedInItsWords(t *testing.T) {
	for _, kind := range []v1alpha1.FaultKind{v1alpha1.NetworkDelay, v1alpha1.DiskSlow, v1alpha1.ClockSkew, v1alpha1.MemoryStress} {
		w := newWorld(t, v1alpha1.FaultSpec{Name: "a", Kind: kind}, kill("b", v1alpha1.TargetMaster))
		w.chaosMesh, w.refusal = true, "Specified qdisc kind is unknown"
		for w.test.Status.Faults == nil || w.test.Status.Faults[0].Phase != v1alpha1.FaultUnsupported {
			w.round(-1)
			w.live()
		}
		w.round(-1)
		if len(w.experiments) > 0 {
			t.Fatalf("%s: it is left: %v", kind, w.experiments)
		}
		w.refusal = "" // the next fault is another one
		w.expect(w.run(), v1alpha1.VerdictUnsupported, "Specified qdisc kind is unknown")
		if w.kills["b"] != 1 || w.test.Status.Faults[0].Phase != v1alpha1.FaultUnsupported {
			t.Errorf("%s: kills %v, %+v", kind, w.kills, w.test.Status.Faults[0])
		}
	}
}

// A partition whose rules are there though Chaos Mesh also met an error: to give it up would leave them there for ever.
func TestWhatWasSeenIsNotGivenUpByForce(t *testing.T) {
	w := newWorld(t, v1alpha1.FaultSpec{Name: "cut", Kind: v1alpha1.Partition})
	w.chaosMesh = true
	for len(w.test.Status.Faults) == 0 || w.test.Status.Faults[0].InjectedAt == nil {
		w.round(-1)
		w.live()
	}
	w.experiments["cut"] = Experiment{Exists: true, Problem: "unable to set tcs"}
	w.test.Spec.Suspend = true
	for _, a := range Decide(w.view()).Actions {
		if end, ends := a.(EndExperiment); ends && end.Force {
			t.Fatal("given up by force")
		}
	}
}

// One failed attempt is no refusal: Chaos Mesh tries again.
func TestAnAttemptThatFailedOnceIsWaitedFor(t *testing.T) {
	w := newWorld(t, v1alpha1.FaultSpec{Name: "a", Kind: v1alpha1.CPUStress})
	w.chaosMesh, w.refusal = true, "the pod is not there"
	for len(w.experiments) == 0 {
		w.round(-1)
		w.live()
	}
	w.round(-1)
	w.refusal, w.experiments["a"] = "", Experiment{Exists: true, Injected: true, Problem: "the pod is not there"}
	w.expect(w.run(), v1alpha1.VerdictPassed, "")
}

func TestLostCommitsAreNamed(t *testing.T) {
	w := newWorld(t, kill("a", v1alpha1.TargetMaster))
	for w.ledger == nil {
		w.round(-1)
		w.live()
	}
	w.ledger.Lost = 3
	status := w.run()
	w.expect(status, v1alpha1.VerdictFailed, "3 acknowledged commits are lost")
	if *status.Lost != 3 || len(status.LostCommits) != 1 || DescribeLost(status.LostCommits[0]) == "" || status.LostCommits[0].Epoch != 1 {
		t.Fatalf("%+v", status)
	}
	if !strings.Contains(DescribeLost(status.LostCommits[0]), "id 7, acknowledged at") || !strings.Contains(DescribeLost(status.LostCommits[0]), "still on demo-1") {
		t.Fatal(DescribeLost(status.LostCommits[0]))
	}
}

func TestWhatIsNotInjectedInTimeIsToldToTheLedger(t *testing.T) {
	w := newWorld(t, kill("a", v1alpha1.TargetMaster), kill("b", v1alpha1.TargetMaster))
	w.test.Spec.Limits.Duration.Duration = 6 * time.Second
	w.expect(w.run(), v1alpha1.VerdictInconclusive, "nothing proves that b was injected")
	if w.kills["b"] > 0 || w.test.Status.Faults[1].Phase != v1alpha1.FaultSkipped {
		t.Fatalf("%v %+v", w.kills, w.test.Status.Faults)
	}
}

func TestNothingBeginsBeforeTheClusterMayBeBroken(t *testing.T) {
	for because, spoil := range map[string]func(*world){
		"does not allow it":    func(w *world) { w.cluster.Annotations = nil },
		"no CommitCluster":     func(w *world) { w.cluster = nil },
		"being tested by":      func(w *world) { w.busy = "another" },
		"is not whole":         func(w *world) { w.cluster.Status.ReadyReplicas = 1 },
		"is not whole: the ma": func(w *world) { w.cluster.Status.Conditions[0].Status = metav1.ConditionFalse },
	} {
		w := newWorld(t, kill("a", v1alpha1.TargetMaster))
		w.round(-1)
		spoil(w)
		w.round(-1)
		if w.test.Status.Phase != v1alpha1.RecoveryPending || !strings.Contains(w.test.Status.Message, because) || w.ledgerPod {
			t.Errorf("%s: %+v", because, w.test.Status)
		}
	}
}

func TestARandomScheduleFollowsFromItsSeed(t *testing.T) {
	spec := v1alpha1.RecoveryTestSpec{Random: &v1alpha1.RandomFaultsSpec{Count: 20}}
	texts := map[string]bool{}
	for seed := range int64(20) {
		first, again := Schedule(spec, seed, v1alpha1.InjectorChaosMesh), Schedule(spec, seed, v1alpha1.InjectorChaosMesh)
		text := describeSchedule(first)
		if text != describeSchedule(again) || len(first) != 20 {
			t.Fatalf("seed %d: %s, then %s", seed, text, describeSchedule(again))
		}
		texts[text] = true
	}
	if len(texts) != 20 {
		t.Fatalf("20 seeds make %d schedules", len(texts))
	}
	for _, f := range Schedule(spec, 1, v1alpha1.InjectorBuiltIn) {
		if f.Kind == v1alpha1.Partition || f.Kind == v1alpha1.ContainerKill {
			t.Fatalf("%s without Chaos Mesh", f.Kind)
		}
	}
}

func describeSchedule(faults []Fault) string {
	var b strings.Builder
	for _, f := range faults {
		b.WriteString(f.Name + string(f.Kind) + string(f.Target) + string(f.Start) + " ")
	}
	return b.String()
}

func TestARandomRunPasses(t *testing.T) {
	for seed := range int64(10) {
		w := newWorld(t)
		w.chaosMesh = true
		w.test.Spec.Faults, w.test.Spec.Random = nil, &v1alpha1.RandomFaultsSpec{Count: 5, Seed: &seed}
		w.test.Spec.Limits.Duration.Duration = time.Hour
		w.expect(w.run(), v1alpha1.VerdictPassed, "")
		if len(w.test.Status.Faults) != 5 || *w.test.Status.Seed != seed {
			t.Fatalf("%+v", w.test.Status)
		}
	}
}

func TestARepeatedKillDoesNotWaitForTheRecovery(t *testing.T) {
	f := kill("a", v1alpha1.TargetMaster)
	times := int32(3)
	f.Times, f.Interval = &times, &metav1.Duration{Duration: time.Second}
	w := newWorld(t, f)
	w.failover = true
	status := w.run()
	w.expect(status, v1alpha1.VerdictPassed, "")
	for _, name := range []string{"a", "a.2", "a.3"} {
		if w.kills[name] != 1 {
			t.Fatalf("kills %v", w.kills)
		}
	}
	if !status.Faults[1].InjectedAt.Time.Before(status.Faults[0].RecoveredAt.Time) {
		t.Fatalf("the second kill at %s came behind the recovery at %s", status.Faults[1].InjectedAt, status.Faults[0].RecoveredAt)
	}
	if status.Faults[0].Objects[0].Name == status.Faults[1].Objects[0].Name {
		t.Fatal("the second kill did not hit who was master then")
	}
}

func TestASuspendedRunLosesFaultsAndLoadAndGoesOn(t *testing.T) {
	w := newWorld(t, v1alpha1.FaultSpec{Name: "cut", Kind: v1alpha1.Partition})
	w.chaosMesh = true
	for len(w.experiments) == 0 {
		w.round(-1)
		w.live()
	}
	w.test.Spec.Suspend = true
	w.round(-1)
	if w.ledgerPod || len(w.experiments) > 0 || w.test.Status.Phase != v1alpha1.RecoverySuspended {
		t.Fatalf("ledger %t, experiments %v, %s", w.ledgerPod, w.experiments, w.test.Status.Phase)
	}
	w.test.Spec.Suspend = false
	w.expect(w.run(), v1alpha1.VerdictPassed, "")
	if w.ledger.Marks["cut"] != 1 {
		t.Fatalf("marked %d times", w.ledger.Marks["cut"])
	}
}

func TestADeletedTestTakesFaultsAndLoadWithIt(t *testing.T) {
	w := newWorld(t, v1alpha1.FaultSpec{Name: "cut", Kind: v1alpha1.Partition})
	w.chaosMesh = true
	for len(w.experiments) == 0 {
		w.round(-1)
		w.live()
	}
	w.test.DeletionTimestamp = &metav1.Time{Time: w.now}
	w.round(-1)
	if !controllerutil.ContainsFinalizer(w.test, v1alpha1.FinalizerRecoveryTest) {
		t.Fatal("the test went before its faults")
	}
	w.round(-1)
	if w.ledgerPod || len(w.experiments) > 0 || !w.gone {
		t.Fatalf("ledger %t, experiments %v, gone %t", w.ledgerPod, w.experiments, w.gone)
	}
}

func TestATestIsDeletedWhenItsTimeToLiveIsOver(t *testing.T) {
	w := newWorld(t, kill("a", v1alpha1.TargetMaster))
	ttl := int32(10)
	w.test.Spec.TTLSecondsAfterFinished = &ttl
	finished := w.run().CompletionTime
	for w.test.DeletionTimestamp == nil {
		w.round(-1)
		w.live()
	}
	if lived := w.test.DeletionTimestamp.Sub(finished.Time); lived < 10*time.Second || lived > 12*time.Second {
		t.Fatalf("it lived for %s", lived)
	}
}

func TestALedgerThatWasStoppedByOthersIsStartedAgain(t *testing.T) {
	w := newWorld(t, kill("a", v1alpha1.TargetMaster))
	for w.ledger == nil {
		w.round(-1)
		w.live()
	}
	if err := w.ledger.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.expect(w.run(), v1alpha1.VerdictPassed, "")
	if w.kills["a"] != 1 {
		t.Fatal("it passed without its fault")
	}
}

func TestWithoutItsJournalNothingIsJudged(t *testing.T) {
	for because, spoil := range map[string]func(*world){
		"is another one":       func(w *world) { w.volume = "other" },
		"volume is gone":       func(w *world) { w.volume = "" },
		"does not know of":     func(w *world) { w.ledger.Forget = "a" },
		"was deleted during":   func(w *world) { w.cluster = nil },
		"has not come to a ve": func(w *world) { w.noCommits = true; w.now = w.now.Add(time.Hour) },
	} {
		w := newWorld(t, kill("a", v1alpha1.TargetMaster))
		for w.test.Status.JournalUID == "" {
			w.round(-1)
			w.live()
		}
		spoil(w)
		for range 200 {
			if w.cluster == nil {
				w.round(-1)
				break
			}
			w.round(-1)
			w.live()
		}
		w.expect(&w.test.Status, v1alpha1.VerdictInconclusive, because)
	}
}
