// Package recovery runs RecoveryTests: gather what is there, decide in a pure function, act. What has been decided is in the status before it is
// done, and every act may be done twice, so that another operator goes on from any point.
package recovery

import (
	"fmt"
	"math/rand/v2"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"commitlab.dev/operator/api/v1alpha1"
)

const (
	defaultDuration = 30 * time.Second
	defaultInterval = 2 * time.Second
	defaultLatency  = 200 * time.Millisecond
	defaultPercent  = 50
	defaultOffset   = -10 * time.Minute
	defaultMemory   = 128 << 20
)

// Fault is one injection that is planned.
type Fault struct {
	Name      string
	Kind      v1alpha1.FaultKind
	Target    v1alpha1.FaultTarget
	From      v1alpha1.PartitionSide
	Direction string
	Duration  time.Duration
	Latency   time.Duration
	Percent   int32
	Offset    time.Duration
	Memory    int64 // bytes
	// Interval after the injection of the fault before.
	Interval time.Duration
	Start    v1alpha1.FaultStart
	// Substituted: the target's own library does it, not Chaos Mesh. It is chosen with the objects.
	Substituted  bool
	ExpectOutage bool
	// Pick chooses among replicas.
	Pick uint64
}

// Schedule is the list of injections: a function of spec, seed and injector, so that it need not be recorded.
func Schedule(spec v1alpha1.RecoveryTestSpec, seed int64, injector v1alpha1.Injector) []Fault {
	random := rand.New(rand.NewPCG(uint64(seed), 0))
	given := spec.Faults
	if spec.Random != nil {
		given = chooseFaults(*spec.Random, random, injector)
	}
	var all []Fault
	for _, f := range given {
		all = append(all, injections(f, random)...)
	}
	return all
}

// injections of one fault: as many as its times.
func injections(spec v1alpha1.FaultSpec, random *rand.Rand) []Fault {
	f := Fault{Name: spec.Name, Kind: spec.Kind, Target: spec.Target, Start: spec.Start, Pick: random.Uint64()}
	if f.Target == "" && f.Kind != v1alpha1.OperatorKill {
		f.Target = v1alpha1.TargetMaster
	}
	if f.Start == "" {
		f.Start = v1alpha1.StartAfterRecovery
	}
	f.strength(spec)
	if f.Kind == v1alpha1.Partition {
		f.From, f.Direction = v1alpha1.FromReplicas, "Both"
		if spec.From != "" {
			f.From = spec.From
		}
		if spec.Direction != "" {
			f.Direction = spec.Direction
		}
	}
	f.ExpectOutage = expectsOutage(spec, f)
	all := []Fault{f}
	for n := 2; spec.Times != nil && n <= int(*spec.Times); n++ {
		f.Start, f.Interval, f.Pick = v1alpha1.StartDuringRecovery, orDefault(spec.Interval, defaultInterval), random.Uint64()
		f.Name = fmt.Sprintf("%s.%d", spec.Name, n)
		all = append(all, f)
	}
	return all
}

// strength is how much of it, and for how long.
func (f *Fault) strength(spec v1alpha1.FaultSpec) {
	if lasts(f.Kind) {
		f.Duration = orDefault(spec.Duration, defaultDuration)
	}
	switch f.Kind {
	case v1alpha1.NetworkDelay, v1alpha1.DiskSlow:
		f.Latency = orDefault(spec.Latency, defaultLatency)
	case v1alpha1.NetworkLoss, v1alpha1.DiskError:
		f.Percent = defaultPercent
		if spec.Percent != nil {
			f.Percent = *spec.Percent
		}
	case v1alpha1.ClockSkew:
		f.Offset = orDefault(spec.Offset, defaultOffset)
	case v1alpha1.MemoryStress:
		f.Memory = defaultMemory
		if spec.Memory != nil {
			f.Memory = spec.Memory.Value()
		}
	}
}

// lasts: it is taken away again. A kill has no end.
func lasts(kind v1alpha1.FaultKind) bool {
	switch kind {
	case v1alpha1.PodKill, v1alpha1.ContainerKill, v1alpha1.PowerLoss, v1alpha1.OperatorKill, v1alpha1.NodeDrain:
		return false
	}
	return true
}

// isProbed: that the operator reaches its target late or not at all is what proves it.
func (f Fault) isProbed() bool {
	return f.From == v1alpha1.FromOperator || !f.Substituted && (f.Kind == v1alpha1.NetworkDelay || f.Kind == v1alpha1.NetworkLoss)
}

// isRecorded: nothing of it is seen from outside but what Chaos Mesh wrote down.
func (f Fault) isRecorded() bool {
	if f.Substituted {
		return false
	}
	switch f.Kind {
	case v1alpha1.DiskFull, v1alpha1.DiskError, v1alpha1.DiskSlow, v1alpha1.ClockSkew, v1alpha1.CPUStress, v1alpha1.MemoryStress:
		return true
	}
	return false
}

// expectsOutage: whoever kills the master or everybody is noticed. A partition may be over before anybody waits for long.
func expectsOutage(spec v1alpha1.FaultSpec, f Fault) bool {
	if spec.Expect != "" {
		return spec.Expect == v1alpha1.ExpectOutage
	}
	kill := f.Kind == v1alpha1.PodKill || f.Kind == v1alpha1.ContainerKill || f.Kind == v1alpha1.PowerLoss
	return kill && f.Target != v1alpha1.TargetReplica && f.Start == v1alpha1.StartAfterRecovery
}

func chooseFaults(spec v1alpha1.RandomFaultsSpec, random *rand.Rand, injector v1alpha1.Injector) []v1alpha1.FaultSpec {
	kinds := spec.Kinds
	if len(kinds) == 0 {
		kinds = []v1alpha1.FaultKind{v1alpha1.PodKill, v1alpha1.OperatorKill}
		if injector == v1alpha1.InjectorChaosMesh {
			kinds = append(kinds, v1alpha1.ContainerKill, v1alpha1.Partition)
		}
	}
	var all []v1alpha1.FaultSpec
	for n := range spec.Count {
		all = append(all, chooseFault(n, kinds[random.IntN(len(kinds))], random))
	}
	return all
}

// chooseFault favours the master: it is whose loss costs something.
func chooseFault(n int32, kind v1alpha1.FaultKind, random *rand.Rand) v1alpha1.FaultSpec {
	f := v1alpha1.FaultSpec{Name: fmt.Sprintf("random-%d", n+1), Kind: kind}
	targets := []v1alpha1.FaultTarget{v1alpha1.TargetMaster, v1alpha1.TargetMaster, v1alpha1.TargetReplica, v1alpha1.TargetAll}
	switch kind {
	case v1alpha1.PodKill, v1alpha1.ContainerKill, v1alpha1.PowerLoss:
		f.Target = targets[random.IntN(len(targets))]
	case v1alpha1.OperatorKill:
	default:
		f.Target = targets[random.IntN(3)]
	}
	if n > 0 && random.IntN(4) == 0 {
		f.Start = v1alpha1.StartDuringRecovery
	}
	return f
}

// unsupported says why a fault cannot be injected here; empty when it can.
func unsupported(f Fault, v View) string {
	injector := v.Test.Status.Injector
	switch {
	case injector == v1alpha1.InjectorChaosMesh && !v.ChaosMesh && usesChaosMesh(f, injector):
		return "Chaos Mesh is not installed (its kinds are unknown to the API server)"
	case f.Kind == v1alpha1.ContainerKill && injector == v1alpha1.InjectorBuiltIn:
		return "the first process of a container cannot be killed from inside of it: install Chaos Mesh, or use PodKill, which kills the process together with its pod"
	case f.Kind == v1alpha1.PowerLoss && injector == v1alpha1.InjectorBuiltIn:
		return "a process that is to leave nothing to its disk needs Chaos Mesh to be killed: whoever deletes a pod asks it to end first"
	case f.Kind == v1alpha1.Partition && injector == v1alpha1.InjectorBuiltIn:
		return "cutting a network needs Chaos Mesh, which is not installed or not to be used"
	case f.hasSubstitute() && v.Test.Spec.Injector != v1alpha1.InjectorChaosMesh && !v.noneForgets():
		return "" // or it is not known yet
	case lasts(f.Kind) && injector == v1alpha1.InjectorBuiltIn:
		return string(f.Kind) + " needs Chaos Mesh, which is not installed or not to be used"
	case f.Kind == v1alpha1.OperatorKill && v.Operator.UID == "":
		return "this operator does not run in a pod that it knows (POD_NAME, POD_NAMESPACE, POD_UID)"
	case f.From == v1alpha1.FromOperator && v.Operator.UID == "":
		return "this operator does not run in a pod that it knows (POD_NAME, POD_NAMESPACE, POD_UID)"
	case v.Cluster != nil && v.Cluster.Spec.Replicas == 0 && needsReplicas(f):
		return "the cluster has no replicas"
	}
	return ""
}

func needsReplicas(f Fault) bool {
	return f.Target == v1alpha1.TargetReplica || f.From == v1alpha1.FromReplicas
}

func usesChaosMesh(f Fault, injector v1alpha1.Injector) bool {
	return injector == v1alpha1.InjectorChaosMesh && !f.Substituted && f.Kind != v1alpha1.OperatorKill && f.Kind != v1alpha1.NodeDrain
}

func orDefault(d *metav1.Duration, otherwise time.Duration) time.Duration {
	if d == nil {
		return otherwise
	}
	return d.Duration
}
