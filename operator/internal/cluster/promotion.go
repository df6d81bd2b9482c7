package cluster

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/engine"
)

// Reasons of events.
const (
	ReasonPromotionRefused   = "PromotionRefused"
	ReasonPromotionSucceeded = "PromotionSucceeded"
	ReasonPromotionFailed    = "PromotionFailed"
)

// The last resort. Where too few servers are left to cover the record nobody is elected, and a person may accept that something is
// lost. What is never given up: at most one epoch acknowledges. So the former master must be known not to run: a process that has
// ended comes back without its role, and gets none but in the new epoch.

// PromotionRequest is what the annotation asks for.
type PromotionRequest struct {
	ID     string `json:"id"`
	Server string `json:"server"`
	// Epoch is the one on record that the person has seen. In a later one the request means nothing.
	Epoch int64 `json:"epoch"`
	// AcceptDataLoss is needed to have anything done.
	AcceptDataLoss bool `json:"acceptDataLoss,omitempty"`
}

// PromotionOf reads the request out of a cluster's annotation; nil when there is none.
func PromotionOf(c *v1alpha1.CommitCluster) (*PromotionRequest, error) {
	return requested(c, v1alpha1.AnnotationPromote, func(r *PromotionRequest) error {
		if r.ID == "" || r.Server == "" || r.Epoch == 0 {
			return errors.New(`"id", "server" and "epoch" are needed`)
		}
		return nil
	})
}

// promotionAsked answers a request that has no answer yet, and says whether it has done so. It waits for servers that were reached a
// moment ago.
func (v *View) promotionAsked(p *Plan) bool {
	r := v.Promotion
	if r == nil || v.bootstrapping() || (v.Record.Promotion != nil && v.Record.Promotion.ID == r.ID) {
		return false
	}
	if v.anyMayAnswer() {
		return false
	}
	now := metav1.NewTime(v.Now)
	status := &v1alpha1.PromotionStatus{ID: r.ID, Server: r.Server, StartedAt: now}
	status.Seen, status.Missing = v.seenAndMissing()
	switch refused := v.refusePromotion(r); {
	case refused != "":
		status.Phase, status.Message, status.CompletedAt = v1alpha1.PromotionRefused, refused, &now
		p.Record = v.Record.DeepCopy()
		p.Event = &Event{Reason: ReasonPromotionRefused, Message: refused, Warning: true}
	case !r.AcceptDataLoss:
		status.Phase, status.Message, status.CompletedAt = v1alpha1.PromotionAssessed, v.mayBeLost(r.Server), &now
		p.Record = v.Record.DeepCopy()
	default:
		status.Phase, status.Message = v1alpha1.PromotionElecting, v.mayBeLost(r.Server)
		p.Record = v.claim(ReasonLossAccepted, status.Message)
		p.Record.Election.Candidate, p.Record.Election.AcceptDataLoss = r.Server, true
		p.Event = &Event{Reason: ReasonLossAccepted, Message: status.Message, Warning: true}
	}
	p.Record.Promotion = status
	return true
}

// refusePromotion says why the request is not carried out; empty when it may be.
func (v *View) refusePromotion(r *PromotionRequest) string {
	target := v.server(r.Server)
	reached := v.reachedMembers()
	switch {
	case r.Epoch != v.Record.Epoch:
		return fmt.Sprintf("the request is of epoch %d, and the cluster is in epoch %d since: look again, and ask again", r.Epoch, v.Record.Epoch)
	case target == nil || !v.wanted(target):
		return fmt.Sprintf("there is no server %q in this cluster", r.Server)
	case v.keptOut(target):
		return r.Server + " is fenced by hand: unfence it first"
	case !target.Reachable:
		return "the operator does not reach " + r.Server
	case !v.isMember(target):
		return r.Server + " cannot be the master: " + v.describeIdentity(target)
	case target.Status.ReceiverState == engine.ReceiverDiverged:
		return r.Server + " has diverged"
	case coversRecord(uuids(reached), &v.Record):
		return v.ordinaryWay()
	case v.Record.Quorum.MasterUUID == "":
		return "these volumes are being adopted, and were given no master yet: start the other servers"
	case !v.stopped(v.server(v.Record.Master)) && !mutated(lossBesideARunningMaster):
		return fmt.Sprintf("%s is not reached and may still be the master, with replicas that are not reached either: two masters would acknowledge. "+
			"Make sure that it does not run, then tell Kubernetes so: 'kubectl delete pod %s --force'", v.Record.Master, v.Record.Master)
	}
	if most, err := best(reached, r.Server); err == nil && most != target {
		return fmt.Sprintf("%s has all that %s has, and more of it or can apply it: promote %s instead", most.Name, r.Server, most.Name)
	}
	return ""
}

// reachedMembers could be fenced now.
func (v *View) reachedMembers() []*Server {
	var list []*Server
	for i := range v.Servers {
		if s := &v.Servers[i]; v.isMember(s) {
			list = append(list, s)
		}
	}
	return list
}

// ordinaryWay says how to have a master without losing anything.
func (v *View) ordinaryWay() string {
	master := v.server(v.Record.Master)
	switch {
	case v.servesAsMaster(master):
		return fmt.Sprintf("%s is the master, and nothing need be lost: use 'kubectl commitlab switchover'", master.Name)
	case len(v.KeptOut) > 0:
		return "enough servers are there to elect a master without losing anything: unfence those that are fenced by hand"
	case v.Policy.FailoverDisabled:
		return "enough servers are there to elect a master without losing anything: switch automatic failover on (spec.failover.disabled)"
	case v.isAwaited(master):
		return fmt.Sprintf("enough servers are there to elect a master without losing anything, and too few to acknowledge what it would write: "+
			"%s is waited for. To have another one at once use 'kubectl commitlab fence'; 'durability: preferred' lets it write alone", master.Name)
	}
	return fmt.Sprintf("enough servers are there to elect a master without losing anything, which happens by itself when they do not hear %s any more. "+
		"To have it at once use 'kubectl commitlab fence'", v.Record.Master)
}

// stopped: no process is there that has the role it was given. Whoever deletes a pod by force says that its process does not run.
func (v *View) stopped(s *Server) bool { return s == nil || s.PodUID == "" || s.Down || s.Ended }

// electWithLoss elects the server that a person has chosen though too few are fenced, once all that are reached are: should one of
// them turn out to have more, it is that one.
func (v *View) electWithLoss(p *Plan, fenced []*Server) bool {
	if !v.Record.Election.AcceptDataLoss || v.anyMayAnswer() || len(fenced) < len(v.reachedMembers()) {
		return false
	}
	able := slices.DeleteFunc(slices.Clone(fenced), v.keptOut)
	i := slices.IndexFunc(able, func(s *Server) bool { return s.Name == v.Record.Election.Candidate })
	if i < 0 {
		return false
	}
	winner := able[i]
	if most, err := best(able, winner.Name); err == nil {
		winner = most
	}
	p.Record, p.Event = v.elected(winner, fenced), v.electedEvent(winner)
	p.Record.PriorQuorums = onlyOn(winner)
	p.Record.LossAcceptedEpoch = v.Record.Epoch
	return true
}

// anyMayAnswer: what a server has that was not reached this once is not to be lost.
func (v *View) anyMayAnswer() bool {
	return slices.ContainsFunc(v.Servers, func(s Server) bool { return v.mayAnswer(&s) })
}

// onlyOn takes the place of the quorums that cannot be covered any more: what is left of what they have acknowledged is known to be
// in this server's log, and until its own quorum is established nowhere else.
func onlyOn(s *Server) []v1alpha1.QuorumStatus {
	if mutated(lossForgetsTheRest) {
		return nil
	}
	return []v1alpha1.QuorumStatus{{Epoch: s.Status.LastLogEpoch, Version: firstQuorumVersion, MasterUUID: s.Status.ServerUUID}}
}

// givenUp: whatever this server's log has, and the master's does not, is from before a loss that a person has accepted.
func (v *View) givenUp(s *Server) bool { return s.Status.LastLogEpoch < v.Record.LossAcceptedEpoch }

// endPromotion is the record when a master serves.
func (v *View) endPromotion(master *Server) (*v1alpha1.Record, *Event) {
	under := v.Record.Promotion
	if under == nil || under.Ended() {
		return nil, nil
	}
	r := v.Record.DeepCopy()
	now := metav1.NewTime(v.Now)
	r.Promotion.CompletedAt = &now
	if master.Name != under.Server {
		r.Promotion.Phase = v1alpha1.PromotionFailed
		r.Promotion.Message = fmt.Sprintf("%s is the master of epoch %d", master.Name, v.Record.Epoch)
		return r, &Event{Reason: ReasonPromotionFailed, Message: r.Promotion.Message, Warning: true}
	}
	r.Promotion.Phase = v1alpha1.PromotionSucceeded
	r.Promotion.Message = fmt.Sprintf("%s is the master of epoch %d; %s", master.Name, v.Record.Epoch, under.Message)
	return r, &Event{Reason: ReasonPromotionSucceeded, Message: r.Promotion.Message, Warning: true}
}

// seenAndMissing is what is known of everybody whose log may hold something that was acknowledged.
func (v *View) seenAndMissing() (seen []v1alpha1.SeenLog, missing []v1alpha1.MissingServer) {
	for _, m := range v.Record.Members {
		s := v.server(m.Name)
		if s != nil && v.isMember(s) {
			seen = append(seen, v1alpha1.SeenLog{Name: s.Name, LastLogEpoch: s.Status.LastLogEpoch, GTIDLogged: s.Status.GTIDLogged})
			continue
		}
		why := "has no pod"
		if s != nil {
			why = v.whatKeeps(s)
		}
		missing = append(missing, v1alpha1.MissingServer{Name: m.Name, Why: why})
	}
	return seen, missing
}

// mayBeLost says for people what a promotion gives up.
func (v *View) mayBeLost(server string) string {
	seen, missing := v.seenAndMissing()
	var ends, lacking []string
	for _, s := range seen {
		ends = append(ends, fmt.Sprintf("%s ends in epoch %d with %s", s.Name, s.LastLogEpoch, s.GTIDLogged))
	}
	for _, m := range missing {
		lacking = append(lacking, m.Name+" "+m.Why)
	}
	return fmt.Sprintf("what was acknowledged and %s does not have is lost, and nobody can say how much that is. Seen: %s. Missing: %s",
		server, strings.Join(ends, "; "), strings.Join(lacking, "; "))
}
