package killloop

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"time"

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

// deafReplicas stops the replicas before the source dies, and kills them before they can read what the network still holds for them: nothing of
// what the source acknowledges meanwhile, without waiting for them, is in their logs.
type deafReplicas struct {
	replicated
	t *testing.T
	// lonely: the source goes on without them, so there will be something to lose.
	lonely bool
	killed string
}

func (d *deafReplicas) NextFault(int) Fault {
	return Fault{Name: "source killed while its replicas are deaf", ExpectOutage: true, Inject: d.inject}
}

func (d *deafReplicas) inject(ctx context.Context, prove func(timeline.Evidence) error) error {
	source, replicas := d.Source(), d.Replicas()
	d.killed = source.Name
	for _, r := range replicas {
		if err := r.Pause(); err != nil {
			return err
		}
	}
	if err := d.awaitWrites(ctx, source); err != nil {
		return err
	}
	err := kill(source.Name, source.Server, prove)
	for _, r := range replicas {
		err = errors.Join(err, r.Kill(), r.Start())
	}
	if err != nil {
		return err
	}
	// A careless election takes whoever answers first: of two replicas the one that has less, and the other one could never follow it.
	if err := d.Await(ctx, replicas); err != nil {
		return err
	}
	if err := d.FailOver(ctx); err != nil {
		return err
	}
	return d.Rejoin(ctx, source)
}

func (d *deafReplicas) awaitWrites(ctx context.Context, source *replicaset.Member) error {
	if d.lonely {
		return awaitWorthLosing(ctx, dbservertest.Open(d.t, source.Server, database))
	}
	sleep(ctx, 200*time.Millisecond) // for what must not be acknowledged
	return nil
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
			victim := &deafReplicas{replicated: replicated{Set: newSet(t, unsafe)}, t: t, lonely: true}
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
	round := runOnce(t, c, &deafReplicas{replicated: replicated{Set: newSet(t, replicaset.Config{Dir: c.Dir, WaitCount: 1})}, t: t})
	if v := round.Verdict; v.Result != judge.Passed {
		t.Fatalf("%s because %q", v.Result, v.Reasons)
	}
}
