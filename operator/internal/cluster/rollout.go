package cluster

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"commitlab.dev/operator/api/v1alpha1"
)

// Reasons of events.
const (
	ReasonRestarting = "Restarting"
	ReasonRestarted  = "Restarted"
)

// rollout is the next step of a rolling restart, if servers run with something else than the spec asks for: the replicas one
// by one, each put on record before its pod goes and waited for until it holds everything again; then the mastership moves to
// one of them, and the former master is a replica like the others.
func (v *View) rollout(p *Plan, master *Server) (*v1alpha1.Record, *Event) {
	if r := v.Record.Restart; r != nil {
		return v.goOnRestarting(p, master, r)
	}
	outdated := v.outdated(master)
	if len(outdated) == 0 {
		return nil, nil
	}
	next := outdated[0]
	p.Rollout = describeOutdated(outdated)
	if next == master && v.Policy.Replicas > 0 {
		return v.moveOff(p, master)
	}
	if hold := v.cannotSpare(next, master); hold != "" {
		p.Rollout += "; " + hold
		return nil, nil
	}
	return v.restarting(next)
}

// outdated are the servers to be restarted, in that order: first those that have no role anyway, then the other replicas, the
// last one first, then the master.
func (v *View) outdated(master *Server) []*Server {
	var list []*Server
	for i := range v.Servers {
		if s := &v.Servers[i]; v.wanted(s) && !v.keptOut(s) && s.Outdated != "" && s.PodUID != "" {
			list = append(list, s)
		}
	}
	rank := func(s *Server) int {
		switch {
		case s == master:
			return 2
		case v.servesAsReplica(s):
			return 1
		}
		return 0
	}
	slices.SortFunc(list, func(a, b *Server) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(b.Ordinal, a.Ordinal))
	})
	return list
}

func describeOutdated(servers []*Server) string {
	var list []string
	for _, s := range servers {
		list = append(list, fmt.Sprintf("%s (%s)", s.Name, s.Outdated))
	}
	return "to be restarted: " + strings.Join(list, ", ")
}

func (v *View) restarting(s *Server) (*v1alpha1.Record, *Event) {
	r := v.Record.DeepCopy()
	r.Restart = &v1alpha1.RestartStatus{Name: s.Name, PodUID: s.PodUID, Reason: s.Outdated, StartedAt: metav1.NewTime(v.Now)}
	return r, &Event{Reason: ReasonRestarting, Message: fmt.Sprintf("%s is restarted: %s", s.Name, s.Outdated)}
}

// goOnRestarting: the record names the server. Its pod goes if that still harms nobody; then it is waited for.
func (v *View) goOnRestarting(p *Plan, master *Server, r *v1alpha1.RestartStatus) (*v1alpha1.Record, *Event) {
	s := v.server(r.Name)
	p.Rollout = fmt.Sprintf("%s is being restarted (%s)", r.Name, r.Reason)
	switch {
	case s == nil || !v.wanted(s) || v.keptOut(s):
		return v.restartEnded(nil)
	case s.PodUID == r.PodUID && s.Leaving:
		p.Rollout += ": its pod has not ended yet"
	case s.PodUID == r.PodUID && s.Outdated == "":
		return v.restartEnded(nil)
	case s.PodUID == r.PodUID && s == master && v.Policy.Replicas > 0:
		// It has been elected meanwhile, and a paused operator may be about to delete its pod: no other one goes before it.
		return v.moveOff(p, master)
	case s.PodUID == r.PodUID:
		v.takeDown(p, s, master)
	case s.PodUID == "":
		p.Rollout += ": its new pod is not there yet"
	case s == master || v.acknowledging(master)[s.Status.ServerUUID] || mutated(restartNotAwaited):
		return v.restartEnded(&Event{Reason: ReasonRestarted, Message: s.Name + " serves again, with all that is acknowledged"})
	case s.Outdated != "" && !v.servesAsReplica(s):
		return v.restarting(s)
	default:
		p.Rollout += ": it does not serve yet, or has not caught up"
	}
	return nil, nil
}

func (v *View) restartEnded(event *Event) (*v1alpha1.Record, *Event) {
	r := v.Record.DeepCopy()
	r.Restart = nil
	return r, event
}

func (v *View) takeDown(p *Plan, s, master *Server) {
	if hold := v.cannotSpare(s, master); hold != "" {
		p.Rollout += "; " + hold
		return
	}
	p.Commands = append(p.Commands, Command{Kind: CommandRestart, Server: s.Name, PodUID: s.PodUID})
}

// cannotSpare says why a server cannot be taken away now; "" when it can. All others must be there, and enough of them
// acknowledge; a cluster too small for that has no better moment than when all are there.
func (v *View) cannotSpare(s, master *Server) string {
	able := v.acknowledging(master)
	switch {
	case v.switching():
		return "waiting for the switchover"
	case len(v.Record.PriorQuorums) > 0:
		return "waiting until the quorum is established"
	case s == master || !v.takesPart(s, master) || mutated(restartNotAwaited):
		return ""
	case master.Status.WritesBlocked:
		return "waiting until writes are acknowledged"
	}
	var missing []string
	remaining := uuidSet{}
	for i := range v.Servers {
		switch o := &v.Servers[i]; {
		case o.Name == s.Name || o == master || !v.wanted(o):
		case !able[o.Status.ServerUUID] || o.Leaving:
			missing = append(missing, o.Name)
		default:
			remaining[o.Status.ServerUUID] = true
		}
	}
	if len(missing) > 0 {
		return fmt.Sprintf("waiting for %s to serve and to have caught up", strings.Join(missing, ", "))
	}
	q := v.Record.Quorum
	if remaining.count(q.Members) < q.WaitCount && v.Policy.fullWaitCount() < v.Policy.Replicas {
		return fmt.Sprintf("without %s writes would wait: %d of the others are counted, %d must acknowledge", s.Name, remaining.count(q.Members), q.WaitCount)
	}
	return ""
}

func (v *View) switching() bool {
	under := v.Record.Switchover
	return under != nil && !under.Ended()
}

// takesPart: the server has a role, or acknowledges though the operator does not reach it.
func (v *View) takesPart(s, master *Server) bool {
	clients := setOf(master.Status.SemisyncClients)
	for _, m := range v.Record.Members {
		if m.Name == s.Name && clients[m.ServerUUID] {
			return true
		}
	}
	return v.servesAsReplica(s)
}

// moveOff has another server take the mastership, so that the master can be restarted.
func (v *View) moveOff(p *Plan, master *Server) (*v1alpha1.Record, *Event) {
	to := v.bestTarget(master)
	switch {
	case v.switching():
		p.Rollout += "; waiting for the switchover"
		return nil, nil
	case to == "":
		p.Rollout += "; it is the master, and no replica can take over: none follows it and applies what it receives"
		return nil, nil
	case v.failedLately(v1alpha1.SwitchoverRollingRestart):
		p.Rollout += "; it is the master, and the switchover to another one failed: " + v.Record.Switchover.Message
		return nil, nil
	}
	r := v.begun(v1alpha1.SwitchoverStatus{ID: fmt.Sprintf("rolling-restart-%d", v.Record.Epoch), Reason: v1alpha1.SwitchoverRollingRestart,
		From: master.Name, To: to, Deadline: v.defaultDeadline()})
	return r, &Event{Reason: ReasonSwitchoverStarted, Message: fmt.Sprintf("from %s to %s: %s is to be restarted (%s)", master.Name, to, master.Name, master.Outdated)}
}

// replaceStopped gives servers whose program does not run what the spec asks for now, whatever else goes on: nobody loses
// anything by that, and a cluster that no server of starts any more is mended by a better spec.
func (v *View) replaceStopped(p *Plan) {
	for i := range v.Servers {
		if s := &v.Servers[i]; v.wanted(s) && s.Outdated != "" && s.Down && !s.Leaving && s.PodUID != "" {
			p.Commands = append(p.Commands, Command{Kind: CommandRestart, Server: s.Name, PodUID: s.PodUID})
		}
	}
}
