// Package dispatch chooses one of several programs that share a binary.
package dispatch

import (
	"maps"
	"path/filepath"
	"slices"
)

// Programs maps a program's name to its main function, which returns the exit
// status.
type Programs map[string]func(args []string) int

// Choose returns the program that a command line names, by the name it is
// called with or else by its first argument, and the command line as that
// program would see it had it been called directly.
func (p Programs) Choose(args []string) (run func([]string) int, rest []string, ok bool) {
	for skip := 0; skip < 2 && skip < len(args); skip++ {
		rest := args[skip:]
		if run, ok := p[filepath.Base(rest[0])]; ok {
			return run, rest, true
		}
	}
	return nil, nil, false
}

// Names lists the programs in order.
func (p Programs) Names() []string { return slices.Sorted(maps.Keys(p)) }
