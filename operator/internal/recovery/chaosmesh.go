package recovery

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"commitlab.dev/operator/api/v1alpha1"
)

// labelFault on an experiment holds the name of the fault that it is.
const labelFault = "commitlab.dev/fault"

var chaosMesh = schema.GroupVersion{Group: "chaos-mesh.org", Version: "v1alpha1"}

// experimentKinds are the kinds of Chaos Mesh that faults become.
var experimentKinds = []string{"PodChaos", "NetworkChaos"}

// BuildExperiment is what Chaos Mesh is asked to do. It names the pods, so that it hits those whose state has been written down, also when roles
// change in between. A partition ends by itself, without its operator.
func BuildExperiment(t *v1alpha1.RecoveryTest, i Inject, v View) *unstructured.Unstructured {
	kind, spec := "PodChaos", map[string]any{"mode": "all", "selector": pods(t.Namespace, names(i.Objects)...)}
	switch i.Fault.Kind {
	case v1alpha1.PodKill:
		spec["action"], spec["gracePeriod"] = "pod-kill", int64(0)
	case v1alpha1.ContainerKill:
		spec["action"], spec["containerNames"] = "container-kill", []any{"commitd"}
	case v1alpha1.Partition:
		kind = "NetworkChaos"
		spec["action"], spec["direction"], spec["duration"] = "partition", directions[i.Fault.Direction], i.Fault.Duration.String()
		spec["target"] = map[string]any{"mode": "all", "selector": otherSide(t, i, v)}
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
