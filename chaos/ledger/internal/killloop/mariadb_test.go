package killloop

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"commitlab.dev/ledger/internal/dbserver"
	"commitlab.dev/ledger/internal/dbserver/dbservertest"
	"commitlab.dev/ledger/internal/judge"
	"commitlab.dev/ledger/internal/peerset"
	"commitlab.dev/ledger/internal/timeline"
)

func newPeers(t *testing.T, config peerset.Config) *peerset.Set {
	t.Helper()
	config.Replicas, config.Template = 2, dbservertest.MariaDBTemplate(t)
	set, err := peerset.New(config, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func TestMariaDBWithSemisyncSurvivesAFailoverAndARestart(t *testing.T) {
	t.Parallel()
	c := config(t)
	c.Disturb = false
	var rounds []Round
	err := Run(t.Context(), c, NewReplicated(newPeers(t, peerset.Config{Dir: c.Dir}), false), func(r Round) { rounds = append(rounds, r) }, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	for i, by := range []string{timeline.ByFailover, timeline.ByRestart} {
		if rounds[i].Fault.RecoveredBy != by {
			t.Errorf("%s: recovered by %s", rounds[i].Fault.Name, rounds[i].Fault.RecoveredBy)
		}
	}
}

// lagging replicas have received, and acknowledged, what they have not applied when the source dies.
type lagging struct {
	replicated
	t *testing.T
}

func (l lagging) NextFault(int) Fault {
	return Fault{Name: "source killed while its replicas lag", ExpectOutage: true, Inject: func(ctx context.Context, prove func(timeline.Evidence) error) error {
		for _, m := range l.Replicas() {
			if _, err := dbservertest.Open(l.t, m.Server, "").ExecContext(ctx, "STOP SLAVE SQL_THREAD"); err != nil {
				return err
			}
		}
		sleep(ctx, mustWait)
		return l.failOver(ctx, prove)
	}}
}

// One difference: whether the script waits until the replicas have applied what they acknowledged.
func TestAScriptThatPromotesWhomeverItMeetsIsFound(t *testing.T) {
	for name, careless := range map[string]bool{"careless": true, "careful": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := config(t)
			c.Rounds, c.Disturb = 1, false
			round := runOnce(t, c, lagging{replicated{Set: newPeers(t, peerset.Config{Dir: c.Dir, Careless: careless})}, t})
			if careless {
				mustLose(t, round)
			} else if v := round.Verdict; v.Result != judge.Passed {
				t.Errorf("%s because %q", v.Result, v.Reasons)
			}
		})
	}
}

func TestMariaDBThatGoesOnWithoutItsReplicasIsFound(t *testing.T) {
	for name, unsafe := range map[string]peerset.Config{"asynchronous": {Asynchronous: true}, "after a timeout": {Timeout: 200 * time.Millisecond}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := config(t)
			c.Rounds, c.Disturb = 1, false
			unsafe.Dir = c.Dir
			mustLose(t, runOnce(t, c, &deafTo{replicated: replicated{Set: newPeers(t, unsafe)}, write: func(ctx context.Context, source *dbserver.Member) error {
				return awaitRows(ctx, t, source, 500)
			}}))
		})
	}
}

// awaitRows returns once the source shows so many more.
func awaitRows(ctx context.Context, t *testing.T, source *dbserver.Member, more int) error {
	db := dbservertest.Open(t, source.Server, database)
	count := func() (rows int, err error) {
		err = db.QueryRowContext(ctx, "SELECT COUNT(*) FROM ledger_killloop_entries").Scan(&rows)
		return rows, err
	}
	before, err := count()
	for now := before; err == nil && now < before+more; now, err = count() {
		sleep(ctx, pollEvery)
	}
	return err
}
