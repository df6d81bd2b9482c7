package recovery

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/recovery/ledger"
)

// View is everything that a decision depends on.
type View struct {
	Now  time.Time
	Test *v1alpha1.RecoveryTest
	// Cluster is nil when there is none.
	Cluster *v1alpha1.CommitCluster
	// BusyWith is another test that has the cluster, or comes first.
	BusyWith string
	// ChaosMesh says that its kinds are installed.
	ChaosMesh bool
	// Operator is the pod that decides; without a UID when it is not known.
	Operator OperatorPod
	// Servers are the cluster's pods, in the order of their names.
	Servers []Server
	// Experiments are the Chaos Mesh objects of this test that are there, by fault.
	Experiments map[string]Experiment
	// Volume is the UID of the journal's claim; empty when there is none.
	Volume types.UID
	// HistorySaved says that the ConfigMap is there.
	HistorySaved bool

	LedgerPod LedgerPod
	// Ledger is nil while it does not answer.
	Ledger  *ledger.Status
	Verdict *ledger.Verdict
}

// OperatorPod is who decides.
type OperatorPod struct {
	Namespace, Name string
	UID             types.UID
}

// LedgerPod is where the load runs.
type LedgerPod struct {
	Exists      bool
	Terminating bool
	// Problem says why it does not run, as the kubelet or the scheduler put it.
	Problem string
}

// Experiment is what Chaos Mesh says of one of its objects.
type Experiment struct {
	Exists bool
	// Injected says that all of it has been done.
	Injected bool
	// Problem is why the last attempt failed.
	Problem string
}

// Server is a pod of the cluster.
type Server struct {
	Name        string
	UID         types.UID
	ContainerID string
	// OutOfMemory is the container before, if it was killed for the memory that it had.
	OutOfMemory string
	Running     bool
	Role        string
	Address     string
	// Reached says that the operator could connect to it, ReachedIn how long that took; looked at only where a fault is seen by that.
	Reached   bool
	ReachedIn time.Duration
	// Recovery is what the server says of its last start; looked at only behind a kill.
	Recovery *CrashRecovery
	// Disk is what a disk that forgets says of itself, nil when it has not answered; looked at only where a fault is proved by it.
	Disk *Disk
	// PlainDisk says that the server has none such.
	PlainDisk bool
}

// CrashRecovery is how a server came back.
type CrashRecovery struct {
	Rows int64
	Took time.Duration
}

func (v *View) server(name string) *Server {
	for i := range v.Servers {
		if v.Servers[i].Name == name {
			return &v.Servers[i]
		}
	}
	return nil
}

// Plan is what a status should say, and what is to be done once it does.
type Plan struct {
	Status  v1alpha1.RecoveryTestStatus
	Actions []Action
	// Again is when to look again; 0 is when something changes.
	Again time.Duration
	// Event is worth telling; empty when nothing is.
	Events []Event
}

// Event is something that a person may want to know later.
type Event struct {
	Warning         bool
	Reason, Message string
}

// Action is one thing that is done. Each may be done twice.
type Action interface{ isAction() }

type (
	// AddFinalizer and RemoveFinalizer bracket everything else.
	AddFinalizer    struct{}
	RemoveFinalizer struct{}
	// DeleteTest ends a test whose time to live is over.
	DeleteTest struct{}
	// StartLedger creates the journal's volume and the pod, whichever is missing.
	StartLedger  struct{}
	DeleteLedger struct{}
	// Inject does it.
	Inject struct {
		Fault   Fault
		Objects []v1alpha1.FaultObject
	}
	// EndExperiment takes what Chaos Mesh does away.
	EndExperiment struct {
		Fault string
		// Force does not wait until Chaos Mesh has taken away what it could not do.
		Force bool
	}
	Mark  struct{ ledger.Mark }
	Prove struct{ ledger.Proof }
	// Mend ends what is wrong with the machines of a Substituted fault's objects.
	Mend struct {
		Fault   Fault
		Objects []v1alpha1.FaultObject
	}
	StopLoad    struct{}
	SaveHistory struct{}
)

func (AddFinalizer) isAction()    {}
func (RemoveFinalizer) isAction() {}
func (DeleteTest) isAction()      {}
func (StartLedger) isAction()     {}
func (DeleteLedger) isAction()    {}
func (Inject) isAction()          {}
func (EndExperiment) isAction()   {}
func (Mend) isAction()            {}
func (Mark) isAction()            {}
func (Prove) isAction()           {}
func (StopLoad) isAction()        {}
func (SaveHistory) isAction()     {}
