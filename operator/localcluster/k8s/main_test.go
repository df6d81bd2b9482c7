package main

import (
	"slices"
	"testing"
)

func TestAProgramIsChosenByLinkOrByFirstArgument(t *testing.T) {
	for _, args := range [][]string{
		{"/opt/kubectl", "get", "pods"},
		{"build/bin/k8s", "kubectl", "get", "pods"},
	} {
		run, rest, ok := choose(args)
		if !ok || run == nil || !slices.Equal(rest[1:], []string{"get", "pods"}) {
			t.Errorf("%v: %v, %v", args, rest, ok)
		}
	}
	for _, args := range [][]string{{"k8s"}, {"k8s", "unknown"}} {
		if _, _, ok := choose(args); ok {
			t.Errorf("%v chose a program", args)
		}
	}
}
