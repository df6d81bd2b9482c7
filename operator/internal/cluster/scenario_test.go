package cluster

import (
	"slices"
	"testing"
	"time"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/engine"
)

// write has a client's transaction acknowledged.
func (l *lab) write(t *testing.T) {
	t.Helper()
	l.written++
	if !l.world.Write(l.record.Master, l.written) {
		t.Fatalf("%s takes no writes", l.record.Master)
	}
	l.world.Run()
	if len(l.world.Lost()) > 0 {
		t.Fatalf("not everywhere: %v", l.world.Lost())
	}
}

func TestBootstrapWaitsForEveryServer(t *testing.T) {
	l := newLab(requiredPolicy(2), "c-0", "c-1", "c-2")
	l.world.Hide("c-2", true)
	if p := l.operate(t); p.Waiting == "" || l.record.Epoch != 0 {
		t.Fatalf("bootstrapped without c-2: %+v", l.record)
	}
	l.world.Hide("c-2", false)
	l.operate(t)
	l.mustServe(t)
	if l.record.Master != "c-0" || len(l.record.Members) != 3 {
		t.Fatalf("%+v", l.record)
	}
}

func TestLostRecordWithDataStopsEverything(t *testing.T) {
	l := bootstrapped(t, requiredPolicy(2), "c-0", "c-1", "c-2")
	l.record = v1alpha1.Record{}
	p := l.operate(t)
	if len(p.Problems) != 3 || len(p.Commands) != 0 || l.record.Epoch != 0 {
		t.Fatalf("%+v %+v", p, l.record)
	}
}

func TestMasterAloneNeedsNoAcknowledgements(t *testing.T) {
	l := bootstrapped(t, requiredPolicy(0), "c-0")
	l.write(t)
	l.world.Kill("c-0")
	l.world.Start("c-0")
	l.operate(t)
	l.mustServe(t)
}

func TestFailoverNeedsBothTheOperatorAndTheReplicas(t *testing.T) {
	l := bootstrapped(t, requiredPolicy(2), "c-0", "c-1", "c-2")
	epoch := l.record.Epoch
	l.world.Hide("c-0", true)
	if l.operate(t); l.record.Epoch != epoch {
		t.Fatal("failed over although the replicas heard the master")
	}
	l.world.Isolate("c-0", true)
	l.operate(t)
	if l.record.Epoch == epoch || l.record.Master == "c-0" {
		t.Fatalf("did not fail over: %+v", l.record)
	}
}

func TestFailoverNeedsAReadQuorum(t *testing.T) {
	l := bootstrapped(t, requiredPolicy(2), "c-0", "c-1", "c-2")
	l.write(t)
	epoch := l.record.Epoch
	l.world.Kill("c-0")
	l.world.Kill("c-1")
	if p := l.operate(t); l.record.Epoch != epoch || p.Waiting == "" {
		t.Fatalf("claimed an epoch that nobody can win: %+v", l.record)
	}
	l.world.Start("c-1")
	l.operate(t)
	l.world.Start("c-0")
	l.operate(t)
	l.mustServe(t)
}

func TestFailoverCanBeTurnedOff(t *testing.T) {
	policy := requiredPolicy(2)
	policy.FailoverDisabled = true
	l := bootstrapped(t, policy, "c-0", "c-1", "c-2")
	l.world.Kill("c-0")
	if p := l.operate(t); p.Problems[""] == "" || l.record.Master != "c-0" {
		t.Fatalf("%+v", l.record)
	}
	l.world.Start("c-0")
	l.operate(t)
	l.mustServe(t)
}

func TestPatienceWithTheMaster(t *testing.T) {
	l := bootstrapped(t, requiredPolicy(2), "c-0", "c-1", "c-2")
	l.world.Kill("c-0")
	v := l.view()
	v.server("c-0").UnreachableFor, v.server("c-0").Ended = time.Second, false
	if p := Decide(v); p.Record != nil {
		t.Fatal("claimed an epoch before unreachableAfter")
	}
}

func TestAnEmptiedReplicaJoinsAsANewServer(t *testing.T) {
	for _, names := range [][]string{{"c-0", "c-1"}, {"c-0", "c-1", "c-2"}} {
		l := bootstrapped(t, requiredPolicy(int32(len(names)-1)), names...)
		l.write(t)
		v := l.view()
		old := v.server("c-1").Status.ServerUUID
		l.world.Kill("c-1")
		l.world.Wipe("c-1")
		l.world.Start("c-1")
		l.operate(t)
		l.mustServe(t)
		if slices.Contains(l.record.Quorum.Members, old) || len(l.record.Quorum.Members) != len(names)-1 {
			t.Fatalf("quorum %+v", l.record.Quorum)
		}
		l.write(t)
	}
}

func TestAReplicaEmptiedWhileTheMasterRestartsDoesNotBlockForEver(t *testing.T) {
	l := bootstrapped(t, requiredPolicy(1), "c-0", "c-1")
	l.write(t)
	l.world.Kill("c-1")
	l.world.Wipe("c-1")
	l.world.Start("c-1")
	for range 3 { // initialised and on record, and then the master restarts before it has caught up
		p := l.decide()
		if p.plan.Record != nil {
			l.persist(p)
		}
		for _, c := range p.plan.Commands {
			l.execute(c)
		}
	}
	l.world.Kill("c-0")
	l.world.Start("c-0")
	l.operate(t)
	l.mustServe(t)
	l.write(t)
}

func TestAnEmptiedMasterIsNotElected(t *testing.T) {
	l := bootstrapped(t, requiredPolicy(2), "c-0", "c-1", "c-2")
	l.write(t)
	l.world.Kill("c-0")
	l.world.Wipe("c-0")
	l.world.Start("c-0")
	l.operate(t)
	if l.record.Master == "c-0" {
		t.Fatal("the emptied server is master")
	}
	l.mustServe(t)
	l.write(t)
}

func TestAnotherVolumeWithAKnownUUIDIsNotUsed(t *testing.T) {
	l := bootstrapped(t, requiredPolicy(2), "c-0", "c-1", "c-2")
	v := l.view()
	v.server("c-1").PVCUID = "a copy"
	p := Decide(v)
	if p.Record == nil || len(p.Record.Quorum.Members) != 1 {
		t.Fatalf("still counted: %+v", p.Record)
	}
	v.Record = *p.Record
	for _, c := range Decide(v).Commands {
		if c.Server == "c-1" {
			t.Fatalf("commanded: %s", c)
		}
	}
}

func TestPreferredLowersTheWaitCountAndRaisesItAgain(t *testing.T) {
	l := bootstrapped(t, preferredPolicy(1), "c-0", "c-1")
	l.write(t)
	l.world.Kill("c-1")
	l.world.Write("c-0", 100)
	if l.operate(t); l.record.Quorum.WaitCount != 1 {
		t.Fatal("lowered before anybody had waited")
	}
	l.world.Impatient("c-0", 60)
	l.operate(t)
	if l.record.Quorum.WaitCount != 0 || len(l.record.PriorQuorums) != 0 {
		t.Fatalf("not lowered: %+v", l.record)
	}
	l.world.Start("c-1")
	l.operate(t)
	l.mustServe(t)
	if l.record.Quorum.WaitCount != 1 {
		t.Fatalf("not raised: %+v", l.record.Quorum)
	}
}

func TestRequiredNeverGoesBelowItsFloor(t *testing.T) {
	l := bootstrapped(t, requiredPolicy(1), "c-0", "c-1")
	l.world.Kill("c-1")
	l.world.Write("c-0", 1)
	l.world.Impatient("c-0", 3600)
	l.operate(t)
	if l.record.Quorum.WaitCount != 1 || len(l.world.Acknowledged) != 1 {
		t.Fatalf("%+v, acknowledged %v", l.record.Quorum, l.world.Acknowledged)
	}
}

// What a new master has in its log and does not show yet may have been acknowledged, and read, at the former one.
func TestTheMasterServiceIsEmptyUntilReplicasAttach(t *testing.T) {
	l := newLab(requiredPolicy(1), "c-0", "c-1")
	l.operate(t)
	l.world.Isolate("c-1", true)
	v := l.view()
	if role := Decide(v).Roles["c-0"]; role != "" {
		t.Fatalf("label %q before the first acknowledgement", role)
	}
	v.Initialized = true
	if role := Decide(v).Roles["c-0"]; role != "" {
		t.Fatalf("label %q on a master that has not taken writes yet", role)
	}
	v.server("c-0").Label = v1alpha1.RoleMaster
	if role := Decide(v).Roles["c-0"]; role != v1alpha1.RoleMaster {
		t.Fatalf("label %q on a master that has served and waits for its replicas", role)
	}
}

func TestWaitCountsFollowTheSpec(t *testing.T) {
	two := int32(2)
	for name, c := range map[string]struct {
		policy      Policy
		full, floor int32
	}{
		"alone":              {requiredPolicy(0), 0, 0},
		"one replica":        {requiredPolicy(1), 1, 1},
		"two replicas":       {requiredPolicy(2), 1, 1},
		"three replicas":     {requiredPolicy(3), 2, 1},
		"four replicas":      {requiredPolicy(4), 2, 1},
		"preferred":          {preferredPolicy(2), 1, 0},
		"asked for":          {Policy{Replicas: 4, WaitCount: &two, MinSyncReplicas: 2}, 2, 2},
		"more than there is": {Policy{Replicas: 1, WaitCount: &two, MinSyncReplicas: 2}, 1, 1},
	} {
		if full, floor := c.policy.fullWaitCount(), c.policy.floorWaitCount(); full != c.full || floor != c.floor {
			t.Errorf("%s: full %d floor %d, want %d and %d", name, full, floor, c.full, c.floor)
		}
	}
}

func TestElectionsGoByLastEpochThenByContents(t *testing.T) {
	server := func(name string, epoch int64, gtids string) *Server {
		s := &Server{Name: name}
		s.Status.LastLogEpoch, s.Status.GTIDLogged = epoch, gtids
		return s
	}
	const a, b = "00000000-0000-0000-0001-000000000001", "00000000-0000-0000-0001-000000000002"
	for name, c := range map[string]struct {
		servers []*Server
		want    string
	}{
		"more of one epoch":          {[]*Server{server("x", 1, a+":1-3"), server("y", 1, a+":1-5")}, "y"},
		"later epoch with less":      {[]*Server{server("x", 1, a+":1-9"), server("y", 2, a+":1-3,"+b+":1")}, "y"},
		"equal keeps the incumbent":  {[]*Server{server("x", 1, a+":1-3"), server("incumbent", 1, a+":1-3")}, "incumbent"},
		"old logs may have diverged": {[]*Server{server("x", 1, a+":1-9"), server("y", 1, b+":1"), server("z", 2, a+":1-3")}, "z"},
		"diverged logs elect nobody": {[]*Server{server("x", 1, a+":1-9"), server("y", 1, b+":1")}, ""},
	} {
		winner, err := best(c.servers, "incumbent")
		if (err != nil) != (c.want == "") || (err == nil && winner.Name != c.want) {
			t.Errorf("%s: %+v %v, want %q", name, winner, err, c.want)
		}
	}
}

func TestWithFailoverOffOnlyTheMasterGetsItsRoleAgain(t *testing.T) {
	policy := requiredPolicy(2)
	policy.FailoverDisabled = true
	l := bootstrapped(t, policy, "c-0", "c-1", "c-2")
	l.write(t)
	l.world.Kill("c-0")
	if p := l.operate(t); l.record.Master != "c-0" || len(p.Problems) == 0 {
		t.Fatalf("%+v %+v", l.record, p)
	}
	// It comes back and dies again before it has its role: still nobody else takes over.
	l.world.Start("c-0")
	claim := l.decide()
	if claim.plan.Record == nil || claim.plan.Record.Election == nil {
		t.Fatalf("%+v", claim.plan)
	}
	l.persist(claim)
	l.world.Kill("c-0")
	if p := l.operate(t); l.record.Election == nil || len(p.Problems) == 0 {
		t.Fatalf("somebody else was elected: %+v", l.record)
	}
	l.world.Start("c-0")
	l.operate(t)
	l.mustServe(t)
	if l.record.Master != "c-0" {
		t.Fatalf("%+v", l.record)
	}
}

func TestAForeignVolumeDemotesNobody(t *testing.T) {
	l := bootstrapped(t, requiredPolicy(2), "c-0", "c-1", "c-2")
	l.write(t)
	v := l.view()
	v.Servers[2].Status.ServerUUID, v.Servers[2].Status.Epoch = "of-another-cluster", 1000
	p := Decide(v)
	if p.Record != nil || len(p.Problems) != 1 || p.Roles["c-0"] != v1alpha1.RoleMaster {
		t.Fatalf("%+v", p)
	}
	// An empty one that has promised a higher epoch does not join, either.
	v.Servers[2].Status.GTIDLogged, v.Servers[2].Status.LastLogEpoch = "", 0
	if p := Decide(v); (p.Record != nil && len(p.Record.Members) != 3) || len(p.Problems) != 1 {
		t.Fatalf("%+v", p)
	}
}

func TestAReplicaServesOnlyWhenItHearsItsMasterAndAppliesWhatItHears(t *testing.T) {
	l := bootstrapped(t, requiredPolicy(2), "c-0", "c-1", "c-2")
	for what, change := range map[string]func(*Server){
		"receiver error":  func(s *Server) { s.Status.ReceiverState = "error" },
		"never heard":     func(s *Server) { s.Status.SecondsSinceHeartbeat = nil },
		"applier stopped": func(s *Server) { s.Status.ApplierState, s.Status.ApplierError = "error", "1062 somewhere" },
	} {
		v := l.view()
		change(&v.Servers[1])
		if p := Decide(v); p.Roles["c-1"] != "" {
			t.Errorf("%s: %+v", what, p.Roles)
		}
		for _, c := range Decide(v).Commands {
			if c.Kind == CommandFollow {
				t.Errorf("%s: told to follow whom it follows", what)
			}
		}
	}
	v := l.view()
	v.Servers[1].Status.ApplierState, v.Servers[1].Status.ApplierError = "error", "1062 somewhere"
	if p := Decide(v); p.Problems["c-1"] == "" {
		t.Errorf("%+v", p)
	}
}

func TestARefusedPasswordIsSaid(t *testing.T) {
	l := bootstrapped(t, requiredPolicy(2), "c-0", "c-1", "c-2")
	v := l.view()
	for i := range v.Servers {
		v.Servers[i].Reachable, v.Servers[i].Denied = false, true
	}
	if p := Decide(v); len(p.Problems) != 3 || p.Record != nil {
		t.Fatalf("%+v", p)
	}
}

func TestVolumesAreAdoptedWhenAPersonSaysSo(t *testing.T) {
	l := bootstrapped(t, requiredPolicy(2), "c-0", "c-1", "c-2")
	l.write(t)
	l.record, l.initialized = v1alpha1.Record{}, false
	l.policy.Adopt = true
	l.world.Hide("c-1", true)
	if p := l.operate(t); l.record.Epoch != 0 || p.Waiting == "" {
		t.Fatalf("adopted without c-1, which may hold what nobody else does: %+v", l.record)
	}
	l.world.Hide("c-1", false)
	l.operate(t)
	l.mustServe(t)
	l.write(t)
}

func TestAdoptionWaitsForVolumesThatNobodyRuns(t *testing.T) {
	l := bootstrapped(t, requiredPolicy(1), "c-0", "c-1")
	l.write(t)
	l.record, l.initialized = v1alpha1.Record{}, false
	l.policy.Adopt = true
	v := l.view()
	v.Unused = map[string]string{"c-2": "pvc"}
	if p := Decide(v); p.Record != nil || len(p.Commands) > 0 || p.Problems[""] == "" {
		t.Fatalf("adopted without c-2, which may hold what nobody else does: %+v", p)
	}
}

func TestOneVolumeThatIsLeftCanBeAdopted(t *testing.T) {
	l := bootstrapped(t, requiredPolicy(2), "c-0", "c-1", "c-2")
	l.write(t)
	l.record, l.initialized = v1alpha1.Record{}, false
	l.policy.Adopt = true
	for _, name := range []string{"c-0", "c-2"} {
		l.world.Kill(name)
		l.world.Wipe(name)
		l.world.Start(name)
	}
	l.operate(t)
	l.mustServe(t)
	l.write(t)
	if l.record.Master != "c-1" {
		t.Fatalf("%+v", l.record)
	}
}

func TestOfEqualLogsTheOneThatCanBeAppliedWins(t *testing.T) {
	const log = "00000000-0000-0000-0001-000000000001:1-3"
	stuck, healthy := &Server{Name: "incumbent"}, &Server{Name: "healthy"}
	for _, s := range []*Server{stuck, healthy} {
		s.Status.LastLogEpoch, s.Status.GTIDLogged = 1, log
	}
	stuck.Status.ApplierState = engine.ApplierStopped
	for _, order := range [][]*Server{{stuck, healthy}, {healthy, stuck}} {
		if winner, err := best(order, "incumbent"); err != nil || winner != healthy {
			t.Errorf("%s %v", winner.Name, err)
		}
	}
	stuck.Status.GTIDLogged = "00000000-0000-0000-0001-000000000001:1-4"
	if winner, err := best([]*Server{healthy, stuck}, ""); err != nil || winner != stuck {
		t.Errorf("%s %v: what was acknowledged comes first", winner.Name, err)
	}
}
