package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// runPods does what the StatefulSet controller and kubelet would: a claim and a pod for every ordinal, and none beyond. A server
// serves on after its pod was deleted, until the next turn; the one after that brings the next pod.
func (s *stage) runPods() error {
	for _, p := range s.listPods(validationLabels(s.get())) {
		s.answer(&p)
	}
	set := &appsv1.StatefulSet{}
	if err := s.store.Get(context.Background(), crashRequest.NamespacedName, set); err != nil {
		s.must(client.IgnoreNotFound(err))
		return nil
	}
	there, deleted := s.endPods(*set.Spec.Replicas)
	made := s.makePods(set, there)
	if down := append(made, deleted...); len(deleted) > 0 && len(down) > 1 {
		return fmt.Errorf("%v are down at once, and a person asked for none of it", down)
	}
	return nil
}

// endPods gives the pods that were there, and those of them that were deleted by name.
func (s *stage) endPods(wanted int32) (there map[string]bool, deleted []string) {
	there = map[string]bool{}
	for _, p := range s.listPods(selectorLabels(s.get())) {
		ordinal, _ := ordinalOf(p.Name)
		there[p.Name] = true
		leaves := !p.DeletionTimestamp.IsZero()
		if leaves {
			deleted = append(deleted, p.Name)
		}
		if leaves || ordinal >= wanted {
			s.world.Kill(p.Name)
			s.store.remove(&p)
		}
	}
	return there, deleted
}

// makePods gives the servers that start again.
func (s *stage) makePods(set *appsv1.StatefulSet, there map[string]bool) (again []string) {
	for ordinal := range *set.Spec.Replicas {
		name := podName(s.get(), ordinal)
		if there[name] {
			continue
		}
		if s.pods[name] > 0 {
			again = append(again, name)
		}
		s.runPod(set, ordinal, name)
	}
	return again
}

// answer is commitd's: it takes every configuration.
func (s *stage) answer(question *corev1.Pod) {
	switch {
	case !question.DeletionTimestamp.IsZero():
		s.store.remove(question)
	case question.Status.Phase != corev1.PodSucceeded:
		question.Status.Phase = corev1.PodSucceeded
		question.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: containerName,
			State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{FinishedAt: metav1.Now()}}}}
		s.must(s.store.Status().Update(context.Background(), question))
	}
}

func (s *stage) runPod(set *appsv1.StatefulSet, ordinal int32, name string) {
	claim := &corev1.PersistentVolumeClaim{}
	claim.Namespace, claim.Name, claim.Labels = set.Namespace, pvcName(name), set.Spec.Template.Labels
	claim.UID = types.UID(fmt.Sprint("volume-of-", name, "-since-run-", s.pods[name]+1))
	err := s.store.Create(context.Background(), claim)
	s.must(client.IgnoreAlreadyExists(err))
	if err == nil && s.pods[name] > 0 {
		s.world.Discard(name) // its former volume
	}
	s.pods[name]++
	pod := &corev1.Pod{Spec: set.Spec.Template.Spec}
	pod.Namespace, pod.Name, pod.Labels, pod.Annotations = set.Namespace, name, set.Spec.Template.Labels, set.Spec.Template.Annotations
	pod.UID = types.UID(fmt.Sprintf("%s, run %d", name, s.pods[name]))
	pod.Status.PodIP = fmt.Sprintf("10.0.%d.%d", s.pods[name], ordinal+1)
	pod.Status.Phase = corev1.PodRunning
	s.must(s.store.Create(context.Background(), pod))
	s.noteLogins(pod)
	s.world.Start(name)
}

// setDown has Kubernetes say that the programs in these pods do not run, or that they run again.
func (s *stage) setDown(down bool, names ...string) {
	for _, p := range s.listPods(selectorLabels(s.get())) {
		if !slices.Contains(names, p.Name) {
			continue
		}
		p.Status.Phase = corev1.PodRunning
		if s.world.Start(p.Name); down {
			p.Status.Phase = corev1.PodFailed
			s.world.Kill(p.Name)
		}
		s.must(s.store.Status().Update(context.Background(), &p))
	}
}

// volumes says whether there are so many claims, and none on record to be deleted.
func (s *stage) volumes(count int) error {
	var claims corev1.PersistentVolumeClaimList
	s.must(s.store.List(context.Background(), &claims, client.InNamespace("shop"), client.MatchingLabels(selectorLabels(s.get()))))
	if released := s.get().Status.Released; len(claims.Items) != count || len(released) > 0 {
		return fmt.Errorf("%d claims, %v to be deleted", len(claims.Items), released)
	}
	return nil
}

// allRun says which server does not run an image, or was restarted more than once to get it.
func (s *stage) allRun(image string) error {
	var errs []error
	for _, p := range s.listPods(selectorLabels(s.get())) {
		if of := p.Spec.Containers[0].Image; of != image {
			errs = append(errs, fmt.Errorf("%s runs %s", p.Name, of))
		}
	}
	return errors.Join(errs...)
}

// restarted says which servers were not restarted so many times.
func (s *stage) restarted(times int) error {
	var errs []error
	for _, p := range s.listPods(selectorLabels(s.get())) {
		if s.pods[p.Name] != 1+times {
			errs = append(errs, fmt.Errorf("%s has had %d pods", p.Name, s.pods[p.Name]))
		}
	}
	return errors.Join(errs...)
}
