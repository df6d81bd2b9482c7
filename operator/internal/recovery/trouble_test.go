package recovery

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"commitlab.dev/operator/api/v1alpha1"
)

// library is the source of chaos/powerloss, another folder's: how it reads what is asked for, and says what it has done, is looked up there.
func library(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob("../../../chaos/powerloss/*.c")
	if err != nil || len(files) == 0 {
		t.Fatalf("no library (%v)", err)
	}
	var all strings.Builder
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(source)
	}
	return all.String()
}

func TestTheLibraryUnderstandsWhatIsAskedOfIt(t *testing.T) {
	source := library(t)
	var requests []string
	host := ownHost(100)
	serve(t, host, diskPort, func(w http.ResponseWriter, r *http.Request) {
		requests = append(requests, r.Method+" "+r.RequestURI+" ")
	})
	const minute = 60000
	for _, c := range []struct {
		fault Fault
		path  string
		want  []int64 // behind the id, the duration at the end
	}{
		{Fault{Kind: v1alpha1.DiskFull}, "spoil", []int64{int64(syscall.ENOSPC), 100, 0, 0, minute}}, // errno, percent, syncs, delay
		{Fault{Kind: v1alpha1.DiskError, Percent: 40}, "spoil", []int64{int64(syscall.EIO), 40, 1, 0, minute}},
		{Fault{Kind: v1alpha1.DiskSlow, Latency: 200 * time.Millisecond}, "spoil", []int64{0, 100, 1, 200, minute}},
		{Fault{Kind: v1alpha1.NetworkDelay, Latency: 300 * time.Millisecond}, "network", []int64{300, 0, minute}}, // delay, loss
		{Fault{Kind: v1alpha1.NetworkLoss, Percent: 40}, "network", []int64{0, 40, minute}},
		{Fault{Kind: v1alpha1.ClockSkew, Offset: -10 * time.Minute}, "clock", []int64{-600000, minute}},
		{Fault{Kind: v1alpha1.CPUStress}, "processors", []int64{stressWorkers, minute}},
		{Fault{Kind: v1alpha1.MemoryStress, Memory: 128 << 20}, "memory", []int64{128 << 20, minute}},
	} {
		format := regexp.MustCompile(`"(POST /` + c.path + `\?[^"]*)"`).FindStringSubmatch(source)
		if format == nil {
			t.Errorf("it does not know %s", c.path)
			continue
		}
		requests = nil
		c.fault.Name, c.fault.Duration = "a", time.Minute
		trouble := troubleOf(&v1alpha1.RecoveryTest{}, c.fault)
		if err := (Network{}).Trouble(t.Context(), host, trouble); err != nil || len(requests) != 1 {
			t.Fatalf("%v, %q", err, requests)
		}
		got := make([]int64, len(c.want)+1)
		places := make([]any, len(got))
		for i := range got {
			places[i] = &got[i]
		}
		if _, err := fmt.Sscanf(requests[0], strings.NewReplacer("%u", "%d", "%ld", "%d").Replace(format[1]), places...); err != nil {
			t.Errorf("%q is not %q: %v", requests[0], format[1], err)
		}
		if got[0] != int64(trouble.ID) || !slices.Equal(got[1:], c.want) {
			t.Errorf("%s: %v instead of %v", c.fault.Kind, got, c.want)
		}
	}
}
