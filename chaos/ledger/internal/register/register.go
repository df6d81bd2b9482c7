// Package register says whether what clients saw of single rows can have happened in one order that agrees with the clock: a value that was
// written and answered is what is read from then on, on whatever server, until the next one is written.
package register

import (
	"math"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
)

// Operation is a write of a value, or a read that returned it. Values are unique; a row that is not there reads as 0.
type Operation struct {
	Key   int
	Write bool
	Value uint64
	// Call and Return are nanoseconds of one clock that never goes back. Unanswered writes return never.
	Call, Return int64
}

// Never is when an operation returned whose answer never came: it may take effect at any time.
const Never = math.MaxInt64

// Result is what the check of all rows came to.
type Result struct {
	Rows       int `json:"rows"`
	Operations int `json:"operations"`
	// Wrong rows have a history that no order explains. Unchecked ones were given up.
	Wrong     []int `json:"wrong,omitempty"`
	Unchecked []int `json:"unchecked,omitempty"`
}

// patience bounds the check of one row: the problem is NP-complete, and unanswered writes make it hard.
const patience = 10 * time.Second

var model = porcupine.Model{
	Init: func() any { return uint64(0) },
	Step: func(state, input, _ any) (bool, any) {
		op := input.(Operation)
		if op.Write {
			return true, op.Value
		}
		return state == op.Value, state
	},
}

// Check looks at each row by itself, which is enough: rows that are linearizable each are so together.
func Check(history []Operation) Result {
	byKey := map[int][]porcupine.Operation{}
	for client, op := range history {
		byKey[op.Key] = append(byKey[op.Key], porcupine.Operation{ClientId: client, Input: op, Call: op.Call, Return: op.Return})
	}
	result := Result{Rows: len(byKey), Operations: len(history)}
	for key, operations := range byKey {
		switch porcupine.CheckOperationsTimeout(model, operations, patience) {
		case porcupine.Illegal:
			result.Wrong = append(result.Wrong, key)
		case porcupine.Unknown:
			result.Unchecked = append(result.Unchecked, key)
		}
	}
	slices.Sort(result.Wrong)
	slices.Sort(result.Unchecked)
	return result
}
