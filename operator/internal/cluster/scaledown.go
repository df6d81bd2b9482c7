package cluster

import (
	"fmt"
	"maps"
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
	count := p.Replicas + 1
	for _, released := range r.Released {
		if ordinal, ok := OrdinalOf(released.Name); ok {
			count = min(count, ordinal)
		}
	}
	counted := countedIn(r)
	for _, m := range r.Members {
		if ordinal, ok := OrdinalOf(m.Name); ok && counted[m.ServerUUID] {
			count = max(count, ordinal+1)
		}
	}
	return count
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
	counted := countedIn(&v.Record)
	for _, name := range slices.Sorted(maps.Keys(v.Unused)) {
		left := func(m v1alpha1.MemberStatus) bool {
			return m.Name == name && m.PVCUID == v.Unused[name] && !counted[m.ServerUUID]
		}
		if !slices.ContainsFunc(v.Record.Members, left) || slices.ContainsFunc(v.Record.Released, func(r v1alpha1.ReleasedVolume) bool { return r.Name == name }) {
			continue
		}
		r := v.Record.DeepCopy()
		r.Members = slices.DeleteFunc(r.Members, left)
		r.Released = append(r.Released, v1alpha1.ReleasedVolume{Name: name, PVCUID: v.Unused[name]})
		return r, &Event{Reason: ReasonVolumeReleased, Message: fmt.Sprintf("nobody counts on the volume of %s any more: it is deleted (spec.storage.scaleDownPolicy)", name)}
	}
	return nil, nil
}
