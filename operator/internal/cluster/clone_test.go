package cluster

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/engine"
)

func commandFor(p Plan, server string) Command {
	i := slices.IndexFunc(p.Commands, func(c Command) bool { return c.Server == server })
	if i < 0 {
		return Command{}
	}
	return p.Commands[i]
}

// A server without data is on record before it is cloned, is no member meanwhile, and gets what a replica has.
func TestAnEmptyServerIsClonedFromAReplica(t *testing.T) {
	l := bootstrapped(t, requiredPolicy(2), "c-0", "c-1", "c-2")
	l.write(t)
	l.world.Kill("c-2")
	l.world.Wipe("c-2")
	l.world.Start("c-2")
	if p := l.decide(); p.plan.Record == nil || len(p.plan.Commands) > 0 || p.plan.Record.Clones[0].Reason != v1alpha1.CloneEmpty {
		t.Fatalf("%+v", p.plan)
	} else {
		l.persist(p)
	}
	c := commandFor(l.decide().plan, "c-2")
	if c.Kind != CommandClone || c.UUID != "" || c.Source.Host != "c-1" {
		t.Fatalf("%v", c)
	}
	l.world.Kill("c-1")
	if c := commandFor(l.decide().plan, "c-2"); c.Source.Host != "c-0" {
		t.Fatalf("without the other replica: %v", c)
	}
	l.world.Start("c-1")
	l.operate(t)
	l.mustServe(t)
	if len(l.record.Clones) > 0 || len(l.record.Members) != 3 {
		t.Fatalf("%+v", l.record)
	}
	l.write(t)
}

// Another volume has come in place of the one that was being written.
func TestACloneIsGivenUpWithItsVolume(t *testing.T) {
	l := bootstrapped(t, requiredPolicy(2), "c-0", "c-1", "c-2")
	l.record.Clones = []v1alpha1.CloneStatus{{Name: "c-2", PVCUID: "another", Reason: v1alpha1.CloneEmpty}}
	l.operate(t)
	l.mustServe(t)
	if len(l.record.Clones) > 0 {
		t.Fatalf("%+v", l.record.Clones)
	}
}

func TestAReplicaWhoseLogWasPurgedLeavesTheQuorumAndIsCloned(t *testing.T) {
	l := bootstrapped(t, requiredPolicy(2), "c-0", "c-1", "c-2")
	former := l.view().Servers[2].Status.ServerUUID
	l.world.Kill("c-2")
	for tx := 1; tx <= 3; tx++ {
		l.world.Write("c-0", tx)
		l.world.Run()
	}
	l.written = 3
	l.world.Purge("c-0")
	l.world.Start("c-2")
	for range 20 {
		l.world.Run()
		p := l.decide()
		if p.plan.Record != nil {
			for _, e := range p.plan.Record.Clones {
				for _, q := range append(slices.Clone(l.record.PriorQuorums), *l.record.Quorum) {
					if slices.Contains(q.Members, e.FormerUUID) {
						t.Fatalf("%s is counted in %+v and is to be cloned", e.Name, q)
					}
				}
			}
			l.persist(p)
		}
		for _, c := range p.plan.Commands {
			l.execute(c)
		}
	}
	l.operate(t)
	l.mustServe(t)
	if slices.ContainsFunc(l.record.Members, func(m v1alpha1.MemberStatus) bool { return m.ServerUUID == former }) {
		t.Fatalf("%+v", l.record.Members)
	}
	l.write(t)
}

const (
	ownUUID   = "00000000-0000-0000-0001-000000000003"
	otherUUID = "00000000-0000-0000-0001-000000000009"
)

// diverged is a view in which c-2 has this besides all that the master has.
func diverged(l *lab, surplus string) View {
	v := l.view()
	s := &v.Servers[2].Status
	s.Role, s.ReceiverState = engine.RoleFenced, engine.ReceiverDiverged
	s.GTIDLogged = v.Servers[0].Status.GTIDLogged + "," + surplus
	return v
}

func TestADivergedServerIsKeptOrClonedByPolicy(t *testing.T) {
	for _, c := range []struct {
		policy, surplus string
		cloned          bool
	}{
		{v1alpha1.DivergenceQuarantine, ownUUID + ":7", false},
		{"", ownUUID + ":7", false},
		{v1alpha1.DivergenceReclone, ownUUID + ":7", true},
		// It has received that from somebody who had it acknowledged: then it is the others that have lost it.
		{v1alpha1.DivergenceReclone, otherUUID + ":7", false},
		{v1alpha1.DivergenceReclone, ownUUID + ":7," + otherUUID + ":1", false},
	} {
		t.Run(fmt.Sprint(c.policy, c.surplus), func(t *testing.T) {
			l := bootstrapped(t, requiredPolicy(2), "c-0", "c-1", "c-2")
			l.write(t)
			l.policy.Divergence = c.policy
			for range 10 {
				v := diverged(l, c.surplus)
				if v.Servers[2].Status.ServerUUID != ownUUID {
					t.Fatal(v.Servers[2].Status.ServerUUID)
				}
				p := Decide(v)
				if len(p.Commands) > 0 {
					l.execute(p.Commands[0])
					l.world.Run()
					continue
				}
				if p.Record == nil {
					// Quarantined servers are shown with what helps.
					if c.cloned || !strings.Contains(p.Problems["c-2"], "the master does not have") {
						t.Fatalf("%+v", p)
					}
					return
				}
				if len(p.Record.Clones) > 0 {
					q := l.record.Quorum
					if !c.cloned || slices.Contains(q.Members, ownUUID) || len(l.record.PriorQuorums) > 0 {
						t.Fatalf("cloned: %+v %+v", p.Record.Clones, l.record)
					}
					if p.Record.Clones[0].Reason != v1alpha1.CloneDiverged || !p.Event.Warning || !strings.Contains(p.Event.Message, ownUUID+":7") {
						t.Fatalf("%+v %+v", p.Record.Clones, p.Event)
					}
					return
				}
				l.persist(&pending{plan: p, version: l.version})
			}
			t.Fatal("neither is decided")
		})
	}
}

// The last replica that can acknowledge is not given up: without it nobody could.
func TestTheOnlyReplicaIsNotClonedWhileItIsCounted(t *testing.T) {
	l := bootstrapped(t, requiredPolicy(1), "c-0", "c-1")
	l.write(t)
	l.policy.Divergence = v1alpha1.DivergenceReclone
	v := l.view()
	s := &v.Servers[1].Status
	s.Role, s.ReceiverState = engine.RoleFenced, engine.ReceiverDiverged
	s.GTIDLogged = v.Servers[0].Status.GTIDLogged + "," + s.ServerUUID + ":7"
	p := Decide(v)
	if p.Record != nil || !strings.Contains(p.Problems["c-1"], "still counted") {
		t.Fatalf("%+v", p)
	}
}
