package fake

import (
	"cmp"
	"slices"

	"commitlab.dev/operator/internal/engine"
)

// Version is that of a quorum in an epoch.
type Version struct{ Epoch, Number int64 }

// Versions ranks those that a state names. Versions are compared within an epoch only, and a new one is larger than all that were there:
// so which comes before which is all that they mean, and operators that go round in circles, with larger and larger ones, come to where
// they have been. The first two mean something by themselves: what PROMOTE begins with, and what the record calls that.
type Versions []Version

// Rank sorts the versions that a state names.
func Rank(named []Version) Versions {
	slices.SortFunc(named, func(a, b Version) int { return cmp.Or(cmp.Compare(a.Epoch, b.Epoch), cmp.Compare(a.Number, b.Number)) })
	return slices.Compact(named)
}

// Of is the rank of a version.
func (v Versions) Of(epoch, number int64) byte {
	if number < 2 {
		return byte(number)
	}
	rank := byte(2)
	for _, other := range v {
		if other.Epoch == epoch && other.Number >= 2 && other.Number < number {
			rank++
		}
	}
	return rank
}

// NamedVersions are those of the servers' quorums, as they are and as they were kept.
func (w *World) NamedVersions(list []Version) []Version {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.servers {
		if s.role == engine.RoleMaster {
			list = append(list, Version{s.epoch, s.version})
		}
		if s.granted.role == engine.RoleMaster {
			list = append(list, Version{s.epoch, s.kept.version})
		}
	}
	return list
}

// HasPromisedMore: the server refuses every command of that epoch, for as long as it keeps its volume.
func (w *World) HasPromisedMore(name string, epoch int64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.named(name)
	return epoch < max(s.epoch, s.next) && !mutated(EpochNotChecked)
}
