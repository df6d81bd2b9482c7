package engine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"commitlab.dev/operator/internal/engine"
	"commitlab.dev/operator/internal/engine/fake"
)

// servers are several that reach each other: the fake's, or commitd processes.
type servers interface {
	server(name string) engine.Server
	port(name string) int32
	// write is a client's transaction that nobody waits for; giveUp lets the timeout of a master pass.
	write(t *testing.T, name string)
	giveUp(name string)
	// pass lets so much time go by, where it does not by itself.
	pass(length time.Duration)
	kill(name string)
	start(t *testing.T, name string)
	// wipe empties the volume of a server that was killed.
	wipe(t *testing.T, name string)
	// run lets happen what happens by itself in a real network.
	run()
}

var names = []string{"a", "b", "c"}

type fakeServers struct{ world *fake.World }

func (f fakeServers) server(name string) engine.Server { return f.world.Server(name) }
func (f fakeServers) port(string) int32                { return 1 }
func (f fakeServers) kill(name string)                 { f.world.Kill(name) }
func (f fakeServers) start(_ *testing.T, name string)  { f.world.Start(name) }
func (f fakeServers) wipe(_ *testing.T, name string)   { f.world.Wipe(name) }
func (f fakeServers) write(t *testing.T, name string) {
	if !f.world.Write(name, 1) {
		t.Errorf("%s takes no write", name)
	}
}
func (f fakeServers) giveUp(name string)        { f.world.GiveUp(name) }
func (f fakeServers) pass(length time.Duration) { f.world.Pass(length) }
func (f fakeServers) run()                      { f.world.Run() }

type processes map[string]*process

func (p processes) server(name string) engine.Server { return p[name].client }
func (p processes) port(name string) int32           { return int32(p[name].clients) }
func (p processes) kill(name string)                 { p[name].kill() }
func (p processes) start(t *testing.T, name string)  { t.Helper(); p[name].start(t) }
func (p processes) wipe(t *testing.T, name string) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(p[name].dir, "data")); err != nil {
		t.Fatal(err)
	}
}
func (p processes) giveUp(string)      {}
func (p processes) pass(time.Duration) {}
func (p processes) write(t *testing.T, name string) {
	client, database := p[name].client, fmt.Sprint("written_", time.Now().UnixNano())
	go func() { _ = client.EnsureAccounts(t.Context(), database, nil) }()
}
func (p processes) run() {}

// trial asks a set of servers, and remembers who they are.
type trial struct {
	*testing.T
	servers
	uuids map[string]string
}

func (t trial) status(name string) engine.Status {
	t.Helper()
	st, err := t.server(name).Status(t.Context())
	if err != nil {
		t.Fatalf("status of %s: %v", name, err)
	}
	return st
}

func (t trial) eventually(what string, holds func() bool) {
	t.Helper()
	for range 600 {
		t.run()
		if holds() {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	for _, name := range names {
		if st, err := t.server(name).Status(t.Context()); err == nil {
			t.Logf("%s: %+v", name, st)
		}
	}
	t.Fatalf("never: %s", what)
}

func (t trial) must(what string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

func (t trial) source(name string) engine.Source {
	return engine.Source{Host: "127.0.0.1", Port: t.port(name), UUID: t.uuids[name], User: engine.OperatorUser, Password: "secret"}
}

func (t trial) quorum(wait int32, members ...string) engine.Quorum {
	q := engine.Quorum{WaitCount: wait}
	for _, m := range members {
		q.Members = append(q.Members, t.uuids[m])
	}
	return q
}

func (t trial) follow(epoch int64, master string, replicas ...string) {
	t.Helper()
	for _, r := range replicas {
		t.must(r+" follows "+master, t.server(r).Follow(t.Context(), epoch, t.source(master)))
	}
}

func (t trial) serves(master string) bool { return !t.status(master).WritesBlocked }

func (t trial) attached(master string, replicas ...string) bool {
	st := t.status(master)
	for _, r := range replicas {
		if !slices.Contains(st.SemisyncClients, t.uuids[r]) || !slices.Contains(st.AckedMembers, t.uuids[r]) {
			return false
		}
	}
	return len(st.SemisyncClients) == len(replicas)
}

func (t trial) equal(epoch int64) bool {
	first := t.status(names[0])
	for _, name := range names {
		st := t.status(name)
		if st.GTIDLogged != first.GTIDLogged || st.GTIDExecuted != first.GTIDExecuted || st.LastLogEpoch != epoch {
			return false
		}
	}
	return first.GTIDLogged == first.GTIDExecuted
}

// conformTogether is a mastership from its beginning to the next one, with crashes in between: who is counted, when writes are
// blocked, and what an election may read.
func conformTogether(tt *testing.T, all servers) {
	t := trial{T: tt, servers: all, uuids: map[string]string{}}
	for _, name := range names {
		t.must("initialize", t.server(name).Initialize(t.Context()))
		t.uuids[name] = t.status(name).ServerUUID
		t.must("fence", t.server(name).Fence(t.Context(), 1))
	}
	t.must("promote", t.server("a").Promote(t.Context(), 1, t.quorum(1, "b", "c")))
	if t.serves("a") {
		t.Error("a serves before anybody has acknowledged its epoch")
	}
	if t.status("a").DataFormat == "" {
		t.Error("a does not say which format its data have")
	}
	t.follow(1, "a", "b")
	t.eventually("one acknowledges, and a serves", func() bool { return t.attached("a", "b") && t.serves("a") })
	t.follow(1, "a", "c")
	t.eventually("both acknowledge", func() bool { return t.attached("a", "b", "c") && t.equal(1) })

	// A handover ends writes, once everything is acknowledged, until it is taken back; the replicas stay.
	t.must("hand over", t.server("a").HandOver(t.Context(), 1))
	if st := t.status("a"); !st.HandedOver || !st.CanHandOver || t.serves("a") || st.Role != engine.RoleMaster || !t.attached("a", "b", "c") {
		t.Errorf("a has handed over: %+v", st)
	}
	t.must("take it back", t.server("a").PromoteFenced(t.Context(), 1, t.quorum(1, "b", "c")))
	t.eventually("a serves again", func() bool { return t.serves("a") && !t.status("a").HandedOver && t.equal(1) })

	t.kill("b")
	t.kill("c")
	t.eventually("a alone serves nobody", func() bool { return !t.serves("a") && t.attached("a") })
	t.write(tt, "a")
	t.eventually("it waits", func() bool { return t.status("a").AckWaiting > 0 })
	if err := t.server("a").HandOver(t.Context(), 1); err == nil || t.status("a").HandedOver {
		t.Errorf("a has handed over what nobody has acknowledged: %v", err)
	}
	t.start(tt, "b")
	if st := t.status("b"); st.Role != engine.RoleUndecided || st.Epoch != 1 || st.LastLogEpoch != 1 {
		t.Errorf("b after a crash: %+v", st)
	}
	t.follow(1, "a", "b")
	t.eventually("a serves again", func() bool { return t.serves("a") && t.attached("a", "b") })

	// Terms belong to the quorum: they are shown, the same version does not change them, and a master that gives up acknowledges by
	// itself what its replicas do not hold.
	async := t.quorum(2, "b", "c")
	async.Terms = engine.Terms{TimeoutMilliseconds: 50, OnTimeout: engine.OnTimeoutAsync}
	t.must("async", t.server("a").SetQuorum(t.Context(), 1, 1, async))
	if err := t.server("a").SetQuorum(t.Context(), 1, 1, t.quorum(2, "b", "c")); !answers(err, engine.ErrEpoch) {
		t.Errorf("other terms of the same version: %v", err)
	}
	if st := t.status("a"); st.Terms != async.Terms || st.QuorumVersion != 1 {
		t.Errorf("the terms in force: %+v", st)
	}
	t.write(tt, "a")
	t.eventually("a goes on by itself, and b alone holds it", func() bool {
		t.giveUp("a")
		return t.serves("a") && t.attached("a", "b")
	})
	t.must("block", t.server("a").SetQuorum(t.Context(), 1, 2, t.quorum(1, "b", "c")))
	t.eventually("a waits for one again", func() bool { return t.serves("a") && t.status("a").Terms == engine.Terms{} })

	// A lease: shown, and lost without a word from a member.
	leased := t.quorum(1, "b", "c")
	leased.Terms.LeaseMilliseconds = 1000
	t.must("a lease", t.server("a").SetQuorum(t.Context(), 1, 3, leased))
	t.eventually("a has its lease", func() bool {
		st := t.status("a")
		return st.KnowsLease && !st.LeaseLost && st.Terms == leased.Terms && t.attached("a", "b")
	})
	t.kill("b")
	t.eventually("its lease runs out", func() bool { t.pass(time.Second); return t.status("a").LeaseLost })
	t.start(tt, "b")
	t.follow(1, "a", "b")
	t.eventually("b renews it", func() bool { return !t.status("a").LeaseLost && t.serves("a") && t.attached("a", "b") })

	// An election: what was fenced counts for the old master no more, and its log says up to which epoch it goes.
	t.start(tt, "c")
	t.must("fence b", t.server("b").Fence(t.Context(), 2))
	t.must("fence c", t.server("c").Fence(t.Context(), 2))
	t.eventually("a has nobody", func() bool { return !t.serves("a") && t.attached("a") })
	t.eventually("and answers nobody, a lease later", func() bool { t.pass(time.Second); return t.status("a").LeaseLost })
	if st := t.status("a"); st.Role != engine.RoleMaster || st.Epoch != 1 {
		t.Errorf("a is told by nobody: %+v", st)
	}
	t.must("promote b", t.server("b").Promote(t.Context(), 2, t.quorum(1, "a", "c")))
	if st := t.status("b"); t.serves("b") || st.LastLogEpoch != 2 || st.GTIDLogged == st.GTIDExecuted {
		t.Errorf("b has opened an epoch that nobody has acknowledged: %+v", st)
	}
	t.follow(2, "b", "a", "c")
	t.eventually("all follow b", func() bool { return t.serves("b") && t.attached("b", "a", "c") && t.equal(2) })
	if st := t.status("a"); st.Role != engine.RoleReplica || st.ReceiverState != engine.ReceiverReceiving || st.SourceUUID != t.uuids["b"] {
		t.Errorf("the old master: %+v", st)
	}

	// Quorums: more than there are, then fewer; and the last one outlives a crash of the master.
	t.must("both must", t.server("b").SetQuorum(t.Context(), 2, 1, t.quorum(2, "a", "c")))
	t.kill("c")
	t.eventually("one is too few", func() bool { return !t.serves("b") })
	t.must("a must", t.server("b").SetQuorum(t.Context(), 2, 2, t.quorum(1, "a")))
	t.eventually("one is enough", func() bool { return t.serves("b") && t.attached("b", "a") })
	t.kill("b")
	t.start(tt, "b")
	if err := t.server("b").Promote(t.Context(), 2, t.quorum(1, "a", "c")); !answers(err, engine.ErrEpoch) {
		t.Errorf("promoted with the first quorum: %v", err)
	}
	t.must("promote b again", t.server("b").Promote(t.Context(), 2, t.quorum(1, "a")))
	t.eventually("b goes on", func() bool { return t.serves("b") && t.attached("b", "a") && t.status("b").QuorumVersion == 2 })
	t.start(tt, "c")
	t.follow(2, "b", "c")
	t.eventually("all are equal", func() bool { return t.equal(2) })
	t.clones()
	t.loses()
}

// clones: a replica, and a server without data, get what another one has; what they were, they are no more.
func (t trial) clones() {
	t.Helper()
	if err := t.server("b").Clone(t.Context(), t.uuids["b"], t.source("a")); err == nil {
		t.Error("a master was cloned into")
	}
	t.kill("c")
	t.wipe(t.T, "c")
	t.start(t.T, "c")
	if err := t.server("c").Clone(t.Context(), t.uuids["c"], t.source("a")); err == nil {
		t.Error("a server without data was cloned into as if it had those of its predecessor")
	}
	t.cloned("c", t.status("c").ServerUUID, 0, "a") // without data, from a replica
	t.follow(2, "b", "c")
	t.eventually("c has followed", func() bool { return t.equal(2) })
	t.must("c counts", t.server("b").SetQuorum(t.Context(), 2, 3, t.quorum(1, "c")))
	t.must("a is stopped", t.server("a").Clone(t.Context(), t.uuids["a"], t.source("b")))
	t.eventually("a is no replica", func() bool {
		st, err := t.server("a").Status(t.Context())
		return err != nil || st.Role == engine.RoleUndecided
	})
	t.kill("a")
	t.start(t.T, "a")
	t.cloned("a", t.uuids["a"], 2, "b") // that was a replica, from the master
	t.follow(2, "b", "a")
	t.must("a counts", t.server("b").SetQuorum(t.Context(), 2, 4, t.quorum(1, "a", "c")))
	t.eventually("all follow", func() bool { return t.equal(2) && t.attached("b", "a", "c") })
}

// loses: a server without all that was acknowledged is promoted, because nobody else is there. Who comes back with more has diverged and
// keeps it; or, having crashed, does not know any more that it was acknowledged, and cuts it. Nobody acknowledges with it in his log.
func (t trial) loses() {
	t.Helper()
	t.kill("c")
	before := t.status("b").GTIDLogged
	t.write(t.T, "b")
	t.eventually("a alone has it, and shows it", func() bool {
		master, a := t.status("b"), t.status("a")
		return master.GTIDLogged != before && master.AckWaiting == 0 && master.GTIDLogged == a.GTIDExecuted
	})
	lost := t.status("a").GTIDLogged
	t.kill("b")
	t.kill("a")
	t.start(t.T, "c")
	t.must("fence c", t.server("c").Fence(t.Context(), 3))
	t.must("promote c", t.server("c").PromoteFenced(t.Context(), 3, engine.Quorum{}))
	t.must("c waits for a", t.server("c").SetQuorum(t.Context(), 3, 1, t.quorum(1, "a")))
	t.start(t.T, "a")
	if st := t.status("a"); st.GTIDLogged != lost || st.LastLogEpoch != 2 {
		t.Errorf("a, with what is going to be given up: %+v", st)
	}
	if err := t.server("a").Follow(t.Context(), 3, t.source("c")); err != nil && !answers(err, engine.ErrDiverged) {
		t.Fatalf("a follows c: %v", err)
	}
	t.eventually("a has diverged, or what c has", func() bool {
		a, c := t.status("a"), t.status("c")
		diverged := a.Role == engine.RoleFenced && a.ReceiverState == engine.ReceiverDiverged && a.GTIDLogged == lost && a.Epoch == 3
		return (diverged && !t.serves("c")) || (a.GTIDLogged == c.GTIDLogged && a.LastLogEpoch == 3)
	})
}

// cloned has a server get what the donor has: it is another one then, has promised what it had promised, and has no role.
func (t trial) cloned(name, former string, epoch int64, donor string) {
	t.Helper()
	t.must(name+" is cloned", t.server(name).Clone(t.Context(), former, t.source(donor)))
	t.eventually(name+" is another server", func() bool {
		st, err := t.server(name).Status(t.Context())
		return err == nil && st.ServerUUID != former && st.ServerUUID != ""
	})
	st := t.status(name)
	if st.Role != engine.RoleUndecided || st.Epoch != epoch || st.GTIDLogged == "" || st.GTIDLogged != st.GTIDExecuted || st.LastLogEpoch > 2 {
		t.Errorf("%s after it was cloned: %+v", name, st)
	}
	if err := t.server(name).Clone(t.Context(), former, t.source(donor)); err == nil {
		t.Errorf("%s was cloned into once more as if it were the former one", name)
	}
	if done, estimate, err := t.server(name).CloneProgress(t.Context()); done != 0 || estimate != 0 || err != nil {
		t.Errorf("progress of %s: %d of %d, %v", name, done, estimate, err)
	}
	t.uuids[name] = st.ServerUUID
}

func TestTheFakesServersDoTogetherWhatCommitdsDo(t *testing.T) {
	conformTogether(t, fakeServers{fake.New(names...)})
}

func TestCommitdsServersDoTogetherWhatTheFakesDo(t *testing.T) {
	binary := commitd(t)
	all := processes{}
	for i, name := range names {
		p := newProcess(t, binary, filepath.Join(t.TempDir(), name), i+1)
		all[name] = p
		p.start(t)
		t.Cleanup(p.kill)
	}
	conformTogether(t, all)
}

func newProcess(t *testing.T, binary, dir string, id int) *process {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	p := &process{binary: binary, dir: dir, id: id, port: freePort(t), clients: freePort(t)}
	client, err := engine.Dial(engine.Target{Address: "127.0.0.1", Port: int32(p.port), Password: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	p.client = client
	return p
}
