package cluster

import (
	"maps"
	"math"
	"slices"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/engine"
)

// uuidSet is a set of server UUIDs.
type uuidSet map[string]bool

func (u uuidSet) count(members []string) int32 {
	var n int32
	for _, m := range members {
		if u[m] {
			n++
		}
	}
	return n
}

func setOf(uuids []string) uuidSet {
	u := uuidSet{}
	for _, id := range uuids {
		u[id] = true
	}
	return u
}

func (u uuidSet) sorted() []string { return slices.Sorted(maps.Keys(u)) }

// covers says whether everything that was ever acknowledged under the quorum is in the log of one of these servers, and
// nothing more can be acknowledged under it once they are fenced: the master's own log has all of it, and R members meet
// every set of W members when R + W > M.
// What a master may have acknowledged by itself, only its own log is known to have.
func covers(fenced uuidSet, q *v1alpha1.QuorumStatus) bool {
	if q.OnTimeout == engine.OnTimeoutAsync && !mutated(asyncIsCounted) {
		return fenced[q.MasterUUID]
	}
	r, m := fenced.count(q.Members), int32(len(q.Members))
	return fenced[q.MasterUUID] || r+q.WaitCount > m || (mutated(halfIsEnough) && r+q.WaitCount >= m)
}

// coversRecord says whether an election among these servers is safe. The last master chosen had everything that the prior
// quorums acknowledged, so it alone is enough; without it every quorum that may have been in force counts.
func coversRecord(fenced uuidSet, r *v1alpha1.Record) bool {
	if fenced[r.Quorum.MasterUUID] {
		return true
	}
	for i := range r.PriorQuorums {
		if !mutated(priorQuorumsIgnored) && !covers(fenced, &r.PriorQuorums[i]) {
			return false
		}
	}
	return covers(fenced, r.Quorum)
}

// inForce: the master acknowledges by this quorum. PROMOTE carries no version, so the first version is whatever it starts with.
func inForce(q *v1alpha1.QuorumStatus, master *engine.Status) bool {
	sameVersion := master.QuorumVersion == q.Version || (q.Version == firstQuorumVersion && master.QuorumVersion < firstQuorumVersion)
	return sameVersion && master.Epoch == q.Epoch && sameRule(q, shown(q, master))
}

// foreign is the quorum that the master acknowledges by, if it is one that was never on record: somebody has changed it by hand.
func foreign(q *v1alpha1.QuorumStatus, master *engine.Status) *v1alpha1.QuorumStatus {
	found := shown(q, master)
	if master.Epoch != q.Epoch || found.Version < q.Version || (found.Version == q.Version && sameRule(q, found)) {
		return nil
	}
	return found
}

// shown is the quorum that the master of q says it acknowledges by.
func shown(q *v1alpha1.QuorumStatus, master *engine.Status) *v1alpha1.QuorumStatus {
	return &v1alpha1.QuorumStatus{Epoch: q.Epoch, Version: master.QuorumVersion, MasterUUID: q.MasterUUID,
		Members: setOf(master.Members).sorted(), WaitCount: master.WaitCount,
		OnTimeout: master.Terms.OnTimeout, TimeoutMilliseconds: master.Terms.TimeoutMilliseconds,
		SourceLeaseMilliseconds: master.Terms.LeaseMilliseconds}
}

// asTold is the quorum as its master is told.
func asTold(q *v1alpha1.QuorumStatus) engine.Quorum {
	return engine.Quorum{WaitCount: q.WaitCount, Members: q.Members, Terms: termsOf(q)}
}

func termsOf(q *v1alpha1.QuorumStatus) engine.Terms {
	return engine.Terms{OnTimeout: q.OnTimeout, TimeoutMilliseconds: q.TimeoutMilliseconds, LeaseMilliseconds: q.SourceLeaseMilliseconds}
}

func setTerms(q *v1alpha1.QuorumStatus, t engine.Terms) {
	q.OnTimeout, q.TimeoutMilliseconds, q.SourceLeaseMilliseconds = t.OnTimeout, t.TimeoutMilliseconds, t.LeaseMilliseconds
}

// noteLeaseBefore keeps known, for as long as a mastership lasts, that its lease was longer before.
func noteLeaseBefore(next *v1alpha1.QuorumStatus, before ...*v1alpha1.QuorumStatus) {
	for _, q := range before {
		next.LeaseShortened = next.LeaseShortened || q.LeaseShortened || leaseOf(q) > leaseOf(next)
	}
}

// leaseOf is the lease under a quorum. A master that waits for nobody hears nobody, and answers clients for ever.
func leaseOf(q *v1alpha1.QuorumStatus) int64 {
	if q.SourceLeaseMilliseconds == 0 || q.WaitCount == 0 {
		return math.MaxInt64
	}
	return q.SourceLeaseMilliseconds
}

// sameRule: the same servers must acknowledge, and the same happens when they do not.
func sameRule(a, b *v1alpha1.QuorumStatus) bool {
	return termsOf(a) == termsOf(b) && sameQuorum(a, b.WaitCount, b.Members)
}

const firstQuorumVersion int64 = 1

func sameQuorum(q *v1alpha1.QuorumStatus, waitCount int32, members []string) bool {
	return q.WaitCount == waitCount && slices.Equal(setOf(q.Members).sorted(), setOf(members).sorted())
}

// established: the quorum is in force, the epoch transaction is acknowledged, and enough of its members hold everything that
// was ever acknowledged, under whatever quorum. From then on the prior quorums add nothing.
func established(q *v1alpha1.QuorumStatus, master *engine.Status) bool {
	if mutated(establishedEarly) {
		return inForce(q, master)
	}
	return inForce(q, master) && !master.WritesBlocked && setOf(master.AckedMembers).count(q.Members) >= q.WaitCount
}

// withPrior appends a quorum to the prior ones, unless one of them covers exactly the same; the older epoch is kept then,
// because a quorum may only be forgotten when nothing of its epoch was logged.
func withPrior(prior []v1alpha1.QuorumStatus, q v1alpha1.QuorumStatus) []v1alpha1.QuorumStatus {
	same := func(p v1alpha1.QuorumStatus) bool {
		return p.MasterUUID == q.MasterUUID && sameRule(&p, &q)
	}
	if i := slices.IndexFunc(prior, same); i >= 0 {
		kept := slices.Clone(prior)
		kept[i].Epoch = min(prior[i].Epoch, q.Epoch)
		return kept
	}
	return append(slices.Clone(prior), q)
}

// desiredQuorum is what the quorum of this epoch should be, seen from its master.
func desiredQuorum(v *View, master *Server) v1alpha1.QuorumStatus {
	if small, ok := v.switchoverQuorum(master); ok {
		return small
	}
	members, attached := uuidSet{}, uuidSet{}
	current, acked, clients := setOf(v.Record.Quorum.Members), setOf(master.Status.AckedMembers), setOf(master.Status.SemisyncClients)
	for i := range v.Record.Members {
		m := &v.Record.Members[i]
		s := v.server(m.Name)
		if m.Name == master.Name || s == nil || !v.wanted(s) || v.identityOf(s) == identityReplacedVolume || v.leavesTheQuorum(s, master) {
			continue
		}
		joins := v.servesAsReplica(s) && s.Status.ReceiverState == engine.ReceiverReceiving && s.CaughtUp
		if !current[m.ServerUUID] && !joins {
			continue
		}
		members[m.ServerUUID] = true
		if clients[m.ServerUUID] && (acked[m.ServerUUID] || !current[m.ServerUUID]) {
			attached[m.ServerUUID] = true
		}
	}
	desired := *v.Record.Quorum
	desired.Members = members.sorted()
	setTerms(&desired, v.Policy.terms(&master.Status))
	// A master without its lease has no writes that could wait.
	waited := max(master.Status.AckWaitingSeconds, master.LeaseLostFor.Seconds())
	desired.WaitCount = desiredWaitCount(v.Policy, desired.WaitCount, int32(len(attached)), waited)
	if desired.WaitCount > int32(len(desired.Members)) {
		// Nobody could ever satisfy it: things stay as they are until somebody has joined.
		return *v.Record.Quorum
	}
	return desired
}

// desiredWaitCount follows the replicas that are attached: upwards at once, downwards only when writes have waited for too long.
func desiredWaitCount(p Policy, current, attached int32, waitedSeconds float64) int32 {
	full, floor := p.fullWaitCount(), p.floorWaitCount()
	wanted := current
	switch {
	case attached >= current:
		wanted = attached
	case waitedSeconds >= p.AckTimeout.Seconds():
		wanted = attached
	}
	return min(max(wanted, floor), full)
}
