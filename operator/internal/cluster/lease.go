package cluster

import (
	"fmt"
	"time"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/engine"
)

// A master answers its clients for no longer than a lease after it has last heard as many members as must acknowledge. Whoever is
// fenced says nothing to it any more. So once those that are fenced cover the record, the lease is renewed no more, and when it
// has run out nobody reads what another master has changed meanwhile. Nor was it renewed since one of them has heard the master
// last: who heard no question has answered none.

// Covered says whether those that are fenced in the epoch on record cover the record: from when on leases run out.
func (v *View) Covered() bool {
	return v.Record.Election != nil && v.Record.Quorum != nil && coversRecord(uuids(v.steppedDown()), &v.Record)
}

// Claim names the election that is under way: what is on record does not change while it is.
func (v *View) Claim() string {
	return fmt.Sprint(v.Record.Epoch, v.Record.Election.StartedAt.UnixNano())
}

// IsMaster says whether the server says that it is the master of an epoch.
func IsMaster(s *Server) bool { return s.Reachable && s.Status.Role == engine.RoleMaster }

// steppedDown are the members that are fenced in the epoch on record, whether they may be elected or not.
func (v *View) steppedDown() []*Server {
	var list []*Server
	for i := range v.Servers {
		if s := &v.Servers[i]; v.isMember(s) && s.Status.Role == engine.RoleFenced && s.Status.Epoch == v.Record.Epoch {
			list = append(list, s)
		}
	}
	return list
}

// leaseLeft is how long the last master that was chosen may still answer clients, at most. One that is fenced itself answers
// nobody, and neither does a process that has ended. Masters before it were waited for when it was chosen.
func (v *View) leaseLeft() time.Duration {
	if uuids(v.steppedDown())[v.Record.Quorum.MasterUUID] || v.masterEnded() || mutated(leaseNotWaited) {
		return 0
	}
	return max(withMargin(leaseOnRecord(&v.Record))-max(v.CoveredFor, v.unheardFor()), 0)
}

// masterEnded: the process that was seen to be the master on record has ended.
func (v *View) masterEnded() bool {
	master := v.server(v.Record.Master)
	return master != nil && master.Ended
}

// unheardFor is for how long none of those that are fenced has heard the last master, at least. Only those count that say when
// they heard their source last, which a server that has started since does not know; and they must cover the record by
// themselves: then whoever could renew the lease without them is too few. A lease that became shorter
// may last until that long after the master was told, whoever it has heard.
func (v *View) unheardFor() time.Duration {
	if v.Record.Quorum.LeaseShortened && !mutated(shortenedIsOld) {
		return 0
	}
	var least, longest float64
	know := uuidSet{}
	for _, s := range v.steppedDown() {
		heard := s.Status.SecondsSinceHeartbeat
		if heard == nil {
			continue
		}
		if longest = max(longest, *heard); len(know) == 0 || *heard < least {
			least = *heard
		}
		know[s.Status.ServerUUID] = true
	}
	if mutated(anyHasNotHeard) {
		return seconds(longest)
	}
	if !coversRecord(know, &v.Record) && !mutated(silenceOfFew) {
		return 0
	}
	return seconds(least)
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// leaseOnRecord is the longest that the last master may have been given: while a quorum changes, either may be in force.
func leaseOnRecord(r *v1alpha1.Record) time.Duration {
	longest := r.Quorum.SourceLeaseMilliseconds
	for _, q := range r.PriorQuorums {
		if q.MasterUUID == r.Quorum.MasterUUID && !mutated(lastLeaseOnly) {
			longest = max(longest, q.SourceLeaseMilliseconds)
		}
	}
	return time.Duration(longest) * time.Millisecond
}

// withMargin allows for clocks that run at different speeds.
func withMargin(lease time.Duration) time.Duration { return lease + lease/10 }
