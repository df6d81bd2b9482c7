package cluster

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/engine"
)

// Summary is what people and tools are told about a cluster.
type Summary struct {
	Conditions    []metav1.Condition
	Phase         string
	ReadyReplicas int32
	Members       []v1alpha1.MemberStatus
	// Semisync is how many of how many replicas acknowledge each transaction, and when.
	Semisync string
}

// Summarize describes a view and the plan that was made from it.
func Summarize(v View, p Plan) Summary {
	s := Summary{Members: v.describeMembers(p)}
	if v.Policy.Hibernated {
		return v.summarizeHibernation(s, p)
	}
	master := v.server(v.Record.Master)
	serves := v.servesAsMaster(master)
	writable := serves && !master.Status.WritesBlocked
	if serves {
		s.ReadyReplicas = v.attachedReplicas(master)
	}
	s.Conditions = []metav1.Condition{
		v.ready(serves, writable, p),
		v.initialized(writable, p),
		v.semisyncSatisfied(serves, s.ReadyReplicas),
		v.writesBlocked(serves, writable, p),
		v.durabilityReduced(),
		v.progressing(p),
		v.degraded(p),
	}
	s.Phase = v.phase(writable, p)
	s.Semisync = v.semisync()
	return s
}

func (v *View) semisync() string {
	switch q := v.Record.Quorum; {
	case q == nil:
		return ""
	case q.WaitCount == 0:
		return "off"
	default:
		return strings.TrimSpace(fmt.Sprintf("%d/%d AFTER_SYNC %s", q.WaitCount, len(q.Members), describeTerms(q)))
	}
}

func condition(kind string, is bool, yes, no, message string) metav1.Condition {
	c := metav1.Condition{Type: kind, Status: metav1.ConditionFalse, Reason: no, Message: message}
	if is {
		c.Status, c.Reason = metav1.ConditionTrue, yes
	}
	return c
}

// writesBlocked: too few replicas are attached, or enough are, and have not acknowledged what the mastership began with.
func (v *View) writesBlocked(serves, writable bool, p Plan) metav1.Condition {
	message := v.blockedMessage(serves, writable, p)
	if missing := v.missingReplicas(); serves && !writable && missing != "" {
		message += ": " + missing
	}
	switch {
	case writable:
		return condition(v1alpha1.ConditionWritesBlocked, false, "", "Writable", message)
	case !serves:
		return condition(v1alpha1.ConditionWritesBlocked, true, "NoMaster", "", message)
	case v.attachedReplicas(v.server(v.Record.Master)) < v.Record.Quorum.WaitCount:
		return condition(v1alpha1.ConditionWritesBlocked, true, "TooFewReplicas", "", message)
	}
	return condition(v1alpha1.ConditionWritesBlocked, true, "NotAcknowledgedYet", "", message)
}

// missingReplicas says of each replica that does not acknowledge what keeps it; empty when all do.
func (v *View) missingReplicas() string {
	master := v.server(v.Record.Master)
	if !v.servesAsMaster(master) {
		return ""
	}
	clients := setOf(master.Status.SemisyncClients)
	var list []string
	for i := range v.Servers {
		s := &v.Servers[i]
		if s == master || !v.wanted(s) || (v.follows(s) && clients[s.Status.ServerUUID]) {
			continue
		}
		list = append(list, s.Name+" "+v.whatKeeps(s))
	}
	return strings.Join(list, ", ")
}

func (v *View) whatKeeps(s *Server) string {
	id := v.identityOf(s)
	switch {
	case v.keptOut(s):
		return "is fenced by hand"
	case s.PodUID == "" || s.Address == "":
		return "has no pod, or no address yet"
	case s.Denied:
		return "refuses the operator's password"
	case s.Down:
		return "does not run"
	case !s.Reachable:
		return "cannot be reached"
	case id == identityCloning:
		return "gets the data of another server"
	case id == identityEmpty || id == identityFresh:
		return "is new and joins"
	case id != identityMember:
		return "is not this cluster's"
	case s.Status.ReceiverState == engine.ReceiverDiverged && v.Policy.Divergence == v1alpha1.DivergenceReclone:
		return "has diverged"
	case s.Status.ReceiverState == engine.ReceiverDiverged:
		return "has diverged and is kept as it is; once you have saved what you need of it, " + v.builtAnew(s)
	case !v.follows(s):
		return fmt.Sprintf("is %s in epoch %d", s.Status.Role, s.Status.Epoch)
	case s.Status.ReceiverState != engine.ReceiverReceiving:
		return strings.TrimRight("does not receive ("+s.Status.ReceiverState+") "+s.Status.ReceiverError, " ")
	}
	return "has not caught up"
}

func (v *View) ready(serves, writable bool, p Plan) metav1.Condition {
	message := v.Record.Master + " takes writes"
	if !writable {
		message = v.blockedMessage(serves, writable, p)
	}
	return condition(v1alpha1.ConditionReady, writable, "MasterServes", "MasterDoesNotServe", message)
}

func (v *View) initialized(writable bool, p Plan) metav1.Condition {
	switch {
	case v.Initialized || writable:
		return condition(v1alpha1.ConditionInitialized, true, "Bootstrapped", "", "the cluster has acknowledged its first transaction")
	case v.Record.Epoch == 0 && len(p.Problems) > 0:
		return condition(v1alpha1.ConditionInitialized, false, "", "ExistingData", joinProblems(p.Problems))
	}
	return condition(v1alpha1.ConditionInitialized, false, "", "Bootstrapping", p.Waiting)
}

func (v *View) blockedMessage(serves, writable bool, p Plan) string {
	switch {
	case writable:
		return "writes are acknowledged"
	case serves && v.Record.Quorum.OnTimeout == engine.OnTimeoutError:
		return "too few replicas acknowledge: commits get an error (" + describeTerms(v.Record.Quorum) + ")"
	case serves:
		return "the master waits for enough replicas to attach and acknowledge"
	case p.Waiting != "":
		return p.Waiting
	case len(p.Problems) > 0:
		return joinProblems(p.Problems)
	}
	return "no server has been given the mastership yet"
}

func (v *View) semisyncSatisfied(serves bool, attached int32) metav1.Condition {
	if v.Record.Quorum == nil {
		return condition(v1alpha1.ConditionSemisyncSatisfied, false, "", "NoQuorum", "no quorum yet")
	}
	full := v.Policy.fullWaitCount()
	message := fmt.Sprintf("%d replicas acknowledge, %d are asked for", attached, full)
	if v.Record.Quorum.OnTimeout == engine.OnTimeoutAsync {
		message += " (" + describeTerms(v.Record.Quorum) + ": no automatic failover)"
	}
	if missing := v.missingReplicas(); attached < full && missing != "" {
		message += ": " + missing
	}
	return condition(v1alpha1.ConditionSemisyncSatisfied, serves && attached >= full, "Attached", "ReplicasMissing", message)
}

func (v *View) durabilityReduced() metav1.Condition {
	if v.Record.Quorum == nil {
		return condition(v1alpha1.ConditionDurabilityReduced, false, "", "NoQuorum", "no quorum yet")
	}
	full, now := v.Policy.fullWaitCount(), v.Record.Quorum.WaitCount
	message := fmt.Sprintf("%d replicas hold every acknowledged transaction, besides the master; %d are asked for", now, full)
	if missing := v.missingReplicas(); now < full && missing != "" {
		message += ": " + missing
	}
	if master := v.server(v.Record.Master); v.Record.Quorum.OnTimeout == engine.OnTimeoutAsync && v.servesAsMaster(master) &&
		v.attachedReplicas(master) < now {
		message = fmt.Sprintf("commits are acknowledged without replicas (%s), and may be on the master alone: %s",
			describeTerms(v.Record.Quorum), v.missingReplicas())
		return condition(v1alpha1.ConditionDurabilityReduced, true, "MasterAlone", "", message)
	}
	return condition(v1alpha1.ConditionDurabilityReduced, now < full, "WaitCountLowered", "AsAsked", message)
}

func (v *View) progressing(p Plan) metav1.Condition {
	switch {
	case v.Record.Election != nil:
		return condition(v1alpha1.ConditionProgressing, true, "Electing", "", fmt.Sprintf("epoch %d: %s", v.Record.Epoch, p.Waiting))
	case len(v.Record.PriorQuorums) > 0:
		return condition(v1alpha1.ConditionProgressing, true, "EstablishingQuorum", "", "a new quorum is not established yet")
	case v.describeClones() != "":
		return condition(v1alpha1.ConditionProgressing, true, "Cloning", "", "servers get the data of another one: "+v.describeClones())
	case p.Rollout != "":
		return condition(v1alpha1.ConditionProgressing, true, "RollingRestart", "", p.Rollout)
	case p.Record != nil || len(p.Commands) > 0 || v.Record.Epoch == 0:
		return condition(v1alpha1.ConditionProgressing, true, "Reconciling", "", "servers are being given their roles")
	}
	return condition(v1alpha1.ConditionProgressing, false, "", "AsAsked", "nothing is under way")
}

func (v *View) degraded(p Plan) metav1.Condition {
	if len(p.Problems) > 0 {
		return condition(v1alpha1.ConditionDegraded, true, "NeedsAPerson", "", joinProblems(p.Problems))
	}
	var missing, fenced []string
	for i := range v.Servers {
		switch s := &v.Servers[i]; {
		case v.keptOut(s):
			fenced = append(fenced, s.Name)
		case v.wanted(s) && !v.servesAsMaster(s) && !v.servesAsReplica(s):
			missing = append(missing, s.Name)
		}
	}
	if len(missing) > 0 {
		return condition(v1alpha1.ConditionDegraded, true, "ServersMissing", "", "without a role: "+strings.Join(missing, ", "))
	}
	if len(fenced) > 0 {
		return condition(v1alpha1.ConditionDegraded, true, "FencedByHand", "", "kept out until somebody unfences them: "+strings.Join(fenced, ", "))
	}
	return condition(v1alpha1.ConditionDegraded, false, "", "AllServersServe", "every server has its role")
}

func (v *View) phase(writable bool, p Plan) string {
	switch {
	case v.Record.Epoch == 0 && len(p.Problems) > 0:
		return v1alpha1.PhaseStopped
	case !v.Initialized && !writable:
		return v1alpha1.PhaseInitializing
	case v.Record.Election != nil:
		return v1alpha1.PhaseFailingOver
	case !writable:
		return v1alpha1.PhaseBlocked
	case v.degraded(p).Status == metav1.ConditionTrue:
		return v1alpha1.PhaseDegraded
	}
	return v1alpha1.PhaseRunning
}

func (v *View) attachedReplicas(master *Server) int32 {
	return setOf(master.Status.SemisyncClients).count(v.Record.Quorum.Members)
}

// describeMembers adds to each known identity what it is now; a server that does not answer keeps what it was.
func (v *View) describeMembers(p Plan) []v1alpha1.MemberStatus {
	var list []v1alpha1.MemberStatus
	counted := uuidSet{}
	if q := v.Record.Quorum; q != nil {
		counted = setOf(append(slices.Clone(q.Members), q.MasterUUID))
	}
	for _, m := range v.Record.Members {
		if s := v.server(m.Name); s != nil && s.Reachable {
			m.Role = string(s.Status.Role)
			if v.isMember(s) && s.Status.DataFormat != "" {
				m.DataFormat = s.Status.DataFormat
			}
		}
		m.Synced = counted[m.ServerUUID]
		m.Fenced = v.isFencedByHand(m.Name)
		m.Problem = p.Problems[m.Name]
		list = append(list, m)
	}
	return list
}

func joinProblems(problems map[string]string) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(problems)) {
		text := problems[name]
		if name != "" {
			text = name + ": " + text
		}
		list = append(list, text)
	}
	return strings.Join(list, "; ")
}
