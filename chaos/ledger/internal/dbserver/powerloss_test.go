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
	t   *testing.T
	dir string
	env []string
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

func (f forgetful) run(args ...string) string {
	f.t.Helper()
	command := exec.Command(args[0], args[1:]...)
	command.Dir, command.Env = f.dir, f.env
	out, err := command.CombinedOutput()
	if err != nil && !strings.Contains(err.Error(), "killed") {
		f.t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
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

// waits has written without a sync when it prints a line.
const waits = `
import os, sys
f = os.open("data/log", os.O_RDWR | os.O_CREAT)
os.write(f, b"four")
print("written", flush=True)
sys.stdin.read()
`

// says runs a process, and returns what the disk says of itself meanwhile; then it is killed.
func (f forgetful) says(port int) string {
	f.t.Helper()
	command := exec.Command(python, "-c", waits)
	command.Dir, command.Env = f.dir, f.env
	input, inputErr := command.StdinPipe()
	output, outputErr := command.StdoutPipe()
	if err := errors.Join(inputErr, outputErr, command.Start()); err != nil {
		f.t.Fatal(err)
	}
	defer func() { _ = command.Process.Kill(); _ = command.Wait(); _ = input.Close() }()
	if _, err := bufio.NewReader(output).ReadString('\n'); err != nil {
		f.t.Fatal(err)
	}
	answer, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/", port))
	if err != nil {
		f.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		f.t.Fatal(err)
	}
	return string(text)
}

func TestTheDiskSaysWhatItHasLost(t *testing.T) {
	port := dbservertest.FreePort(t)
	f := newForgetful(t, "POWERLOSS_PORT="+strconv.Itoa(port))
	for start, lost := range []string{"powerloss_lost_writes 0\n", "powerloss_lost_writes 1\n"} {
		text := f.says(port)
		for _, want := range []string{fmt.Sprintf("powerloss_starts %d\n", start+1), lost, "powerloss_watched_writes_total 1\n", "powerloss_write_cache_seconds 0.000\n"} {
			if !strings.Contains(text, want) {
				t.Errorf("start %d: no %q in %s", start+1, want, text)
			}
		}
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
