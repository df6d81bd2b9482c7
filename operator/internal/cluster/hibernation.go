package cluster

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"commitlab.dev/operator/api/v1alpha1"
)

// A cluster that hibernates has no pods. Servers that end are not lost, so nothing is claimed, elected or commanded, and the record
// stays as it was: whoever comes back when the cluster is woken has started without a role, and gets one by the ordinary rules.

// hibernate takes the servers away from clients, and waits for their end.
func (v *View) hibernate() Plan {
	p := Plan{Roles: map[string]string{}}
	for i := range v.Servers {
		p.Roles[v.Servers[i].Name] = ""
	}
	if left := v.podsLeft(); left != "" {
		p.Waiting = "hibernation: waiting for the end of " + left
	}
	return p
}

func (v *View) podsLeft() string {
	var names []string
	for i := range v.Servers {
		if s := &v.Servers[i]; s.PodUID != "" {
			names = append(names, s.Name)
		}
	}
	return strings.Join(names, ", ")
}

func (v *View) summarizeHibernation(s Summary, p Plan) Summary {
	const reason, message = "Hibernated", "spec.hibernated: the pods are ended, the volumes are kept"
	s.Phase = v1alpha1.PhaseHibernated
	s.Semisync = v.semisync()
	s.Conditions = []metav1.Condition{
		condition(v1alpha1.ConditionReady, false, "", reason, message),
		v.initialized(false, p),
		condition(v1alpha1.ConditionSemisyncSatisfied, false, "", reason, message),
		condition(v1alpha1.ConditionWritesBlocked, true, reason, "", message),
		v.durabilityReduced(),
		condition(v1alpha1.ConditionProgressing, p.Waiting != "", "Hibernating", reason, message),
		condition(v1alpha1.ConditionDegraded, false, "", reason, message),
		condition(v1alpha1.ConditionHibernated, p.Waiting == "", "PodsEnded", "Hibernating", message),
	}
	if p.Waiting != "" {
		s.Phase = v1alpha1.PhaseHibernating
		s.Conditions[5].Message, s.Conditions[7].Message = p.Waiting, p.Waiting
	}
	return s
}
