package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// CommitClusterStatus is what the operator knows. Record is the part it decides by; the rest is for people and tools.
type CommitClusterStatus struct {
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// Phase sums up the conditions in one word, for display only.
	// +optional
	Phase string `json:"phase,omitempty"`

	// Replicas counts replicas, not the master: it belongs to the scale subresource.
	// +optional
	Replicas int32 `json:"replicas"`

	// ReadyReplicas counts replicas that are attached to the master and acknowledge.
	// +optional
	ReadyReplicas int32 `json:"readyReplicas"`

	// Semisync is how many of how many replicas acknowledge each transaction, and when: 1/2 AFTER_SYNC. For display only.
	// +optional
	Semisync string `json:"semisync,omitempty"`

	// Selector selects replicas, for the scale subresource.
	// +optional
	Selector string `json:"selector,omitempty"`

	Record `json:",inline"`

	// AccountsRevision identifies the accounts and the database that were created on the master last.
	// +optional
	AccountsRevision string `json:"accountsRevision,omitempty"`

	// Credentials is the Secret that servers are started with: a copy of spec.secrets.credentials that never changes. Another one takes a
	// rolling restart.
	// +optional
	Credentials string `json:"credentials,omitempty"`

	// Certificates is the Secret whose certificates servers have; empty: none has any but its own.
	// +optional
	Certificates string `json:"certificates,omitempty"`

	// CertificatesRequired: every server has them, and the operator and replicas are refused without.
	// +optional
	CertificatesRequired bool `json:"certificatesRequired,omitempty"`
}

// Record is the durable state of the failover protocol. It is only ever changed by a status update that carries the
// resourceVersion it was read with, so that two operators can never both claim an epoch.
type Record struct {
	// Epoch is the highest epoch claimed. 0 means that no server has been initialised yet.
	// +optional
	Epoch int64 `json:"epoch,omitempty"`

	// Election is set from the claim of an epoch until its master is chosen.
	// +optional
	Election *ElectionStatus `json:"election,omitempty"`

	// Master is the pod that holds, or is being given, the mastership of the current epoch.
	// +optional
	Master string `json:"master,omitempty"`

	// Quorum is who must acknowledge in the current epoch.
	// +optional
	Quorum *QuorumStatus `json:"quorum,omitempty"`

	// PriorQuorums may still be the only holders of something acknowledged: an election must cover them too.
	// They go away once Quorum holds everything.
	// +optional
	PriorQuorums []QuorumStatus `json:"priorQuorums,omitempty"`

	// Members are the servers whose identity is known. A pod that comes up with another identity is not one of them.
	// +listType=map
	// +listMapKey=name
	// +optional
	Members []MemberStatus `json:"members,omitempty"`

	// Switchover is the last planned move of the mastership, under way or ended.
	// +optional
	Switchover *SwitchoverStatus `json:"switchover,omitempty"`

	// Restart is the server that is being restarted with another configuration: one at a time, and on record before its pod goes.
	// +optional
	Restart *RestartStatus `json:"restart,omitempty"`

	// Clones are the servers that get another one's data. What they have themselves counts for nothing.
	// +listType=map
	// +listMapKey=name
	// +optional
	Clones []CloneStatus `json:"clones,omitempty"`

	// Released are the volumes that are being deleted after a scale-down. What they hold counts for nothing, and no server runs on them
	// ever again.
	// +listType=map
	// +listMapKey=name
	// +optional
	Released []ReleasedVolume `json:"released,omitempty"`

	// Promotion is the last promotion that a person has asked for beside the quorum.
	// +optional
	Promotion *PromotionStatus `json:"promotion,omitempty"`

	// LossAcceptedEpoch is the last epoch whose master a person has chosen without a quorum: what was acknowledged before it, and its
	// master did not have, is given up.
	// +optional
	LossAcceptedEpoch int64 `json:"lossAcceptedEpoch,omitempty"`

	// SwitchoversSeen are the identifiers of the last requests: each is carried out once, however often it is applied.
	// +listType=set
	// +optional
	SwitchoversSeen []string `json:"switchoversSeen,omitempty"`
}

// SwitchoverStatus describes a planned move of the mastership.
type SwitchoverStatus struct {
	// ID of the request.
	ID string `json:"id"`
	// Reason is Requested, ScaleDown, RollingRestart or PodLeaves.
	Reason string `json:"reason"`
	// Phase is CatchingUp, HandingOver, Moving, Succeeded, Failed or Cancelled.
	Phase string `json:"phase"`
	From  string `json:"from"`
	// +optional
	To string `json:"to,omitempty"`
	// +optional
	Message   string      `json:"message,omitempty"`
	StartedAt metav1.Time `json:"startedAt"`
	// Deadline is when a switchover that has not begun to move is given up.
	Deadline metav1.Time `json:"deadline"`
	// HandoverAt is when the master was first to take no more writes; it is not waited for long.
	// +optional
	HandoverAt *metav1.Time `json:"handoverAt,omitempty"`
	// +optional
	CompletedAt *metav1.Time `json:"completedAt,omitempty"`
}

// Ended says that nothing more will come of it.
func (s *SwitchoverStatus) Ended() bool { return s.CompletedAt != nil }

// PromotionStatus describes a promotion that a person has asked for because no quorum can be had.
type PromotionStatus struct {
	// ID of the request.
	ID string `json:"id"`
	// Server is the pod that is to be the master.
	Server string `json:"server"`
	// Phase is Assessed, Refused, Electing, Succeeded or Failed.
	Phase string `json:"phase"`
	// +optional
	Message string `json:"message,omitempty"`
	// Seen are the servers that answer, and what their logs hold.
	// +listType=map
	// +listMapKey=name
	// +optional
	Seen []SeenLog `json:"seen,omitempty"`
	// Missing are the servers that do not answer: what only they have is lost.
	// +listType=map
	// +listMapKey=name
	// +optional
	Missing   []MissingServer `json:"missing,omitempty"`
	StartedAt metav1.Time     `json:"startedAt"`
	// +optional
	CompletedAt *metav1.Time `json:"completedAt,omitempty"`
}

// Ended says that nothing more will come of it.
func (p *PromotionStatus) Ended() bool { return p.CompletedAt != nil }

// SeenLog is where a server's log ends.
type SeenLog struct {
	// Name of the pod.
	Name         string `json:"name"`
	LastLogEpoch int64  `json:"lastLogEpoch"`
	// +optional
	GTIDLogged string `json:"gtidLogged,omitempty"`
}

// MissingServer is one whose log nobody can see.
type MissingServer struct {
	// Name of the pod.
	Name string `json:"name"`
	// Why says what is known of it.
	Why string `json:"why"`
}

// ReleasedVolume is one that is being deleted.
type ReleasedVolume struct {
	// Name of the pod that ran on it.
	Name string `json:"name"`
	// PVCUID is the claim: one that is made anew under its name is another.
	PVCUID string `json:"pvcUID"`
}

// CloneStatus describes a server that is given the data of another one.
type CloneStatus struct {
	// Name of the pod.
	Name string `json:"name"`
	// PVCUID is the volume that is written.
	PVCUID string `json:"pvcUID"`
	// FormerUUID is the server whose data are replaced; empty when there were none. The one that comes of it has another UUID.
	// +optional
	FormerUUID string `json:"formerUUID,omitempty"`
	// Reason is Empty, LogPurged or Diverged.
	Reason    string      `json:"reason"`
	StartedAt metav1.Time `json:"startedAt"`
	// Progress is for display only.
	// +optional
	Progress string `json:"progress,omitempty"`
}

// RestartStatus describes the restart of one server.
type RestartStatus struct {
	// Name of the pod.
	Name string `json:"name"`
	// PodUID is the pod that goes; the one that comes in its place has another.
	PodUID string `json:"podUID"`
	// Reason says what of the pod was not what the spec asks for.
	Reason    string      `json:"reason"`
	StartedAt metav1.Time `json:"startedAt"`
}

// ElectionStatus describes an epoch that has been claimed and has no master yet.
type ElectionStatus struct {
	Reason string `json:"reason"`
	// +optional
	Message string `json:"message,omitempty"`
	// +optional
	StartedAt metav1.Time `json:"startedAt,omitempty"`
	// Candidate of a switchover: it is elected if it holds everything that was acknowledged, whatever else others hold.
	// +optional
	Candidate string `json:"candidate,omitempty"`
	// AcceptDataLoss: a person wants the candidate though too few servers can be fenced to know what was acknowledged.
	// +optional
	AcceptDataLoss bool `json:"acceptDataLoss,omitempty"`
}

// QuorumStatus is one rule of who must acknowledge: WaitCount of Members, besides the master itself.
type QuorumStatus struct {
	Epoch   int64 `json:"epoch"`
	Version int64 `json:"version"`
	// MasterUUID is the server UUID of the master that counts the acknowledgements.
	MasterUUID string `json:"masterUUID"`
	// Members are server UUIDs, sorted.
	// +listType=set
	// +optional
	Members   []string `json:"members,omitempty"`
	WaitCount int32    `json:"waitCount"`
	// OnTimeout is what the master does with commits that are not acknowledged within TimeoutMilliseconds; empty: it waits for ever.
	// Under async, what was acknowledged may be on the master alone.
	// +optional
	OnTimeout string `json:"onTimeout,omitempty"`
	// +optional
	TimeoutMilliseconds int64 `json:"timeoutMilliseconds,omitempty"`
	// SourceLeaseMilliseconds is how long the master answers clients without having heard from WaitCount members; 0: for ever.
	// +optional
	SourceLeaseMilliseconds int64 `json:"sourceLeaseMilliseconds,omitempty"`
	// LeaseShortened: in this epoch the master had a longer lease, or none; this one holds from when it was told, not from when it
	// was heard.
	// +optional
	LeaseShortened bool `json:"leaseShortened,omitempty"`
}

// MemberStatus is a server's identity, and what it was when its role changed last.
type MemberStatus struct {
	// Name of the pod.
	Name string `json:"name"`
	// ServerUUID and PVCUID together are the identity: an emptied or replaced volume is another server.
	ServerUUID string `json:"serverUUID"`
	PVCUID     string `json:"pvcUID"`
	// +optional
	Role string `json:"role,omitempty"`
	// Synced says that this member's acknowledgements count.
	// +optional
	Synced bool `json:"synced,omitempty"`
	// DataFormat of its volume, as it said last: an image that does not read it is refused.
	// +optional
	DataFormat string `json:"dataFormat,omitempty"`
	// Fenced: it is kept out by hand, and neither acknowledges nor serves.
	// +optional
	Fenced bool `json:"fenced,omitempty"`
	// +optional
	Problem string `json:"problem,omitempty"`
}
