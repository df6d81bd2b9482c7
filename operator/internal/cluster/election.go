package cluster

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/engine"
)

// Reasons of elections.
const (
	ReasonBootstrap       = "Bootstrap"
	ReasonMasterLost      = "MasterLost"
	ReasonMasterRestarted = "MasterRestarted"
	ReasonHigherEpoch     = "HigherEpochSeen"
	ReasonAdopted         = "Adopted"
	ReasonSwitchover      = "Switchover"
	ReasonMasterCutOff    = "MasterCutOff"
	ReasonFencedByHand    = "FencedByHand"
	ReasonLossAccepted    = "DataLossAccepted"
	// ReasonChangedByHand is one of events only: no election follows from it.
	ReasonChangedByHand = "SemisyncChangedByHand"
)

// withoutTheMaster is how long the others may take to be fenced when the master was cut off from them.
const withoutTheMaster = 10 * time.Second

// claim starts an election: from here on servers only listen to the new epoch.
func (v *View) claim(reason, message string) *v1alpha1.Record {
	r := v.Record.DeepCopy()
	r.Epoch = v.highestEpoch() + 1
	if mutated(epochNotRaised) {
		r.Epoch = max(v.Record.Epoch, 1)
	}
	election := &v1alpha1.ElectionStatus{Reason: reason, Message: message, StartedAt: metav1.NewTime(v.Now)}
	if before := v.Record.Election; before != nil {
		election.Candidate, election.AcceptDataLoss = before.Candidate, before.AcceptDataLoss
	}
	r.Election = election
	return r
}

// claimBootstrap is the only step in which servers without data are promised to become this cluster.
func (v *View) claimBootstrap(p *Plan) {
	for i := range v.Servers {
		s := &v.Servers[i]
		if s.Reachable && s.Status.Role != engine.RoleUninitialized {
			p.Report(s.Name, fmt.Sprintf("the volume of %s holds data, but the status of this cluster is empty: nothing is touched. "+
				"Restore the status; or, if all volumes are this cluster's, annotate it with %s=true; or delete the volumes to start anew",
				s.Name, v1alpha1.AnnotationAdopt))
		}
	}
	if len(p.Problems) > 0 {
		return
	}
	if missing := v.unreachableWanted(); len(missing) > 0 {
		p.Waiting = fmt.Sprintf("waiting for %v to start", missing)
		return
	}
	p.Record = v.claim(ReasonBootstrap, "first start on empty volumes")
	p.Event = &Event{Reason: "Bootstrap", Message: "all servers are up with empty volumes: initialising them"}
}

// claimAdoption takes servers with data for this cluster's, because a person says so. Nobody knows any more who acknowledged
// what: so every server must be fenced before one of them is chosen, which is what a quorum of one without a master means.
func (v *View) claimAdoption(p *Plan) {
	if missing := v.unreachableWanted(); len(missing) > 0 {
		p.Waiting = fmt.Sprintf("adopting: waiting for %v to start; all servers are needed to know what was acknowledged", missing)
		return
	}
	if len(v.Unused) > 0 {
		p.Report("", fmt.Sprintf("adopting: the volumes of %v are there as well, and may hold what was acknowledged and nobody else has. "+
			"Raise spec.replicas to include them, or delete those volume claims", slices.Sorted(maps.Keys(v.Unused))))
		return
	}
	members := uuidSet{}
	var list []v1alpha1.MemberStatus
	var empty []Command
	for i := range v.Servers {
		s := &v.Servers[i]
		switch {
		case !s.Reachable:
		case s.Status.Role == engine.RoleUninitialized:
			empty = append(empty, Command{Kind: CommandInitialize, Server: s.Name})
		default:
			members[s.Status.ServerUUID] = true
			list = append(list, v1alpha1.MemberStatus{Name: s.Name, ServerUUID: s.Status.ServerUUID, PVCUID: s.PVCUID})
		}
	}
	switch {
	case len(list) == 0:
		v.claimBootstrap(p)
		return
	case len(empty) > 0:
		// They are needed as members: whoever is left must have somebody to acknowledge to it.
		p.Commands = empty
		return
	case len(members) < len(list):
		p.Report("", "two of the volumes have the same server UUID: one is a copy of the other. Nothing is adopted; remove the older one")
		return
	}
	epoch := v.highestEpoch()
	p.Record = v.claim(ReasonAdopted, "a person says that the volumes are this cluster's")
	p.Record.Members = list
	p.Record.Quorum = &v1alpha1.QuorumStatus{Epoch: epoch, Version: firstQuorumVersion, Members: members.sorted(), WaitCount: 1}
	p.Event = &Event{Reason: ReasonAdopted, Message: fmt.Sprintf("adopting the volumes of %d servers", len(list)), Warning: true}
}

func (v *View) unreachableWanted() []string {
	var names []string
	for i := range v.Servers {
		if s := &v.Servers[i]; v.wanted(s) && !s.Reachable {
			names = append(names, s.Name)
		}
	}
	return names
}

// elect drives an election: fence, until what is fenced covers everything acknowledged, then choose.
func (v *View) elect(p *Plan) {
	if v.highestEpoch() > v.Record.Epoch {
		p.Record = v.claim(v.Record.Election.Reason, "a server has promised a higher epoch")
		return
	}
	fenced := v.fencedServers()
	if awaited := v.awaited(fenced); len(awaited) > 0 {
		v.fenceRest(p)
		p.Waiting = fmt.Sprintf("epoch %d: switchover: waiting for %v to be fenced", v.Record.Epoch, awaited)
		return
	}
	if !v.enough(fenced) {
		if v.electWithLoss(p, fenced) {
			return
		}
		v.fenceRest(p)
		p.Waiting = fmt.Sprintf("epoch %d: waiting for enough servers to be fenced; fenced so far: %v", v.Record.Epoch, names(fenced))
		return
	}
	if v.Record.Quorum != nil {
		if left := v.leaseLeft(); left > 0 {
			v.fenceRest(p)
			p.Waiting, p.Left = fmt.Sprintf("epoch %d: %s is not fenced and may answer its clients until its lease is over", v.Record.Epoch, v.Record.Master), left
			return
		}
	}
	winner, err := v.candidate(fenced), error(nil)
	if winner == nil {
		winner, err = v.choose(fenced)
	}
	if err == nil {
		err = v.checkMayWin(winner)
	}
	if err != nil {
		v.fenceRest(p)
		p.Report("", err.Error())
		return
	}
	p.Record = v.elected(winner, fenced)
	if q := p.Record.Quorum; mutated(promotedBeforePersisted) {
		p.Commands = []Command{{Kind: CommandPromote, Server: winner.Name, Epoch: q.Epoch, Quorum: asTold(q)}}
	}
	p.Event = v.electedEvent(winner)
}

func (v *View) electedEvent(winner *Server) *Event {
	return &Event{Reason: "Elected", Message: fmt.Sprintf("%s is the master of epoch %d (%s; log epoch %d, %s)",
		winner.Name, v.Record.Epoch, v.Record.Election.Reason, winner.Status.LastLogEpoch, winner.Status.GTIDLogged)}
}

// checkMayWin: with failover off only the master itself gets its role again, whatever made it lose it, or whom a person named.
func (v *View) checkMayWin(winner *Server) error {
	reason := v.Record.Election.Reason
	ownRole := reason == ReasonMasterRestarted || reason == ReasonHigherEpoch || reason == ReasonFencedByHand ||
		(reason == ReasonSwitchover && winner.Name != v.Record.Election.Candidate)
	if !v.Policy.FailoverDisabled || !ownRole || v.Record.Master == "" || winner.Name == v.Record.Master {
		return nil
	}
	return fmt.Errorf("%s is not back with all that was acknowledged, and automatic failover is off (spec.failover.disabled): "+
		"nobody is promoted. Enable failover to have %s take over", v.Record.Master, winner.Name)
}

func (v *View) bootstrapping() bool { return v.Record.Quorum == nil }

// mayElect says whether the server's log counts in this election.
func (v *View) mayElect(s *Server) bool {
	if v.bootstrapping() {
		return v.wanted(s) && s.Reachable && s.Status.Role != engine.RoleUninitialized && holdsNothing(&s.Status)
	}
	return v.isMember(s)
}

// fencedServers are those whose logs count. A master that was cut off from its replicas is not elected again, unless too few
// others turn out to be there.
func (v *View) fencedServers() []*Server {
	var fenced []*Server
	without := ""
	if e := v.Record.Election; e.Reason == ReasonMasterCutOff && v.Now.Sub(e.StartedAt.Time) < withoutTheMaster {
		without = v.Record.Master
	}
	for i := range v.Servers {
		s := &v.Servers[i]
		if s.Name != without && v.mayElect(s) && (s.Status.Role == engine.RoleFenced || mutated(demotingIsFenced)) && s.Status.Epoch == v.Record.Epoch {
			fenced = append(fenced, s)
		}
	}
	return fenced
}

// enough: at bootstrap every server; later whatever covers the quorums on record.
func (v *View) enough(fenced []*Server) bool {
	if v.bootstrapping() {
		return int32(len(fenced)) == v.Policy.Replicas+1
	}
	return len(fenced) > 0 && (coversRecord(uuids(fenced), &v.Record) || mutated(electionUncovered))
}

func (v *View) fenceRest(p *Plan) {
	for i := range v.Servers {
		s := &v.Servers[i]
		switch {
		case v.bootstrapping() && v.wanted(s) && v.identityOf(s) == identityEmpty:
			p.Commands = append(p.Commands, Command{Kind: CommandInitialize, Server: s.Name})
		case v.mayElect(s) && (s.Status.Role != engine.RoleFenced || s.Status.Epoch < v.Record.Epoch):
			p.Commands = append(p.Commands, Command{Kind: CommandFence, Server: s.Name, Epoch: v.Record.Epoch})
		}
	}
}

// best finds the log that holds everything acknowledged: the last epoch decides, then what is in it. On a tie one that can be
// applied is better, then the current master stays, then the lowest ordinal wins.
func best(fenced []*Server, incumbent string) (*Server, error) {
	newest := slices.MaxFunc(fenced, func(a, b *Server) int { return cmp.Compare(a.Status.LastLogEpoch, b.Status.LastLogEpoch) })
	if mutated(electionByGTIDAlone) {
		return slices.MaxFunc(fenced, func(a, b *Server) int {
			return cmp.Compare(strings.Count(a.Status.GTIDLogged, ":"), strings.Count(b.Status.GTIDLogged, ":"))
		}), nil
	}
	winner := newest
	for _, s := range fenced {
		if s.Status.LastLogEpoch < newest.Status.LastLogEpoch {
			continue
		}
		order, err := compareLogs(s, winner)
		if err != nil {
			return nil, err
		}
		if order > 0 || (order == 0 && preferred(s, winner, incumbent)) {
			winner = s
		}
	}
	return winner, nil
}

// preferred says whether a server is better than another one that holds the same.
func preferred(s, than *Server, incumbent string) bool {
	stuck, otherStuck := s.Status.ApplierState == engine.ApplierStopped, than.Status.ApplierState == engine.ApplierStopped
	if stuck != otherStuck {
		return otherStuck
	}
	return s.Name == incumbent
}

// compareLogs orders two logs that end in the same epoch by what they hold. They are prefixes of one log, so two that do
// not contain one another mean that somebody wrote around the protocol.
func compareLogs(a, b *Server) (int, error) {
	ab, err := contains(a.Status.GTIDLogged, b.Status.GTIDLogged)
	if err != nil {
		return 0, err
	}
	ba, err := contains(b.Status.GTIDLogged, a.Status.GTIDLogged)
	if err != nil {
		return 0, err
	}
	switch {
	case ab && ba:
		return 0, nil
	case ab:
		return 1, nil
	case ba:
		return -1, nil
	}
	return 0, fmt.Errorf("the logs of %s (%s) and %s (%s) have diverged within epoch %d: neither holds everything. "+
		"Nothing is promoted; a person must choose", a.Name, a.Status.GTIDLogged, b.Name, b.Status.GTIDLogged, a.Status.LastLogEpoch)
}

func contains(outer, inner string) (bool, error) {
	if outer == inner || inner == "" {
		return true, nil
	}
	a, err := mysql.ParseMysqlGTIDSet(outer)
	if err != nil {
		return false, fmt.Errorf("GTID set %q: %w", outer, err)
	}
	b, err := mysql.ParseMysqlGTIDSet(inner)
	if err != nil {
		return false, fmt.Errorf("GTID set %q: %w", inner, err)
	}
	return a.Contain(b), nil
}

// elected is the record that makes the winner the master of the claimed epoch.
func (v *View) elected(winner *Server, fenced []*Server) *v1alpha1.Record {
	r := v.Record.DeepCopy()
	r.Election = nil
	r.Master = winner.Name
	counted := v.countedBefore()
	if v.bootstrapping() {
		r.Members = nil
		for _, s := range fenced {
			r.Members = append(r.Members, v1alpha1.MemberStatus{Name: s.Name, ServerUUID: s.Status.ServerUUID, PVCUID: s.PVCUID})
			counted[s.Status.ServerUUID] = true
		}
	} else {
		r.PriorQuorums = v.remainingQuorums(winner, uuids(fenced))
	}
	if v.Record.Election.Reason == ReasonSwitchover {
		// All of them are here; the quorum was made small for the switchover's sake alone.
		maps.Copy(counted, uuids(fenced))
	}
	delete(counted, winner.Status.ServerUUID)
	reached := uuids(fenced).count(counted.sorted())
	waitCount := min(max(reached, v.Policy.floorWaitCount()), v.Policy.fullWaitCount())
	v.fillUp(counted, waitCount, winner)
	r.Quorum = &v1alpha1.QuorumStatus{
		Epoch:      r.Epoch,
		Version:    firstQuorumVersion,
		MasterUUID: winner.Status.ServerUUID,
		Members:    counted.sorted(),
		WaitCount:  min(waitCount, int32(len(counted))),
	}
	setTerms(r.Quorum, v.Policy.terms(&winner.Status))
	return r
}

// countedBefore are the servers whose logs counted in the last quorum, its master included, as far as they still exist.
func (v *View) countedBefore() uuidSet {
	counted := uuidSet{}
	if v.Record.Quorum == nil {
		return counted
	}
	before := setOf(append(slices.Clone(v.Record.Quorum.Members), v.Record.Quorum.MasterUUID))
	for _, m := range v.Record.Members {
		if s := v.server(m.Name); before[m.ServerUUID] && s != nil && v.identityOf(s) != identityReplacedVolume && !v.keptOut(s) {
			counted[m.ServerUUID] = true
		}
	}
	return counted
}

// fillUp counts further servers where too few are left to reach the wait count: first those that have joined and not caught
// up yet, whose acknowledgements say that they have, then servers that are gone, so that writes wait rather than nobody.
func (v *View) fillUp(counted uuidSet, waitCount int32, winner *Server) {
	for _, m := range v.Record.Members {
		s := v.server(m.Name)
		if int32(len(counted)) < waitCount && m.Name != winner.Name && s != nil && v.wanted(s) && !v.keptOut(s) && v.identityOf(s) != identityReplacedVolume {
			counted[m.ServerUUID] = true
		}
	}
	if v.bootstrapping() {
		return
	}
	for _, uuid := range append(slices.Clone(v.Record.Quorum.Members), v.Record.Quorum.MasterUUID) {
		if int32(len(counted)) < waitCount && uuid != winner.Status.ServerUUID && uuid != "" {
			counted[uuid] = true
		}
	}
}

// remainingQuorums are those that still count until the new one is established. One that is covered and newer than the
// winner's log has acknowledged nothing and never will.
func (v *View) remainingQuorums(winner *Server, fenced uuidSet) []v1alpha1.QuorumStatus {
	var remaining []v1alpha1.QuorumStatus
	for _, q := range append(slices.Clone(v.Record.PriorQuorums), *v.Record.Quorum) {
		if covers(fenced, &q) && q.Epoch > winner.Status.LastLogEpoch {
			continue
		}
		remaining = withPrior(remaining, q)
	}
	return remaining
}

func uuids(servers []*Server) uuidSet {
	u := uuidSet{}
	for _, s := range servers {
		u[s.Status.ServerUUID] = true
	}
	return u
}

func names(servers []*Server) []string {
	list := []string{}
	for _, s := range servers {
		list = append(list, s.Name)
	}
	return list
}
