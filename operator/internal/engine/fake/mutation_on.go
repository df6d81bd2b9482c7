//go:build mutants

package fake

// Broken by a test of the tests: a server with one of its rules taken out.
var Mutated Mutation

func mutated(m Mutation) bool { return Mutated == m }
