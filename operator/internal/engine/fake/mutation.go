//go:build !mutants

package fake

func mutated(Mutation) bool { return false }
