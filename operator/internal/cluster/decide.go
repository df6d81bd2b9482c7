package cluster

import (
	"fmt"
	"time"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/engine"
)

// Decide says what to do next.
func Decide(v View) Plan {
	if v.Policy.Hibernated && !mutated(hibernatedIsFailedOver) {
		return v.hibernate()
	}
	p := Plan{Roles: v.roles()}
	v.describeDenied(&p)
	v.describeAnnotations(&p)
	v.replaceStopped(&p)
	switch {
	case v.Record.Epoch == 0 && v.Policy.Adopt:
		v.claimAdoption(&p)
	case v.Record.Epoch == 0:
		v.claimBootstrap(&p)
	case v.promotionAsked(&p):
	case v.Record.Election != nil:
		v.elect(&p)
	default:
		v.steady(&p)
	}
	return p
}

func (v *View) describeDenied(p *Plan) {
	for i := range v.Servers {
		if s := &v.Servers[i]; s.Denied {
			p.Report(s.Name, "it refuses the operator's password: Secret "+s.Credentials+", with which it was started, is gone, or was changed after that. "+
				"Put the former operator-password back, or delete the pod to have it start with the new one")
		}
	}
}

// steady: an epoch has its master on record. Give it its role, and everybody else theirs.
func (v *View) steady(p *Plan) {
	if v.highestEpoch() > v.Record.Epoch {
		p.Record = v.claim(ReasonHigherEpoch, "a server has promised a higher epoch than the one on record")
		p.Event = &Event{Reason: ReasonHigherEpoch, Message: p.Record.Election.Message, Warning: true}
		return
	}
	master := v.server(v.Record.Master)
	if name := v.toBeFenced(master); name != "" {
		message := name + " was fenced by hand: it takes part no more"
		p.Record = v.claim(ReasonFencedByHand, message)
		p.Event = &Event{Reason: ReasonFencedByHand, Message: message, Warning: true}
		return
	}
	switch {
	case master == nil || !v.isMember(master):
		v.detectLoss(p, master)
	case v.servesAsMaster(master) && v.isCutOff(p, master):
		message := master.Name + " is reached by the operator, and by too few replicas to have anything acknowledged"
		p.Record = v.claim(ReasonMasterCutOff, message)
		p.Event = &Event{Reason: ReasonMasterCutOff, Message: message, Warning: true}
	case v.servesAsMaster(master):
		v.runCluster(p, master)
	case master.Status.Role == engine.RoleFenced && master.Status.Epoch == v.Record.Epoch:
		p.Commands = append(p.Commands, v.promote(master))
	default:
		message := fmt.Sprintf("%s is %s with epoch %d: it was restarted", master.Name, master.Status.Role, master.Status.Epoch)
		p.Record = v.claim(ReasonMasterRestarted, message)
		p.Event = &Event{Reason: ReasonMasterRestarted, Message: message, Warning: true}
	}
}

func (v *View) promote(master *Server) Command {
	return Command{Kind: CommandPromote, Server: master.Name, Epoch: v.Record.Epoch, Quorum: asTold(v.Record.Quorum)}
}

// runCluster: the master serves. Bring the others to it and keep the quorum right.
func (v *View) runCluster(p *Plan, master *Server) {
	if record, event := v.endPromotion(master); record != nil {
		p.Record, p.Event = record, event
		return
	}
	if record, event := v.switchover(p, master); record != nil {
		p.Record, p.Event = record, event
		return
	}
	if record, event := v.quorumRecord(master); record != nil {
		p.Record, p.Event = record, event
		if mutated(engineBeforeRecord) && record.Quorum.WaitCount < v.Record.Quorum.WaitCount && record.Election == nil {
			p.Record, p.Commands = nil, []Command{quorumCommand(master, record.Quorum)}
		}
		return
	}
	if record, event := v.clone(p, master); record != nil {
		p.Record, p.Event = record, event
		return
	}
	if record, event := v.rollout(p, master); record != nil {
		p.Record, p.Event = record, event
		return
	}
	if record, event := v.release(master); record != nil {
		p.Record, p.Event = record, event
		return
	}
	if q := v.Record.Quorum; !inForce(q, &master.Status) {
		p.Commands = append(p.Commands, quorumCommand(master, q))
	}
	v.handOver(p, master)
	for i := range v.Servers {
		if s := &v.Servers[i]; s.Name != master.Name {
			v.bringIn(p, s, master)
		}
	}
}

func quorumCommand(master *Server, q *v1alpha1.QuorumStatus) Command {
	return Command{Kind: CommandQuorum, Server: master.Name, Epoch: q.Epoch, Version: q.Version, Quorum: asTold(q)}
}

// bringIn gives a server that is not the master its place.
func (v *View) bringIn(p *Plan, s, master *Server) {
	switch id := v.identityOf(s); {
	case v.keptOut(s):
		v.keepFenced(p, s)
	case id == identityCloning && v.wanted(s):
		p.Commands = append(p.Commands, v.cloneCommand(s, master))
	case id == identityForeign || id == identityReplacedVolume:
		p.Report(s.Name, v.describeIdentity(s))
	case id == identityFresh && s.Status.Epoch > v.Record.Epoch:
		p.Report(s.Name, "its empty volume has promised an epoch of another cluster: "+v.builtAnew(s))
	case id != identityMember:
	case v.cloneReason(s, master) != "": // what it waits for has been said
	case s.Status.ReceiverState == engine.ReceiverDiverged:
		p.Report(s.Name, "its log has transactions that the master does not have and that were visible already"+v.whyDiverged(s)+
			": it is kept as it is, and acknowledges nothing. Save what you need of it; then "+v.builtAnew(s))
	case v.follows(s) && s.Status.ApplierState == engine.ApplierStopped:
		p.Report(s.Name, "it receives and acknowledges, but cannot apply a transaction: "+s.Status.ApplierError)
	case !v.follows(s):
		p.Commands = append(p.Commands, Command{Kind: CommandFollow, Server: s.Name, Epoch: v.Record.Epoch,
			Source: sourceFor(s, master)})
	}
}

// quorumRecord moves the quorum on record: first the new one is added beside those that may be in force, then the master is
// told, and only when the new one holds everything are the prior ones dropped.
func (v *View) quorumRecord(master *Server) (*v1alpha1.Record, *Event) {
	q := v.Record.Quorum
	if len(v.Record.PriorQuorums) > 0 && established(q, &master.Status) {
		r := v.Record.DeepCopy()
		r.PriorQuorums = nil
		return r, &Event{Reason: "QuorumEstablished", Message: fmt.Sprintf("epoch %d: %d of %d replicas acknowledge every transaction",
			q.Epoch, q.WaitCount, len(q.Members))}
	}
	desired := desiredQuorum(v, master)
	if found := foreign(q, &master.Status); found != nil {
		return v.repairQuorum(found, desired)
	}
	if sameRule(q, &desired) {
		return nil, nil
	}
	r := v.Record.DeepCopy()
	desired.Version = max(q.Version, master.Status.QuorumVersion) + 1
	noteLeaseBefore(&desired, q)
	r.PriorQuorums = withPrior(r.PriorQuorums, *q)
	r.Quorum = &desired
	return r, &Event{Reason: "QuorumChanging", Message: fmt.Sprintf("epoch %d: from %s to %s", q.Epoch, describeQuorum(q), describeQuorum(&desired))}
}

// repairQuorum puts what somebody has changed on the master by hand right again. What was acknowledged by it counts like what
// was acknowledged by any other quorum.
func (v *View) repairQuorum(found *v1alpha1.QuorumStatus, desired v1alpha1.QuorumStatus) (*v1alpha1.Record, *Event) {
	r := v.Record.DeepCopy()
	desired.Version = found.Version + 1
	noteLeaseBefore(&desired, v.Record.Quorum, found)
	r.PriorQuorums = withPrior(withPrior(r.PriorQuorums, *v.Record.Quorum), *found)
	r.Quorum = &desired
	return r, &Event{Reason: ReasonChangedByHand, Warning: true, Message: fmt.Sprintf(
		"the master waited for %s (version %d), which nobody had asked the operator for: it waits for %s again",
		describeQuorum(found), found.Version, describeQuorum(&desired))}
}

// describeQuorum says how many acknowledge, and what happens when they do not.
func describeQuorum(q *v1alpha1.QuorumStatus) string {
	text := fmt.Sprintf("%d of %d replicas", q.WaitCount, len(q.Members))
	if terms := describeTerms(q); terms != "" {
		text += ", " + terms
	}
	return text
}

func describeTerms(q *v1alpha1.QuorumStatus) string {
	if q.OnTimeout == "" {
		return ""
	}
	return fmt.Sprintf("%s after %s", q.OnTimeout, time.Duration(q.TimeoutMilliseconds)*time.Millisecond)
}

func (v *View) describeIdentity(s *Server) string {
	switch v.identityOf(s) {
	case identityEmpty:
		return "its volume has been emptied: what it held is lost"
	case identityReplacedVolume:
		return "it has the server UUID of a member but another volume, perhaps an older copy: it is not used; " + v.builtAnew(s)
	case identityForeign:
		return "its volume holds data that did not come from this cluster: it is not used; " + v.builtAnew(s)
	}
	return "its identity is not the one on record"
}

// builtAnew is the command that has a server built anew. One for both objects: the claim does not go before its pod, nor the pod's
// successor start on it.
func (v *View) builtAnew(s *Server) string {
	return fmt.Sprintf("'kubectl delete -n %s pvc/%s pod/%s' has it built anew, from the data of the others", v.Namespace, s.Claim, s.Name)
}

// AfterDivergence says for people what becomes of a server that cannot follow.
func (v *View) AfterDivergence(server string) string {
	s := v.server(server)
	if s == nil || v.Policy.Divergence == v1alpha1.DivergenceReclone {
		return "it is cloned anew, or a problem of its says why not (spec.divergencePolicy)"
	}
	return "it is kept as it is. Save what you need of it; then " + v.builtAnew(s)
}

// whyDiverged names the loss that a person has accepted, if it is that.
func (v *View) whyDiverged(s *Server) string {
	if !v.givenUp(s) {
		return ""
	}
	return fmt.Sprintf(", and that were given up when a loss was accepted in epoch %d", v.Record.LossAcceptedEpoch)
}
