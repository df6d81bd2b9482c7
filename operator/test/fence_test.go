package test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commitlab.dev/operator/api/v1alpha1"
)

func TestAPersonFencesAServerAndLetsItInAgain(t *testing.T) {
	s := newSite(t, "demo-0", "demo-1", "demo-2")
	must(kube.Create(t.Context(), demo(s.namespace, 2)))
	s.awaitRoles("demo-0", "demo-1", "demo-2")
	s.awaitCondition(v1alpha1.ConditionReady, true)
	if out, err := s.kubectlCommitlab("fence", "demo", "demo-1"); err != nil || !strings.Contains(out, "demo-1 is fenced") {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := s.kubectlCommitlab("fence", "demo", "demo-0"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s.eventually("demo-2 is the master, without replicas", func() error {
		st := s.get().Status
		if st.Master == "demo-2" && st.Election == nil && st.Members[0].Fenced && st.Members[1].Fenced {
			return nil
		}
		return fmt.Errorf("%+v", st.Record)
	})
	if out, err := s.kubectlCommitlab("fence", "demo", "demo-7"); err == nil || !strings.Contains(err.Error(), "no server") {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range []string{"demo-0", "demo-1"} {
		if out, err := s.kubectlCommitlab("unfence", "demo", name); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	s.awaitRoles("demo-2", "demo-0", "demo-1")
	s.awaitCondition(v1alpha1.ConditionDegraded, false)
	if out, err := s.kubectlCommitlab("unfence", "demo", "demo-0"); err == nil || !strings.Contains(err.Error(), "is not fenced") {
		t.Fatalf("%v\n%s", err, out)
	}
	if s.world.Broken != "" || len(s.world.Lost()) > 0 {
		t.Fatal(s.world.Broken, s.world.Lost())
	}
}

func TestAPersonPromotesWithoutAQuorum(t *testing.T) {
	s := newSite(t, "demo-0", "demo-1", "demo-2")
	must(kube.Create(t.Context(), demo(s.namespace, 2)))
	s.awaitRoles("demo-0", "demo-1", "demo-2")
	s.awaitCondition(v1alpha1.ConditionReady, true)
	if out, err := s.kubectlCommitlab("promote", "demo", "demo-1", "--accept-data-loss"); err == nil || !strings.Contains(err.Error(), "nothing need be lost") {
		t.Fatalf("%v\n%s", err, out)
	}
	s.world.Kill("demo-2")
	s.world.Kill("demo-0")
	if out, err := s.kubectlCommitlab("promote", "demo", "demo-1", "--accept-data-loss"); err == nil || !strings.Contains(err.Error(), "may still be the master") {
		t.Fatalf("%v\n%s", err, out)
	}
	s.hasEnded("demo-0")
	out, err := s.kubectlCommitlab("promote", "demo", "demo-1")
	if err == nil || !strings.Contains(err.Error(), "nothing was done") || !strings.Contains(out, "demo-2  ?") || s.get().Status.Epoch != 1 {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := s.kubectlCommitlab("promote", "demo", "demo-1", "--accept-data-loss"); err != nil || !strings.Contains(out, "Succeeded: demo-1 is the master") {
		t.Fatalf("%v\n%s", err, out)
	}
	c := s.get()
	if c.Status.Master != "demo-1" || c.Status.LossAcceptedEpoch != c.Status.Epoch || c.Annotations[v1alpha1.AnnotationPromote] != "" {
		t.Fatalf("%+v", c.Status.Record)
	}
	s.world.Start("demo-0")
	s.world.Start("demo-2")
	s.awaitRoles("demo-1", "demo-0", "demo-2")
	s.awaitCondition(v1alpha1.ConditionDegraded, false)
}

// A request that nobody has answered is taken away again; one that another person has put in its place is not.
func TestNobodysPromotionTakesAnotherOnesAway(t *testing.T) {
	s := newSite(t, "demo-0", "demo-1", "demo-2")
	c := demo(s.namespace, 2)
	c.Spec.Paused = true // nobody answers
	must(kube.Create(t.Context(), c))
	for text, hers := range map[string]bool{"": false, `{"id":"hers","server":"demo-2","epoch":1}`: true} {
		ended := make(chan error, 1)
		go func() {
			_, err := s.kubectlCommitlab("promote", "demo", "demo-1", "--timeout", "2s")
			ended <- err
		}()
		s.eventually("the request is there", func() error {
			if s.get().Annotations[v1alpha1.AnnotationPromote] == "" {
				return errors.New("not yet")
			}
			return nil
		})
		if hers {
			s.change(func(c *v1alpha1.CommitCluster) { c.Annotations[v1alpha1.AnnotationPromote] = text })
		}
		if err := <-ended; err == nil || strings.Contains(err.Error(), "testing value") {
			t.Errorf("%v", err)
		}
		if left := s.get().Annotations[v1alpha1.AnnotationPromote]; left != text {
			t.Errorf("%q is left, not %q", left, text)
		}
		s.change(func(c *v1alpha1.CommitCluster) { delete(c.Annotations, v1alpha1.AnnotationPromote) })
	}
}

// hasEnded has Kubernetes say that the server's program does not run.
func (s *site) hasEnded(name string) {
	s.t.Helper()
	pod := &corev1.Pod{}
	must(kube.Get(s.t.Context(), client.ObjectKey{Namespace: s.namespace, Name: name}, pod))
	pod.Status.Phase = corev1.PodFailed
	must(kube.Status().Update(s.t.Context(), pod))
}
