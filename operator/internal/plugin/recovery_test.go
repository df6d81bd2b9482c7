package plugin

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/recovery/ledger"
)

var begun = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func failedTest() *v1alpha1.RecoveryTest {
	t := &v1alpha1.RecoveryTest{}
	t.Namespace, t.Name, t.Spec.Cluster.Name = "n", "t", "demo"
	count, lost := int64(1000), int64(1)
	t.Status = v1alpha1.RecoveryTestStatus{Phase: v1alpha1.RecoveryFinished, Verdict: v1alpha1.VerdictFailed, Message: "1 acknowledged commits are lost",
		Acknowledged: &count, Lost: &lost, MaxRTO: &metav1.Duration{Duration: 3 * time.Second},
		Faults: []v1alpha1.FaultStatus{{Name: "kill", Kind: v1alpha1.PodKill, Phase: v1alpha1.FaultRecovered, RecoveredBy: "failover",
			Objects: []v1alpha1.FaultObject{{Name: "demo-0"}}, RTO: &metav1.Duration{Duration: 3 * time.Second}}},
		LostCommits: []v1alpha1.LostCommitStatus{{ID: 77, AcknowledgedAt: metav1.NewMicroTime(begun), ServerUUID: "uuid-a", Epoch: 4, StillOn: []string{"demo-0"}}}}
	return t
}

func TestAFailedTestNamesWhatIsLost(t *testing.T) {
	var out strings.Builder
	if err := PrintRecoveryTest(&out, failedTest()); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"Failed", "kill", "demo-0", "failover", "3s",
		"id 77, acknowledged at 2026-01-02T03:04:05Z by uuid-a in epoch 4, still on demo-0"} {
		if !strings.Contains(out.String(), text) {
			t.Errorf("%q is not in\n%s", text, out.String())
		}
	}
}

func TestThePageShowsAcknowledgementsEpochsAndFaults(t *testing.T) {
	verdict := &ledger.Verdict{
		Rate:    ledger.Rate{From: begun, Seconds: []int{10, 0, 0, 20}},
		Masters: []ledger.Tenure{{Server: ledger.Server{ID: "uuid-a", Epoch: 4}, FirstOK: begun, LastOK: begun.Add(time.Second)}, {Server: ledger.Server{ID: "<b>", Epoch: 5}, FirstOK: begun.Add(3 * time.Second), LastOK: begun.Add(4 * time.Second)}},
		Pauses:  []ledger.Pause{{LastOK: begun.Add(time.Second), FirstOK: begun.Add(3 * time.Second), Seconds: 2}},
		Faults: []ledger.Fault{{Name: "kill", InjectedAt: begun.Add(time.Second), RTOSeconds: 2, RecoveredBy: "failover",
			Evidence: []ledger.Evidence{{Kind: "pod-uid", Object: "demo-0", Before: "one", After: "two"}}}, {Name: "nothing"}},
	}
	var out strings.Builder
	if err := WriteRecoveryPage(&out, failedTest(), verdict); err != nil {
		t.Fatal(err)
	}
	page := out.String()
	for text, times := range map[string]int{
		`class="rate"`: 4, `class="pause"`: 1, `class="fault"`: 1, `class="even"`: 1, `class="odd"`: 1, "epoch 5, &lt;b&gt;": 1, "at most 20 in a second": 1,
		"nothing acknowledged for 2.000 s": 2, "pod-uid of demo-0 was one, is two": 1, "nothing: nothing proves it": 1,
		`x="500" y="80"`: 0, `x="750" y="0" width="249.5" height="160"`: 1, `x="0" y="80" width="249.5" height="80"`: 1, "http": 0,
	} {
		if got := strings.Count(page, text); got != times {
			t.Errorf("%q is there %d times instead of %d", text, got, times)
		}
	}
}

func TestProgressTellsEachStepOnce(t *testing.T) {
	var out strings.Builder
	progress := newRecoveryProgress(&out)
	test := failedTest()
	test.Status.Phase = v1alpha1.RecoveryRunning
	for _, phase := range []string{v1alpha1.FaultPlanned, v1alpha1.FaultInjecting, v1alpha1.FaultInjecting, v1alpha1.FaultInjected, v1alpha1.FaultRecovered} {
		test.Status.Faults[0].Phase = phase
		progress.show(test)
	}
	if lines := strings.Split(strings.TrimSpace(out.String()), "\n"); len(lines) != 4 || !strings.Contains(lines[3], "RTO 3s, failover") {
		t.Fatalf("%d lines: %q", len(lines), lines)
	}
}
