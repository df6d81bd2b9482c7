package controller

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"commitlab.dev/operator/api/v1alpha1"
)

var (
	clusterLabels = []string{"namespace", "cluster"}

	epochs = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "commitlab_operator_cluster_epoch", Help: "Highest epoch claimed for the cluster."}, clusterLabels)
	attached = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "commitlab_operator_cluster_attached_replicas", Help: "Replicas that are attached to the master and acknowledge."}, clusterLabels)
	conditions = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "commitlab_operator_cluster_condition", Help: "1 if the condition is true."}, append(clusterLabels, "condition"))
	elections = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "commitlab_operator_elections_total", Help: "Masters elected, by the reason for the election."}, append(clusterLabels, "reason"))
	electionSeconds = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "commitlab_operator_election_seconds", Help: "Time from the claim of an epoch until its master is on record.",
		Buckets: []float64{.05, .1, .25, .5, 1, 2, 5, 10, 30, 60, 300}}, clusterLabels)
	commands = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "commitlab_operator_commands_total", Help: "Control statements sent to servers."}, []string{"command", "outcome"})
)

func init() {
	metrics.Registry.MustRegister(epochs, attached, conditions, elections, electionSeconds, commands)
}

// electionStart remembers the election that a persisted record may end.
func electionStart(c *v1alpha1.CommitCluster) *v1alpha1.ElectionStatus {
	return c.Status.Election.DeepCopy()
}

// recordElection counts an election that has just ended.
func recordElection(c *v1alpha1.CommitCluster, before *v1alpha1.ElectionStatus) {
	if before == nil || c.Status.Election != nil {
		return
	}
	elections.WithLabelValues(c.Namespace, c.Name, before.Reason).Inc()
	electionSeconds.WithLabelValues(c.Namespace, c.Name).Observe(time.Since(before.StartedAt.Time).Seconds())
}

func recordCluster(c *v1alpha1.CommitCluster) {
	epochs.WithLabelValues(c.Namespace, c.Name).Set(float64(c.Status.Epoch))
	attached.WithLabelValues(c.Namespace, c.Name).Set(float64(c.Status.ReadyReplicas))
	for _, condition := range c.Status.Conditions {
		value := 0.0
		if meta.IsStatusConditionTrue(c.Status.Conditions, condition.Type) {
			value = 1
		}
		conditions.WithLabelValues(c.Namespace, c.Name, condition.Type).Set(value)
	}
}

// forgetCluster removes the gauges of a cluster that is gone.
func forgetCluster(name types.NamespacedName) {
	labels := prometheus.Labels{"namespace": name.Namespace, "cluster": name.Name}
	epochs.DeletePartialMatch(labels)
	attached.DeletePartialMatch(labels)
	conditions.DeletePartialMatch(labels)
}
