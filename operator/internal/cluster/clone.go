package cluster

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/engine"
)

// Reasons of events.
const (
	ReasonCloning = "Cloning"
	ReasonCloned  = "Cloned"
)

// A server without data, and one that can follow no more, gets another server's. First it is put on record, and from then on it is
// no member, whatever it says: so a CLONE that a paused operator sends late can never replace data that anybody counts on. When it
// shows another UUID it holds the copy, every connection from before has ended with its former self, and it joins as a new server.

// clone is the next step on record; nil when there is none.
func (v *View) clone(p *Plan, master *Server) (*v1alpha1.Record, *Event) {
	for i := range v.Record.Clones {
		entry := &v.Record.Clones[i]
		switch s := v.server(entry.Name); {
		case s == nil || s.PVCUID == "":
		case s.PVCUID != entry.PVCUID:
			r := v.Record.DeepCopy()
			r.Clones = slices.Delete(r.Clones, i, i+1)
			return r, &Event{Reason: ReasonCloning, Warning: true, Message: s.Name + " has another volume: the clone into the former one is given up"}
		case v.isCloned(s, entry):
			return v.admitCloned(i, s)
		}
	}
	for i := range v.Servers {
		s := &v.Servers[i]
		reason := v.cloneReason(s, master)
		if reason == "" {
			continue
		}
		if hold := v.stillNeeded(s, master); hold != "" {
			p.Report(s.Name, "its data are to be replaced by a copy ("+reason+"): "+hold)
			continue
		}
		return v.cloning(s, reason)
	}
	return nil, nil
}

// cloneReason says why the server needs another one's data; empty when it does not.
func (v *View) cloneReason(s, master *Server) string {
	switch id := v.identityOf(s); {
	case !v.wanted(s) || s.Name == master.Name || v.keptOut(s):
	case id == identityEmpty:
		return v1alpha1.CloneEmpty
	case id == identityFresh && s.Status.Epoch <= v.Record.Epoch:
		// One that has promised a higher epoch would demote the master as soon as it were a member.
		return v1alpha1.CloneEmpty
	case id == identityMember && v.follows(s) && s.Status.LogPurged():
		return v1alpha1.CloneLogPurged
	case id == identityMember && s.Status.ReceiverState == engine.ReceiverDiverged &&
		v.Policy.Divergence == v1alpha1.DivergenceReclone && (v.givenUp(s) || onlyItsOwn(&s.Status, &master.Status)):
		return v1alpha1.CloneDiverged
	}
	return ""
}

// leavesTheQuorum: what the server holds will be replaced, so nobody may count on it.
func (v *View) leavesTheQuorum(s, master *Server) bool {
	return v.keptOut(s) || (v.isMember(s) && v.cloneReason(s, master) != "")
}

// stillNeeded says why what a member holds cannot be given up yet: the quorum must have been moved off it first, and hold everything
// that was ever acknowledged, under whatever quorum. Nobody counts on one that has diverged by a loss that a person has accepted.
func (v *View) stillNeeded(s, master *Server) string {
	q := v.Record.Quorum
	switch {
	case !v.isMember(s) || (s.Status.ReceiverState == engine.ReceiverDiverged && v.givenUp(s)):
		return ""
	case slices.Contains(q.Members, s.Status.ServerUUID):
		return "it is still counted, and without it too few servers are left to acknowledge"
	case len(v.Record.PriorQuorums) > 0 || !established(q, &master.Status):
		return "waiting until others hold everything that was acknowledged"
	}
	return ""
}

// onlyItsOwn: everything that the server has and the master does not was written there and nowhere else. What it has received from
// another server, and shows, was acknowledged by that one: then it is the master that has lost something.
func onlyItsOwn(s, master *engine.Status) bool {
	has, err := mysql.ParseMysqlGTIDSet(s.GTIDLogged)
	if err != nil {
		return false
	}
	others, err := mysql.ParseMysqlGTIDSet(master.GTIDLogged)
	if err != nil {
		return false
	}
	surplus := has.(*mysql.MysqlGTIDSet)
	if err := surplus.Minus(*others.(*mysql.MysqlGTIDSet)); err != nil {
		return false
	}
	for uuid := range surplus.Sets {
		if uuid != s.ServerUUID {
			return false
		}
	}
	return true
}

func (v *View) cloning(s *Server, reason string) (*v1alpha1.Record, *Event) {
	r := v.Record.DeepCopy()
	if v.isMember(s) {
		r.Members = slices.DeleteFunc(r.Members, func(m v1alpha1.MemberStatus) bool { return m.ServerUUID == s.Status.ServerUUID })
	}
	r.Clones = append(r.Clones, v1alpha1.CloneStatus{Name: s.Name, PVCUID: s.PVCUID, FormerUUID: s.Status.ServerUUID, Reason: reason,
		StartedAt: metav1.NewTime(v.Now)})
	message := map[string]string{
		v1alpha1.CloneEmpty:     "its volume has no data",
		v1alpha1.CloneLogPurged: "the master's log does not go back to where it stands",
		v1alpha1.CloneDiverged:  "it has diverged; what only it has is given up: " + s.Status.GTIDLogged,
	}[reason]
	return r, &Event{Reason: ReasonCloning, Warning: reason != v1alpha1.CloneEmpty, Message: s.Name + " gets the data of another server: " + message}
}

// cloneOf is the entry of a server that is being cloned.
func (v *View) cloneOf(s *Server) *v1alpha1.CloneStatus {
	for i := range v.Record.Clones {
		if e := &v.Record.Clones[i]; e.Name == s.Name && e.PVCUID == s.PVCUID {
			return e
		}
	}
	return nil
}

// isCloned: the server is another one than before, and holds something.
func (v *View) isCloned(s *Server, entry *v1alpha1.CloneStatus) bool {
	return v.identityOf(s) == identityCloning && s.Status.ServerUUID != entry.FormerUUID && !holdsNothing(&s.Status)
}

// admitCloned puts the server on record, so that it may follow. It is not counted before it has caught up.
func (v *View) admitCloned(entry int, s *Server) (*v1alpha1.Record, *Event) {
	r := v.Record.DeepCopy()
	r.Clones = slices.Delete(r.Clones, entry, entry+1)
	member := v1alpha1.MemberStatus{Name: s.Name, ServerUUID: s.Status.ServerUUID, PVCUID: s.PVCUID}
	i := slices.IndexFunc(r.Members, func(m v1alpha1.MemberStatus) bool { return m.Name == s.Name })
	if i < 0 {
		r.Members = append(r.Members, member)
		return r, &Event{Reason: ReasonCloned, Message: s.Name + " has the data of another server, and joins as a new one"}
	}
	if j := slices.Index(r.Quorum.Members, r.Members[i].ServerUUID); j >= 0 && mutated(emptiedIsCounted) {
		r.Quorum.Members[j] = member.ServerUUID
	}
	r.Members[i] = member
	return r, &Event{Reason: "MemberReplaced", Warning: true,
		Message: s.Name + " had come up with an empty volume: it has the data of another server, and joins as a new one"}
}

// cloneCommand has the server fetch the data of a replica that holds everything, or else of the master: always of the master when its
// log no longer goes back far enough, for a replica may show less than where that log begins.
func (v *View) cloneCommand(s, master *Server) Command {
	donor := master
	acked := setOf(master.Status.AckedMembers)
	for i := range v.Servers {
		o := &v.Servers[i]
		holdsAll := acked[o.Status.ServerUUID] || mutated(emptiedIsCounted)
		if o.Name != s.Name && v.servesAsReplica(o) && holdsAll && !o.Leaving && v.cloneOf(s).Reason != v1alpha1.CloneLogPurged {
			donor = o
		}
	}
	return Command{Kind: CommandClone, Server: s.Name, PodUID: s.PodUID, UUID: s.Status.ServerUUID,
		Source: sourceFor(s, donor)}
}

// describeClones says for people what is being cloned. A server that is too many may be gone on with some time.
func (v *View) describeClones() string {
	var list []string
	for _, e := range v.Record.Clones {
		if v.server(e.Name) != nil {
			list = append(list, fmt.Sprintf("%s (%s) %s", e.Name, e.Reason, e.Progress))
		}
	}
	return strings.Join(list, ", ")
}
