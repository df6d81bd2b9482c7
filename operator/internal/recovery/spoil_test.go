package recovery

import (
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"commitlab.dev/operator/api/v1alpha1"
)

var ofDisks = []v1alpha1.FaultKind{v1alpha1.DiskFull, v1alpha1.DiskError, v1alpha1.DiskSlow}

// With Chaos Mesh or without: disks that can be spoiled are, by themselves, and the test says so.
func TestDisksOfOurOwnStandForChaosMesh(t *testing.T) {
	for _, chaosMesh := range []bool{false, true} {
		for _, kind := range ofDisks {
			w := newWorld(t, v1alpha1.FaultSpec{Name: "a", Kind: kind, Duration: &metav1.Duration{Duration: 10 * time.Second}})
			w.chaosMesh = chaosMesh
			w.forget()
			w.expect(w.run(), v1alpha1.VerdictPassed, "")
			fault := w.test.Status.Faults[0]
			if fault.Substitute != diskSubstitute || !strings.Contains(strings.Join(fault.Evidence, ""), "7 calls") || !strings.Contains(fault.Evidence[0], "in place of Chaos Mesh") {
				t.Errorf("%s: %+v", kind, fault)
			}
			if held := fault.EndedAt.Sub(fault.InjectedAt.Time); held < 10*time.Second || !slices.Equal(w.mended, []string{"a"}) {
				t.Errorf("%s: held for %s, mended %v", kind, held, w.mended)
			}
		}
	}
}

func TestWhoAsksForChaosMeshGetsNoSubstitute(t *testing.T) {
	w := newWorld(t, v1alpha1.FaultSpec{Name: "a", Kind: v1alpha1.DiskFull})
	w.chaosMesh, w.refusal, w.test.Spec.Injector = true, "toda update RPC failed", v1alpha1.InjectorChaosMesh
	w.forget()
	w.expect(w.run(), v1alpha1.VerdictUnsupported, "toda update RPC failed")
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
		w.servers[i].Disk = &Disk{SpoilID: spoilID(w.test, Fault{Name: "earlier"}), Spoiled: 9}
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

// The library is another folder's: how it reads what is asked for is looked up there.
func TestTheLibraryUnderstandsWhatIsAskedOfIt(t *testing.T) {
	source, err := os.ReadFile("../../../chaos/powerloss/powerloss.c")
	if err != nil {
		t.Fatal(err)
	}
	format := regexp.MustCompile(`"(POST /spoil\?[^"]*)"`).FindSubmatch(source)
	if format == nil {
		t.Fatal("it understands nothing")
	}
	var requests []string
	host := ownHost(100)
	serve(t, host, diskPort, func(w http.ResponseWriter, r *http.Request) {
		requests = append(requests, r.Method+" "+r.RequestURI+" ")
	})
	for _, c := range []struct {
		fault Fault
		want  []int64 // errno, percent, syncs, delay, duration
	}{
		{Fault{Name: "a", Kind: v1alpha1.DiskFull, Duration: time.Minute}, []int64{int64(syscall.ENOSPC), 100, 0, 0, 60000}},
		{Fault{Name: "a", Kind: v1alpha1.DiskError, Duration: time.Second, Percent: 40}, []int64{int64(syscall.EIO), 40, 1, 0, 1000}},
		{Fault{Name: "a", Kind: v1alpha1.DiskSlow, Duration: time.Second, Latency: 200 * time.Millisecond}, []int64{0, 100, 1, 200, 1000}},
	} {
		requests = nil
		spoil := spoilOf(&v1alpha1.RecoveryTest{}, c.fault)
		if err := (Network{}).SpoilDisk(t.Context(), host, spoil); err != nil || len(requests) != 1 {
			t.Fatalf("%v, %q", err, requests)
		}
		got := make([]int64, len(c.want)+1)
		goFormat := strings.NewReplacer("%u", "%d", "%ld", "%d").Replace(string(format[1]))
		if _, err := fmt.Sscanf(requests[0], goFormat, &got[0], &got[1], &got[2], &got[3], &got[4], &got[5]); err != nil {
			t.Errorf("%q is not %q: %v", requests[0], format[1], err)
		}
		if got[0] != int64(spoil.ID) || !slices.Equal(got[1:], c.want) {
			t.Errorf("%s: %v instead of %v", c.fault.Kind, got, c.want)
		}
	}
}
