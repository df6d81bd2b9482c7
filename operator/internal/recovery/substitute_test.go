package recovery

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"commitlab.dev/operator/api/v1alpha1"
)

// With Chaos Mesh or without: what a server's library can do it does, and the test says so.
func TestALibraryOfOurOwnStandsForChaosMesh(t *testing.T) {
	for _, chaosMesh := range []bool{false, true} {
		for kind, done := range map[v1alpha1.FaultKind]string{
			v1alpha1.DiskFull:     "disk of demo-0 was as it should be, is 7 calls refused with errno 28",
			v1alpha1.DiskError:    "7 calls refused with errno 5",
			v1alpha1.DiskSlow:     "7 calls made late",
			v1alpha1.NetworkDelay: "network of demo-0 was as it should be, is 7 times late with what the server sent",
			v1alpha1.NetworkLoss:  "7 times in need of sending again",
			v1alpha1.ClockSkew:    "clock of demo-0 was right, is -10m0s off in 7 answers",
			v1alpha1.CPUStress:    "processors of demo-0 was the server's, is used up for 7 ms so far",
			v1alpha1.MemoryStress: "memory of demo-0 was the server's, is less by 134217728 bytes that are held",
		} {
			w := newWorld(t, v1alpha1.FaultSpec{Name: "a", Kind: kind, Duration: &metav1.Duration{Duration: 10 * time.Second}})
			w.chaosMesh = chaosMesh
			w.forget()
			w.expect(w.run(), v1alpha1.VerdictPassed, "")
			fault := w.test.Status.Faults[0]
			if fault.Substitute != substitutes[kind].says || !strings.Contains(fault.Evidence[0], done) || !strings.Contains(fault.Evidence[0], fault.Substitute) {
				t.Errorf("%s: %+v", kind, fault)
			}
			if held := fault.EndedAt.Sub(fault.InjectedAt.Time); held < 10*time.Second || !slices.Equal(w.mended, []string{"a"}) {
				t.Errorf("%s: held for %s, mended %v", kind, held, w.mended)
			}
		}
	}
}

func TestWhoAsksForChaosMeshGetsNoSubstitute(t *testing.T) {
	for kind := range substitutes {
		w := newWorld(t, v1alpha1.FaultSpec{Name: "a", Kind: kind})
		w.chaosMesh, w.refusal, w.test.Spec.Injector = true, "toda update RPC failed", v1alpha1.InjectorChaosMesh
		w.forget()
		w.expect(w.run(), v1alpha1.VerdictUnsupported, "toda update RPC failed")
	}
}

// Servers that have no such library get what Chaos Mesh can do, or the reason why nobody can.
func TestWithoutTheLibraryNothingStandsForChaosMesh(t *testing.T) {
	for kind := range substitutes {
		w := newWorld(t, v1alpha1.FaultSpec{Name: "a", Kind: kind})
		w.expect(w.run(), v1alpha1.VerdictUnsupported, string(kind)+" needs Chaos Mesh")
		w = newWorld(t, v1alpha1.FaultSpec{Name: "a", Kind: kind})
		w.chaosMesh = true
		w.expect(w.run(), v1alpha1.VerdictPassed, "")
		if fault := w.test.Status.Faults[0]; fault.Substitute != "" {
			t.Errorf("%+v", fault)
		}
	}
}

func TestALibraryThatHasDoneNothingProvesNothing(t *testing.T) {
	for kind := range substitutes {
		w := newWorld(t, v1alpha1.FaultSpec{Name: "a", Kind: kind})
		w.forget()
		w.idle = true
		w.expect(w.run(), v1alpha1.VerdictInconclusive, "nothing proves that a was injected")
	}
}

// Part of the memory is not what was asked for, unless the server was killed for it.
func TestWhoIsKilledForItsMemoryHadLittle(t *testing.T) {
	for _, c := range []struct {
		container string
		verdict   v1alpha1.Verdict
	}{{"the server's", v1alpha1.VerdictPassed}, {"an earlier one", v1alpha1.VerdictInconclusive}} {
		memory := resource.MustParse("1Gi")
		w := newWorld(t, v1alpha1.FaultSpec{Name: "a", Kind: v1alpha1.MemoryStress, Memory: &memory, Duration: &metav1.Duration{Duration: time.Second}})
		w.forget()
		w.held = 1 << 20
		for len(w.test.Status.Faults) == 0 || w.test.Status.Faults[0].Phase != v1alpha1.FaultInjecting {
			w.round(-1)
			w.live()
		}
		s := &w.servers[0]
		s.OutOfMemory = c.container
		if c.verdict == v1alpha1.VerdictPassed {
			s.OutOfMemory = s.ContainerID
		}
		s.ContainerID = string(w.uid())
		status := w.run()
		w.expect(status, c.verdict, "")
		if evidence := strings.Join(status.Faults[0].Evidence, ""); c.verdict == v1alpha1.VerdictPassed && !strings.Contains(evidence, "killed for the memory") {
			t.Errorf("%q", evidence)
		}
	}
}

func TestWhoseMemoryWasTooLittleIsReadFromItsPod(t *testing.T) {
	ended := func(reason string) *corev1.ContainerStateTerminated {
		return &corev1.ContainerStateTerminated{Reason: reason, ContainerID: "before"}
	}
	for _, c := range []struct {
		state, last *corev1.ContainerStateTerminated
		want        string
	}{{nil, nil, ""}, {ended("OOMKilled"), nil, "before"}, {nil, ended("OOMKilled"), "before"}, {ended("Error"), nil, ""}} {
		pod := &corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "commitd",
			State: corev1.ContainerState{Terminated: c.state}, LastTerminationState: corev1.ContainerState{Terminated: c.last}}}}}
		if got := serverOf(pod).OutOfMemory; got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

// One server without such a disk: what is done to the others would be another fault.
func TestDisksAreNotSpoiledInPart(t *testing.T) {
	w := newWorld(t, v1alpha1.FaultSpec{Name: "a", Kind: v1alpha1.DiskFull, Target: v1alpha1.TargetAll})
	w.chaosMesh, w.refusal = true, "toda update RPC failed"
	w.forget()
	w.servers[2].Disk, w.servers[2].PlainDisk = nil, true
	w.expect(w.run(), v1alpha1.VerdictUnsupported, "toda update RPC failed")
	if w.test.Status.Faults[0].Substitute != "" {
		t.Errorf("%+v", w.test.Status.Faults[0])
	}
}

// A disk whose server is restarting says nothing: neither that it can be spoiled nor that it cannot.
func TestWhileNoServerRunsNothingIsKnownOfTheirDisks(t *testing.T) {
	w := newWorld(t, v1alpha1.FaultSpec{Name: "a", Kind: v1alpha1.PodKill, Target: v1alpha1.TargetAll},
		v1alpha1.FaultSpec{Name: "b", Kind: v1alpha1.DiskFull, Duration: &metav1.Duration{Duration: time.Second}})
	w.forget()
	w.expect(w.run(), v1alpha1.VerdictPassed, "")
	if fault := w.test.Status.Faults[1]; fault.Substitute != diskSubstitute {
		t.Errorf("%+v", fault)
	}
	if why := unsupported(Fault{Kind: v1alpha1.DiskFull}, View{Test: w.test}); why != "" {
		t.Errorf("without any pod: %s", why)
	}
}

// The operator can do one thing to a server by itself, and that is to kill it.
func TestATargetWhoseDiskDoesNotAnswerIsNotKilledInstead(t *testing.T) {
	for _, plain := range []bool{false, true} {
		w := newWorld(t, v1alpha1.FaultSpec{Name: "a", Kind: v1alpha1.DiskSlow})
		w.forget()
		disk := w.servers[0].Disk
		w.servers[0].Disk, w.servers[0].PlainDisk = nil, plain
		for range 60 {
			w.round(-1)
			w.live()
		}
		fault := w.test.Status.Faults[0]
		if len(w.kills) > 0 || fault.Substitute != "" {
			t.Errorf("plain: %v, killed %v: %+v", plain, w.kills, fault)
		}
		if plain {
			w.expect(w.run(), v1alpha1.VerdictUnsupported, "DiskSlow needs Chaos Mesh")
			continue
		}
		if fault.Phase != v1alpha1.FaultPlanned || !strings.Contains(fault.Message, "does not say what it is") {
			t.Errorf("%+v", fault)
		}
		w.servers[0].Disk = disk
		w.expect(w.run(), v1alpha1.VerdictPassed, "")
	}
}

// On the local cluster a server that its disk had ended was let wait by the kubelet for most of a minute.
func TestADiskWhoseServerHasEndedIsAskedLate(t *testing.T) {
	w := newWorld(t, v1alpha1.FaultSpec{Name: "a", Kind: v1alpha1.DiskError})
	w.test.Spec.Limits.Duration.Duration = time.Hour
	w.forget()
	w.nothing = true
	for begun := w.now; w.now.Sub(begun) < 3*time.Minute; w.live() {
		w.round(-1)
	}
	w.nothing = false
	w.expect(w.run(), v1alpha1.VerdictPassed, "")
}

func TestWhatADiskSaysOfAnEarlierFaultProvesNothing(t *testing.T) {
	w := newWorld(t, v1alpha1.FaultSpec{Name: "a", Kind: v1alpha1.DiskFull})
	w.forget()
	w.nothing = true
	for i := range w.servers {
		w.servers[i].Disk = &Disk{Told: [troubleKinds]Told{TroubleOfDisk: {ID: troubleID(w.test, Fault{Name: "earlier"}), Done: 9}}}
	}
	w.expect(w.run(), v1alpha1.VerdictInconclusive, "nothing proves that a was injected")
}

func TestASuspendedTestMendsTheDisks(t *testing.T) {
	w := newWorld(t, v1alpha1.FaultSpec{Name: "a", Kind: v1alpha1.DiskFull})
	w.forget()
	for len(w.test.Status.Faults) == 0 || w.test.Status.Faults[0].Phase != v1alpha1.FaultInjected {
		w.round(-1)
		w.live()
	}
	w.test.Spec.Suspend = true
	w.round(-1)
	if !slices.Equal(w.mended, []string{"a"}) {
		t.Errorf("mended are %v", w.mended)
	}
}
