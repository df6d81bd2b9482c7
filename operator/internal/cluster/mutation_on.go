//go:build mutants

package cluster

// activeMutation is the rule that a test of the model has taken out.
var activeMutation mutation

func mutated(m mutation) bool { return activeMutation == m }
