package controller

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commitlab.dev/operator/api/v1alpha1"
)

// undecided says that it is not known yet whether a configuration can be used, and why.
type undecided struct{ reason, message string }

func (u undecided) Error() string { return u.message }

// validate returns nil when commitd itself has said that the servers can start with what they are to get. The answer is
// remembered: a yes by the StatefulSet, which names the question, a no by the pod that gave it.
func (r *Reconciler) validate(ctx context.Context, c *v1alpha1.CommitCluster, question *corev1.Pod) error {
	set := &appsv1.StatefulSet{}
	if err := r.Reader.Get(ctx, client.ObjectKeyFromObject(c), set); client.IgnoreNotFound(err) != nil {
		return err
	}
	if set.Annotations[v1alpha1.AnnotationValidated] == question.Annotations[v1alpha1.AnnotationValidated] {
		return nil
	}
	pod := &corev1.Pod{}
	err := r.Reader.Get(ctx, client.ObjectKeyFromObject(question), pod)
	if apierrors.IsNotFound(err) {
		if err := r.Client.Create(ctx, question.DeepCopy()); client.IgnoreAlreadyExists(err) != nil {
			return undecided{"NotValidated", fmt.Sprintf("the configuration cannot be tried out: %v", err)}
		}
		return undecided{"Validating", "commitd is being asked whether it takes this configuration"}
	}
	if err != nil {
		return err
	}
	return r.verdict(ctx, pod)
}

// verdict reads what became of the pod. One that ended without commitd's word is made anew after a while.
func (r *Reconciler) verdict(ctx context.Context, pod *corev1.Pod) error {
	if ended := terminated(pod); ended != nil && ended.ExitCode == 0 {
		return nil
	} else if ended != nil && ended.ExitCode == 1 {
		return errors.New("commitd refuses it: " + refusal(ended.Message))
	}
	if pod.Status.Phase == corev1.PodFailed {
		if err := r.askAgain(ctx, pod); err != nil {
			return err
		}
		return undecided{"NotValidated", fmt.Sprintf("pod %s ended before commitd could say whether it takes this configuration: %s",
			pod.Name, endOf(pod))}
	}
	if why := holdUp(pod); why != "" {
		return undecided{"NotValidated", fmt.Sprintf("pod %s, which asks commitd whether it takes this configuration, does not start: %s", pod.Name, why)}
	}
	return undecided{"Validating", "commitd is being asked whether it takes this configuration"}
}

// askAgainAfter keeps a pod that fails at once from being made anew all the time.
const askAgainAfter = 30 * time.Second

func (r *Reconciler) askAgain(ctx context.Context, pod *corev1.Pod) error {
	since := pod.CreationTimestamp.Time
	if ended := terminated(pod); ended != nil && !ended.FinishedAt.IsZero() {
		since = ended.FinishedAt.Time
	}
	if time.Since(since) < askAgainAfter {
		return nil
	}
	return client.IgnoreNotFound(r.Client.Delete(ctx, pod, client.Preconditions{UID: &pod.UID}))
}

func terminated(pod *corev1.Pod) *corev1.ContainerStateTerminated {
	for _, s := range pod.Status.ContainerStatuses {
		if s.Name == containerName {
			return s.State.Terminated
		}
	}
	return nil
}

// refusal is commitd's own sentence without the time and the numbers in front of it.
func refusal(log string) string {
	lines := strings.Split(strings.TrimSpace(log), "\n")
	last := lines[len(lines)-1]
	for _, line := range lines {
		if _, text, found := strings.Cut(line, "[Server] "); found && strings.Contains(line, "[ERROR]") {
			return text
		}
	}
	if last == "" {
		return "it says nothing more"
	}
	return last
}

func endOf(pod *corev1.Pod) string {
	if ended := terminated(pod); ended != nil {
		return strings.TrimSpace(fmt.Sprintf("exit code %d, %s %s", ended.ExitCode, ended.Reason, ended.Message))
	}
	return strings.TrimSpace(pod.Status.Reason + " " + pod.Status.Message)
}

// holdUp says why a pod does not run yet, when Kubernetes says so.
func holdUp(pod *corev1.Pod) string {
	for _, s := range pod.Status.ContainerStatuses {
		if w := s.State.Waiting; w != nil && w.Reason != "ContainerCreating" && w.Reason != "PodInitializing" {
			return strings.TrimSpace(w.Reason + " " + w.Message)
		}
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
			return strings.TrimSpace(condition.Reason + " " + condition.Message)
		}
	}
	return ""
}

// forgetQuestions deletes the pods of all questions but one.
func (r *Reconciler) forgetQuestions(ctx context.Context, c *v1alpha1.CommitCluster, keep string) error {
	var pods corev1.PodList
	if err := r.Client.List(ctx, &pods, client.InNamespace(c.Namespace), client.MatchingLabels(validationLabels(c))); err != nil {
		return err
	}
	for i := range pods.Items {
		if pods.Items[i].Name == keep {
			continue
		}
		if err := r.Client.Delete(ctx, &pods.Items[i]); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}
