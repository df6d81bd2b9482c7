package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// RecoveryTest writes to a CommitCluster, injects faults meanwhile, and says whether an acknowledged commit was lost. It runs once.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=rt,categories={commitlab}
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Verdict",type=string,JSONPath=`.status.verdict`
// +kubebuilder:printcolumn:name="Acked",type=integer,JSONPath=`.status.acknowledged`
// +kubebuilder:printcolumn:name="Lost",type=integer,JSONPath=`.status.lost`
// +kubebuilder:printcolumn:name="RTO-Max",type=string,JSONPath=`.status.maxRTO`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 40",message="metadata.name must have at most 40 characters: names of faults and pods are made from it"
type RecoveryTest struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +required
	Spec   RecoveryTestSpec   `json:"spec"`
	Status RecoveryTestStatus `json:"status,omitempty"`
}

// RecoveryTestList is a list of RecoveryTests.
//
// +kubebuilder:object:root=true
type RecoveryTestList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []RecoveryTest `json:"items"`
}

// RecoveryTestSpec is one run: it cannot be changed, but for suspend and ttlSecondsAfterFinished.
//
// +kubebuilder:validation:XValidation:rule="has(self.faults) != has(self.random)",message="give either spec.faults, a list, or spec.random, a number of faults that a seed chooses"
// +kubebuilder:validation:XValidation:rule="self.cluster == oldSelf.cluster && self.workload == oldSelf.workload && self.limits == oldSelf.limits && self.injector == oldSelf.injector && has(self.faults) == has(oldSelf.faults) && (!has(self.faults) || self.faults == oldSelf.faults) && has(self.random) == has(oldSelf.random) && (!has(self.random) || self.random == oldSelf.random)",message="a RecoveryTest describes one run and cannot be changed, but for spec.suspend and spec.ttlSecondsAfterFinished: create another RecoveryTest"
type RecoveryTestSpec struct {
	// Cluster to test, in the same namespace. It must carry the annotation commitlab.dev/allow-chaos: "true".
	// +required
	Cluster ClusterReference `json:"cluster"`

	// Suspend takes faults and load away, and keeps the journal: a run that is let go on continues it.
	// +optional
	Suspend bool `json:"suspend,omitempty"`

	// TTLSecondsAfterFinished deletes the test so long after it has finished. Left out, it stays.
	// +kubebuilder:validation:Minimum=0
	// +optional
	TTLSecondsAfterFinished *int32 `json:"ttlSecondsAfterFinished,omitempty"`

	// +kubebuilder:default={}
	// +optional
	Workload WorkloadSpec `json:"workload,omitempty"`

	// Faults, one after the other.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=20
	// +listType=map
	// +listMapKey=name
	// +optional
	Faults []FaultSpec `json:"faults,omitempty"`

	// Random lets a seed choose the faults.
	// +optional
	Random *RandomFaultsSpec `json:"random,omitempty"`

	// Injector of the faults. Auto uses Chaos Mesh when its kinds are installed, and what the operator can do by itself otherwise.
	// +kubebuilder:default=Auto
	// +optional
	Injector Injector `json:"injector,omitempty"`

	// +kubebuilder:default={}
	// +optional
	Limits LimitsSpec `json:"limits,omitempty"`
}

// ClusterReference names a CommitCluster of the same namespace.
type ClusterReference struct {
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +required
	Name string `json:"name"`
}

// WorkloadSpec is the load of the ledger: rows with unique ids, transfers between the accounts of a bank, and single rows that
// several clients read and write.
type WorkloadSpec struct {
	// Image of the ledger. Empty means the operator's default.
	// +kubebuilder:validation:MaxLength=255
	// +optional
	Image string `json:"image,omitempty"`

	// +kubebuilder:default=16
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=256
	// +optional
	Writers int32 `json:"writers,omitempty"`

	// CommitsPerSecond bounds all writers together. Left out, each commits as fast as the server answers.
	// +kubebuilder:validation:Minimum=1
	// +optional
	CommitsPerSecond *int32 `json:"commitsPerSecond,omitempty"`

	// Accounts of the bank: the fewer, the more writers meet at one row.
	// +kubebuilder:default=64
	// +kubebuilder:validation:Minimum=2
	// +kubebuilder:validation:Maximum=10000
	// +optional
	Accounts int32 `json:"accounts,omitempty"`

	// Storage of the ledger's journal.
	// +kubebuilder:default={size: "1Gi"}
	// +optional
	Storage JournalStorage `json:"storage,omitempty"`
}

// JournalStorage is the ledger's own volume: no server's disk holds what the verdict rests on.
type JournalStorage struct {
	// +kubebuilder:default="1Gi"
	// +optional
	Size *resource.Quantity `json:"size,omitempty"`

	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +optional
	StorageClassName *string `json:"storageClassName,omitempty"`
}

// Injector says who injects.
// +kubebuilder:validation:Enum=Auto;ChaosMesh;BuiltIn
type Injector string

// Injectors.
const (
	InjectorAuto      Injector = "Auto"
	InjectorChaosMesh Injector = "ChaosMesh"
	InjectorBuiltIn   Injector = "BuiltIn"
)

// FaultKind is what happens.
// +kubebuilder:validation:Enum=PodKill;ContainerKill;PowerLoss;Partition;OperatorKill;PodFailure;NodeDrain;NetworkDelay;NetworkLoss;DiskFull;DiskError;DiskSlow;ClockSkew;CPUStress;MemoryStress
type FaultKind string

const (
	// PodKill deletes pods without grace: the process gets SIGKILL, the volume stays, the pod comes back elsewhere or with another address.
	PodKill FaultKind = "PodKill"
	// ContainerKill kills the process; the kubelet starts it again on the same data and address. Chaos Mesh only.
	ContainerKill FaultKind = "ContainerKill"
	// PowerLoss kills the process, and takes away what it had not synced before the next one begins. Chaos Mesh only; the servers must run the image
	// of `make images-powerloss`.
	PowerLoss FaultKind = "PowerLoss"
	// Partition cuts the target off. Chaos Mesh only.
	Partition FaultKind = "Partition"
	// OperatorKill deletes the operator's own pod without grace.
	OperatorKill FaultKind = "OperatorKill"
	// PodFailure keeps pods from running for its duration; volume and pod stay. Chaos Mesh only.
	PodFailure FaultKind = "PodFailure"
	// NodeDrain evicts the target's pod as a drain does: disruption budget, preStop and grace are obeyed. The node stays open, so that it can be
	// done where there is one node only.
	NodeDrain FaultKind = "NodeDrain"
	// NetworkDelay and NetworkLoss spoil what the target sends. By Chaos Mesh, where the kernel has sch_netem, or by the servers' own library, as all
	// that follow: in the image of `make images-powerloss`.
	NetworkDelay FaultKind = "NetworkDelay"
	NetworkLoss  FaultKind = "NetworkLoss"
	// DiskFull, DiskError and DiskSlow make the target's data directory answer writes with ENOSPC, calls with EIO, and late.
	DiskFull  FaultKind = "DiskFull"
	DiskError FaultKind = "DiskError"
	DiskSlow  FaultKind = "DiskSlow"
	// ClockSkew sets the target's clock off.
	ClockSkew FaultKind = "ClockSkew"
	// CPUStress and MemoryStress use up what the target's container may have.
	CPUStress    FaultKind = "CPUStress"
	MemoryStress FaultKind = "MemoryStress"
)

// FaultTarget is whom a fault hits, chosen when it begins.
// +kubebuilder:validation:Enum=Master;Replica;All
type FaultTarget string

// Targets.
const (
	TargetMaster  FaultTarget = "Master"
	TargetReplica FaultTarget = "Replica"
	TargetAll     FaultTarget = "All"
)

// FaultSpec is one fault.
//
// +kubebuilder:validation:XValidation:rule="self.kind == 'Partition' || (!has(self.from) && !has(self.direction))",message="from and direction belong to a Partition: leave them out"
// +kubebuilder:validation:XValidation:rule="!(self.kind in ['PodKill', 'ContainerKill', 'PowerLoss', 'OperatorKill', 'NodeDrain']) || !has(self.duration)",message="duration belongs to faults that last, and a kill has no end: leave it out"
// +kubebuilder:validation:XValidation:rule="self.kind in ['PodKill', 'ContainerKill', 'PowerLoss', 'OperatorKill', 'NodeDrain'] || (!has(self.times) && !has(self.interval))",message="times and interval belong to kills; give a fault that lasts a duration, or list it several times"
// +kubebuilder:validation:XValidation:rule="self.kind in ['NetworkDelay', 'DiskSlow'] || !has(self.latency)",message="latency belongs to NetworkDelay and DiskSlow: leave it out"
// +kubebuilder:validation:XValidation:rule="self.kind in ['NetworkLoss', 'DiskError'] || !has(self.percent)",message="percent belongs to NetworkLoss and DiskError: leave it out"
// +kubebuilder:validation:XValidation:rule="self.kind == 'ClockSkew' || !has(self.offset)",message="offset belongs to ClockSkew: leave it out"
// +kubebuilder:validation:XValidation:rule="self.kind == 'MemoryStress' || !has(self.memory)",message="memory belongs to MemoryStress: leave it out"
// +kubebuilder:validation:XValidation:rule="self.kind != 'NodeDrain' || !has(self.target) || self.target != 'All'",message="a NodeDrain evicts the Master or a Replica: the disruption budget keeps two from going at once"
// +kubebuilder:validation:XValidation:rule="self.kind != 'Partition' || !has(self.target) || self.target != 'All'",message="a Partition cuts the Master or a Replica off; for a master without any replica use target: Master with from: Replicas"
// +kubebuilder:validation:XValidation:rule="self.kind != 'OperatorKill' || !has(self.target)",message="OperatorKill hits the operator's own pod: leave target out"
type FaultSpec struct {
	// Name of the fault, in status, events and the ledger's journal.
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +kubebuilder:validation:MaxLength=40
	// +required
	Name string `json:"name"`

	// +required
	Kind FaultKind `json:"kind"`

	// Target of kills and partitions. Default: Master.
	// +optional
	Target FaultTarget `json:"target,omitempty"`

	// From whom a Partition cuts the target off. Default: Replicas, which for a replica is all other servers.
	// +kubebuilder:validation:Enum=Replicas;Clients;Operator
	// +optional
	From PartitionSide `json:"from,omitempty"`

	// Direction of what a Partition drops. Default: Both.
	// +kubebuilder:validation:Enum=Both;ToTarget;FromTarget
	// +optional
	Direction string `json:"direction,omitempty"`

	// Duration of a fault that lasts. Default: 30s.
	// +optional
	Duration *metav1.Duration `json:"duration,omitempty"`

	// Latency that a NetworkDelay or a DiskSlow adds. Default: 200ms.
	// +optional
	Latency *metav1.Duration `json:"latency,omitempty"`

	// Percent of packets that a NetworkLoss drops, or of calls that a DiskError fails. Default: 50.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	// +optional
	Percent *int32 `json:"percent,omitempty"`

	// Offset of a ClockSkew; a negative one is in the past. Default: -10m.
	// +optional
	Offset *metav1.Duration `json:"offset,omitempty"`

	// Memory that a MemoryStress takes. Default: 128Mi.
	// +optional
	Memory *resource.Quantity `json:"memory,omitempty"`

	// Times a kill is repeated, each time on whoever is the target then. Default: 1.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=20
	// +optional
	Times *int32 `json:"times,omitempty"`

	// Interval between repeated kills, whether the cluster has recovered or not. Default: 2s.
	// +optional
	Interval *metav1.Duration `json:"interval,omitempty"`

	// Start says when: once the cluster has recovered from the fault before (the default), or while it still recovers.
	// +kubebuilder:validation:Enum=AfterRecovery;DuringRecovery
	// +optional
	Start FaultStart `json:"start,omitempty"`

	// Expect says whether writers must notice it; a fault that nobody notices where an Outage is expected makes the test Inconclusive.
	// Default: Outage for kills of the master and of all.
	// +kubebuilder:validation:Enum=Outage;None
	// +optional
	Expect string `json:"expect,omitempty"`
}

// FaultStart says when a fault begins.
type FaultStart string

// Starts.
const (
	StartAfterRecovery  FaultStart = "AfterRecovery"
	StartDuringRecovery FaultStart = "DuringRecovery"
)

// PartitionSide is who is on the other side of a cut.
type PartitionSide string

// Sides.
const (
	FromReplicas PartitionSide = "Replicas"
	FromClients  PartitionSide = "Clients"
	FromOperator PartitionSide = "Operator"
)

// Expectations.
const (
	ExpectOutage = "Outage"
	ExpectNone   = "None"
)

// RandomFaultsSpec is a schedule that follows from a seed.
type RandomFaultsSpec struct {
	// Count of the faults.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=50
	// +required
	Count int32 `json:"count"`

	// Seed: the same one gives the same faults in the same order. Left out, one is chosen and shown in status.seed.
	// +optional
	Seed *int64 `json:"seed,omitempty"`

	// Kinds to choose from. Default: PodKill and OperatorKill, and with Chaos Mesh ContainerKill and Partition as well.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=15
	// +listType=set
	// +optional
	Kinds []FaultKind `json:"kinds,omitempty"`
}

// LimitsSpec says what is still good.
type LimitsSpec struct {
	// RTO is the longest time without an acknowledgement at any fault: a longer one fails the test.
	// +kubebuilder:default="1m0s"
	// +optional
	RTO *metav1.Duration `json:"rto,omitempty"`

	// Duration of the whole run. What has not been injected by then is not, and the test ends Inconclusive.
	// +kubebuilder:default="15m0s"
	// +optional
	Duration *metav1.Duration `json:"duration,omitempty"`
}
