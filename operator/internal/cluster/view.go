// Package cluster holds the rules that decide whether a commit is ever lost: it looks at a cluster's servers and at the
// durable record, and says what to do next. It knows nothing of Kubernetes objects.
//
// Deciding is a pure function of a View. A Plan either changes the record, and then nothing else, or commands servers by
// an already persisted record: so an operator may stop between any two steps and another one may go on.
package cluster

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/engine"
)

// View is everything that a decision depends on.
type View struct {
	Now    time.Time
	Policy Policy
	// Namespace is for what people are told to type.
	Namespace string
	Record    v1alpha1.Record
	// Initialized: the cluster has acknowledged something, ever.
	Initialized bool
	// Servers by ordinal: every pod of the StatefulSet, and every pod that should be there.
	Servers []Server
	// Unused are the UIDs of volume claims that are there without a server, by the names of the pods that would run on them.
	Unused map[string]string
	// Request is the switchover that the cluster's annotation asks for, RequestProblem why it cannot be read.
	Request        *SwitchoverRequest
	RequestProblem error
	// KeptOut are the servers that a person has fenced, by pod name; KeptOutProblem says why the annotation cannot be read.
	KeptOut        map[string]bool
	KeptOutProblem error
	// Promotion is what a person asks for when no quorum can be had, PromotionProblem why it cannot be read.
	Promotion        *PromotionRequest
	PromotionProblem error
	// CoveredFor is how long ago, by the monotonic clock of this operator's process, it first saw that those who are fenced in the
	// epoch on record cover the record: since then no former master's lease is renewed.
	CoveredFor time.Duration
}

// Policy is the part of a spec that decisions depend on.
type Policy struct {
	Replicas         int32
	Durability       v1alpha1.Durability
	MinSyncReplicas  int32
	WaitCount        *int32
	AckTimeout       time.Duration
	OnTimeout        string
	FailoverDisabled bool
	// Hibernated: the pods go, and nobody takes their place.
	Hibernated bool
	// DeleteVolumes of servers that are left over.
	DeleteVolumes bool
	// Divergence says what becomes of servers that have diverged.
	Divergence       string
	UnreachableAfter time.Duration
	HeartbeatTimeout time.Duration
	SourceLease      time.Duration
	// Adopt: a person says that the volumes belong to this cluster, though its status is empty.
	Adopt bool
}

// Server is one pod as it was seen just now.
type Server struct {
	Name    string
	Ordinal int32
	// Address is empty while there is no pod.
	Address string
	// Claim is the name of its volume claim, PVCUID which claim of that name it is.
	Claim  string
	PVCUID string
	// Label is the role label that the pod carries.
	Label string
	// TLSName is what the server's certificate is for; empty: it was started without one that others know it by.
	TLSName string
	// Credentials is the Secret with the passwords that its program was started with.
	Credentials string
	// PodUID tells a pod from the one that was made anew under its name; empty while there is none.
	PodUID string
	// Leaving: the pod is being deleted.
	Leaving bool
	// Down: Kubernetes says that the server's program does not run.
	Down bool
	// Outdated says what of the pod is not what the spec asks for and takes a restart; empty when nothing is.
	Outdated string
	// Changed are the flags that have other values now than when the pod was made, nil: none. They may be set while it runs.
	Changed map[string]*string

	Reachable bool
	// Denied: it answers, and refuses the operator's password.
	Denied         bool
	UnreachableFor time.Duration
	// Status is only meaningful when Reachable.
	Status engine.Status
	// LeaseLostFor is how long it has been seen to be a master that answers no clients, because it hears too few of its members.
	LeaseLostFor time.Duration
	// Ended: the process that was last seen to be the master here is known to have ended; whatever comes in its place has no role.
	Ended bool
	// CaughtUp: the log held everything that the master had acknowledged when the master was asked, a moment earlier.
	CaughtUp bool
}

// PolicyOf reads the policy out of a cluster's spec.
func PolicyOf(c *v1alpha1.CommitCluster) Policy {
	s := c.Spec
	return Policy{
		Replicas:         s.Replicas,
		Durability:       s.Semisync.Durability,
		MinSyncReplicas:  s.Semisync.MinSyncReplicas,
		WaitCount:        s.Semisync.WaitCount,
		AckTimeout:       durationOr(s.Semisync.Timeout, 10*time.Second),
		OnTimeout:        s.Semisync.OnTimeout,
		FailoverDisabled: s.Failover.Disabled,
		Hibernated:       s.Hibernated,
		DeleteVolumes:    s.Storage.ScaleDownPolicy == v1alpha1.DeletionDelete,
		Divergence:       s.DivergencePolicy,
		UnreachableAfter: durationOr(s.Failover.UnreachableAfter, 2*time.Second),
		HeartbeatTimeout: durationOr(s.Failover.HeartbeatTimeout, 3*time.Second),
		SourceLease:      durationOr(s.Failover.SourceLease, 3*time.Second),
		Adopt:            c.Annotations[v1alpha1.AnnotationAdopt] == "true",
	}
}

// terms are what a master is told to do after the timeout, and for how long it answers clients alone. `required` rules `async` out,
// also in a spec that the API did not check. An engine that does not know of leases is told of none.
func (p Policy) terms(master *engine.Status) engine.Terms {
	t := engine.Terms{}
	if master.KnowsLease {
		t.LeaseMilliseconds = max(p.SourceLease.Milliseconds(), 0)
	}
	async := p.OnTimeout == engine.OnTimeoutAsync && p.Durability != v1alpha1.DurabilityRequired
	if p.OnTimeout == engine.OnTimeoutError || async {
		t.OnTimeout, t.TimeoutMilliseconds = p.OnTimeout, min(max(p.AckTimeout.Milliseconds(), 1), engine.ForEver-1)
	}
	return t
}

// durationOr repeats the API's default for objects that did not pass through the API server.
func durationOr(d *metav1.Duration, otherwise time.Duration) time.Duration {
	if d == nil {
		return otherwise
	}
	return d.Duration
}

// fullWaitCount is the wait count when all is well: by default, the acknowledging replicas and the master are a majority.
func (p Policy) fullWaitCount() int32 {
	if p.WaitCount != nil {
		return min(*p.WaitCount, p.Replicas)
	}
	return max((p.Replicas+1)/2, p.floorWaitCount())
}

// floorWaitCount is the least that the operator may lower the wait count to.
func (p Policy) floorWaitCount() int32 {
	if p.Durability == v1alpha1.DurabilityPreferred || mutated(floorIgnored) {
		return 0
	}
	return min(p.MinSyncReplicas, p.Replicas)
}

// identity says how a pod relates to the servers that are known.
type identity int

const (
	// identityUnseen: the server does not answer, so nobody knows.
	identityUnseen identity = iota
	// identityEmpty: there is no datadir.
	identityEmpty
	// identityMember: server UUID and volume are those on record.
	identityMember
	// identityFresh: initialised, and holds nothing.
	identityFresh
	// identityCloning: on record to get another server's data; what it has counts for nothing.
	identityCloning
	// identityReplacedVolume: a known server UUID on another volume: a copy, possibly an older one.
	identityReplacedVolume
	// identityForeign: data of unknown origin.
	identityForeign
)

func (v *View) identityOf(s *Server) identity {
	if !s.Reachable {
		return identityUnseen
	}
	if v.cloneOf(s) != nil {
		return identityCloning
	}
	if s.Status.Role == engine.RoleUninitialized {
		return identityEmpty
	}
	for _, m := range v.Record.Members {
		if m.ServerUUID != s.Status.ServerUUID {
			continue
		}
		if m.Name == s.Name && (m.PVCUID == s.PVCUID || mutated(copiesAreMembers)) {
			return identityMember
		}
		return identityReplacedVolume
	}
	if holdsNothing(&s.Status) {
		return identityFresh
	}
	return identityForeign
}

func holdsNothing(s *engine.Status) bool { return s.GTIDLogged == "" && s.LastLogEpoch == 0 }

func (v *View) isMember(s *Server) bool { return v.identityOf(s) == identityMember }

// wanted says whether spec.replicas asks for this pod. Nobody is beyond a volume that is being deleted: with it would come a pod that
// runs on that volume.
func (v *View) wanted(s *Server) bool {
	return s.Ordinal <= v.Policy.Replicas && s.Ordinal < firstReleased(&v.Record)
}

func (v *View) server(name string) *Server {
	for i := range v.Servers {
		if v.Servers[i].Name == name {
			return &v.Servers[i]
		}
	}
	return nil
}

// highestEpoch is the highest epoch that the record or any of its members knows of; before there are members, any server.
// What a volume from elsewhere has promised concerns nobody: it would only demote a healthy master.
func (v *View) highestEpoch() int64 {
	epoch := v.Record.Epoch
	for i := range v.Servers {
		if s := &v.Servers[i]; s.Reachable && (v.bootstrapping() || v.isMember(s)) {
			epoch = max(epoch, s.Status.Epoch)
		}
	}
	return epoch
}

// servesAsMaster: the server is the master of the epoch on record and says so.
func (v *View) servesAsMaster(s *Server) bool {
	return s != nil && v.Record.Election == nil && s.Name == v.Record.Master && v.isMember(s) &&
		s.Status.Role == engine.RoleMaster && s.Status.Epoch == v.Record.Epoch
}

// servesAsReplica: the server follows the master of the epoch on record, hears it, and shows what it hears.
func (v *View) servesAsReplica(s *Server) bool {
	return v.follows(s) && s.Status.ReceiverState == engine.ReceiverReceiving && s.Status.SecondsSinceHeartbeat != nil &&
		s.Status.ApplierState != engine.ApplierStopped
}

// follows: the server has been told to follow the master of the epoch on record.
func (v *View) follows(s *Server) bool {
	return v.Record.Election == nil && v.Record.Quorum != nil && v.isMember(s) &&
		s.Status.Role == engine.RoleReplica && s.Status.Epoch == v.Record.Epoch && s.Status.ReceiverState != engine.ReceiverDiverged &&
		s.Status.SourceUUID == v.Record.Quorum.MasterUUID
}

// Writable says whether the master on record takes writes now.
func Writable(v View) bool {
	master := v.server(v.Record.Master)
	return v.servesAsMaster(master) && !master.Status.WritesBlocked
}
