package fake

import (
	"slices"
	"testing"
)

// Operators that change a quorum to and fro use larger and larger versions: what they mean is the same each time.
func TestVersionsMeanWhatTheirOrderIs(t *testing.T) {
	ranks := func(named ...Version) []byte {
		v := Rank(slices.Clone(named))
		var list []byte
		for _, n := range named {
			list = append(list, v.Of(n.Epoch, n.Number))
		}
		return list
	}
	first := ranks(Version{1, 0}, Version{1, 3}, Version{1, 2}, Version{2, 1}, Version{1, 3})
	later := ranks(Version{1, 0}, Version{1, 41}, Version{1, 7}, Version{2, 1}, Version{1, 41})
	if !slices.Equal(first, later) || !slices.Equal(first, []byte{0, 3, 2, 1, 3}) {
		t.Errorf("%v and %v", first, later)
	}
	if other := ranks(Version{1, 0}, Version{1, 2}, Version{1, 3}, Version{2, 1}, Version{1, 2}); slices.Equal(first, other) {
		t.Errorf("%v tells no order", other)
	}
}
