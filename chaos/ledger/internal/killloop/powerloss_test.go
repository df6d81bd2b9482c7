package killloop

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"commitlab.dev/ledger/internal/dbserver"
	"commitlab.dev/ledger/internal/dbserver/dbservertest"
	"commitlab.dev/ledger/internal/judge"
	"commitlab.dev/ledger/internal/timeline"
)

// worthLosing is many times what all writers together can have under way without an answer.
const worthLosing = 256 << 10

// awaitWorthLosing returns once so much more is in the log: how long that takes is the machine's affair.
func awaitWorthLosing(ctx context.Context, db *sql.DB) error {
	before, err := endOfLog(ctx, db)
	for now := before; err == nil && now < before+worthLosing; now, err = endOfLog(ctx, db) {
		sleep(ctx, pollEvery)
	}
	return err
}

// endOfLog asks the server: its file is written ahead with zeros, so its size says less.
func endOfLog(ctx context.Context, db *sql.DB) (position int64, err error) {
	var ignored sql.RawBytes
	rows, err := db.QueryContext(ctx, "SHOW BINARY LOG STATUS")
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	if !rows.Next() {
		return 0, errors.Join(errors.New("the server has no binary log"), rows.Err())
	}
	return position, rows.Scan(&ignored, &position, &ignored, &ignored, &ignored)
}

func onDisk(t *testing.T, disk dbserver.Disk, flags string) dbserver.Commands {
	t.Helper()
	commands := dbserver.Commitd(dbservertest.Commitd(t))
	commands.Run += " " + flags
	return commands.On(disk, dbservertest.PowerLossLibrary(t))
}

func TestASyncedLogSurvivesEveryPowerLoss(t *testing.T) {
	for name, disk := range map[string]dbserver.Disk{"all lost": dbserver.Forgetful, "some kept": dbserver.Torn} {
		t.Run(name, func(t *testing.T) {
			c := config(t)
			unsynced := 0
			err := Run(t.Context(), c, alone(t, c, onDisk(t, disk, "")), func(r Round) { unsynced += r.UnsyncedWrites }, slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			if unsynced == 0 {
				t.Error("no write was lost: the disk forgot nothing")
			}
		})
	}
}

func TestPowerLossWithoutSyncsIsFoundEachTime(t *testing.T) {
	for name, victim := range map[string]unsynced{
		"sync_binlog=0":    {flags: "--sync-binlog=0", before: flushLogs},
		"a disk that lies": {before: letDiskLie, after: letDiskBeHonest},
	} {
		eachTime(t, name, func(t *testing.T) {
			c := config(t)
			c.Rounds = 1
			c.Disturb = false // a log that is rotated is synced
			victim := victim
			victim.t, victim.single = t, alone(t, c, onDisk(t, dbserver.Forgetful, victim.flags)).(single)
			mustLose(t, runOnce(t, c, victim))
		})
	}
}

// unsynced is a server that acknowledges for a while what no disk holds.
type unsynced struct {
	single
	t             *testing.T
	flags         string
	before, after func(context.Context, single, *sql.DB) error
}

func (u unsynced) NextFault(int) Fault {
	return Fault{Name: "power loss", ExpectOutage: true, Inject: u.inject}
}

func (u unsynced) inject(ctx context.Context, prove func(timeline.Evidence) error) error {
	db := dbservertest.Open(u.t, u.Server, database)
	if err := u.before(ctx, u.single, db); err != nil {
		return err
	}
	if err := awaitWorthLosing(ctx, db); err != nil {
		return err
	}
	if err := kill("server", u.Server, prove); err != nil {
		return err
	}
	if u.after != nil {
		if err := u.after(ctx, u.single, db); err != nil {
			return err
		}
	}
	return u.Server.Start()
}

// flushLogs makes durable what is there, the tables among it: writers need them afterwards.
func flushLogs(ctx context.Context, _ single, db *sql.DB) error {
	_, err := db.ExecContext(ctx, "FLUSH LOGS")
	return err
}

func letDiskLie(_ context.Context, s single, _ *sql.DB) error {
	return os.WriteFile(s.Lies(), nil, 0o600)
}

func letDiskBeHonest(_ context.Context, s single, _ *sql.DB) error { return os.Remove(s.Lies()) }

// eachTime runs a test TIMES times (`make -C chaos catches` does it five times): what is known to lose commits must never pass.
func eachTime(t *testing.T, name string, test func(*testing.T)) {
	times := 1
	if text := os.Getenv("TIMES"); text != "" {
		var err error
		if times, err = strconv.Atoi(text); err != nil || times < 1 {
			t.Fatalf("TIMES=%s", text)
		}
	}
	for range times {
		t.Run(name, test)
	}
}

// mustLose expects the loss to be found, and to be told in numbers and names.
func mustLose(t *testing.T, round Round) {
	t.Helper()
	v := round.Verdict
	if v.Result != judge.Failed || v.Lost == 0 || len(v.LostCommits) == 0 {
		t.Fatalf("%s, lost %d, because %q", v.Result, v.Lost, v.Reasons)
	}
	if first := v.LostCommits[0]; first.ID == 0 || first.AcknowledgedAt.IsZero() || first.AcknowledgedBy.ID == "" {
		t.Errorf("of the first of %d it is not known who acknowledged it and when: %+v", v.Lost, first)
	}
}

// Somebody removed the log that the data go with: the server refuses to start.
func TestAServerThatDoesNotStartAgainIsToldAtOnceWithItsLastWords(t *testing.T) {
	c := config(t)
	c.Rounds, c.Disturb = 1, false
	victim := unsynced{single: alone(t, c, onDisk(t, dbserver.Forgetful, "")).(single), t: t, before: func(context.Context, single, *sql.DB) error { return nil }}
	victim.after = func(_ context.Context, s single, _ *sql.DB) error {
		logs, err := filepath.Glob(filepath.Join(s.DataDir(), "binlog.0*"))
		for _, log := range logs {
			err = errors.Join(err, os.Remove(log))
		}
		return err
	}
	began := time.Now()
	err := Run(t.Context(), c, victim, func(Round) {}, slog.New(slog.DiscardHandler))
	if err == nil || !strings.Contains(err.Error(), "the server has ended") || !strings.Contains(err.Error(), "binlog") {
		t.Fatalf("it says %v", err)
	}
	if took := time.Since(began); took > c.Patience {
		t.Errorf("it waited for %s", took)
	}
}
