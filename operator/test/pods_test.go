package test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

func skipNameValidation() ctrlconfig.Controller {
	skip := true
	return ctrlconfig.Controller{SkipNameValidation: &skip}
}

// runPods does what the StatefulSet controller and the kubelet would: a claim and a pod for every ordinal, with an address.
func (s *site) runPods(ctx context.Context) {
	var sets appsv1.StatefulSetList
	if kube.List(ctx, &sets, client.InNamespace(s.namespace)) != nil {
		return
	}
	s.runValidations(ctx)
	for _, set := range sets.Items {
		for ordinal := range *set.Spec.Replicas {
			s.runPod(ctx, &set, ordinal)
		}
		s.endPods(ctx, &set)
	}
}

// endPods ends those that the set does not ask for any more; their claims stay.
func (s *site) endPods(ctx context.Context, set *appsv1.StatefulSet) {
	var pods corev1.PodList
	if kube.List(ctx, &pods, client.InNamespace(set.Namespace), client.MatchingLabels(set.Spec.Selector.MatchLabels)) != nil {
		return
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		ordinal, err := strconv.Atoi(strings.TrimPrefix(pod.Name, set.Name+"-"))
		if err != nil || int32(ordinal) < *set.Spec.Replicas {
			continue
		}
		s.world.Kill(pod.Name)
		_ = kube.Delete(ctx, pod, client.GracePeriodSeconds(0))
	}
}

func (s *site) runPod(ctx context.Context, set *appsv1.StatefulSet, ordinal int32) {
	name := fmt.Sprintf("%s-%d", set.Name, ordinal)
	template := set.Spec.VolumeClaimTemplates[0]
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: template.Name + "-" + name, Labels: template.Labels},
		Spec:       template.Spec,
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name, Labels: set.Spec.Template.Labels, Annotations: set.Spec.Template.Annotations},
		Spec:       *set.Spec.Template.Spec.DeepCopy(),
	}
	pod.Spec.ServiceAccountName = "default"
	pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: template.Name, VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim.Name}}})
	s.create(ctx, claim)
	if !s.create(ctx, pod) {
		return
	}
	s.replaceServer(name)
	s.startWith(name, pod.Spec.Containers[0].Args)
	pod.Status.Phase = corev1.PodRunning
	pod.Status.PodIP = fmt.Sprintf("10.0.0.%d", ordinal+1)
	pod.Status.PodIPs = []corev1.PodIP{{IP: pod.Status.PodIP}}
	_ = kube.Status().Update(ctx, pod)
}

// startWith: what a server's flags say of who must show a certificate.
func (s *site) startWith(name string, flags []string) {
	for _, flag := range flags {
		if value, found := strings.CutPrefix(flag, "--commitd-built-in-accounts-require="); found {
			_ = s.world.Server(name).SetGlobal(s.t.Context(), "commitd_built_in_accounts_require", &value)
		}
	}
}

// replaceServer: with its pod a server's program has ended, and starts again.
func (s *site) replaceServer(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.Contains(s.made, name) {
		s.world.Kill(name)
		s.world.Start(name)
	}
	s.made = append(s.made, name)
}

// create says whether the object is new; an object that the API server refuses fails the test.
func (s *site) create(ctx context.Context, o client.Object) bool {
	err := kube.Create(ctx, o)
	if err != nil && !apierrors.IsAlreadyExists(err) && ctx.Err() == nil {
		s.t.Error(err)
	}
	return err == nil
}
