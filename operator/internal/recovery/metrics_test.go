package recovery

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"commitlab.dev/operator/api/v1alpha1"
)

// The dashboards' tests serve this file to a real Prometheus: what they query is what the operator shows.
const shownFile = "testdata/metrics.txt"

func finished(name string, verdict v1alpha1.Verdict, lost int64) *v1alpha1.RecoveryTest {
	acknowledged, replayed := int64(1200), int64(340)
	injected := metav1.NewMicroTime(time.Unix(1_700_000_000, 0))
	t := &v1alpha1.RecoveryTest{ObjectMeta: metav1.ObjectMeta{Namespace: "test", Name: name}}
	t.Spec.Cluster.Name = "test"
	t.Status = v1alpha1.RecoveryTestStatus{Phase: v1alpha1.RecoveryFinished, Verdict: verdict, Acknowledged: &acknowledged, Lost: &lost,
		Faults: []v1alpha1.FaultStatus{{Name: "kill-master", Kind: "PodKill", InjectedAt: &injected, RecoveredBy: "failover",
			RTO: &metav1.Duration{Duration: 2500 * time.Millisecond}, ReplayedRows: &replayed}}}
	return t
}

// exposed is what Prometheus reads of recovery tests.
func exposed(t *testing.T) string {
	t.Helper()
	recorder := httptest.NewRecorder()
	promhttp.HandlerFor(metrics.Registry, promhttp.HandlerOpts{}).ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	var lines strings.Builder
	for _, line := range strings.SplitAfter(recorder.Body.String(), "\n") {
		if strings.Contains(line, "commitlab_operator_recovery_test_") {
			lines.WriteString(line)
		}
	}
	return lines.String()
}

func TestFinishedTestsAreShownUntilTheyAreGone(t *testing.T) {
	for _, m := range shown {
		m.Reset() // of what other tests have left
	}
	expected, err := os.ReadFile(shownFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []*v1alpha1.RecoveryTest{finished("kill", v1alpha1.VerdictPassed, 0), finished("lossy", v1alpha1.VerdictFailed, 3)} {
		record(test)
		t.Cleanup(func() { forget(types.NamespacedName{Namespace: test.Namespace, Name: test.Name}) })
	}
	if got := exposed(t); got != string(expected) {
		t.Errorf("%s is not what is shown:\n%s", shownFile, got)
	}
	for _, name := range []string{"kill", "lossy"} {
		forget(types.NamespacedName{Namespace: "test", Name: name})
	}
	if got := exposed(t); got != "" {
		t.Errorf("still shown:\n%s", got)
	}
}
