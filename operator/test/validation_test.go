package test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/engine/fake"
)

const (
	misspelt        = "max_conections"
	misspeltRefusal = "unknown option '--max-conections': did you mean '--max-connections'?"
	imageNobodyHas  = "nowhere.example/commitd:1"
	imageThatIsShot = "commitd:shot"
	imageThatIsOld  = "commitd:old"
	oldRefusal      = "The data have format " + fake.DataFormat + ", and commitd 8.4.0 reads formats 1.0 and 1.1: they need the release that wrote them, or a later one"
)

// runValidations does what the kubelet and commitd would.
func (s *site) runValidations(ctx context.Context) {
	for _, pod := range s.validations() {
		if pod.Status.Phase == corev1.PodPending && len(pod.Status.ContainerStatuses) == 0 {
			pod.Status.Phase, pod.Status.ContainerStatuses = answer(pod.Spec.Containers[0])
			_ = kube.Status().Update(ctx, &pod)
		}
	}
}

func (s *site) validations() []corev1.Pod {
	var pods corev1.PodList
	_ = kube.List(context.Background(), &pods, client.InNamespace(s.namespace), client.MatchingLabels{"app.kubernetes.io/name": "commitd-validation"})
	return pods.Items
}

func answer(asked corev1.Container) (corev1.PodPhase, []corev1.ContainerStatus) {
	status := corev1.ContainerStatus{Name: asked.Name, Image: asked.Image, ImageID: asked.Image}
	ended := &corev1.ContainerStateTerminated{FinishedAt: metav1.NewTime(time.Now().Add(-time.Hour))}
	phase := corev1.PodFailed
	switch {
	case asked.Image == imageNobodyHas:
		status.State.Waiting = &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "not found"}
		return corev1.PodPending, []corev1.ContainerStatus{status}
	case asked.Image == imageThatIsShot:
		ended.ExitCode, ended.Reason = 137, "OOMKilled"
	case strings.Contains(strings.Join(asked.Args, " "), "--max-conections="):
		ended.ExitCode, ended.Message = 1, "2026-11-23T12:18:58.288059Z 0 [ERROR] [MY-001193] [Server] "+misspeltRefusal+"\n"
	case asked.Image == imageThatIsOld && slices.Contains(asked.Args, "--commitd-data-format="+fake.DataFormat):
		ended.ExitCode, ended.Message = 1, "2026-11-23T12:18:58.288059Z 0 [ERROR] [MY-001024] [Server] "+oldRefusal+"\n"
	case slices.Contains(asked.Args, "--validate-config"):
		phase = corev1.PodSucceeded
	}
	status.State.Terminated = ended
	return phase, []corev1.ContainerStatus{status}
}

func (s *site) change(do func(*v1alpha1.CommitCluster)) {
	s.t.Helper()
	s.eventually("the spec is changed", func() error {
		c := s.get()
		do(c)
		return kube.Update(s.t.Context(), c)
	})
}

func (s *site) awaitConfiguration(want metav1.ConditionStatus, message string) {
	s.t.Helper()
	s.eventually(v1alpha1.ConditionConfigurationValid, func() error {
		cluster := s.get()
		c := meta.FindStatusCondition(cluster.Status.Conditions, v1alpha1.ConditionConfigurationValid)
		if c != nil && c.Status == want && c.ObservedGeneration == cluster.Generation && strings.Contains(c.Message, message) {
			return nil
		}
		return fmt.Errorf("%+v", c)
	})
}

func (s *site) misspell(c *v1alpha1.CommitCluster) {
	c.Spec.Engine.Variables = map[string]apiextensionsv1.JSON{misspelt: {Raw: []byte("7")}}
}

func (s *site) set() (*appsv1.StatefulSet, error) {
	set := &appsv1.StatefulSet{}
	return set, kube.Get(context.Background(), types.NamespacedName{Namespace: s.namespace, Name: "demo"}, set)
}

func TestWhatCommitdRefusesReachesNoServer(t *testing.T) {
	s := newSite(t, "demo-0", "demo-1", "demo-2")
	must(kube.Create(t.Context(), demo(s.namespace, 2)))
	s.awaitCondition(v1alpha1.ConditionReady, true)
	before, err := s.set()
	must(err)
	s.change(s.misspell)
	s.awaitConfiguration(metav1.ConditionFalse, misspeltRefusal)
	asked := s.validations()
	if len(asked) != 1 {
		t.Fatalf("%d pods keep the answer", len(asked))
	}
	s.change(func(c *v1alpha1.CommitCluster) {
		c.Spec.Failover.HeartbeatTimeout = &metav1.Duration{Duration: 3001 * time.Millisecond}
	})
	s.awaitConfiguration(metav1.ConditionFalse, misspeltRefusal)
	if again := s.validations(); len(again) != 1 || again[0].UID != asked[0].UID {
		t.Fatalf("the same was asked again: %v", again)
	}
	if after, err := s.set(); err != nil || after.Generation != before.Generation {
		t.Fatalf("the StatefulSet was changed (%v)", err)
	}
	s.change(func(c *v1alpha1.CommitCluster) {
		c.Spec.Engine.Variables = map[string]apiextensionsv1.JSON{"max_connections": {Raw: []byte("7")}}
	})
	s.awaitConfiguration(metav1.ConditionTrue, "")
	if after, err := s.set(); err != nil || !slices.Contains(after.Spec.Template.Spec.Containers[0].Args, "--max-connections=7") {
		t.Fatalf("what commitd takes is not in the StatefulSet (%v)", err)
	}
	s.eventually("nothing is left of the questions", func() error {
		if left := s.validations(); len(left) > 0 {
			return fmt.Errorf("%d pods", len(left))
		}
		return nil
	})
}

func TestAnImageThatDoesNotReadTheDataReachesNoServer(t *testing.T) {
	s := newSite(t, "demo-0", "demo-1", "demo-2")
	must(kube.Create(t.Context(), demo(s.namespace, 2)))
	s.awaitRoles("demo-0", "demo-1", "demo-2")
	s.eventually("the format is known of all", func() error {
		for _, m := range s.get().Status.Members {
			if m.DataFormat != fake.DataFormat {
				return fmt.Errorf("%+v", m)
			}
		}
		return nil
	})
	before, err := s.set()
	must(err)
	// It stands in the status: the servers need not be there.
	s.world.Kill("demo-1")
	s.change(func(c *v1alpha1.CommitCluster) { c.Spec.Image = imageThatIsOld })
	s.awaitConfiguration(metav1.ConditionFalse, oldRefusal)
	if after, err := s.set(); err != nil || after.Generation != before.Generation {
		t.Fatalf("the StatefulSet was changed (%v)", err)
	}
	s.world.Start("demo-1")
	s.change(func(c *v1alpha1.CommitCluster) { c.Spec.Image = "" })
	s.awaitConfiguration(metav1.ConditionTrue, "")
	s.awaitRoles("demo-0", "demo-1", "demo-2")
	if after, err := s.set(); err != nil || after.Generation != before.Generation || len(s.validations()) > 0 {
		t.Fatalf("what runs already was asked about again: %v (%v)", s.validations(), err)
	}
}

func TestAnInvalidFirstSpecCreatesNoServers(t *testing.T) {
	s := newSite(t, "demo-0", "demo-1", "demo-2")
	c := demo(s.namespace, 2)
	s.misspell(c)
	must(kube.Create(t.Context(), c))
	s.awaitConfiguration(metav1.ConditionFalse, misspeltRefusal)
	if _, err := s.set(); err == nil {
		t.Fatal("a StatefulSet was created")
	}
	s.change(func(c *v1alpha1.CommitCluster) { c.Spec.Engine.Variables = nil })
	s.awaitRoles("demo-0", "demo-1", "demo-2")
}

func TestAQuestionWithoutAnswerStopsNoFailover(t *testing.T) {
	s := newSite(t, "demo-0", "demo-1", "demo-2")
	must(kube.Create(t.Context(), demo(s.namespace, 2)))
	s.awaitCondition(v1alpha1.ConditionReady, true)
	s.change(func(c *v1alpha1.CommitCluster) { c.Spec.Image = imageNobodyHas })
	s.awaitConfiguration(metav1.ConditionUnknown, "ImagePullBackOff")
	if set, err := s.set(); err != nil || set.Spec.Template.Spec.Containers[0].Image == imageNobodyHas {
		t.Fatalf("the servers were given an image that nobody has (%v)", err)
	}
	s.world.Kill("demo-0")
	s.awaitAnotherMasterThan("demo-0")
}

func TestAPodThatWasShotIsNoAnswer(t *testing.T) {
	s := newSite(t, "demo-0", "demo-1", "demo-2")
	c := demo(s.namespace, 2)
	c.Spec.Image = imageThatIsShot
	must(kube.Create(t.Context(), c))
	s.awaitConfiguration(metav1.ConditionUnknown, "OOMKilled")
	seen := map[types.UID]bool{}
	s.eventually("it is asked again", func() error {
		for _, pod := range s.validations() {
			seen[pod.UID] = true
		}
		if len(seen) > 1 {
			return nil
		}
		return fmt.Errorf("%d pods", len(seen))
	})
}
