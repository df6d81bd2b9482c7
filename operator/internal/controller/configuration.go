package controller

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"commitlab.dev/operator/api/v1alpha1"
)

// configuration is what of a spec a server is started with. A pod carries it, so that a change is recognised by what people
// asked for then and ask for now: what a newer operator, its default image or a webhook puts into pods is no reason to restart one.
type configuration struct {
	Image     string                      `json:"image,omitempty"`
	Resources corev1.ResourceRequirements `json:"resources"`
	// Variables by their flags' names.
	Variables map[string]string `json:"variables,omitempty"`
	// TLS is the Secret with the server's certificates.
	TLS string `json:"tls,omitempty"`
	// Credentials is the Secret with its passwords, if those have ever changed.
	Credentials string `json:"credentials,omitempty"`
}

func configurationOf(c *v1alpha1.CommitCluster) (configuration, error) {
	flags, err := variableFlags(c)
	asked := configuration{Image: c.Spec.Image, Resources: c.Spec.Resources, Variables: flags, Credentials: credentialsRevision(c)}
	if c.Spec.TLS != nil {
		asked.TLS = tlsSecret(c)
	}
	return asked, err
}

func (c configuration) String() string {
	text, err := json.Marshal(c)
	if err != nil {
		panic(err) // text and numbers only
	}
	return string(text)
}

// configurationIn reads what a pod or a template carries; nil when it carries none.
func configurationIn(annotations map[string]string) *configuration {
	c := &configuration{}
	if json.Unmarshal([]byte(annotations[v1alpha1.AnnotationConfiguration]), c) != nil {
		return nil
	}
	return c
}

// changes are the differences between what a server was started with and what it should be.
type changes struct {
	// needRestart names what cannot be changed in a running pod.
	needRestart []string
	// variables are those that have another value now, nil: none any more. Whether that takes a restart, the server knows.
	variables map[string]*string
}

// changesOf: a pod that does not say what it was started with is left alone until somebody replaces it.
func changesOf(started, asked *configuration) changes {
	var c changes
	if started == nil || asked == nil {
		return c
	}
	if started.Image != asked.Image {
		c.needRestart = append(c.needRestart, "image")
	}
	if !equality.Semantic.DeepEqual(started.Resources, asked.Resources) {
		c.needRestart = append(c.needRestart, "resources")
	}
	if started.TLS != asked.TLS {
		c.needRestart = append(c.needRestart, "tls")
	}
	if started.Credentials != asked.Credentials {
		c.needRestart = append(c.needRestart, "credentials")
	}
	c.variables = map[string]*string{}
	for name, value := range asked.Variables {
		if before, there := started.Variables[name]; !there || before != value {
			c.variables[name] = &value
		}
	}
	for name := range started.Variables {
		if _, there := asked.Variables[name]; !there {
			c.variables[name] = nil
		}
	}
	return c
}

// outdated says what of the changes takes a restart, when these variables can only be set at start.
func (c changes) outdated(atStart func(flag string) bool) string {
	list := slices.Clone(c.needRestart)
	for _, flag := range slices.Sorted(maps.Keys(c.variables)) {
		if atStart(flag) {
			list = append(list, variableOf(flag))
		}
	}
	return strings.Join(list, ", ")
}

// variableOf is a flag's name as SET and SHOW VARIABLES spell it.
func variableOf(flag string) string { return strings.ReplaceAll(flag, "-", "_") }
