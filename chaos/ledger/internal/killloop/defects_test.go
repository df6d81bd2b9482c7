package killloop

import (
	"testing"

	"commitlab.dev/ledger/internal/dbserver"
	"commitlab.dev/ledger/internal/dbserver/dbservertest"
)

func TestAnAcknowledgementBeforeTheSyncIsFoundEachTime(t *testing.T) {
	eachTime(t, "power loss", func(t *testing.T) {
		c := config(t)
		c.Rounds, c.Disturb = 1, false
		commands := dbserver.Commitd(dbservertest.CommitdWithDefect(t, "acknowledge-before-sync")).On(dbserver.Forgetful, dbservertest.PowerLossLibrary(t))
		mustLose(t, runOnce(t, c, unsynced{single: alone(t, c, commands).(single), t: t, before: flushLogs}))
	})
}
