package killloop

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"commitlab.dev/ledger/internal/dbserver"
	"commitlab.dev/ledger/internal/dbserver/dbservertest"
	"commitlab.dev/ledger/internal/judge"
	"commitlab.dev/ledger/internal/timeline"
)

// powerLoss kills a server and takes from its newest log file what was written after the last moment at which it was certainly synced: that is
// what a machine without power may do to a log that nobody syncs.
type powerLoss struct {
	single
	t *testing.T
}

func (p powerLoss) NextFault(int) Fault {
	return Fault{Name: "power loss", ExpectOutage: true, Inject: p.inject}
}

func (p powerLoss) inject(ctx context.Context, prove func(timeline.Evidence) error) error {
	if _, err := dbservertest.Open(p.t, p.Server, database).ExecContext(ctx, "FLUSH ENGINE LOGS"); err != nil {
		return err
	}
	file, synced := newestLog(p.t, p.DataDir())
	sleep(ctx, 300*time.Millisecond)
	if err := kill("server", p.Server, prove); err != nil {
		return err
	}
	if err := os.Truncate(file, synced); err != nil {
		return err
	}
	return p.Server.Start()
}

func newestLog(t *testing.T, dir string) (string, int64) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "binlog.0*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no log files in %s: %v", dir, err)
	}
	info, err := os.Stat(files[len(files)-1]) // Glob sorts
	if err != nil {
		t.Fatal(err)
	}
	return files[len(files)-1], info.Size()
}

func TestALogThatNobodySyncedIsFoundMissing(t *testing.T) {
	commands := dbserver.Commitd(dbservertest.Commitd(t))
	commands.Run += " --sync-binlog=0"
	c := config(t)
	c.Rounds = 1
	c.Disturb = false
	victim, err := NewSingle(commands, c.Dir)
	if err != nil {
		t.Fatal(err)
	}
	round := runOnce(t, c, powerLoss{victim.(single), t})
	if v := round.Verdict; v.Result != judge.Failed || v.Lost == 0 || len(v.LostCommits) == 0 {
		t.Fatalf("%s, lost %d, because %q", v.Result, v.Lost, v.Reasons)
	}
}
