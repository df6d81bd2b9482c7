//go:build !mutants

package cluster

func mutated(mutation) bool { return false }
