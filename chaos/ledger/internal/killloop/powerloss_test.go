package killloop

import (
	"context"
	"database/sql"
	"errors"
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
	db *sql.DB
}

func (p powerLoss) NextFault(int) Fault {
	return Fault{Name: "power loss", ExpectOutage: true, Inject: p.inject}
}

func (p powerLoss) inject(ctx context.Context, prove func(timeline.Evidence) error) error {
	if _, err := p.db.ExecContext(ctx, "FLUSH ENGINE LOGS"); err != nil {
		return err
	}
	file, synced, err := endOfLog(ctx, p.db)
	if err != nil {
		return err
	}
	if err := awaitWorthLosing(ctx, p.db); err != nil {
		return err
	}
	if err := kill("server", p.Server, prove); err != nil {
		return err
	}
	if err := os.Truncate(filepath.Join(p.DataDir(), file), synced); err != nil {
		return err
	}
	return p.Server.Start()
}

// endOfLog asks the server: its file is written ahead with zeros, so its size says less.
func endOfLog(ctx context.Context, db *sql.DB) (file string, position int64, err error) {
	var ignored sql.RawBytes
	rows, err := db.QueryContext(ctx, "SHOW BINARY LOG STATUS")
	if err != nil {
		return "", 0, err
	}
	defer rows.Close()
	if !rows.Next() {
		return "", 0, errors.Join(errors.New("the server has no binary log"), rows.Err())
	}
	return file, position, rows.Scan(&file, &position, &ignored, &ignored, &ignored)
}

// worthLosing is many times what all writers together can have under way without an answer.
const worthLosing = 256 << 10

// awaitWorthLosing returns once so much more is in the log: how long that takes is the machine's affair.
func awaitWorthLosing(ctx context.Context, db *sql.DB) error {
	_, before, err := endOfLog(ctx, db)
	for now := before; err == nil && now < before+worthLosing; _, now, err = endOfLog(ctx, db) {
		sleep(ctx, 10*time.Millisecond)
	}
	return err
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
	server := victim.(single)
	round := runOnce(t, c, powerLoss{server, dbservertest.Open(t, server.Server, database)})
	if v := round.Verdict; v.Result != judge.Failed || v.Lost == 0 || len(v.LostCommits) == 0 {
		t.Fatalf("%s, lost %d, because %q", v.Result, v.Lost, v.Reasons)
	}
}
