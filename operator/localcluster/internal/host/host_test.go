package host

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestAProgramNameCannotHideTheStartTime(t *testing.T) {
	stat := "42 (a) b (c) Z 1 42 42 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 987654 0 0"
	start, zombie, err := parseStat(stat)
	if start != "987654" || !zombie || err != nil {
		t.Errorf("%q, %v, %v", start, zombie, err)
	}
	if _, _, err := parseStat("42 (short) S 1"); err == nil {
		t.Error("a truncated line was accepted")
	}
}

func TestAliveEndsWithTheProcess(t *testing.T) {
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	process, err := Identify(cmd.Process.Pid)
	if err != nil || !process.Alive() {
		t.Fatalf("%+v is not alive: %v", process, err)
	}
	if reused := (Process{PID: process.PID, StartTime: "1"}); reused.Alive() {
		t.Error("another process with the same number passes for the recorded one")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if process.Alive() {
		t.Error("it is alive after its end")
	}
}

func TestTheRecordSurvivesWritingAndReading(t *testing.T) {
	path := filepath.Join(t.TempDir(), "owner.json")
	if owner, err := ReadOwner(path); owner != nil || err != nil {
		t.Fatalf("no file gives %v, %v", owner, err)
	}
	written := Owner{Build: "/a/build", Process: Process{7, "8"}, Sysctls: map[string]string{"kernel/panic": "1"}}
	if err := written.Write(path); err != nil {
		t.Fatal(err)
	}
	read, err := ReadOwner(path)
	if err != nil || read.Build != written.Build || read.Process != written.Process || read.Sysctls["kernel/panic"] != "1" {
		t.Errorf("%+v, %v", read, err)
	}
}

func TestOnlyALiveClusterOfAnotherCheckoutIsInTheWay(t *testing.T) {
	self, err := Identify(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	gone := Process{PID: self.PID, StartTime: "1"}
	for name, c := range map[string]struct {
		owner *Owner
		busy  bool
	}{
		"no record":                {nil, false},
		"our own":                  {&Owner{Build: "/ours/build", Process: self}, false},
		"another's, ended":         {&Owner{Build: "/other/build", Process: gone}, false},
		"another's, still running": {&Owner{Build: "/other/build", Process: self}, true},
	} {
		err := c.owner.CheckFree("/ours/build")
		if (err != nil) != c.busy {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && !strings.Contains(err.Error(), "/other/build/bin/localcluster down") {
			t.Errorf("%s: %q does not say what to do", name, err)
		}
	}
}

func TestSysctlsComeBack(t *testing.T) {
	root := t.TempDir()
	setting := filepath.Join(root, "vm/overcommit_memory")
	if err := os.MkdirAll(filepath.Dir(setting), 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(value string) {
		if err := os.WriteFile(setting, []byte(value), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("0\n")
	saved := SaveSysctls(root)
	write("1")
	if err := RestoreSysctls(root, saved); err != nil {
		t.Fatal(err)
	}
	if value, _ := os.ReadFile(setting); string(value) != "0" {
		t.Errorf("value is %q", value)
	}
}

func TestCgroupsAreRemovedInBothLayouts(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{"memory/kubepods/besteffort/pod1", "memory/user", "kubepods/burstable"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	RemoveCgroups(root)
	for dir, kept := range map[string]bool{"memory/kubepods": false, "kubepods": false, "memory/user": true} {
		if _, err := os.Stat(filepath.Join(root, dir)); (err == nil) != kept {
			t.Errorf("%s: kept is %v", dir, err == nil)
		}
	}
}
