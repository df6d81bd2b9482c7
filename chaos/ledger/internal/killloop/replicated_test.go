package killloop

import (
	"context"
	"log/slog"
	"slices"
	"testing"

	"commitlab.dev/ledger/internal/dbserver"
	"commitlab.dev/ledger/internal/dbserver/dbservertest"
	"commitlab.dev/ledger/internal/judge"
	"commitlab.dev/ledger/internal/replicaset"
	"commitlab.dev/ledger/internal/timeline"
)

func newSet(t *testing.T, config replicaset.Config) *replicaset.Set {
	t.Helper()
	if config.Program == "" {
		config.Program = dbservertest.Commitd(t)
	}
	config.Replicas = 2
	set, err := replicaset.New(config, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// runOnce runs the victim and returns the last round, passed or not.
func runOnce(t *testing.T, c Config, victim Victim) Round {
	t.Helper()
	var last Round
	err := Run(t.Context(), c, victim, func(r Round) { last = r }, slog.New(slog.DiscardHandler))
	if err != nil && last.Number == 0 {
		t.Fatal(err)
	}
	return last
}

func TestASourceAndItsReplicasSurviveEveryKill(t *testing.T) {
	c := config(t)
	c.Rounds = len(kills)
	var rounds []Round
	err := Run(t.Context(), c, NewReplicated(newSet(t, replicaset.Config{Dir: c.Dir, WaitCount: 1}), false), func(r Round) { rounds = append(rounds, r) }, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if rounds[0].Fault.RecoveredBy != timeline.ByFailover {
		t.Errorf("%s: recovered by %s", rounds[0].Fault.Name, rounds[0].Fault.RecoveredBy)
	}
	last := rounds[len(rounds)-1].Verdict
	if len(last.Servers) != 3 || slices.ContainsFunc(last.Servers, func(s judge.Server) bool { return !s.Equal }) {
		t.Errorf("%+v", last.Servers)
	}
	if last.Registers.Operations == 0 {
		t.Error("no row was read or written by clients that meet")
	}
	if len(last.OwnReads) < 2 {
		t.Errorf("who waits for GTIDs has read on %d servers", len(last.OwnReads))
	}
	for _, s := range last.Servers {
		if last.Reads[s.Name] == nil || last.Reads[s.Name].Right == 0 {
			t.Errorf("the bank of %s was never read", s.Name)
		}
	}
}

// deafTo are replicas that do not hear what their source acknowledges without them.
type deafTo struct {
	replicated
	write  func(context.Context, *dbserver.Member) error
	killed string
}

func (d *deafTo) NextFault(int) Fault {
	return Fault{Name: deafen.name, ExpectOutage: deafen.expectOutage, Inject: func(ctx context.Context, prove func(timeline.Evidence) error) error {
		d.killed = d.Source().Name
		return d.deafWhile(ctx, prove, func(source *dbserver.Member) error { return d.write(ctx, source) })
	}}
}

// One difference between these and the test below: whether the source waits for a replica, and for how long. If the checker passed all, it would
// pass anything.
func TestCommitsThatNoReplicaHeldAreFoundEachTime(t *testing.T) {
	for name, unsafe := range map[string]replicaset.Config{
		"asynchronous":       {WaitCount: 0},
		"ON_TIMEOUT 'async'": {WaitCount: 1, Terms: "TIMEOUT 200 ON_TIMEOUT 'async'"},
	} {
		eachTime(t, name, func(t *testing.T) {
			c := config(t)
			c.Rounds = 1
			c.Disturb = false
			// Nobody can know what a source acknowledged that waits for no replica. Else the election is as careful as any: one that
			// took the first server to come back could take one that has less than the other shows, which then follows nobody.
			unsafe.Dir, unsafe.Careless = c.Dir, unsafe.WaitCount == 0
			victim := &deafTo{replicated: replicated{Set: newSet(t, unsafe)}, write: func(ctx context.Context, source *dbserver.Member) error {
				return awaitWorthLosing(ctx, dbservertest.Open(t, source.Server, database))
			}}
			round := runOnce(t, c, victim)
			mustLose(t, round)
			lost := round.Verdict.LostCommits[0]
			if lost.AcknowledgedBy.Epoch != 1 || !slices.Contains(lost.StillOn, victim.killed) {
				t.Errorf("%s: %s acknowledged it and still has it", lost, victim.killed)
			}
		})
	}
}

func TestCommitsThatAReplicaHeldSurviveTheSame(t *testing.T) {
	c := config(t)
	c.Rounds = 1
	c.Disturb = false
	victim, err := NewStruck(newSet(t, replicaset.Config{Dir: c.Dir, WaitCount: 1}), deafen.name, mustWait)
	if err != nil {
		t.Fatal(err)
	}
	if v := runOnce(t, c, victim).Verdict; v.Result != judge.Passed {
		t.Fatalf("%s because %q", v.Result, v.Reasons)
	}
}
