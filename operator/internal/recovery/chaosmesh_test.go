package recovery

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"commitlab.dev/operator/api/v1alpha1"
)

// What Chaos Mesh is asked to do, in its own words.
func TestWhatEachKindIsToChaosMesh(t *testing.T) {
	for _, c := range []struct {
		fault v1alpha1.FaultSpec
		kind  string
		has   string
	}{
		{v1alpha1.FaultSpec{Kind: v1alpha1.PodKill}, "PodChaos", `"action":"pod-kill","gracePeriod":0`},
		{v1alpha1.FaultSpec{Kind: v1alpha1.PodFailure}, "PodChaos", `"action":"pod-failure","duration":"30s"`},
		{v1alpha1.FaultSpec{Kind: v1alpha1.Partition, Direction: "FromTarget"}, "NetworkChaos", `"direction":"to"`},
		{v1alpha1.FaultSpec{Kind: v1alpha1.NetworkDelay}, "NetworkChaos", `"delay":{"latency":"200ms"}`},
		{v1alpha1.FaultSpec{Kind: v1alpha1.NetworkLoss}, "NetworkChaos", `"loss":{"loss":"50"}`},
		{v1alpha1.FaultSpec{Kind: v1alpha1.DiskSlow, Latency: &metav1.Duration{Duration: time.Second}}, "IOChaos", `"action":"latency","containerNames":["commitd"],"delay":"1s"`},
		{v1alpha1.FaultSpec{Kind: v1alpha1.DiskError}, "IOChaos", `"errno":5`},
		{v1alpha1.FaultSpec{Kind: v1alpha1.DiskFull}, "IOChaos", `"errno":28`},
		{v1alpha1.FaultSpec{Kind: v1alpha1.ClockSkew}, "TimeChaos", `"timeOffset":"-10m0s"`},
		{v1alpha1.FaultSpec{Kind: v1alpha1.CPUStress}, "StressChaos", `"cpu":{"load":100,"workers":4}`},
		{v1alpha1.FaultSpec{Kind: v1alpha1.MemoryStress}, "StressChaos", `"memory":{"size":"134217728","workers":1}`},
	} {
		c.fault.Name = "a"
		w := newWorld(t, c.fault)
		f := Schedule(w.test.Spec, 1, v1alpha1.InjectorChaosMesh)[0]
		experiment := BuildExperiment(w.test, Inject{Fault: f, Objects: []v1alpha1.FaultObject{{Name: "demo-0"}}}, w.view())
		text, err := json.Marshal(experiment.Object["spec"])
		if err != nil || experiment.GetKind() != c.kind || !strings.Contains(string(text), c.has) {
			t.Errorf("%s: %s with %s (%v), which has not %s", c.fault.Kind, experiment.GetKind(), text, err, c.has)
		}
		if !strings.Contains(string(text), `"selector":{"pods":{"n":["demo-0"]}}`) {
			t.Errorf("%s hits %s", c.fault.Kind, text)
		}
	}
}

func TestWhatChaosMeshSaysOfItsObjects(t *testing.T) {
	for text, want := range map[string]Experiment{
		`{}`: {Exists: true},
		`{"status":{"conditions":[{"type":"AllInjected","status":"True"}]}}`:  {Exists: true, Injected: true},
		`{"status":{"conditions":[{"type":"AllInjected","status":"False"}]}}`: {Exists: true},
		`{"status":{"experiment":{"containerRecords":[{"events":[{"type":"Failed","operation":"Apply","message":"no qdisc"},
			{"type":"Failed","operation":"Recover","message":"no qdisc to remove"}]}]}}}`: {Exists: true, Problem: "no qdisc"},
	} {
		var object map[string]any
		if err := json.Unmarshal([]byte(text), &object); err != nil {
			t.Fatal(err)
		}
		if got := experimentOf(object); got != want {
			t.Errorf("%s: %+v", text, got)
		}
	}
}

func TestTheRulesOfOneExperimentAreForgotten(t *testing.T) {
	object := map[string]any{"spec": map[string]any{"trafficControls": []any{
		map[string]any{"source": "n/t-delay", "type": "netem"}, map[string]any{"source": "n/other", "type": "netem"}}}}
	if !withoutRulesOf(object, "n/t-delay") || withoutRulesOf(object, "n/t-delay") {
		t.Error("its rule is found once")
	}
	if text, err := json.Marshal(object); err != nil || string(text) != `{"spec":{"trafficControls":[{"source":"n/other","type":"netem"}]}}` {
		t.Errorf("left is %s (%v)", text, err)
	}
}
