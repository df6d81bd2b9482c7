package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// AnnotationAllowChaos set to "true" on a cluster lets RecoveryTests break it.
const AnnotationAllowChaos = "commitlab.dev/allow-chaos"

// LabelRecoveryTest on an object holds the name of the RecoveryTest that it belongs to.
const LabelRecoveryTest = "commitlab.dev/recovery-test"

// FinalizerRecoveryTest keeps a RecoveryTest until its faults and its load are gone.
const FinalizerRecoveryTest = "commitlab.dev/recovery-test"

// ConditionComplete of a RecoveryTest is true when it has a verdict; its reason is that verdict.
const ConditionComplete = "Complete"

// Phases of a RecoveryTest. Unlike a cluster's they are part of the record: what has been begun is not begun again.
const (
	RecoveryPending   = "Pending"
	RecoverySuspended = "Suspended"
	RecoveryRunning   = "Running"
	RecoveryVerifying = "Verifying"
	RecoveryFinished  = "Finished"
)

// Verdict of a RecoveryTest.
// +kubebuilder:validation:Enum="";Passed;Failed;Inconclusive;Unsupported
type Verdict string

const (
	// VerdictPassed: every acknowledged commit is there exactly once on every server, and every fault is proved.
	VerdictPassed Verdict = "Passed"
	// VerdictFailed: something that was promised is not so; the message says what.
	VerdictFailed Verdict = "Failed"
	// VerdictInconclusive: nothing wrong was found, and not everything that a Passed needs was proved.
	VerdictInconclusive Verdict = "Inconclusive"
	// VerdictUnsupported: a fault cannot be injected here.
	VerdictUnsupported Verdict = "Unsupported"
)

// Phases of a fault.
const (
	FaultPlanned    = "Planned"
	FaultInjecting  = "Injecting"
	FaultInjected   = "Injected"
	FaultRecovering = "Recovering"
	FaultRecovered  = "Recovered"
	// The following end a fault without a recovery; the ledger knows of each, and its verdict says so.
	FaultUnproved    = "Unproved"
	FaultUnrecovered = "Unrecovered"
	FaultSkipped     = "Skipped"
	FaultUnsupported = "Unsupported"
)

// RecoveryTestStatus is how far the run is, and what came of it.
type RecoveryTestStatus struct {
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// +optional
	Phase string `json:"phase,omitempty"`

	// +optional
	Verdict Verdict `json:"verdict,omitempty"`

	// Message says what is waited for and, in the end, the reasons of the verdict.
	// +optional
	Message string `json:"message,omitempty"`

	// Run names the tables of this run: ledger_RUN_entries, …_accounts, …_registers.
	// +optional
	Run string `json:"run,omitempty"`

	// Seed that the faults follow from.
	// +optional
	Seed *int64 `json:"seed,omitempty"`

	// Injector that is used: ChaosMesh or BuiltIn.
	// +optional
	Injector Injector `json:"injector,omitempty"`

	// JournalUID is the volume claim that holds what was acknowledged: with another one nothing can be judged.
	// +optional
	JournalUID types.UID `json:"journalUID,omitempty"`

	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	// Acknowledged commits, as the clients saw them.
	// +optional
	Acknowledged *int64 `json:"acknowledged,omitempty"`
	// Lost commits were acknowledged and are not there.
	// +optional
	Lost *int64 `json:"lost,omitempty"`
	// Duplicated ids are there more than once.
	// +optional
	Duplicated *int64 `json:"duplicated,omitempty"`
	// Indeterminate commits were never answered: each may be there or not.
	// +optional
	Indeterminate *int64 `json:"indeterminate,omitempty"`

	// MaxRTO is the longest RTO of the faults.
	// +optional
	MaxRTO *metav1.Duration `json:"maxRTO,omitempty"`

	// +listType=map
	// +listMapKey=name
	// +optional
	Faults []FaultStatus `json:"faults,omitempty"`

	// LostCommits tells what is known of the first lost commits.
	// +listType=atomic
	// +optional
	LostCommits []LostCommitStatus `json:"lostCommits,omitempty"`

	// ReplicasEqual says that every server showed the same rows and the same GTIDs in the end.
	// +optional
	ReplicasEqual *bool `json:"replicasEqual,omitempty"`
	// +listType=map
	// +listMapKey=name
	// +optional
	Servers []ServerVerdict `json:"servers,omitempty"`

	// Epochs that acknowledged, in the order in which they did.
	// +listType=atomic
	// +optional
	Epochs []EpochStatus `json:"epochs,omitempty"`

	// History is the ConfigMap with the whole verdict of the ledger.
	// +optional
	History string `json:"history,omitempty"`
}

// FaultStatus is one fault and what followed it.
type FaultStatus struct {
	Name string    `json:"name"`
	Kind FaultKind `json:"kind"`
	// +optional
	Target FaultTarget `json:"target,omitempty"`
	Phase  string      `json:"phase"`
	// Objects that it hits, as they were before: that they are others afterwards is the evidence.
	// +listType=map
	// +listMapKey=name
	// +optional
	Objects []FaultObject `json:"objects,omitempty"`
	// Substitute says what injects the fault in place of Chaos Mesh, and what is different then.
	// +optional
	Substitute string `json:"substitute,omitempty"`
	// ChosenAt is when the objects were chosen, just before the injection.
	// +optional
	ChosenAt *metav1.MicroTime `json:"chosenAt,omitempty"`
	// InjectedAt is when the injection was first seen.
	// +optional
	InjectedAt *metav1.MicroTime `json:"injectedAt,omitempty"`
	// EndedAt is when the last of it was taken away.
	// +optional
	EndedAt *metav1.MicroTime `json:"endedAt,omitempty"`
	// +optional
	RecoveredAt *metav1.MicroTime `json:"recoveredAt,omitempty"`
	// Evidence is what was looked at before and after.
	// +listType=atomic
	// +optional
	Evidence []string `json:"evidence,omitempty"`
	// RTO is from the last acknowledgement before to the first one after.
	// +optional
	RTO *metav1.Duration `json:"rto,omitempty"`
	// RecoveredBy is failover, restart, or unnoticed when no writer met an error.
	// +optional
	RecoveredBy string `json:"recoveredBy,omitempty"`
	// ReplayedRows and RecoveryTime are what the killed servers said of their own crash recovery: all rows, the longest time.
	// +optional
	ReplayedRows *int64 `json:"replayedRows,omitempty"`
	// +optional
	RecoveryTime *metav1.Duration `json:"recoveryTime,omitempty"`
	// +optional
	Message string `json:"message,omitempty"`
}

// FaultObject is a pod that a fault hits, as it was when it was chosen.
type FaultObject struct {
	Name string    `json:"name"`
	UID  types.UID `json:"uid"`
	// +optional
	ContainerID string `json:"containerID,omitempty"`
}

// LostCommitStatus is an acknowledged commit that is gone.
type LostCommitStatus struct {
	ID             int64            `json:"id"`
	AcknowledgedAt metav1.MicroTime `json:"acknowledgedAt"`
	// ServerUUID and Epoch of who acknowledged it.
	ServerUUID string `json:"serverUUID"`
	Epoch      int64  `json:"epoch"`
	// StillOn are the servers that show it.
	// +listType=atomic
	// +optional
	StillOn []string `json:"stillOn,omitempty"`
}

// ServerVerdict says whether a server showed what the master showed.
type ServerVerdict struct {
	Name  string `json:"name"`
	Rows  int64  `json:"rows"`
	Equal bool   `json:"equal"`
	// +optional
	Message string `json:"message,omitempty"`
}

// EpochStatus is a stretch of acknowledgements by one server in one epoch.
type EpochStatus struct {
	ServerUUID string           `json:"serverUUID"`
	Epoch      int64            `json:"epoch"`
	FirstOK    metav1.MicroTime `json:"firstOK"`
	LastOK     metav1.MicroTime `json:"lastOK"`
}

// Finished says that there is a verdict.
func (t *RecoveryTest) Finished() bool { return t.Status.CompletionTime != nil }
