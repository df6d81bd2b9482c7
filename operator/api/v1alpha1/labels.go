package v1alpha1

// Labels of the objects that belong to a cluster.
const (
	// LabelCluster holds the name of the CommitCluster.
	LabelCluster = "commitlab.dev/cluster"
	// LabelRole is set on pods by the operator only; Services select by it.
	LabelRole = "commitlab.dev/role"
)

// AnnotationAdopt set to "true" on a cluster with an empty status says that the volumes that are there are its own.
const AnnotationAdopt = "commitlab.dev/adopt"

// AnnotationSwitchover asks for another master: {"id":"…","to":"demo-1","deadline":"30s"}. Without "to" the operator chooses;
// the deadline is a duration or a time. An id is carried out once.
const AnnotationSwitchover = "commitlab.dev/switchover"

// AnnotationFenced lists the servers that are kept out by hand: ["demo-1"]. They are fenced, and stay so until they are named no more.
const AnnotationFenced = "commitlab.dev/fenced"

// AnnotationPromote asks for a master though too few servers are left to know what was acknowledged:
// {"id":"…","server":"demo-1","epoch":3,"acceptDataLoss":true}. It counts in that epoch only, so it is never carried out twice.
// Without acceptDataLoss the operator only says what may be lost.
const AnnotationPromote = "commitlab.dev/promote"

// AnnotationValidated on a StatefulSet names the question, of image and flags, that commitd has said yes to; on the pod that asks, what
// its yes is good for.
const AnnotationValidated = "commitlab.dev/validated"

// AnnotationConfiguration on a pod, and on the template that pods are made from, is what of the spec a server is started with.
const AnnotationConfiguration = "commitlab.dev/configuration"

// Values of LabelRole.
const (
	RoleMaster  = "master"
	RoleReplica = "replica"
)

// Condition types of a CommitCluster.
const (
	ConditionReady              = "Ready"
	ConditionInitialized        = "Initialized"
	ConditionSemisyncSatisfied  = "SemisyncSatisfied"
	ConditionWritesBlocked      = "WritesBlocked"
	ConditionDurabilityReduced  = "DurabilityReduced"
	ConditionProgressing        = "Progressing"
	ConditionDegraded           = "Degraded"
	ConditionConfigurationValid = "ConfigurationValid"
	ConditionPaused             = "Paused"
	ConditionHibernated         = "Hibernated"
)

// Reasons and phases of a switchover.
const (
	SwitchoverRequested = "Requested"
	SwitchoverScaleDown = "ScaleDown"
	// SwitchoverRollingRestart moves the mastership off a master that is to be restarted.
	SwitchoverRollingRestart = "RollingRestart"
	// SwitchoverPodLeaves moves the mastership off a pod that is being deleted, by a drain or by a person.
	SwitchoverPodLeaves = "PodLeaves"

	SwitchoverCatchingUp = "CatchingUp"
	// SwitchoverHandingOver: the master finishes what it has begun, and takes no more writes.
	SwitchoverHandingOver = "HandingOver"
	SwitchoverMoving      = "Moving"
	SwitchoverSucceeded   = "Succeeded"
	SwitchoverFailed      = "Failed"
	SwitchoverCancelled   = "Cancelled"
)

// Phases of a promotion by hand.
const (
	// PromotionAssessed: nothing was done; it is said what may be lost.
	PromotionAssessed  = "Assessed"
	PromotionRefused   = "Refused"
	PromotionElecting  = "Electing"
	PromotionSucceeded = "Succeeded"
	// PromotionFailed: another server is the master.
	PromotionFailed = "Failed"
)

// Why a server is given the data of another one.
const (
	CloneEmpty     = "Empty"
	CloneLogPurged = "LogPurged"
	CloneDiverged  = "Diverged"
)

// Values of spec.divergencePolicy.
const (
	DivergenceQuarantine = "Quarantine"
	DivergenceReclone    = "Reclone"
)

// Phases, for display only: nothing decides by them.
const (
	PhaseInitializing = "Initializing"
	PhaseRunning      = "Running"
	PhaseDegraded     = "Degraded"
	PhaseFailingOver  = "FailingOver"
	PhaseBlocked      = "Blocked"
	PhaseStopped      = "Stopped"
	PhaseHibernating  = "Hibernating"
	PhaseHibernated   = "Hibernated"
)
