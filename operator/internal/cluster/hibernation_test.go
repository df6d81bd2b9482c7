package cluster

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"commitlab.dev/operator/api/v1alpha1"
)

func TestNobodyIsElectedWhileAClusterHibernates(t *testing.T) {
	l := bootstrapped(t, requiredPolicy(2), "c-0", "c-1", "c-2")
	l.write(t)
	l.policy.Hibernated = true
	before := *l.record.DeepCopy()
	for _, name := range []string{"c-0", "c-1", "c-2"} {
		l.world.Kill(name)
		v := l.view()
		p := Decide(v)
		if p.Record != nil || len(p.Commands) > 0 || p.Roles["c-1"] != "" || p.Roles["c-2"] != "" {
			t.Fatalf("%+v", p)
		}
	}
	l.policy.Hibernated = false
	for _, name := range []string{"c-2", "c-1", "c-0"} {
		l.world.Start(name)
	}
	l.operate(t)
	if l.mustServe(t); !slices.EqualFunc(before.Members, l.record.Members, func(a, b v1alpha1.MemberStatus) bool { return a.ServerUUID == b.ServerUUID }) {
		t.Fatalf("%+v", l.record)
	}
	l.write(t)
}

func TestHibernationSaysWhoIsLeft(t *testing.T) {
	l := bootstrapped(t, requiredPolicy(2), "c-0", "c-1", "c-2")
	l.policy.Hibernated = true
	v := l.view()
	v.Servers[0].PodUID, v.Servers[2].PodUID = "", ""
	s := Summarize(v, Decide(v))
	i := slices.IndexFunc(s.Conditions, func(c metav1.Condition) bool { return c.Type == v1alpha1.ConditionHibernated })
	if c := s.Conditions[i]; s.Phase != v1alpha1.PhaseHibernating || c.Status != metav1.ConditionFalse || c.Message != "hibernation: waiting for the end of c-1" {
		t.Fatalf("%+v", s)
	}
	v.Servers[1].PodUID = ""
	if s := Summarize(v, Decide(v)); s.Phase != v1alpha1.PhaseHibernated || s.Conditions[i].Status != metav1.ConditionTrue {
		t.Fatalf("%+v", s)
	}
}
