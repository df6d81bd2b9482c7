package dbserver_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"commitlab.dev/ledger/internal/dbserver"
	"commitlab.dev/ledger/internal/dbserver/dbservertest"
)

// python is Debian's, itself: not a script that finds one and is a process on the disk as well.
const python = "/usr/bin/python3"

// writes calls what a server calls. Between its two syncs it appends, overwrites, cuts and preallocates.
const writes = `
import os
f = os.open("data/log", os.O_RDWR | os.O_CREAT)
os.write(f, b"durable, and more")
os.fdatasync(f)
os.pwrite(f, b"DURABLE", 0)
os.ftruncate(f, 9)
os.posix_fallocate(f, 0, 4096)
os.pwritev(f, [b"l", b"ost"], 100)
assert os.pread(f, 7, 0) == b"DURABLE"
g = os.open("data/synced", os.O_RDWR | os.O_CREAT)
os.write(g, b"one")
os.fsync(g)
os.write(g, b"two")
os.fsync(g)
os.unlink("data/gone")
os.kill(os.getpid(), 9)
`

// forgetful is a folder on a disk that forgets.
type forgetful struct {
	t    *testing.T
	dir  string
	env  []string
	port int // where it answers, if it does
}

func newForgetful(t *testing.T, settings ...string) forgetful {
	t.Helper()
	f := forgetful{t: t, dir: t.TempDir(), env: append(os.Environ(), settings...)}
	if err := os.Mkdir(filepath.Join(f.dir, "data"), 0o755); err != nil {
		t.Fatal(err)
	}
	places := strings.NewReplacer("{datadir}", filepath.Join(f.dir, "data"), "{unsynced}", filepath.Join(f.dir, "unsynced"))
	for _, v := range (dbserver.Commands{}).On(dbserver.Forgetful, dbservertest.PowerLossLibrary(t)).Env {
		f.env = append(f.env, places.Replace(v))
	}
	return f
}

func (f forgetful) run(args ...string) {
	f.t.Helper()
	out, err := f.output(args...)
	if err != nil && !strings.Contains(err.Error(), "killed") {
		f.t.Fatalf("%v\n%s", err, out)
	}
}

func (f forgetful) output(args ...string) ([]byte, error) {
	command := exec.Command(args[0], args[1:]...)
	command.Dir, command.Env = f.dir, f.env
	return command.CombinedOutput()
}

func (f forgetful) has(name, want string) {
	f.t.Helper()
	if got, err := os.ReadFile(filepath.Join(f.dir, name)); err != nil || string(got) != want {
		f.t.Errorf("%s has %q instead of %q (%v)", name, got, want, err)
	}
}

func TestWhatWasNotSyncedIsForgottenAtTheNextStart(t *testing.T) {
	f := newForgetful(t)
	if err := os.WriteFile(filepath.Join(f.dir, "data", "gone"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	f.run(python, "-c", writes)
	f.run("true")
	f.has("data/log", "durable, and more")
	f.has("data/synced", "onetwo")
	lost, err := os.ReadFile(filepath.Join(f.dir, "unsynced", "lost"))
	if err != nil || !strings.Contains(string(lost), "\n4 unsynced writes lost, ") || !strings.HasSuffix(string(lost), " in 1 files\n") {
		t.Errorf("it says %q (%v)", lost, err)
	}
}

// syncs appends and syncs a word, and then ends in the given way.
func syncs(word, end string) string {
	return fmt.Sprintf(`
import os, time
f = os.open("data/log", os.O_RDWR | os.O_CREAT | os.O_APPEND)
os.write(f, b"%s ")
os.fdatasync(f)
%s
`, word, end)
}

const isKilled = `os.kill(os.getpid(), 9)`

func TestAWriteCacheHasLostAtAKillWhatItAnsweredALittleBefore(t *testing.T) {
	f := newForgetful(t, "POWERLOSS_CACHE=3600000")
	f.run(python, "-c", syncs("ends", ""))
	f.run(python, "-c", syncs("goes-on", `os.execv("/bin/true", ["true"])`))
	f.run(python, "-c", syncs("is-killed", isKilled))
	f.run("true")
	f.has("data/log", "ends goes-on ")
}

// exchanges writes a file, puts it in the place of another one, and removes a third one.
func exchanges(end string) string {
	return `
import os
for name in ["one", "two"]:
    f = os.open("data/" + name + ".new", os.O_RDWR | os.O_CREAT)
    os.write(f, name.encode())
    os.fdatasync(f)
os.rename("data/one.new", "data/current")
os.rename("data/two.new", "data/current")
os.unlink("data/gone")
` + end
}

func TestAWriteCacheHasLostNamesWithTheContents(t *testing.T) {
	f := newForgetful(t, "POWERLOSS_CACHE=3600000")
	for _, name := range []string{"current", "gone"} {
		if err := os.WriteFile(filepath.Join(f.dir, "data", name), []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f.run(python, "-c", exchanges(isKilled))
	f.run("true")
	f.has("data/current", "old")
	f.has("data/gone", "old")
	f.run(python, "-c", exchanges(""))
	f.run("true")
	f.has("data/current", "two")
	if _, err := os.Stat(filepath.Join(f.dir, "data", "gone")); err == nil {
		t.Error("what was removed by a process that ended is back")
	}
	if left, err := filepath.Glob(filepath.Join(f.dir, "unsynced", "gone-*")); err != nil || len(left) > 0 {
		t.Errorf("%v is kept for ever (%v)", left, err)
	}
}

// The undo log is empty but for its header once the disk has what was synced.
const untilOnDisk = `
while any(os.stat("unsynced/" + name).st_size > 8 for name in os.listdir("unsynced") if name.endswith(".undo")): time.sleep(0.001)
`

func TestAWriteCacheHasWrittenWhatIsOldEnough(t *testing.T) {
	f := newForgetful(t, "POWERLOSS_CACHE=1")
	f.run(python, "-c", syncs("old", untilOnDisk+isKilled))
	f.run("true")
	f.has("data/log", "old ")
}

// tries writes without a sync, and then, for each line that it is given, answers how each kind of call goes.
const tries = `
import errno, os, sys
f = os.open("data/log", os.O_RDWR | os.O_CREAT)
os.write(f, b"four")
print("written", flush=True)
calls = {"write": lambda: os.pwrite(f, b"x", 0), "allocate": lambda: os.posix_fallocate(f, 0, 10), "cut": lambda: os.ftruncate(f, 2),
         "sync": lambda: os.fdatasync(f)}
for line in sys.stdin:
    for name, call in calls.items():
        try:
            call()
            print(name, "done", end=" ")
        except OSError as e:
            print(name, errno.errorcode[e.errno], end=" ")
    print(flush=True)
`

// process runs tries on the disk.
type process struct {
	t       *testing.T
	command *exec.Cmd
	input   io.WriteCloser
	output  *bufio.Reader
}

func (f forgetful) begin() process {
	f.t.Helper()
	p := f.python(tries)
	p.line()
	return p
}

func (f forgetful) python(program string) process {
	f.t.Helper()
	command := exec.Command(python, "-c", program)
	command.Dir, command.Env, command.Stderr = f.dir, f.env, os.Stderr
	input, inputErr := command.StdinPipe()
	output, outputErr := command.StdoutPipe()
	if err := errors.Join(inputErr, outputErr, command.Start()); err != nil {
		f.t.Fatal(err)
	}
	p := process{f.t, command, input, bufio.NewReader(output)}
	f.t.Cleanup(p.kill)
	return p
}

func (p process) line() string {
	p.t.Helper()
	line, err := p.output.ReadString('\n')
	if err != nil {
		p.t.Fatal(err)
	}
	return strings.TrimSpace(line)
}

func (p process) try() string {
	p.t.Helper()
	if _, err := io.WriteString(p.input, "\n"); err != nil {
		p.t.Fatal(err)
	}
	return p.line()
}

func (p process) kill() { _ = p.command.Process.Kill(); _ = p.command.Wait() }

// ask posts to the disk, and returns what it says of itself.
func ask(t *testing.T, port int, path string) string {
	t.Helper()
	answer, err := http.Post(fmt.Sprintf("http://127.0.0.1:%d%s", port, path), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestTheDiskSaysWhatItHasLost(t *testing.T) {
	port := dbservertest.FreePort(t)
	f := newForgetful(t, "POWERLOSS_PORT="+strconv.Itoa(port))
	for start, lost := range []string{"powerloss_lost_writes 0\n", "powerloss_lost_writes 1\n"} {
		p := f.begin()
		text := ask(t, port, "/metrics")
		p.kill()
		for _, want := range []string{fmt.Sprintf("powerloss_starts %d\n", start+1), lost, "powerloss_watched_writes_total 1\n", "powerloss_write_cache_seconds 0.000\n"} {
			if !strings.Contains(text, want) {
				t.Errorf("start %d: no %q in %s", start+1, want, text)
			}
		}
	}
}

func TestADiskIsSpoiledForAWhileAndSoItIsForTheNextProcess(t *testing.T) {
	const all, full, whole = "write EIO allocate EIO cut EIO sync EIO", "write ENOSPC allocate ENOSPC cut done sync done", "write done allocate done cut done sync done"
	port := dbservertest.FreePort(t)
	f := newForgetful(t, "POWERLOSS_PORT="+strconv.Itoa(port))
	p := f.begin()
	expect := func(want string) {
		t.Helper()
		if got := p.try(); got != want {
			t.Errorf("%q instead of %q", got, want)
		}
	}
	expect(whole)
	ask(t, port, "/spoil?id=1&errno=28&percent=100&syncs=0&delay_ms=0&for_ms=3600000")
	expect(full)
	ask(t, port, "/spoil?id=2&errno=5&percent=100&syncs=1&delay_ms=0&for_ms=3600000")
	expect(all)
	if text := ask(t, port, "/metrics"); !strings.Contains(text, "powerloss_spoil_id 2\n") || !strings.Contains(text, "powerloss_spoiled_calls 4\n") {
		t.Errorf("it says %s", text)
	}
	p.kill()
	f.env = append(f.env, "POWERLOSS_PORT="+strconv.Itoa(dbservertest.FreePort(t)))
	if out, err := f.output(python, "-c", `import os; os.write(os.open("data/log", os.O_RDWR), b"four")`); err == nil {
		t.Errorf("the next process has another disk: %s", out)
	}
}

func TestASpoiledDiskIsMended(t *testing.T) {
	const whole = "write done allocate done cut done sync done"
	port := dbservertest.FreePort(t)
	p := newForgetful(t, "POWERLOSS_PORT="+strconv.Itoa(port)).begin()
	ask(t, port, "/spoil?id=1&errno=5&percent=100&syncs=1&delay_ms=0&for_ms=3600000")
	ask(t, port, "/spoil?id=1&errno=0&percent=0&syncs=0&delay_ms=0&for_ms=0")
	if got := p.try(); got != whole {
		t.Errorf("behind its end: %q", got)
	}
	ask(t, port, "/spoil?id=2&errno=5&percent=100&syncs=1&delay_ms=0&for_ms=1")
	for p.try() != whole { // it ends by itself
	}
	ask(t, port, "/spoil?id=3&errno=5&percent=50&syncs=1&delay_ms=0&for_ms=3600000")
	met := ""
	for range 25 {
		met += p.try()
	}
	if refused := strings.Count(met, "EIO"); refused < 40 || refused > 60 {
		t.Errorf("of 100 calls 50 percent are %d", refused)
	}
}

func TestASpoiledDiskMayBeLateAndNoMore(t *testing.T) {
	port := dbservertest.FreePort(t)
	p := newForgetful(t, "POWERLOSS_PORT="+strconv.Itoa(port)).begin()
	ask(t, port, "/spoil?id=1&errno=0&percent=100&syncs=1&delay_ms=50&for_ms=3600000")
	began := time.Now()
	if got := p.try(); got != "write done allocate done cut done sync done" {
		t.Errorf("%q", got)
	}
	if took := time.Since(began); took < 4*50*time.Millisecond {
		t.Errorf("four calls took %s", took)
	}
}

func TestWithoutItsVolumeThereIsNoDisk(t *testing.T) {
	f := newForgetful(t, "POWERLOSS_PORT="+strconv.Itoa(dbservertest.FreePort(t)))
	f.env = append(f.env, "POWERLOSS_DATA="+filepath.Join(f.dir, "absent", "data"), "POWERLOSS_DIR="+filepath.Join(f.dir, "absent", "undo"))
	f.run("true")
	if _, err := os.Stat(filepath.Join(f.dir, "absent")); err == nil {
		t.Error("it made one")
	}
}
