package recovery

import (
	"slices"
	"strconv"
	"syscall"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"commitlab.dev/operator/api/v1alpha1"
)

// labelFault on an experiment holds the name of the fault that it is.
const labelFault = "commitlab.dev/fault"

var chaosMesh = schema.GroupVersion{Group: "chaos-mesh.org", Version: "v1alpha1"}

// experimentKinds are the kinds of Chaos Mesh that faults become.
var experimentKinds = []string{"PodChaos", "NetworkChaos", "StressChaos", "TimeChaos", "IOChaos"}

// requiredKinds are those that every version has.
var requiredKinds = experimentKinds[:2]

// dataVolume is where commitd's pods have their data.
const dataVolume = "/var/lib/commitd"

// BuildExperiment is what Chaos Mesh is asked to do. It names the pods, so that it hits those whose state has been written down, also when roles
// change in between. What lasts ends by itself, without its operator.
func BuildExperiment(t *v1alpha1.RecoveryTest, i Inject, v View) *unstructured.Unstructured {
	kind, spec := experimentSpec(t, i, v)
	spec["mode"], spec["selector"] = "all", pods(t.Namespace, names(i.Objects)...)
	if lasts(i.Fault.Kind) {
		spec["duration"] = i.Fault.Duration.String()
	}
	experiment := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	experiment.SetGroupVersionKind(chaosMesh.WithKind(kind))
	meta := objectMeta(t, t.Name+"-"+i.Fault.Name, "chaos")
	experiment.SetNamespace(meta.Namespace)
	experiment.SetName(meta.Name)
	experiment.SetOwnerReferences(meta.OwnerReferences)
	meta.Labels[labelFault] = i.Fault.Name
	experiment.SetLabels(meta.Labels)
	return experiment
}

func experimentSpec(t *v1alpha1.RecoveryTest, i Inject, v View) (kind string, spec map[string]any) {
	f := i.Fault
	container := []any{"commitd"}
	disk := map[string]any{"containerNames": container, "volumePath": dataVolume, "percent": int64(100)}
	switch f.Kind {
	case v1alpha1.ContainerKill, v1alpha1.PowerLoss: // by SIGKILL: the disk does the rest
		return "PodChaos", map[string]any{"action": "container-kill", "containerNames": container}
	case v1alpha1.PodFailure:
		return "PodChaos", map[string]any{"action": "pod-failure"}
	case v1alpha1.Partition:
		return "NetworkChaos", map[string]any{"action": "partition", "direction": directions[f.Direction],
			"target": map[string]any{"mode": "all", "selector": otherSide(t, i, v)}}
	case v1alpha1.NetworkDelay:
		return "NetworkChaos", map[string]any{"action": "delay", "delay": map[string]any{"latency": f.Latency.String()}}
	case v1alpha1.NetworkLoss:
		return "NetworkChaos", map[string]any{"action": "loss", "loss": map[string]any{"loss": strconv.Itoa(int(f.Percent))}}
	case v1alpha1.ClockSkew:
		return "TimeChaos", map[string]any{"timeOffset": f.Offset.String(), "containerNames": container}
	case v1alpha1.CPUStress:
		return "StressChaos", map[string]any{"containerNames": container,
			"stressors": map[string]any{"cpu": map[string]any{"workers": int64(stressWorkers), "load": int64(100)}}}
	case v1alpha1.MemoryStress:
		return "StressChaos", map[string]any{"containerNames": container,
			"stressors": map[string]any{"memory": map[string]any{"workers": int64(1), "size": strconv.FormatInt(f.Memory, 10)}}}
	case v1alpha1.DiskSlow:
		disk["action"], disk["delay"] = "latency", f.Latency.String()
		return "IOChaos", disk
	case v1alpha1.DiskError:
		disk["action"], disk["errno"], disk["percent"] = "fault", int64(syscall.EIO), int64(f.Percent)
		return "IOChaos", disk
	case v1alpha1.DiskFull:
		disk["action"], disk["errno"], disk["methods"] = "fault", int64(syscall.ENOSPC), []any{"write", "fallocate", "create", "mkdir"}
		return "IOChaos", disk
	}
	return "PodChaos", map[string]any{"action": "pod-kill", "gracePeriod": int64(0)}
}

// stressWorkers is how many threads a CPUStress has.
const stressWorkers = 4

// experimentOf reads what Chaos Mesh says of its object.
func experimentOf(object map[string]any) Experiment {
	e := Experiment{Exists: true}
	conditions, _, _ := unstructured.NestedSlice(object, "status", "conditions")
	for _, item := range conditions {
		c, _ := item.(map[string]any)
		e.Injected = e.Injected || c["type"] == "AllInjected" && c["status"] == "True"
	}
	records, _, _ := unstructured.NestedSlice(object, "status", "experiment", "containerRecords")
	for _, item := range records {
		record, _ := item.(map[string]any)
		events, _, _ := unstructured.NestedSlice(record, "events")
		for _, item := range events {
			event, _ := item.(map[string]any)
			if message, _ := event["message"].(string); event["type"] == "Failed" && event["operation"] == "Apply" && message != "" {
				e.Problem = message
			}
		}
	}
	return e
}

// withoutRulesOf removes the traffic rules of one source; false when there are none.
func withoutRulesOf(object map[string]any, source string) bool {
	rules, _, _ := unstructured.NestedSlice(object, "spec", "trafficControls")
	kept := slices.DeleteFunc(slices.Clone(rules), func(item any) bool {
		rule, _ := item.(map[string]any)
		return rule["source"] == source
	})
	return len(kept) < len(rules) && unstructured.SetNestedSlice(object, kept, "spec", "trafficControls") == nil
}

// directions as Chaos Mesh names them, seen from the target of the fault.
var directions = map[string]string{"Both": "both", "ToTarget": "from", "FromTarget": "to"}

func otherSide(t *v1alpha1.RecoveryTest, i Inject, v View) map[string]any {
	switch i.Fault.From {
	case v1alpha1.FromClients:
		return pods(t.Namespace, ledgerName(t))
	case v1alpha1.FromOperator:
		return pods(v.Operator.Namespace, v.Operator.Name)
	}
	var others []string
	for _, s := range v.Servers {
		if s.Name != i.Objects[0].Name {
			others = append(others, s.Name)
		}
	}
	return pods(t.Namespace, others...)
}

func pods(namespace string, names ...string) map[string]any {
	list := make([]any, 0, len(names))
	for _, name := range names {
		list = append(list, name)
	}
	return map[string]any{"pods": map[string]any{namespace: list}}
}

func names(objects []v1alpha1.FaultObject) []string {
	var all []string
	for _, o := range objects {
		all = append(all, o.Name)
	}
	return all
}
