package recovery

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/recovery/ledger"
)

const phaseRunning = ledger.PhaseRunning

// longestCalm without a commit is no stop yet: a load may be as slow as a commit in a second.
const longestCalm = 5 * time.Second

// injectAndWait moves every fault on by what is seen of it. When all have ended the load is ended.
func (d *decision) injectAndWait() {
	if d.view.Ledger.Phase != phaseRunning {
		// Somebody else stopped it. Its verdict would not know of the faults to come; its journal is continued.
		d.status.Message = "the ledger has ended its load by itself: it is started again"
		d.do(DeleteLedger{})
		return
	}
	d.status.Message = fmt.Sprintf("%d commits acknowledged", d.view.Ledger.Acknowledged)
	for i := range d.schedule {
		d.advance(i)
	}
	if d.allEnded() {
		d.status.Phase, d.status.Message = v1alpha1.RecoveryVerifying, "ending the load"
	}
}

func (d *decision) advance(i int) {
	f, status := d.schedule[i], &d.status.Faults[i]
	switch status.Phase {
	case v1alpha1.FaultPlanned:
		d.start(i)
	case v1alpha1.FaultInjecting:
		d.inject(f, status)
	case v1alpha1.FaultInjected:
		d.hold(f, status)
	case v1alpha1.FaultRecovering:
		d.awaitRecovery(status)
	case v1alpha1.FaultUnsupported, v1alpha1.FaultSkipped, v1alpha1.FaultUnproved:
		known, why := d.marked(f.Name), ""
		if status.Phase == v1alpha1.FaultUnsupported {
			why = status.Message
		}
		if known == nil || known.Unsupported != why { // so that the verdict knows of it
			d.do(Mark{ledger.Mark{Name: f.Name, Unsupported: why}})
		}
	}
}

// marked is what the ledger knows of a fault; nil when it does not know it.
func (d *decision) marked(name string) *ledger.Fault { return ledger.Find(d.view.Ledger.Faults, name) }

func ended(phase string) bool {
	switch phase {
	case v1alpha1.FaultPlanned, v1alpha1.FaultInjecting, v1alpha1.FaultInjected, v1alpha1.FaultRecovering:
		return false
	}
	return true
}

// allEnded: every fault has come to its end and is known to the ledger, and commits went on behind the last.
func (d *decision) allEnded() bool {
	for _, f := range d.status.Faults {
		known := d.marked(f.Name)
		if !ended(f.Phase) || known == nil || f.Phase == v1alpha1.FaultUnsupported && known.Unsupported == "" {
			return false
		}
	}
	return d.over() || d.calm()
}

// calm: commits have gone on since the last recovery.
func (d *decision) calm() bool {
	for _, f := range d.status.Faults {
		if f.RecoveredAt != nil && d.view.Now.Before(f.RecoveredAt.Add(settleFor)) {
			return false
		}
	}
	return d.view.Now.Sub(d.view.Ledger.LastOK) < longestCalm
}

func (d *decision) start(i int) {
	f, status := d.schedule[i], &d.status.Faults[i]
	if why := unsupported(f, d.view); why != "" {
		d.cannotBeDone(f, status, why)
		return
	}
	if d.over() {
		status.Phase, status.Message = v1alpha1.FaultSkipped, "the run's duration was over"
		return
	}
	if missing := d.missingForStart(i); missing != "" {
		status.Message = missing
		return
	}
	objects := d.choose(i)
	if len(objects) == 0 {
		status.Message = "its target does not run at the moment"
		return
	}
	if f.takesPower() && !d.forgets(f, status, objects) {
		return
	}
	if f.hasSubstitute() && !d.choosesInjector(i, objects) {
		return
	}
	now := metav1.NewMicroTime(d.view.Now.Truncate(time.Microsecond))
	status.Phase, status.Objects, status.ChosenAt, status.Message = v1alpha1.FaultInjecting, objects, &now, ""
}

func (d *decision) cannotBeDone(f Fault, status *v1alpha1.FaultStatus, why string) {
	status.Phase, status.Message = v1alpha1.FaultUnsupported, shorten(why, maxReason)
	d.tell(true, "FaultUnsupported", "%s: %s", f.Name, why)
}

// missingForStart says what a fault waits for; empty when it may begin.
func (d *decision) missingForStart(i int) string {
	need := int64(enoughCommits)
	if rate := d.view.Test.Spec.Workload.CommitsPerSecond; rate != nil {
		need = min(need, 3*int64(*rate))
	}
	if d.view.Ledger.Acknowledged < need {
		return fmt.Sprintf("%d of %d commits acknowledged", d.view.Ledger.Acknowledged, need)
	}
	if d.schedule[i].Start == v1alpha1.StartDuringRecovery && i > 0 {
		return d.missingForStartDuringRecovery(i)
	}
	for _, before := range d.status.Faults[:i] {
		if !ended(before.Phase) {
			return "waits for " + before.Name
		}
	}
	switch why := settled(d.view.Cluster); {
	case why != "":
		return "the cluster is not whole: " + why
	case !d.calm():
		return "commits go on for a while first"
	}
	return ""
}

func (d *decision) missingForStartDuringRecovery(i int) string {
	before := d.status.Faults[i-1]
	switch {
	case ended(before.Phase):
		return ""
	case before.InjectedAt == nil:
		return "waits for the injection of " + before.Name
	case d.view.Now.Before(before.InjectedAt.Add(d.schedule[i].Interval)):
		return "waits for its interval"
	}
	return ""
}

// choose picks whom the fault hits, as they are now. A server that an earlier fault has hit counts once it has come back as another one.
func (d *decision) choose(i int) []v1alpha1.FaultObject {
	f := d.schedule[i]
	if f.Kind == v1alpha1.OperatorKill {
		return []v1alpha1.FaultObject{{Name: d.view.Operator.Name, UID: d.view.Operator.UID}}
	}
	var candidates []v1alpha1.FaultObject
	for _, s := range d.view.Servers {
		object := v1alpha1.FaultObject{Name: s.Name, UID: s.UID, ContainerID: s.ContainerID}
		if s.Running && d.isTarget(f, s) && !d.hitBefore(i, object) {
			candidates = append(candidates, object)
		}
	}
	if f.Target == v1alpha1.TargetReplica && len(candidates) > 1 {
		n := int(f.Pick % uint64(len(candidates)))
		candidates = candidates[n : n+1]
	}
	return candidates
}

func (d *decision) isTarget(f Fault, s Server) bool {
	if f.isProbed() && (!s.Reached || f.Latency > 0 && s.ReachedIn >= f.Latency) {
		return false // it must be seen to be cut off, or to become slow
	}
	switch f.Target {
	case v1alpha1.TargetMaster:
		return s.Name == d.view.Cluster.Status.Master
	case v1alpha1.TargetReplica:
		return s.Role == v1alpha1.RoleReplica
	}
	return true
}

func (d *decision) hitBefore(i int, object v1alpha1.FaultObject) bool {
	for n, before := range d.status.Faults[:i] {
		if !lasts(d.schedule[n].Kind) && slices.Contains(before.Objects, object) {
			return true
		}
	}
	return false
}

// inject marks the fault, injects it, and hands over what proves it.
func (d *decision) inject(f Fault, status *v1alpha1.FaultStatus) {
	known := d.marked(f.Name)
	switch {
	case known != nil && known.Injected():
		d.injected(known, status)
		return
	case d.neverDone(f, status):
		d.cannotBeDone(f, status, "Chaos Mesh has not done it within "+injectPatience.String()+" and does not say why: see the log of its daemon")
		return
	case d.unproved(f, status) != "":
		status.Phase, status.Message = v1alpha1.FaultUnproved, d.unproved(f, status)
		d.tell(true, "FaultUnproved", "%s: %s", f.Name, status.Message)
		return
	case known == nil:
		d.do(Mark{d.mark(f, status.Objects)})
		return
	}
	if why := d.refusedByChaosMesh(f, status); why != "" {
		d.cannotBeDone(f, status, why)
		return
	}
	proofs := d.proofs(f, status.Objects)
	for _, p := range proofs {
		told := slices.ContainsFunc(known.Evidence, func(e ledger.Evidence) bool { return e.Object == p.Object && e.Kind == p.Kind })
		if !told {
			d.do(Prove{p})
		}
	}
	if len(proofs) < len(status.Objects) {
		d.do(Inject{Fault: f, Objects: status.Objects})
	}
}

// neverDone: what is proved by the record alone was not even recorded. A daemon without the program for it waits for ever, without a word.
func (d *decision) neverDone(f Fault, status *v1alpha1.FaultStatus) bool {
	experiment := d.view.Experiments[f.Name]
	return f.isRecorded() && experiment.Exists && !experiment.Injected && d.view.Now.After(status.ChosenAt.Add(injectPatience))
}

// unproved says why a fault is not waited for any longer; empty while it is.
func (d *decision) unproved(f Fault, status *v1alpha1.FaultStatus) string {
	if f.takesPower() {
		if why := d.hadNothingToLose(status.Objects); why != "" {
			return why
		}
	}
	patience := injectPatience
	if f.takesPower() || f.Substituted { // whose server ends, and is asked when it runs again
		patience = restartPatience
	}
	if d.over() || d.view.Now.After(status.ChosenAt.Add(patience)) {
		return "nothing proves that it happened"
	}
	return ""
}

// refusedByChaosMesh is what it says itself when it cannot do it on this node. It tries again for a while, and so does this.
func (d *decision) refusedByChaosMesh(f Fault, status *v1alpha1.FaultStatus) string {
	experiment := d.view.Experiments[f.Name]
	if !experiment.Exists || experiment.Injected || experiment.Problem == "" || d.view.Now.Before(status.ChosenAt.Add(refusalPatience)) {
		return ""
	}
	return "Chaos Mesh cannot do it here: " + experiment.Problem
}

func (d *decision) injected(known *ledger.Fault, status *v1alpha1.FaultStatus) {
	at := metav1.NewMicroTime(known.InjectedAt.Truncate(time.Microsecond))
	status.Phase, status.InjectedAt = v1alpha1.FaultInjected, &at
	for _, e := range known.Evidence {
		status.Evidence = append(status.Evidence, fmt.Sprintf("%s of %s was %s, is %s", e.Kind, e.Object, e.Before, e.After))
	}
	d.tell(false, "FaultInjected", "%s: %s", status.Name, strings.Join(status.Evidence, "; "))
}

func (d *decision) mark(f Fault, objects []v1alpha1.FaultObject) ledger.Mark {
	m := ledger.Mark{Name: f.Name, Objects: len(objects), ExpectOutage: f.ExpectOutage, Limit: orDefault(d.view.Test.Spec.Limits.RTO, defaultRTO)}
	if f.Kind == v1alpha1.OperatorKill || f.isProbed() || f.isRecorded() || f.Substituted || f.takesPower() {
		return m // the ledger cannot see it
	}
	m.Proof = ledger.ProofProcess
	if f.Kind == v1alpha1.Partition {
		m.Proof = ledger.ProofLink
	}
	for _, o := range objects {
		m.Targets = append(m.Targets, o.Name)
	}
	return m
}

// proofs are the objects that are not what they were.
func (d *decision) proofs(f Fault, objects []v1alpha1.FaultObject) []ledger.Proof {
	var found []ledger.Proof
	for _, o := range objects {
		p := ledger.Proof{Fault: f.Name, Object: o.Name}
		p.Kind, p.Before, p.After = d.compare(f, o)
		if p.After != "" && p.After != p.Before {
			found = append(found, p)
		}
	}
	return found
}

// compare looks at what of an object must have changed.
func (d *decision) compare(f Fault, o v1alpha1.FaultObject) (kind, before, after string) {
	s := d.view.server(o.Name)
	switch {
	case f.Kind == v1alpha1.OperatorKill:
		return "pod-uid", string(o.UID), string(d.view.Operator.UID)
	case f.Substituted:
		return d.substituted(f, o, s)
	case f.isProbed():
		return "probe", "reached", probed(f, o, s)
	case f.isRecorded():
		return "record of Chaos Mesh", "not injected", d.recorded(f)
	case f.Kind == v1alpha1.Partition:
		return "", "", "" // the ledger sees the link
	case f.takesPower():
		return "disk", o.ContainerID, undone(o, s)
	case s == nil:
		return "pod-uid", string(o.UID), "deleted"
	case s.UID != o.UID:
		return "pod-uid", string(o.UID), string(s.UID)
	case f.Kind == v1alpha1.PodFailure && !s.Running:
		return "container", o.ContainerID, "does not run"
	case f.Kind == v1alpha1.ContainerKill || f.Kind == v1alpha1.PodFailure:
		return "container-id", o.ContainerID, s.ContainerID
	}
	return "pod-uid", string(o.UID), string(s.UID)
}

// probed is how the same pod is reached now; empty when that proves nothing.
func probed(f Fault, o v1alpha1.FaultObject, s *Server) string {
	switch {
	case s == nil || s.UID != o.UID:
		return ""
	case f.Kind == v1alpha1.NetworkDelay && s.ReachedIn >= f.Latency:
		return fmt.Sprintf("reached after %s", s.ReachedIn.Round(time.Millisecond))
	case f.Kind != v1alpha1.NetworkDelay && !s.Reached:
		return "not reached"
	}
	return ""
}

func (d *decision) recorded(f Fault) string {
	if d.view.Experiments[f.Name].Injected {
		return "injected"
	}
	return ""
}

// hold keeps a fault for its duration. A kill has none.
func (d *decision) hold(f Fault, status *v1alpha1.FaultStatus) {
	if d.over() || !d.view.Now.Before(status.InjectedAt.Add(f.Duration)) {
		d.mend(f, status)
		status.Phase = v1alpha1.FaultRecovering
	}
}

// experimentIsOver: what Chaos Mesh does is taken away as soon as its fault is not held any more.
func (d *decision) experimentIsOver(fault string) bool {
	for _, f := range d.status.Faults {
		if f.Name == fault {
			return f.Phase != v1alpha1.FaultInjecting && f.Phase != v1alpha1.FaultInjected
		}
	}
	return true
}

func (d *decision) awaitRecovery(status *v1alpha1.FaultStatus) {
	if d.view.Experiments[status.Name].Exists {
		status.Message = "Chaos Mesh takes it away"
		return
	}
	if status.EndedAt == nil {
		now := metav1.NewMicroTime(d.view.Now.Truncate(time.Microsecond))
		status.EndedAt = &now
	}
	missing := d.missingForRecovery(status)
	status.Message = missing
	switch {
	case missing == "":
		d.recovered(status)
	case d.over():
		status.Phase = v1alpha1.FaultUnrecovered
		d.tell(true, "FaultUnrecovered", "%s: %s", status.Name, missing)
	}
}

func (d *decision) missingForRecovery(status *v1alpha1.FaultStatus) string {
	known := d.marked(status.Name)
	if known == nil || !known.AckedAfter || !d.view.Ledger.LastOK.After(status.EndedAt.Time) {
		return "no commit has been acknowledged since"
	}
	if why := settled(d.view.Cluster); why != "" {
		return "the cluster is not whole: " + why
	}
	if status.Kind == v1alpha1.OperatorKill {
		return ""
	}
	for _, o := range status.Objects {
		if s := d.view.server(o.Name); s == nil || !s.Running {
			return o.Name + " does not run yet"
		}
	}
	return ""
}

func (d *decision) recovered(status *v1alpha1.FaultStatus) {
	known := d.marked(status.Name)
	now := metav1.NewMicroTime(d.view.Now.Truncate(time.Microsecond))
	status.Phase, status.RecoveredAt = v1alpha1.FaultRecovered, &now
	d.rememberRTO(*known, status)
	switch status.Kind {
	case v1alpha1.PodKill, v1alpha1.ContainerKill, v1alpha1.PowerLoss, v1alpha1.PodFailure, v1alpha1.NodeDrain:
		d.rememberCrashRecovery(status)
	}
	d.tell(false, "FaultRecovered", "%s: RTO %s, %s", status.Name, status.RTO.Duration, status.RecoveredBy)
}

func (d *decision) rememberRTO(known ledger.Fault, status *v1alpha1.FaultStatus) {
	rto := metav1.Duration{Duration: time.Duration(known.RTOSeconds * float64(time.Second)).Round(time.Millisecond)}
	status.RTO, status.RecoveredBy = &rto, known.RecoveredBy
	if d.status.MaxRTO == nil || rto.Duration > d.status.MaxRTO.Duration {
		d.status.MaxRTO = &rto
	}
}

func (d *decision) rememberCrashRecovery(status *v1alpha1.FaultStatus) {
	for _, o := range status.Objects {
		s := d.view.server(o.Name)
		if s == nil || s.Recovery == nil {
			continue
		}
		rows := s.Recovery.Rows
		if status.ReplayedRows != nil {
			rows += *status.ReplayedRows
		}
		took := metav1.Duration{Duration: s.Recovery.Took.Round(time.Millisecond)}
		if status.RecoveryTime != nil {
			took.Duration = max(took.Duration, status.RecoveryTime.Duration)
		}
		status.ReplayedRows, status.RecoveryTime = &rows, &took
	}
}
