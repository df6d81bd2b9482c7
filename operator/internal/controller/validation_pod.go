package controller

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"commitlab.dev/operator/api/v1alpha1"
)

// validationApp keeps these pods out of what selects servers: Services, the budget, and the operator's own look at a cluster.
const validationApp = "commitd-validation"

func validationLabels(c *v1alpha1.CommitCluster) map[string]string {
	return map[string]string{v1alpha1.LabelCluster: c.Name, "app.kubernetes.io/name": validationApp}
}

// BuildValidationPod asks the image whether it would start with the flags that the servers are to get, and whether it reads the data
// that they have. Its name tells one question from another, so none is asked twice. What it says yes to is asked again only when image
// or flags change, not when the data do: those are of the image that has got that yes.
func BuildValidationPod(c *v1alpha1.CommitCluster, defaultImage string) (*corev1.Pod, error) {
	built, err := podSpec(c, defaultImage)
	if err != nil {
		return nil, err
	}
	pod := &corev1.Pod{}
	if err := convert(built, &pod.Spec); err != nil {
		return nil, err
	}
	onlyValidate(c, &pod.Spec)
	question, err := json.Marshal(pod.Spec)
	if err != nil {
		return nil, err
	}
	// Not a number at the end: it must not look like a server's pod.
	pod.Name = fmt.Sprintf("%s-validate-x%.5x", c.Name, sha256.Sum256(append(question, c.UID...)))
	pod.Annotations = map[string]string{v1alpha1.AnnotationValidated: pod.Name}
	if formats := dataFormats(c); formats != "" {
		pod.Name += fmt.Sprintf("-x%.2x", sha256.Sum256([]byte(formats)))
		container := &pod.Spec.Containers[0]
		container.Args = append(container.Args, "--commitd-data-format="+formats)
	}
	pod.Namespace = c.Namespace
	pod.Labels = validationLabels(c)
	pod.OwnerReferences = []metav1.OwnerReference{ownerReference(c)}
	return pod, nil
}

// dataFormats are those of the servers' volumes, with commas between them.
func dataFormats(c *v1alpha1.CommitCluster) string {
	formats := map[string]bool{}
	for _, m := range c.Status.Members {
		if m.DataFormat != "" {
			formats[m.DataFormat] = true
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(formats)), ",")
}

// onlyValidate keeps image, flags and rights. The pod has no volume, no place of its own among the servers, and reserves
// nothing: it must find room where the servers fill the nodes.
func onlyValidate(c *v1alpha1.CommitCluster, spec *corev1.PodSpec) {
	noGrace, patience := int64(0), int64(600)
	spec.RestartPolicy = corev1.RestartPolicyNever
	spec.TerminationGracePeriodSeconds = &noGrace
	spec.ActiveDeadlineSeconds = &patience
	// commitd reads its server id from the number at the end.
	spec.Hostname = podName(c, 0)
	spec.Affinity = nil
	spec.TopologySpreadConstraints = nil
	container := &spec.Containers[0]
	container.Args = append(container.Args, "--validate-config")
	container.Ports, container.LivenessProbe, container.ReadinessProbe, container.Lifecycle = nil, nil, nil, nil
	container.TerminationMessagePolicy = corev1.TerminationMessageFallbackToLogsOnError
	var mounts []corev1.VolumeMount
	for _, m := range container.VolumeMounts {
		if m.Name != dataVolume {
			mounts = append(mounts, m)
		}
	}
	container.VolumeMounts = mounts
	container.Resources = unreserved(container.Resources)
}

// unreserved has the limits that commitd takes its memory budget from.
func unreserved(r corev1.ResourceRequirements) corev1.ResourceRequirements {
	free := corev1.ResourceRequirements{Limits: corev1.ResourceList{}, Requests: corev1.ResourceList{}}
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		free.Requests[name] = resource.Quantity{}
		if limit, limited := r.Limits[name]; limited {
			free.Limits[name] = limit
		}
	}
	return free
}
