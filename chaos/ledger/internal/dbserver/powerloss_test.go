package dbserver_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"commitlab.dev/ledger/internal/dbserver"
	"commitlab.dev/ledger/internal/dbserver/dbservertest"
)

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

func TestWhatWasNotSyncedIsForgottenAtTheNextStart(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "data"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "data", "gone"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	commands := dbserver.Commands{}.On(dbserver.Forgetful, dbservertest.PowerLossLibrary(t))
	run := func(args ...string) {
		command := exec.Command(args[0], args[1:]...)
		command.Dir = dir
		command.Env = os.Environ()
		for _, v := range commands.Env {
			command.Env = append(command.Env, strings.NewReplacer("{datadir}", filepath.Join(dir, "data"), "{unsynced}", filepath.Join(dir, "unsynced")).Replace(v))
		}
		if out, err := command.CombinedOutput(); err != nil && !strings.Contains(err.Error(), "killed") {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	run("python3", "-c", writes)
	run("true")
	for name, want := range map[string]string{"log": "durable, and more", "synced": "onetwo"} {
		if got, err := os.ReadFile(filepath.Join(dir, "data", name)); err != nil || string(got) != want {
			t.Errorf("%s has %q instead of %q (%v)", name, got, want, err)
		}
	}
	lost, err := os.ReadFile(filepath.Join(dir, "unsynced", "lost"))
	if err != nil || !strings.Contains(string(lost), "\n4 unsynced writes lost, ") || !strings.HasSuffix(string(lost), " in 1 files\n") {
		t.Errorf("it says %q (%v)", lost, err)
	}
}
