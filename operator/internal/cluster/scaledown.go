package cluster

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"commitlab.dev/operator/api/v1alpha1"
)

// Reasons of events.
const (
	ReasonVolumeReleased = "VolumeReleased"
	ReasonVolumeDeleted  = "VolumeDeleted"
)

// A server leaves when no quorum on record names it. With DeleteVolumes its volume goes after it: first it is put on record, and from
// then on it is no member, and no pod is made that could run on it. So a deletion that comes late finds nobody who counts on it, and a
// larger cluster waits for it and gets a new volume.

// PodCount is how many pods there are to be: the master and the replicas, and anybody beyond who is still counted. A cluster that
// hibernates has none.
func PodCount(p Policy, r *v1alpha1.Record) int32 {
	if p.Hibernated {
		return 0
	}
	count := min(p.Replicas+1, firstReleased(r))
	counted := countedIn(r)
	for _, m := range r.Members {
		if ordinal, ok := OrdinalOf(m.Name); ok && counted[m.ServerUUID] {
			count = max(count, ordinal+1)
		}
	}
	return count
}

// firstReleased is the lowest number of a pod whose volume is being deleted.
func firstReleased(r *v1alpha1.Record) int32 {
	first := int32(math.MaxInt32)
	for _, released := range r.Released {
		if ordinal, ok := OrdinalOf(released.Name); ok {
			first = min(first, ordinal)
		}
	}
	return first
}

// OrdinalOf reads the number at the end of a pod's name.
func OrdinalOf(pod string) (int32, bool) {
	i := strings.LastIndexByte(pod, '-')
	n, err := strconv.ParseInt(pod[i+1:], 10, 32)
	return int32(n), i >= 0 && err == nil
}

// countedIn are the servers that a quorum on record names: an election may need what they hold.
func countedIn(r *v1alpha1.Record) uuidSet {
	counted := uuidSet{}
	if mutated(countedMayLeave) {
		return counted
	}
	quorums := slices.Clone(r.PriorQuorums)
	if r.Quorum != nil {
		quorums = append(quorums, *r.Quorum)
	}
	for _, q := range quorums {
		counted[q.MasterUUID] = true
		for _, m := range q.Members {
			counted[m] = true
		}
	}
	return counted
}

// release is the next step on record of volumes that servers have left; nil when there is none.
func (v *View) release(master *Server) (*v1alpha1.Record, *Event) {
	for i, released := range v.Record.Released {
		if v.Unused[released.Name] != released.PVCUID {
			r := v.Record.DeepCopy()
			r.Released = slices.Delete(r.Released, i, i+1)
			return r, &Event{Reason: ReasonVolumeDeleted, Message: "the volume of " + released.Name + " is deleted"}
		}
	}
	needed := len(v.Record.PriorQuorums) > 0 || !established(v.Record.Quorum, &master.Status)
	if !v.Policy.DeleteVolumes || (needed && !mutated(countedMayLeave)) {
		return nil, nil
	}
	for _, name := range slices.Sorted(maps.Keys(v.Unused)) {
		if r := v.without(name, v.Unused[name]); r != nil {
			return r, &Event{Reason: ReasonVolumeReleased, Message: fmt.Sprintf("nobody counts on the volume of %s any more: it is deleted (spec.storage.scaleDownPolicy)", name)}
		}
	}
	return nil, nil
}

// without is the record that gives up a volume of a server on record, or of one that was to get another one's data; nil when it is
// of neither, is counted on, or has been given up.
func (v *View) without(name, claim string) *v1alpha1.Record {
	counted := countedIn(&v.Record)
	needed := func(m v1alpha1.MemberStatus) bool { return m.Name == name && counted[m.ServerUUID] }
	left := func(m v1alpha1.MemberStatus) bool { return m.Name == name && m.PVCUID == claim }
	cloned := func(c v1alpha1.CloneStatus) bool { return c.Name == name && c.PVCUID == claim }
	known := slices.ContainsFunc(v.Record.Members, left) || slices.ContainsFunc(v.Record.Clones, cloned)
	if !known || slices.ContainsFunc(v.Record.Members, needed) ||
		slices.ContainsFunc(v.Record.Released, func(r v1alpha1.ReleasedVolume) bool { return r.Name == name }) {
		return nil
	}
	r := v.Record.DeepCopy()
	r.Members = slices.DeleteFunc(r.Members, left)
	r.Clones = slices.DeleteFunc(r.Clones, cloned)
	r.Released = append(r.Released, v1alpha1.ReleasedVolume{Name: name, PVCUID: claim})
	return r
}
