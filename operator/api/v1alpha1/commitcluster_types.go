package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// CommitCluster is one master and a number of replicas of commitd, with semisynchronous replication between them.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:resource:shortName=cc,categories={all,commitlab}
// +kubebuilder:printcolumn:name="Replicas",type=integer,JSONPath=`.spec.replicas`
// +kubebuilder:printcolumn:name="Attached",type=integer,JSONPath=`.status.readyReplicas`
// +kubebuilder:printcolumn:name="Semisync",type=string,JSONPath=`.status.semisync`
// +kubebuilder:printcolumn:name="Master",type=string,JSONPath=`.status.master`
// +kubebuilder:printcolumn:name="Epoch",type=integer,JSONPath=`.status.epoch`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 40",message="metadata.name must have at most 40 characters: pod and Service names are made from it"
type CommitCluster struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +required
	Spec   CommitClusterSpec   `json:"spec"`
	Status CommitClusterStatus `json:"status,omitempty"`
}

// CommitClusterList is a list of CommitClusters.
//
// +kubebuilder:object:root=true
type CommitClusterList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []CommitCluster `json:"items"`
}

// CommitClusterSpec is what a person asks for.
//
// +kubebuilder:validation:XValidation:rule="!has(self.semisync.waitCount) || self.replicas == 0 || self.semisync.waitCount <= self.replicas",message="spec.semisync.waitCount must not be larger than spec.replicas: no write could ever be acknowledged; lower it or leave it out for a majority"
// +kubebuilder:validation:XValidation:rule="!has(self.tls) || !has(oldSelf.tls) || (has(self.tls.secretName) == has(oldSelf.tls.secretName) && (!has(self.tls.secretName) || self.tls.secretName == oldSelf.tls.secretName))",message="spec.tls.secretName cannot be changed while servers use it: put other certificates into that Secret, or leave spec.tls out until all servers have been started without"
// +kubebuilder:validation:XValidation:rule="!has(self.tls) || !has(oldSelf.tls) || (has(self.tls.issuerRef) == has(oldSelf.tls.issuerRef) && (!has(self.tls.issuerRef) || self.tls.issuerRef == oldSelf.tls.issuerRef))",message="spec.tls.issuerRef cannot be changed while servers use what it has issued: leave spec.tls out until all servers have been started without"
// +kubebuilder:validation:XValidation:rule="self.replicas == 0 || self.semisync.minSyncReplicas <= self.replicas",message="spec.semisync.minSyncReplicas must not be larger than spec.replicas: no write could ever be acknowledged; lower it or add replicas"
type CommitClusterSpec struct {
	// Image of commitd. Empty means the operator's default.
	// +optional
	Image string `json:"image,omitempty"`

	// +kubebuilder:default=IfNotPresent
	// +kubebuilder:validation:Enum=Always;IfNotPresent;Never
	// +optional
	ImagePullPolicy corev1.PullPolicy `json:"imagePullPolicy,omitempty"`

	// +optional
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`

	// Replicas besides the master: 2 means three pods. 0 means a master alone, without semisync and without failover.
	// With 1, writes of a `required` cluster wait after a failover until the failed server is back; 2 is the smallest number without that.
	// +kubebuilder:default=2
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=20
	Replicas int32 `json:"replicas"`

	// +required
	Storage StorageSpec `json:"storage"`

	// +optional
	Resources corev1.ResourceRequirements `json:"resources,omitempty"`

	// +optional
	Scheduling SchedulingSpec `json:"scheduling,omitempty"`

	// +kubebuilder:default={}
	// +optional
	Semisync SemisyncSpec `json:"semisync,omitempty"`

	// +optional
	Engine EngineSpec `json:"engine,omitempty"`

	// +kubebuilder:default={}
	// +optional
	Bootstrap BootstrapSpec `json:"bootstrap,omitempty"`

	// +optional
	Secrets SecretsSpec `json:"secrets,omitempty"`

	// +kubebuilder:default={}
	// +optional
	Failover FailoverSpec `json:"failover,omitempty"`

	// Paused keeps the operator from changing anything of this cluster: no object, no label, no role. The servers go on as they are,
	// and a lost master is not replaced.
	// +optional
	Paused bool `json:"paused,omitempty"`

	// Hibernated ends all pods and keeps the volumes and the record of who holds what. When it is false again the same servers come
	// back, and nothing is lost.
	// +optional
	Hibernated bool `json:"hibernated,omitempty"`

	// +kubebuilder:default={}
	// +optional
	Clone CloneSpec `json:"clone,omitempty"`

	// DivergencePolicy says what becomes of a server whose log has transactions that the master does not have, and that it has shown
	// already. `Quarantine` keeps it as it is, for a person to look at. `Reclone` gives it a copy of another server's data, in its own
	// volume; what only it had is gone. A server that may hold what was acknowledged and nobody else has is never touched.
	// +kubebuilder:default=Quarantine
	// +kubebuilder:validation:Enum=Quarantine;Reclone
	// +optional
	DivergencePolicy string `json:"divergencePolicy,omitempty"`

	// +kubebuilder:default={}
	// +optional
	Monitoring MonitoringSpec `json:"monitoring,omitempty"`

	// NetworkPolicy has the operator write a NetworkPolicy for the servers. Left out, there is none.
	// +optional
	NetworkPolicy *NetworkPolicySpec `json:"networkPolicy,omitempty"`

	// TLS has servers serve with certificates that others can check; the operator and replicas then know servers by them, and show
	// theirs. Left out, each server makes a certificate of its own, which nobody checks.
	// +optional
	TLS *TLSSpec `json:"tls,omitempty"`
}

// TLSSpec says where certificates come from, and who must connect over TLS.
//
// +kubebuilder:validation:XValidation:rule="!has(self.secretName) || !has(self.issuerRef)",message="spec.tls has both secretName and issuerRef: leave one of them out; with issuerRef cert-manager writes a Secret of its own"
type TLSSpec struct {
	// SecretName is a Secret with ca.crt, tls.crt and tls.key, as cert-manager writes it: good for servers and for clients, and for the
	// names NAME-master.NAMESPACE.svc and *.NAME.NAMESPACE.svc. What changes in it is taken up without a restart. Left out, the operator
	// makes and renews one, NAME-tls, by an authority of the cluster's own; applications find its ca.crt in the ConfigMap NAME-ca.
	// +kubebuilder:validation:MinLength=1
	// +optional
	SecretName string `json:"secretName,omitempty"`

	// IssuerRef has cert-manager make and renew the certificate: the operator writes a Certificate NAME, and servers get what
	// cert-manager puts into the Secret NAME-issued-tls. The issuer must have an authority of its own (ca.crt), and issue for servers and
	// for clients.
	// +optional
	IssuerRef *IssuerReference `json:"issuerRef,omitempty"`

	// RequireSecureTransport refuses clients without TLS (error 3159), as soon as every server has its certificates.
	// +optional
	RequireSecureTransport bool `json:"requireSecureTransport,omitempty"`
}

// IssuerReference names one of cert-manager's issuers.
type IssuerReference struct {
	// +kubebuilder:validation:MinLength=1
	// +required
	Name string `json:"name"`

	// Kind is Issuer, for one in the cluster's namespace, or ClusterIssuer, or that of another controller.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:default=Issuer
	// +optional
	Kind string `json:"kind,omitempty"`

	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:default=cert-manager.io
	// +optional
	Group string `json:"group,omitempty"`
}

// StorageSpec describes the volume of each server.
//
// +kubebuilder:validation:XValidation:rule="has(self.storageClassName) == has(oldSelf.storageClassName) && (!has(self.storageClassName) || self.storageClassName == oldSelf.storageClassName)",message="spec.storage.storageClassName cannot be changed: create a new cluster with the other class and move the data"
type StorageSpec struct {
	// +required
	Size resource.Quantity `json:"size"`

	// +kubebuilder:validation:MinLength=1
	// +optional
	StorageClassName *string `json:"storageClassName,omitempty"`

	// DeletionPolicy says what becomes of the volumes when the CommitCluster is deleted. Retain: they stay, and a cluster of that name
	// can adopt them. Delete: they go with it.
	// +kubebuilder:validation:Enum=Retain;Delete
	// +kubebuilder:default=Retain
	// +optional
	DeletionPolicy string `json:"deletionPolicy,omitempty"`

	// ScaleDownPolicy says what becomes of the volumes of servers that a smaller spec.replicas has left over. Retain: they stay, and a
	// larger number finds them. Delete: they are deleted as soon as nobody counts on what they hold, also those left over before.
	// +kubebuilder:validation:Enum=Retain;Delete
	// +kubebuilder:default=Retain
	// +optional
	ScaleDownPolicy string `json:"scaleDownPolicy,omitempty"`
}

// The values of StorageSpec.DeletionPolicy and ScaleDownPolicy.
const (
	DeletionRetain = "Retain"
	DeletionDelete = "Delete"
)

// SchedulingSpec says where pods may run.
type SchedulingSpec struct {
	// +optional
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`
	// +optional
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`
	// Affinity replaces the default, which prefers a node of its own for each server.
	// +optional
	Affinity *corev1.Affinity `json:"affinity,omitempty"`
	// +optional
	TopologySpreadConstraints []corev1.TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`
	// +optional
	PriorityClassName string `json:"priorityClassName,omitempty"`
}

// Durability says what happens to writes when replicas are missing.
// +kubebuilder:validation:Enum=required;preferred
type Durability string

const (
	// DurabilityRequired blocks writes rather than acknowledging one that fewer than minSyncReplicas replicas hold.
	DurabilityRequired Durability = "required"
	// DurabilityPreferred lets the operator lower the wait count, down to 0, when replicas stay away.
	DurabilityPreferred Durability = "preferred"
)

// SemisyncSpec says who must hold a transaction before its commit is acknowledged.
//
// +kubebuilder:validation:XValidation:rule="!has(self.waitCount) || self.durability != 'required' || self.waitCount >= self.minSyncReplicas",message="spec.semisync.waitCount must not be smaller than minSyncReplicas when durability is required; raise it or lower minSyncReplicas"
// +kubebuilder:validation:XValidation:rule="!has(self.onTimeout) || self.onTimeout != 'async' || self.durability == 'preferred'",message="spec.semisync.onTimeout: async acknowledges what no replica may hold, which durability: required rules out; set durability: preferred as well, or onTimeout to block or error"
type SemisyncSpec struct {
	// +kubebuilder:default=required
	// +optional
	Durability Durability `json:"durability,omitempty"`

	// MinSyncReplicas is the number of replicas that hold every acknowledged transaction, whatever happens (`required`).
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=20
	// +optional
	MinSyncReplicas int32 `json:"minSyncReplicas,omitempty"`

	// WaitCount is how many replicas acknowledge each transaction when all is well.
	// Left out, it is chosen so that the acknowledging servers and the master are a majority.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=20
	// +optional
	WaitCount *int32 `json:"waitCount,omitempty"`

	// Timeout is how long writes wait for missing replicas: then the wait count is lowered as far as `durability` allows, and the
	// engine does what `onTimeout` says.
	// +kubebuilder:default="10s"
	// +optional
	Timeout *metav1.Duration `json:"timeout,omitempty"`

	// +kubebuilder:default=AFTER_SYNC
	// +kubebuilder:validation:Enum=AFTER_SYNC;AFTER_COMMIT
	// +optional
	WaitPoint string `json:"waitPoint,omitempty"`

	// OnTimeout is what the engine itself does with commits that have waited for `timeout`. `block` waits on. `error` answers with
	// error 1053 (the transaction becomes visible once it is acknowledged) and refuses new ones. `async` acknowledges without
	// replicas, and turns automatic failover off: the operator could no longer know who holds what was acknowledged.
	// +kubebuilder:default=block
	// +kubebuilder:validation:Enum=block;error;async
	// +optional
	OnTimeout string `json:"onTimeout,omitempty"`
}

// EngineSpec configures commitd.
type EngineSpec struct {
	// Variables are passed to commitd as flags. Strings, integers and booleans are accepted (YAML turns ON into true).
	// Names that the operator owns, such as datadir or server-id, are refused in the ConfigurationValid condition.
	// +optional
	Variables map[string]apiextensionsv1.JSON `json:"variables,omitempty"`
}

// BootstrapSpec says what a new cluster is given once it can be written to.
type BootstrapSpec struct {
	// Database is created and granted to User.
	// +kubebuilder:default=app
	// +kubebuilder:validation:Pattern=`^[A-Za-z_][A-Za-z0-9_]{0,63}$`
	// +optional
	Database string `json:"database,omitempty"`
	// User gets its password from the Secret NAME-app.
	// +kubebuilder:default=app
	// +kubebuilder:validation:Pattern=`^[A-Za-z_][A-Za-z0-9_]{0,31}$`
	// +kubebuilder:validation:XValidation:rule="!(self in ['root', 'commitlab_operator', 'commitlab_replication'])",message="spec.bootstrap.user must not be root, commitlab_operator or commitlab_replication: those accounts belong to the cluster"
	// +optional
	User string `json:"user,omitempty"`
}

// SecretsSpec names Secrets that exist already. A Secret that is not named is generated once and never changed.
type SecretsSpec struct {
	// Credentials must have the keys operator-password, root-password and replication-password.
	// +optional
	Credentials *corev1.LocalObjectReference `json:"credentials,omitempty"`
	// App must have the keys username, password and database.
	// +optional
	App *corev1.LocalObjectReference `json:"app,omitempty"`
}

// FailoverSpec tunes when the operator gives the mastership to another server.
type FailoverSpec struct {
	// Disabled leaves a lost master to a person. A master that comes back by itself still gets its role again.
	// +optional
	Disabled bool `json:"disabled,omitempty"`

	// UnreachableAfter is how long the operator must fail to reach the master before it asks the replicas.
	// +kubebuilder:default="2s"
	// +optional
	UnreachableAfter *metav1.Duration `json:"unreachableAfter,omitempty"`

	// HeartbeatTimeout is how long a replica must not have heard the master to count as having lost it.
	// +kubebuilder:default="3s"
	// +optional
	HeartbeatTimeout *metav1.Duration `json:"heartbeatTimeout,omitempty"`

	// SourceLease is how long a master answers clients without having heard from as many replicas as must acknowledge. An election
	// that cannot end the old master itself waits for it, and a tenth more: then nobody reads there what another master has changed.
	// 0s: no lease; a master that is cut off from everybody goes on answering readers.
	// +kubebuilder:default="3s"
	// +kubebuilder:validation:XValidation:rule="duration(self) == duration('0s') || (duration(self) >= duration('1s') && duration(self) <= duration('10m'))",message="spec.failover.sourceLease must be 0s (none) or from 1s to 10m: a shorter one would close a master's clients at every hiccup of the network"
	// +optional
	SourceLease *metav1.Duration `json:"sourceLease,omitempty"`
}

// CloneSpec says how servers are given the data of another one.
type CloneSpec struct {
	// MaxBandwidth is how many bytes a second are copied at most, such as 100Mi, in whole Mi and at least one; without it there is no limit.
	// +optional
	MaxBandwidth *resource.Quantity `json:"maxBandwidth,omitempty"`
}

// NetworkPolicySpec says who may connect to the servers, besides the servers themselves. The port of /metrics and of the probes is
// open to everybody: it has no data.
type NetworkPolicySpec struct {
	// Clients may connect to the MySQL port. Left out: every pod in the cluster's namespace.
	// +kubebuilder:validation:MaxItems=64
	// +optional
	Clients []networkingv1.NetworkPolicyPeer `json:"clients,omitempty"`

	// Operator may connect to the administrative port. Left out: pods labelled app.kubernetes.io/name: commitlab-operator, in any namespace.
	// An operator that does not run as a pod needs an ipBlock here.
	// +kubebuilder:validation:MaxItems=64
	// +optional
	Operator []networkingv1.NetworkPolicyPeer `json:"operator,omitempty"`
}

// MonitoringSpec controls what a Prometheus finds.
type MonitoringSpec struct {
	// ScrapeAnnotations adds the prometheus.io annotations to pods.
	// +kubebuilder:default=true
	// +optional
	ScrapeAnnotations *bool `json:"scrapeAnnotations,omitempty"`
}
