package dispatch

import (
	"slices"
	"testing"
)

var programs = Programs{"kubectl": func([]string) int { return 0 }}

func TestAProgramIsChosenByLinkOrByFirstArgument(t *testing.T) {
	for _, args := range [][]string{
		{"/opt/kubectl", "get", "pods"},
		{"build/bin/k8s", "kubectl", "get", "pods"},
	} {
		run, rest, ok := programs.Choose(args)
		if !ok || run == nil || !slices.Equal(rest[1:], []string{"get", "pods"}) {
			t.Errorf("%v: %v, %v", args, rest, ok)
		}
	}
	for _, args := range [][]string{nil, {"k8s"}, {"k8s", "unknown"}} {
		if _, _, ok := programs.Choose(args); ok {
			t.Errorf("%v chose a program", args)
		}
	}
}
