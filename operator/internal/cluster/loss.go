package cluster

import (
	"fmt"
	"slices"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/engine"
)

// detectLoss decides whether a master that cannot be reached is lost: only if enough replicas say so too, which are then
// also enough to elect another one. Patience is for networks: a process that has ended does not come back with its role.
func (v *View) detectLoss(p *Plan, master *Server) {
	p.Waiting = "the operator does not reach the master " + v.Record.Master
	replaced := master != nil && master.Reachable
	if replaced {
		p.Report(master.Name, v.describeIdentity(master))
	}
	switch {
	case v.Policy.FailoverDisabled:
		p.Report("", "the master cannot be reached, and automatic failover is off (spec.failover.disabled)")
	case !replaced && master != nil && !master.Ended && master.UnreachableFor < v.Policy.UnreachableAfter:
	case v.mayBeOnTheMasterAlone():
		p.Report("", "what was acknowledged may be on the master alone (spec.semisync.onTimeout is, or was, async): "+
			"nobody else is elected. Bring "+v.Record.Master+" back")
	case !v.canReplace(v.silentServers()) && !mutated(operatorAloneLoses):
		p.Waiting += "; too few replicas have lost it to elect another one"
	case v.isAwaited(master):
		p.Waiting += ": its program has ended, and is waited for, because too few others are left to acknowledge"
	default:
		message := fmt.Sprintf("neither the operator nor enough replicas reach %s", v.Record.Master)
		p.Record = v.claim(ReasonMasterLost, message)
		p.Event = &Event{Reason: ReasonMasterLost, Message: message, Warning: true}
	}
}

// mayBeOnTheMasterAlone: it may have acknowledged by itself, and not all of that is known to be elsewhere yet.
func (v *View) mayBeOnTheMasterAlone() bool {
	async := func(q v1alpha1.QuorumStatus) bool { return q.OnTimeout == engine.OnTimeoutAsync }
	return !mutated(asyncIsCounted) && (async(*v.Record.Quorum) || slices.ContainsFunc(v.Record.PriorQuorums, async))
}

// silentServers can be fenced and do not hear the master.
func (v *View) silentServers() uuidSet {
	silent := uuidSet{}
	for i := range v.Servers {
		s := &v.Servers[i]
		if s.Name != v.Record.Master && v.isMember(s) && !v.hears(s) {
			silent[s.Status.ServerUUID] = true
		}
	}
	return silent
}

// canReplace: these cover the record, and one of them may be elected.
func (v *View) canReplace(silent uuidSet) bool {
	for i := range v.Servers {
		if s := &v.Servers[i]; silent[s.Status.ServerUUID] && !v.keptOut(s) {
			return coversRecord(silent, &v.Record)
		}
	}
	return false
}

// isAwaited: the master has ended, and another one could have nothing acknowledged, nor answer readers, before it is back. Then it may
// as well be the master. Where there is no lease, another one would answer readers: that is worth an election after the usual patience.
func (v *View) isAwaited(master *Server) bool {
	if master == nil || master.Reachable || !master.Ended || mutated(endedIsNotAwaited) {
		return false
	}
	noLease := v.Policy.SourceLease <= 0 && master.UnreachableFor >= v.Policy.UnreachableAfter
	return !noLease && v.able(master.Name) <= v.Policy.floorWaitCount()
}

// able counts the servers that are there to be the master or to acknowledge, but for one: also those that have to get the data first.
func (v *View) able(but string) int32 {
	var n int32
	for i := range v.Servers {
		s := &v.Servers[i]
		if s.Name == but || v.keptOut(s) {
			continue
		}
		switch v.identityOf(s) {
		case identityMember:
			n++
		case identityEmpty, identityFresh, identityCloning:
			if v.wanted(s) {
				n++
			}
		}
	}
	return n
}

func (v *View) hears(s *Server) bool {
	if !v.follows(s) || s.Status.ReceiverState != engine.ReceiverReceiving {
		return false
	}
	last := s.Status.SecondsSinceHeartbeat
	return last != nil && *last < v.Policy.HeartbeatTimeout.Seconds()
}

// isCutOff: the master answers the operator, writes wait, and those that must acknowledge them follow it and do not hear it any
// more. They must be enough to elect another master, and to acknowledge to it. A full disk is another matter: heartbeats come.
// Where all links are down the mastership does not wander about: whoever has never heard its master has not lost it.
func (v *View) isCutOff(p *Plan, master *Server) bool {
	waits := master.Status.WritesBlocked || master.Status.AckWaitingSeconds >= v.Policy.UnreachableAfter.Seconds()
	cut := v.cutOffFollowers()
	if !waits || int32(len(cut)) <= max(v.Policy.floorWaitCount(), 1) || !coversRecord(cut, &v.Record) {
		return false
	}
	if v.Policy.FailoverDisabled {
		p.Report("", "the master does not reach its replicas, and automatic failover is off (spec.failover.disabled)")
		return false
	}
	return true
}

// cutOffFollowers have heard the master and hear it no more; the operator reaches them.
func (v *View) cutOffFollowers() uuidSet {
	cut := uuidSet{}
	patience := v.Policy.HeartbeatTimeout + v.Policy.UnreachableAfter
	for i := range v.Servers {
		s := &v.Servers[i]
		if last := s.Status.SecondsSinceHeartbeat; v.follows(s) && last != nil && (*last >= patience.Seconds() || mutated(waitingIsCutOff)) {
			cut[s.Status.ServerUUID] = true
		}
	}
	return cut
}
