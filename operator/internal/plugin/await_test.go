package plugin

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"commitlab.dev/operator/api/v1alpha1"
)

// seen is a session in which each look finds the next status, and then the last one for ever.
func seen(t *testing.T, statuses ...v1alpha1.CommitClusterStatus) (*session, *v1alpha1.CommitCluster, *bytes.Buffer) {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	looks := 0
	next := func(_ context.Context, _ client.WithWatch, _ client.ObjectKey, o client.Object, _ ...client.GetOption) error {
		o.(*v1alpha1.CommitCluster).Status = statuses[min(looks, len(statuses)-1)]
		looks++
		return nil
	}
	out := &bytes.Buffer{}
	kube := fake.NewClientBuilder().WithScheme(scheme).WithInterceptorFuncs(interceptor.Funcs{Get: next}).Build()
	return &session{out: out, kube: kube}, &v1alpha1.CommitCluster{}, out
}

func moving(id, phase, message string) v1alpha1.CommitClusterStatus {
	s := v1alpha1.CommitClusterStatus{}
	s.Switchover = &v1alpha1.SwitchoverStatus{ID: id, Phase: phase, From: "demo-0", To: "demo-1", Message: message}
	if phase != v1alpha1.SwitchoverCatchingUp {
		s.Switchover.CompletedAt = &metav1.Time{Time: time.Unix(1, 0)}
	}
	return s
}

func TestASwitchoverIsToldStepByStep(t *testing.T) {
	s, c, out := seen(t, moving("former", v1alpha1.SwitchoverSucceeded, ""), moving("1", v1alpha1.SwitchoverCatchingUp, ""),
		moving("1", v1alpha1.SwitchoverCatchingUp, ""), moving("1", v1alpha1.SwitchoverFailed, "the deadline has passed"))
	err := s.await(t.Context(), c, func() progress { return switchoverProgress(c.Status.Switchover, "1") })
	if want := "CatchingUp: from demo-0 to demo-1\nFailed: from demo-0 to demo-1 – the deadline has passed\n"; out.String() != want {
		t.Errorf("%q", out)
	}
	if err == nil || err.Error() != "the switchover to demo-1 has come to nothing: the deadline has passed" {
		t.Error(err)
	}
}

func promoting(phase string) v1alpha1.CommitClusterStatus {
	s := v1alpha1.CommitClusterStatus{}
	s.Promotion = &v1alpha1.PromotionStatus{ID: "1", Phase: phase, Server: "demo-1", Message: "as it is",
		Seen:    []v1alpha1.SeenLog{{Name: "demo-1", LastLogEpoch: 2}},
		Missing: []v1alpha1.MissingServer{{Name: "demo-0", Why: "does not run"}}}
	if phase != v1alpha1.PromotionElecting {
		s.Promotion.CompletedAt = &metav1.Time{Time: time.Unix(1, 0)}
	}
	return s
}

// What may be lost is told once, and first.
func TestAPromotionIsToldWithWhatItMayLose(t *testing.T) {
	const table = "SERVER  LAST EPOCH  HOLDS\ndemo-1  2           -\ndemo-0  ?           ? (does not run)\n"
	for phase, c := range map[string]struct{ said, failure string }{
		v1alpha1.PromotionSucceeded: {table + "Succeeded: as it is\n", ""},
		v1alpha1.PromotionAssessed:  {table, "nothing was done: to make demo-1 the master all the same, say --accept-data-loss"},
		v1alpha1.PromotionRefused:   {table, "demo-1 was not promoted: as it is"},
		v1alpha1.PromotionFailed:    {table, "demo-1 was not promoted: as it is"},
	} {
		s, cluster, out := seen(t, v1alpha1.CommitClusterStatus{}, promoting(v1alpha1.PromotionElecting), promoting(phase))
		err := s.await(t.Context(), cluster, func() progress { return promotionProgress(cluster.Status.Promotion, "1") })
		if out.String() != c.said {
			t.Errorf("%s: %q", phase, out)
		}
		if (err == nil) != (c.failure == "") || (err != nil && err.Error() != c.failure) {
			t.Errorf("%s: %v", phase, err)
		}
	}
}

func TestAFenceIsWaitedFor(t *testing.T) {
	members := func(fenced bool) v1alpha1.CommitClusterStatus {
		s := v1alpha1.CommitClusterStatus{}
		s.Members = []v1alpha1.MemberStatus{{Name: "demo-0"}, {Name: "demo-1", Fenced: fenced}}
		return s
	}
	f := fencing{fence: true, done: "%s is fenced\n"}
	s, c, out := seen(t, members(false), members(true))
	if err := s.await(t.Context(), c, func() progress { return f.progress(c, "demo-1") }); err != nil || out.String() != "demo-1 is fenced\n" {
		t.Errorf("%q, %v", out, err)
	}
}

func TestAnOperatorThatSaysNothingIsNotWaitedForForEver(t *testing.T) {
	s, c, _ := seen(t, v1alpha1.CommitClusterStatus{})
	ctx, stop := context.WithTimeout(t.Context(), time.Millisecond)
	defer stop()
	err := s.await(ctx, c, func() progress { return progress{} })
	if err == nil || !strings.Contains(err.Error(), "no word of the operator in time") {
		t.Error(err)
	}
}

// asAPIServer answers a patch that does not apply as a real one does.
func asAPIServer(ctx context.Context, c client.WithWatch, o client.Object, patch client.Patch, options ...client.PatchOption) error {
	err := c.Patch(ctx, o, patch, options...)
	if err != nil && strings.Contains(err.Error(), "test failed") {
		return apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "patch", schema.GroupResource{}, "", err.Error(), 0, false)
	}
	return err
}

// Two people may ask at once: whoever has his answer does not take the other's request away.
func TestOnlyOnesOwnRequestIsTakenAway(t *testing.T) {
	for standing, left := range map[string]string{`{"id":"mine"}`: "", `{"id":"hers"}`: `{"id":"hers"}`, "": ""} {
		scheme := runtime.NewScheme()
		if err := v1alpha1.AddToScheme(scheme); err != nil {
			t.Fatal(err)
		}
		c := &v1alpha1.CommitCluster{}
		c.Name, c.Namespace, c.Annotations = "demo", "ns", map[string]string{"other": "x"}
		if standing != "" {
			c.Annotations[v1alpha1.AnnotationPromote] = standing
		}
		s := &session{kube: fake.NewClientBuilder().WithScheme(scheme).WithObjects(c).WithInterceptorFuncs(interceptor.Funcs{Patch: asAPIServer}).Build()}
		if err := s.withdraw(t.Context(), c.DeepCopy(), v1alpha1.AnnotationPromote, `{"id":"mine"}`); err != nil {
			t.Errorf("%s: %v", standing, err)
		}
		if err := s.kube.Get(t.Context(), client.ObjectKeyFromObject(c), c); err != nil || c.Annotations[v1alpha1.AnnotationPromote] != left || c.Annotations["other"] != "x" {
			t.Errorf("%q: %v, %v", standing, c.Annotations, err)
		}
	}
}
