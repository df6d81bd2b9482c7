package controller

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"commitlab.dev/operator/api/v1alpha1"
)

func cpu(quantity string) func(*v1alpha1.CommitCluster) {
	return func(c *v1alpha1.CommitCluster) {
		c.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(quantity)}
	}
}

func variable(name, value string) func(*v1alpha1.CommitCluster) {
	return func(c *v1alpha1.CommitCluster) {
		c.Spec.Engine.Variables = map[string]apiextensionsv1.JSON{name: {Raw: []byte(value)}}
	}
}

func TestWhatTakesARestart(t *testing.T) {
	atStart := func(flag string) bool { return flag == "thread-handling" }
	nothing := func(*v1alpha1.CommitCluster) {}
	for what, c := range map[string]struct {
		before, after func(*v1alpha1.CommitCluster)
		outdated      string
		live          int
	}{
		"nothing":                    {nothing, nothing, "", 0},
		"an image":                   {nothing, func(c *v1alpha1.CommitCluster) { c.Spec.Image = "x:2" }, "image", 0},
		"the same resources":         {cpu("1000m"), cpu("1"), "", 0},
		"other resources":            {cpu("1"), cpu("2"), "resources", 0},
		"a live variable":            {nothing, variable("max_connections", "5"), "", 1},
		"one that was there":         {variable("max_connections", "5"), nothing, "", 1},
		"another spelling":           {variable("max_connections", "5"), variable("MAX-connections", `"5"`), "", 0},
		"a variable of the start":    {nothing, variable("thread_handling", `"reactor"`), "thread_handling", 1},
		"more replicas":              {nothing, func(c *v1alpha1.CommitCluster) { c.Spec.Replicas = 7 }, "", 0},
		"scrape annotations changed": {nothing, func(c *v1alpha1.CommitCluster) { off := false; c.Spec.Monitoring.ScrapeAnnotations = &off }, "", 0},
	} {
		carried := func(change func(*v1alpha1.CommitCluster)) *configuration {
			cluster := demo()
			change(cluster)
			set, err := BuildStatefulSet(cluster, "default:1")
			if err != nil {
				t.Fatal(err)
			}
			return configurationIn(set.Spec.Template.Annotations)
		}
		changed := changesOf(carried(c.before), carried(c.after))
		if got := changed.outdated(atStart); got != c.outdated || len(changed.variables) != c.live {
			t.Errorf("%s: outdated %q, variables %v", what, got, changed.variables)
		}
	}
}

// A pod of an operator that did not write down what it asked for is left alone.
func TestAPodThatDoesNotSayWhatItWasStartedWithIsLeftAlone(t *testing.T) {
	asked := &configuration{Image: "x:2"}
	for _, annotations := range []map[string]string{nil, {v1alpha1.AnnotationConfiguration: "not JSON"}} {
		if c := changesOf(configurationIn(annotations), asked); len(c.needRestart)+len(c.variables) > 0 {
			t.Errorf("%v: %+v", annotations, c)
		}
	}
}

func TestAValueMeansWhatWasAskedForHoweverItIsWritten(t *testing.T) {
	for asked, values := range map[string]map[string]bool{
		"ON":   {"ON": true, "1": true, "OFF": false},
		"0":    {"OFF": true, "0": true, "ON": false},
		"5":    {"5": true, "5.000000": true, "6": false},
		"Abc":  {"abc": true, "abd": false},
		"128M": {"134217728": false}, // it is set once, and what the server made of it remembered
	} {
		for value, want := range values {
			if means(value, &asked) != want {
				t.Errorf("%s for %s: %v", value, asked, !want)
			}
		}
	}
	if means("5", nil) {
		t.Error("nobody but the server knows a default")
	}
}
