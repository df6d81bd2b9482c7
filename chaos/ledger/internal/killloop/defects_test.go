package killloop

import (
	"context"
	"testing"
	"time"

	"commitlab.dev/ledger/internal/dbserver"
	"commitlab.dev/ledger/internal/dbserver/dbservertest"
	"commitlab.dev/ledger/internal/replicaset"
)

func TestAnAcknowledgementBeforeTheSyncIsFoundEachTime(t *testing.T) {
	eachTime(t, "power loss", func(t *testing.T) {
		c := config(t)
		c.Rounds, c.Disturb = 1, false
		commands := dbserver.Commitd(dbservertest.CommitdWithDefect(t, "acknowledge-before-sync")).On(dbserver.Forgetful, dbservertest.PowerLossLibrary(t))
		mustLose(t, runOnce(t, c, unsynced{single: alone(t, c, commands).(single), t: t, before: flushLogs}))
	})
}

// A replica that says that it is fenced and goes on acknowledging lets the old source acknowledge what the elected one does not have. Then that
// replica cannot follow the elected one, which therefore waits for nobody.
func TestAFenceThatIsSkippedIsFoundEachTime(t *testing.T) {
	eachTime(t, "source cut off", func(t *testing.T) {
		c := config(t)
		c.Rounds, c.Disturb = 1, false
		program := dbservertest.CommitdWithDefect(t, "skip-fence")
		c.Patience = 10 * time.Second // that replica is waited for in vain
		set := newSet(t, replicaset.Config{Dir: c.Dir, Program: program, WaitCount: 1})
		mustLose(t, runOnce(t, c, cutOff{replicated{Set: set}, set, func(ctx context.Context, source *dbserver.Member) error {
			return awaitWorthLosing(ctx, dbservertest.Open(t, source.Server, database))
		}, 0}))
	})
}
