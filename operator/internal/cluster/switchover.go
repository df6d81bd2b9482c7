package cluster

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/engine"
)

// Reasons of events.
const (
	ReasonSwitchoverStarted   = "SwitchoverStarted"
	ReasonSwitchoverSucceeded = "SwitchoverSucceeded"
	ReasonSwitchoverFailed    = "SwitchoverFailed"
	ReasonSwitchoverCancelled = "SwitchoverCancelled"
)

const (
	defaultSwitchoverDeadline = 30 * time.Second
	// ownSwitchoverRetry is how long a switchover that nobody asked for is left alone when it came to nothing.
	ownSwitchoverRetry = time.Minute
	// switchoversRemembered bounds the list of identifiers in the status.
	switchoversRemembered = 16
	// handoverPatience is how long a switchover waits for the handover: it is a courtesy to clients, and nothing depends on it.
	handoverPatience = 2 * time.Second
	// fewUnapplied transactions are applied at once: a new master takes writes only when nothing is left to apply.
	fewUnapplied = 1000
)

// SwitchoverRequest is what the annotation asks for.
type SwitchoverRequest struct {
	ID string `json:"id"`
	To string `json:"to,omitempty"`
	// Deadline is a duration from when the operator sees the request, or a time.
	Deadline string `json:"deadline,omitempty"`
}

// SwitchoverOf reads the request out of a cluster's annotation; nil when there is none.
func SwitchoverOf(c *v1alpha1.CommitCluster) (*SwitchoverRequest, error) {
	return requested(c, v1alpha1.AnnotationSwitchover, func(r *SwitchoverRequest) error {
		if r.ID == "" {
			return errors.New(`"id" is missing: it makes sure that the request is carried out once`)
		}
		_, err := r.deadline(time.Time{})
		return err
	})
}

func (r *SwitchoverRequest) deadline(now time.Time) (time.Time, error) {
	if r.Deadline == "" {
		return now.Add(defaultSwitchoverDeadline), nil
	}
	if d, err := time.ParseDuration(r.Deadline); err == nil && d > 0 {
		return now.Add(d), nil
	}
	at, err := time.Parse(time.RFC3339, r.Deadline)
	if err != nil {
		return at, fmt.Errorf(`"deadline" is %q: write a duration such as "30s", or a time such as "2026-01-31T10:00:00Z"`, r.Deadline)
	}
	return at, nil
}

// switchover is the next step of a planned move of the mastership, if there is one. First the target becomes one of those
// that must acknowledge every transaction (switchoverQuorum); once the record says that alone it holds everything
// acknowledged, the master hands over, and an epoch is claimed in which the target is the candidate.
func (v *View) switchover(p *Plan, master *Server) (*v1alpha1.Record, *Event) {
	s := v.Record.Switchover
	if s == nil || s.Ended() {
		return v.startSwitchover(p, master)
	}
	switch {
	case master.Name == s.To && master.Status.WritesBlocked:
		p.Waiting = fmt.Sprintf("switchover: %s waits for replicas that acknowledge", s.To)
		return nil, nil
	case master.Name == s.To:
		return v.ended(&v.Record, v1alpha1.SwitchoverSucceeded, fmt.Sprintf("%s is the master of epoch %d", s.To, v.Record.Epoch))
	case s.Phase == v1alpha1.SwitchoverMoving || master.Name != s.From:
		return v.ended(&v.Record, v1alpha1.SwitchoverFailed,
			fmt.Sprintf("%s could not be elected: %s is the master of epoch %d", s.To, master.Name, v.Record.Epoch))
	case s.Reason == v1alpha1.SwitchoverRequested && (v.Request == nil || v.Request.ID != s.ID):
		return v.ended(&v.Record, v1alpha1.SwitchoverCancelled, "the request was withdrawn: "+s.From+" stays the master")
	case s.Reason == v1alpha1.SwitchoverRollingRestart && master.Outdated == "":
		return v.ended(&v.Record, v1alpha1.SwitchoverCancelled, s.From+" needs no restart any more: it stays the master")
	case s.Reason == v1alpha1.SwitchoverScaleDown && v.wanted(master):
		return v.ended(&v.Record, v1alpha1.SwitchoverCancelled, "spec.replicas asks for "+s.From+" again: it stays the master")
	}
	obstacle := v.obstacle(s.To)
	if v.Now.After(s.Deadline.Time) {
		return v.ended(&v.Record, v1alpha1.SwitchoverFailed, "the deadline has passed: "+cmp.Or(obstacle, "the operator was late"))
	}
	if obstacle != "" {
		p.Waiting = "switchover: " + obstacle
		return nil, nil
	}
	if !v.handoverEnded(master) {
		p.Waiting = "switchover: " + s.From + " finishes what it has begun"
		return v.handingOver(), nil
	}
	message := fmt.Sprintf("from %s to %s", s.From, s.To)
	r := v.claim(ReasonSwitchover, message)
	r.Election.Candidate = s.To
	r.Switchover.Phase = v1alpha1.SwitchoverMoving
	return r, &Event{Reason: ReasonSwitchover, Message: message}
}

// handingOver is the record by which HANDOVER is sent; nil when it is that already.
func (v *View) handingOver() *v1alpha1.Record {
	if v.Record.Switchover.Phase == v1alpha1.SwitchoverHandingOver {
		return nil
	}
	r := v.Record.DeepCopy()
	now := metav1.NewTime(v.Now)
	r.Switchover.Phase, r.Switchover.HandoverAt = v1alpha1.SwitchoverHandingOver, &now
	return r
}

// handoverEnded: no client waits for an answer of the master's any more, or it has been waited for long enough.
func (v *View) handoverEnded(master *Server) bool {
	s := v.Record.Switchover
	return !master.Status.CanHandOver || master.Status.HandedOver ||
		(s.Phase == v1alpha1.SwitchoverHandingOver && v.Now.Sub(s.HandoverAt.Time) > handoverPatience)
}

// handOver has the master finish what it has begun. A master that has done so and is not to be demoted takes writes again: the
// switchover was given up, or a paused operator sent HANDOVER late. While the target cannot take over, writes go on as well.
func (v *View) handOver(p *Plan, master *Server) {
	s := v.Record.Switchover
	hands := v.switching() && s.Phase == v1alpha1.SwitchoverHandingOver && s.From == master.Name && v.obstacle(s.To) == ""
	switch {
	case hands && !v.handoverEnded(master):
		p.Commands = append(p.Commands, Command{Kind: CommandHandover, Server: master.Name, Epoch: v.Record.Epoch})
	case !hands && master.Status.HandedOver && inForce(v.Record.Quorum, &master.Status) && !mutated(handoverKept):
		p.Commands = append(p.Commands, v.promote(master))
	}
}

func (v *View) ended(record *v1alpha1.Record, phase, message string) (*v1alpha1.Record, *Event) {
	r := record.DeepCopy()
	now := metav1.NewTime(v.Now)
	r.Switchover.Phase, r.Switchover.Message, r.Switchover.CompletedAt = phase, message, &now
	switch phase {
	case v1alpha1.SwitchoverSucceeded:
		return r, &Event{Reason: ReasonSwitchoverSucceeded, Message: message}
	case v1alpha1.SwitchoverCancelled:
		return r, &Event{Reason: ReasonSwitchoverCancelled, Message: message}
	}
	return r, &Event{Reason: ReasonSwitchoverFailed, Message: message, Warning: true}
}

func (v *View) startSwitchover(p *Plan, master *Server) (*v1alpha1.Record, *Event) {
	if v.RequestProblem != nil {
		p.Report("", fmt.Sprintf(`the switchover that the annotation %s asks for cannot be read: %s. `+
			`Write {"id":"…","to":"NAME-1"}, or use 'kubectl commitlab switchover'`, v1alpha1.AnnotationSwitchover, v.RequestProblem))
	}
	if v.Request != nil && !slices.Contains(v.Record.SwitchoversSeen, v.Request.ID) {
		return v.startRequested(master)
	}
	switch {
	case !v.wanted(master):
		return v.startScaleDown(p, master)
	case master.Leaving:
		return v.startHandover(master)
	}
	return nil, nil
}

// startHandover moves the mastership off a pod that is being deleted, while its server still serves (its preStop hook waits).
// What comes to nothing here is a lost master a moment later.
func (v *View) startHandover(master *Server) (*v1alpha1.Record, *Event) {
	to := v.bestTarget(master)
	if to == "" || v.failedLately(v1alpha1.SwitchoverPodLeaves) {
		return nil, nil
	}
	r := v.begun(v1alpha1.SwitchoverStatus{ID: fmt.Sprintf("pod-leaves-%d", v.Record.Epoch), Reason: v1alpha1.SwitchoverPodLeaves,
		From: master.Name, To: to, Deadline: v.defaultDeadline()})
	return r, &Event{Reason: ReasonSwitchoverStarted, Message: fmt.Sprintf("from %s to %s: the pod of %s is being deleted", master.Name, to, master.Name)}
}

func (v *View) startRequested(master *Server) (*v1alpha1.Record, *Event) {
	deadline, _ := v.Request.deadline(v.Now) // was read before
	to := cmp.Or(v.Request.To, v.bestTarget(master))
	r := v.begun(v1alpha1.SwitchoverStatus{ID: v.Request.ID, Reason: v1alpha1.SwitchoverRequested, From: master.Name, To: to, Deadline: metav1.NewTime(deadline)})
	r.SwitchoversSeen = append(r.SwitchoversSeen, v.Request.ID)
	r.SwitchoversSeen = r.SwitchoversSeen[max(0, len(r.SwitchoversSeen)-switchoversRemembered):]
	target := v.server(to)
	switch {
	case to == "":
		return v.ended(r, v1alpha1.SwitchoverFailed, "no replica can take over: see the conditions")
	case to != master.Name && (target == nil || !v.wanted(target)):
		return v.ended(r, v1alpha1.SwitchoverFailed, fmt.Sprintf("there is no server %q in this cluster", to))
	case v.keptOut(target):
		return v.ended(r, v1alpha1.SwitchoverFailed, to+" is fenced by hand: unfence it first")
	}
	return r, &Event{Reason: ReasonSwitchoverStarted, Message: fmt.Sprintf("from %s to %s", master.Name, to)}
}

// startScaleDown moves the mastership off a pod that spec.replicas no longer asks for; the pod goes when it is counted nowhere.
func (v *View) startScaleDown(p *Plan, master *Server) (*v1alpha1.Record, *Event) {
	to := v.bestTarget(master)
	if to == "" || v.failedLately(v1alpha1.SwitchoverScaleDown) {
		p.Report(master.Name, "spec.replicas no longer asks for this pod, but it is the master, and no replica can take over yet: it stays. "+
			"Raise spec.replicas to include it, or look at the replicas")
		return nil, nil
	}
	r := v.begun(v1alpha1.SwitchoverStatus{ID: fmt.Sprintf("scale-down-%d", v.Record.Epoch), Reason: v1alpha1.SwitchoverScaleDown,
		From: master.Name, To: to, Deadline: v.defaultDeadline()})
	return r, &Event{Reason: ReasonSwitchoverStarted, Message: fmt.Sprintf("from %s to %s: spec.replicas no longer asks for %s", master.Name, to, master.Name)}
}

// failedLately: the last switchover of the operator's own for this reason came to nothing a moment ago.
func (v *View) failedLately(reason string) bool {
	last := v.Record.Switchover
	return last != nil && last.Reason == reason && last.Phase == v1alpha1.SwitchoverFailed && v.Now.Sub(last.CompletedAt.Time) < ownSwitchoverRetry
}

func (v *View) defaultDeadline() metav1.Time {
	return metav1.NewTime(v.Now.Add(defaultSwitchoverDeadline))
}

func (v *View) begun(s v1alpha1.SwitchoverStatus) *v1alpha1.Record {
	r := v.Record.DeepCopy()
	s.Phase, s.StartedAt = v1alpha1.SwitchoverCatchingUp, metav1.NewTime(v.Now)
	r.Switchover = &s
	return r
}

// bestTarget is a replica that could take over: rather one that is counted, then one that has less to apply.
func (v *View) bestTarget(master *Server) string {
	counted := setOf(v.Record.Quorum.Members)
	var able []*Server
	for i := range v.Servers {
		if s := &v.Servers[i]; s.Name != master.Name && v.wanted(s) && v.servesAsReplica(s) && !s.Leaving && !v.keptOut(s) {
			able = append(able, s)
		}
	}
	if len(able) == 0 {
		return ""
	}
	rank := func(s *Server) int {
		if counted[s.Status.ServerUUID] {
			return 0
		}
		return 1
	}
	return slices.MinFunc(able, func(a, b *Server) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)),
			cmp.Compare(a.Status.UnappliedTransactions, b.Status.UnappliedTransactions), cmp.Compare(a.Ordinal, b.Ordinal))
	}).Name
}

// obstacle says why the mastership cannot move to this server yet; "" when it can.
func (v *View) obstacle(to string) string {
	target := v.server(to)
	switch {
	case target == nil || !v.wanted(target):
		return to + " is no server of this cluster any more"
	case v.keptOut(target):
		return to + " is fenced by hand"
	case !target.Reachable:
		return "the operator does not reach " + to
	case !v.servesAsReplica(target):
		return to + " does not follow the master, or cannot apply what it receives"
	case target.Status.UnappliedTransactions > fewUnapplied:
		return fmt.Sprintf("%s has %d transactions to apply", to, target.Status.UnappliedTransactions)
	case !coversRecord(uuidSet{target.Status.ServerUUID: true}, &v.Record) && !mutated(demotedBeforeCaughtUp):
		return "not all that was acknowledged is known to be on " + to + " yet"
	}
	return ""
}

// switchoverQuorum has the target, and no more members than must acknowledge, hold every transaction: then the target alone
// covers the record. As many servers hold what is acknowledged as before, and no fewer than one besides the master.
func (v *View) switchoverQuorum(master *Server) (v1alpha1.QuorumStatus, bool) {
	s := v.Record.Switchover
	if s == nil || s.Ended() || s.From != master.Name || v.Now.After(s.Deadline.Time) {
		return v1alpha1.QuorumStatus{}, false
	}
	target := v.server(s.To)
	able := v.acknowledging(master)
	if target == nil || !able[target.Status.ServerUUID] {
		return v1alpha1.QuorumStatus{}, false
	}
	desired := *v.Record.Quorum
	desired.WaitCount = max(desired.WaitCount, 1)
	members := uuidSet{target.Status.ServerUUID: true}
	for _, candidates := range [][]string{desired.Members, able.sorted()} {
		for _, uuid := range candidates {
			if int32(len(members)) < desired.WaitCount && able[uuid] {
				members[uuid] = true
			}
		}
	}
	desired.Members = members.sorted()
	if desired.OnTimeout == engine.OnTimeoutAsync {
		// What the master acknowledges by itself, the target does not hold.
		setTerms(&desired, engine.Terms{LeaseMilliseconds: desired.SourceLeaseMilliseconds})
	}
	return desired, int32(len(members)) == desired.WaitCount
}

// acknowledging are the replicas that acknowledge, or would if they were counted, and that lag by no more than what is under
// way: a commit that waits for one of them waits no longer than for another.
func (v *View) acknowledging(master *Server) uuidSet {
	able := uuidSet{}
	current, acked, clients := setOf(v.Record.Quorum.Members), setOf(master.Status.AckedMembers), setOf(master.Status.SemisyncClients)
	for i := range v.Servers {
		s := &v.Servers[i]
		uuid := s.Status.ServerUUID
		if s.Name == master.Name || !v.wanted(s) || !v.servesAsReplica(s) || s.Status.ReceiverState != engine.ReceiverReceiving {
			continue
		}
		upToDate := acked[uuid] || s.CaughtUp
		if upToDate && (clients[uuid] || !current[uuid]) {
			able[uuid] = true
		}
	}
	return able
}

// isTarget: a switchover to this server is under way.
func (v *View) isTarget(s *Server) bool {
	under := v.Record.Switchover
	return under != nil && !under.Ended() && under.To == s.Name
}

// candidate of a switchover, if it has been fenced and alone holds everything that was acknowledged.
func (v *View) candidate(fenced []*Server) *Server {
	for _, s := range fenced {
		if s.Name == v.Record.Election.Candidate && !v.keptOut(s) && s.Status.ApplierState != engine.ApplierStopped &&
			coversRecord(uuidSet{s.Status.ServerUUID: true}, &v.Record) {
			return s
		}
	}
	return nil
}

// awaited are the servers that an election by switchover waits for, though others would be enough: the candidate, and the
// former master, whose clients are to leave it first. One that cannot be reached is not waited for, but for a candidate that was
// reached a moment ago; and nobody for ever.
func (v *View) awaited(fenced []*Server) []string {
	s := v.Record.Switchover
	if v.Record.Election.Candidate == "" || s == nil || s.Ended() || v.Now.After(s.Deadline.Time) {
		return nil
	}
	var list []string
	for _, name := range []string{s.From, s.To} {
		server := v.server(name)
		if server != nil && (v.mayElect(server) || (name == s.To && v.mayAnswer(server))) && !slices.Contains(fenced, server) {
			list = append(list, name)
		}
	}
	return list
}

// mayAnswer: one look that does not reach a server says little.
func (v *View) mayAnswer(s *Server) bool {
	return !s.Reachable && !s.Denied && !s.Down && s.Address != "" && s.UnreachableFor < v.Policy.UnreachableAfter
}
