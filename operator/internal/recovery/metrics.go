package recovery

import (
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"commitlab.dev/operator/api/v1alpha1"
)

var (
	testLabels = []string{"namespace", "cluster", "recovery_test"}

	verdicts = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "commitlab_operator_recovery_test_verdict", Help: "1 for the verdict of a finished RecoveryTest, as long as it is there."},
		append(testLabels, "verdict"))
	phases = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "commitlab_operator_recovery_test_phase", Help: "1 for the phase that a RecoveryTest is in."}, append(testLabels, "phase"))
	acknowledged = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "commitlab_operator_recovery_test_acknowledged_commits", Help: "Commits that were acknowledged to the ledger."}, testLabels)
	lost = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "commitlab_operator_recovery_test_lost_commits", Help: "Acknowledged commits that are not there."}, testLabels)
	rtos = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "commitlab_operator_recovery_test_rto_seconds", Help: "From the last acknowledgement before a fault to the first one after it."},
		append(testLabels, "fault", "recovered_by"))
	injectedAt = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "commitlab_operator_recovery_test_injected_timestamp_seconds", Help: "When the injection of a fault was first seen."},
		append(testLabels, "fault", "kind"))
	replayed = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "commitlab_operator_recovery_test_replayed_rows", Help: "Rows that the killed servers replayed from their logs."}, append(testLabels, "fault"))

	shown = []*prometheus.GaugeVec{verdicts, phases, acknowledged, lost, rtos, injectedAt, replayed}
)

func init() {
	for _, m := range shown {
		metrics.Registry.MustRegister(m)
	}
}

// forget removes what is shown of a test that is gone.
func forget(name types.NamespacedName) {
	for _, m := range shown {
		m.DeletePartialMatch(prometheus.Labels{"namespace": name.Namespace, "recovery_test": name.Name})
	}
}

// record shows a test as it is now.
func record(t *v1alpha1.RecoveryTest) {
	values := []string{t.Namespace, t.Spec.Cluster.Name, t.Name}
	with := func(more ...string) []string { return append(append([]string{}, values...), more...) }
	phases.DeletePartialMatch(prometheus.Labels{"namespace": t.Namespace, "recovery_test": t.Name})
	phases.WithLabelValues(with(t.Status.Phase)...).Set(1)
	if t.Status.Verdict != "" {
		verdicts.WithLabelValues(with(string(t.Status.Verdict))...).Set(1)
	}
	if n := t.Status.Acknowledged; n != nil {
		acknowledged.WithLabelValues(values...).Set(float64(*n))
	}
	if n := t.Status.Lost; n != nil {
		lost.WithLabelValues(values...).Set(float64(*n))
	}
	for _, f := range t.Status.Faults {
		if f.InjectedAt != nil {
			injectedAt.WithLabelValues(with(f.Name, string(f.Kind))...).Set(float64(f.InjectedAt.UnixMicro()) / 1e6)
		}
		if f.RTO != nil {
			rtos.WithLabelValues(with(f.Name, f.RecoveredBy)...).Set(f.RTO.Seconds())
		}
		if f.ReplayedRows != nil {
			replayed.WithLabelValues(with(f.Name)...).Set(float64(*f.ReplayedRows))
		}
	}
}
