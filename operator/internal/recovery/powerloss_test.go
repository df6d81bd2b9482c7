package recovery

import (
	"context"
	"fmt"
	"math"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/cluster"
)

func losePower(target v1alpha1.FaultTarget) v1alpha1.FaultSpec {
	return v1alpha1.FaultSpec{Name: "dark", Kind: v1alpha1.PowerLoss, Target: target}
}

func newDarkWorld(t *testing.T, target v1alpha1.FaultTarget) *world {
	w := newWorld(t, losePower(target))
	w.chaosMesh = true
	w.forget()
	return w
}

func TestALostPowerIsProvedByTheNextProcessAndByWhatItsDiskHasUndone(t *testing.T) {
	w := newDarkWorld(t, v1alpha1.TargetAll)
	w.expect(w.run(), v1alpha1.VerdictPassed, "")
	evidence := w.test.Status.Faults[0].Evidence
	if len(evidence) != 3 {
		t.Fatalf("%q", evidence)
	}
	for _, e := range evidence {
		if !strings.Contains(e, "start 2 of its disk, with 3 unsynced writes (300 bytes in 1 files) undone") {
			t.Errorf("%q", e)
		}
	}
}

func TestAServerOnAPlainDiskCannotLosePower(t *testing.T) {
	w := newDarkWorld(t, v1alpha1.TargetAll)
	w.servers[1].Disk, w.servers[1].PlainDisk = nil, true
	w.expect(w.run(), v1alpha1.VerdictUnsupported, "demo-1 has no disk that forgets")
	if len(w.kills) > 0 {
		t.Errorf("and yet: %v", w.kills)
	}
}

func TestWhoseDiskDoesNotAnswerIsNeitherKilledNorCalledUnsupported(t *testing.T) {
	w := newDarkWorld(t, v1alpha1.TargetMaster)
	w.servers[0].Disk = nil
	w.expect(w.run(), v1alpha1.VerdictInconclusive, "nothing proves that dark was injected")
	if len(w.kills) > 0 || w.test.Status.Faults[0].Phase != v1alpha1.FaultSkipped {
		t.Errorf("kills %v, %+v", w.kills, w.test.Status.Faults[0])
	}
}

func TestAKillThatCostNoWriteIsNoLossOfPower(t *testing.T) {
	w := newDarkWorld(t, v1alpha1.TargetMaster)
	w.undoes = 0
	w.expect(w.run(), v1alpha1.VerdictInconclusive, "nothing proves that dark was injected")
	if fault := w.test.Status.Faults[0]; fault.Phase != v1alpha1.FaultUnproved || !strings.Contains(fault.Message, "demo-0 had synced everything") {
		t.Errorf("%+v", fault)
	}
	if took := w.now.Sub(w.test.Status.StartTime.Time); took > injectPatience {
		t.Errorf("it was waited for for %s", took)
	}
}

// Another process alone is a kill, and what a disk says of an earlier start proves nothing of this one.
func TestEitherHalfOfTheProofAloneIsNone(t *testing.T) {
	before := v1alpha1.FaultObject{Name: "demo-0", UID: "u", ContainerID: "first"}
	lost := &Disk{Starts: 2, Writes: 3}
	for what, s := range map[string]*Server{
		"no pod":                nil,
		"the same process":      {UID: "u", ContainerID: "first", Running: true, Disk: lost},
		"a disk that is silent": {UID: "u", ContainerID: "second", Running: true},
		"nothing undone":        {UID: "u", ContainerID: "second", Running: true, Disk: &Disk{Starts: 2}},
		"the old process ended": {UID: "u", ContainerID: "second", Disk: lost},
	} {
		if proof := undone(before, s); proof != "" {
			t.Errorf("%s: %q", what, proof)
		}
	}
	if undone(before, &Server{UID: "u", ContainerID: "second", Running: true, Disk: lost}) == "" {
		t.Error("both together are")
	}
}

// The kubelet lets a container that was killed often wait, longer than an injection may take otherwise.
func TestAServerThatLostPowerMayStartLate(t *testing.T) {
	w := newDarkWorld(t, v1alpha1.TargetMaster)
	w.test.Spec.Limits.Duration.Duration = time.Hour
	for w.kills["dark"] == 0 {
		w.round(-1)
		w.live()
	}
	w.back["demo-0"] = w.now.Add(5 * time.Minute)
	w.expect(w.run(), v1alpha1.VerdictPassed, "")
}

// ownHost is an address of this machine's loopback that other runs of this test do not use.
func ownHost(n int) string {
	return fmt.Sprintf("127.%d.%d.%d", 1+os.Getpid()>>8%200, os.Getpid()%256, n)
}

func says(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) }
}

func serve(t *testing.T, host string, port int, handler http.HandlerFunc) {
	t.Helper()
	listener, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: handler}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
}

const disk = "# TYPE powerloss_starts gauge\npowerloss_starts 2\npowerloss_lost_writes 3\npowerloss_lost_bytes 400\npowerloss_lost_files 1\n" +
	"powerloss_spoil_id 4294967295\npowerloss_spoiled_calls 5\npowerloss_network_id 6\npowerloss_network_late_sends 7\n" +
	"powerloss_clock_id 8\npowerloss_clock_wrong_answers 9\npowerloss_processors_id 10\npowerloss_processors_milliseconds 11\n" +
	"powerloss_memory_id 12\npowerloss_memory_bytes 13\n"

func TestWhoAnswersWithoutSuchADiskHasAPlainOne(t *testing.T) {
	for n, c := range []struct {
		server bool
		disk   string
		want   *Disk
		plain  bool
	}{
		{server: false},
		{server: true, plain: true},
		{server: true, disk: "hello\n", plain: true},
		{server: true, disk: disk, want: &Disk{Starts: 2, Writes: 3, Bytes: 400, Files: 1, Told: [troubleKinds]Told{{math.MaxUint32, 5}, {6, 7}, {8, 9}, {10, 11}, {12, 13}}}},
	} {
		host := ownHost(n + 1)
		if c.server {
			serve(t, host, int(cluster.AdminPort), says(""))
		}
		if c.disk != "" {
			serve(t, host, diskPort, says(c.disk))
		}
		got, plain := Network{}.Disk(context.Background(), host)
		if plain != c.plain || (got == nil) != (c.want == nil) || got != nil && *got != *c.want {
			t.Errorf("%+v: %+v, plain %t", c, got, plain)
		}
	}
}

// The library and its image are another folder's: what they say and where is looked up there.
func TestTheLibrarySaysWhatIsReadHere(t *testing.T) {
	source := library(t)
	for line := range strings.Lines(disk) {
		if name, _, _ := strings.Cut(line, " "); name != "#" && !strings.Contains(source, `"`+name+` %`) && !strings.Contains(source, `"`+name+`"`) {
			t.Errorf("it does not say %s", name)
		}
	}
	image, err := os.ReadFile("../../../chaos/powerloss/Dockerfile")
	if want := fmt.Sprintf("POWERLOSS_PORT=%d ", diskPort); err != nil || !strings.Contains(string(image), want) {
		t.Errorf("no %q in the image (%v)", want, err)
	}
}

// disksAsked counts the questions to disks.
type disksAsked struct {
	Network
	asked int
}

func (d *disksAsked) Disk(context.Context, string) (*Disk, bool) { d.asked++; return nil, false }

func (d *disksAsked) CrashRecovery(context.Context, string) *CrashRecovery { return nil }

func TestDisksAreAskedOnlyForFaultsThatTheyProve(t *testing.T) {
	for what, c := range map[string]struct {
		kind     v1alpha1.FaultKind
		phase    string
		injector v1alpha1.Injector
		asked    int
	}{
		"a loss of power that is to come":    {v1alpha1.PowerLoss, v1alpha1.FaultPlanned, v1alpha1.InjectorAuto, 1},
		"one under way":                      {v1alpha1.PowerLoss, v1alpha1.FaultInjecting, v1alpha1.InjectorChaosMesh, 1},
		"one that has been seen":             {v1alpha1.PowerLoss, v1alpha1.FaultRecovering, v1alpha1.InjectorAuto, 0},
		"a full disk that is to come":        {v1alpha1.DiskFull, v1alpha1.FaultPlanned, v1alpha1.InjectorBuiltIn, 1},
		"a full disk of Chaos Mesh":          {v1alpha1.DiskFull, v1alpha1.FaultPlanned, v1alpha1.InjectorChaosMesh, 0},
		"a full disk that is held":           {v1alpha1.DiskFull, v1alpha1.FaultInjected, v1alpha1.InjectorAuto, 0},
		"a clock that is to be wrong":        {v1alpha1.ClockSkew, v1alpha1.FaultPlanned, v1alpha1.InjectorAuto, 1},
		"a partition, which no library does": {v1alpha1.Partition, v1alpha1.FaultPlanned, v1alpha1.InjectorAuto, 0},
		"a killed pod, which is no power's":  {v1alpha1.PodKill, v1alpha1.FaultPlanned, v1alpha1.InjectorAuto, 0},
	} {
		servers := &disksAsked{}
		test := &v1alpha1.RecoveryTest{}
		test.Spec.Injector, test.Spec.Faults, test.Status.Seed = c.injector, []v1alpha1.FaultSpec{{Name: "a", Kind: c.kind}}, new(int64)
		test.Status.Faults = []v1alpha1.FaultStatus{{Name: "a", Kind: c.kind, Phase: c.phase}}
		r := &Reconciler{Servers: servers}
		r.look(t.Context(), &View{Test: test}, &Server{Name: "demo-0", Address: "127.0.0.1", Running: true})
		if servers.asked != c.asked {
			t.Errorf("%s: asked %d times", what, servers.asked)
		}
	}
}
