package cluster

import (
	"slices"
	"testing"
	"time"

	"commitlab.dev/operator/internal/engine/fake"
)

func TestAMasterThatItsReplicasDoNotReachIsReplaced(t *testing.T) {
	l := bootstrapped(t, requiredPolicy(2), "c-0", "c-1", "c-2")
	l.write(t)
	l.world.Isolate("c-0", true)
	l.world.Write("c-0", 100) // waits for ever
	l.operate(t)
	if l.record.Master == "c-0" || !Writable(l.view()) {
		t.Fatalf("writes wait until the network is mended: %+v", l.record)
	}
	if !l.world.Write(l.record.Master, 101) {
		t.Fatal("the new master takes no writes")
	}
	l.world.Isolate("c-0", false)
	l.operate(t)
	l.mustServe(t)
	if acknowledged := l.world.Acknowledged; l.world.Lost() != nil || slices.ContainsFunc(acknowledged, isTransaction(100)) || !slices.ContainsFunc(acknowledged, isTransaction(101)) {
		t.Fatalf("%v, lost %v", acknowledged, l.world.Lost())
	}
}

func TestAMasterIsNotReplacedByOneThatWouldBeNoBetter(t *testing.T) {
	for what, c := range map[string]struct {
		replicas int32
		fault    func(*lab)
	}{
		"one replica, which would have nobody to acknowledge": {1, func(l *lab) { l.world.Isolate("c-0", true) }},
		"one of two replicas is cut off":                      {2, func(l *lab) { l.world.Isolate("c-1", true) }},
		"both are down":                                       {2, func(l *lab) { l.world.Kill("c-1"); l.world.Kill("c-2") }},
		"they hear the master and do not acknowledge":         {2, func(l *lab) { l.world.Impatient("c-0", 60); l.world.Write("c-0", 100) }},
	} {
		l := bootstrapped(t, requiredPolicy(c.replicas), []string{"c-0", "c-1", "c-2"}[:c.replicas+1]...)
		epoch := l.record.Epoch
		c.fault(l)
		for range 10 {
			p := l.decide()
			if p.plan.Record != nil {
				l.persist(p)
			}
			for _, command := range p.plan.Commands {
				l.execute(command)
			}
		}
		if l.record.Epoch != epoch {
			t.Errorf("%s: %+v", what, l.record)
		}
	}
}

func TestWithAllLinksDownTheMastershipDoesNotWander(t *testing.T) {
	l := bootstrapped(t, requiredPolicy(2), "c-0", "c-1", "c-2")
	epoch := l.record.Epoch
	for _, name := range l.world.Names() {
		l.world.Isolate(name, true)
	}
	for range 5 {
		l.operate(t)
	}
	if l.record.Epoch > epoch+1 {
		t.Fatalf("epoch %d after %d", l.record.Epoch, epoch)
	}
	for _, name := range l.world.Names() {
		l.world.Isolate(name, false)
	}
	l.operate(t)
	l.mustServe(t)
	l.write(t)
}

func TestTheMasterThatWasCutOffIsElectedWhenTheOthersAreGone(t *testing.T) {
	l := bootstrapped(t, requiredPolicy(2), "c-0", "c-1", "c-2")
	l.world.Isolate("c-0", true)
	for l.record.Election == nil {
		l.step(t)
	}
	l.world.Kill("c-1")
	l.world.Isolate("c-0", false)
	if l.operate(t); l.record.Election == nil {
		t.Fatalf("elected at once: %+v", l.record)
	}
	l.expired = true
	l.operate(t)
	if l.record.Master != "c-0" || !Writable(l.view()) {
		t.Fatalf("%+v", l.record)
	}
	l.world.Start("c-1")
	l.operate(t)
	l.mustServe(t)
}

func TestWithFailoverOffACutOffMasterIsSaid(t *testing.T) {
	policy := requiredPolicy(2)
	policy.FailoverDisabled = true
	l := bootstrapped(t, policy, "c-0", "c-1", "c-2")
	l.world.Isolate("c-0", true)
	if p := l.operate(t); p.Problems[""] == "" || l.record.Master != "c-0" {
		t.Fatalf("%+v %+v", p, l.record)
	}
}

func isTransaction(number int) func(fake.Acknowledgement) bool {
	return func(a fake.Acknowledgement) bool { return a.Tx == number }
}

// Patience is for what may come back as it was. A process that has ended does not.
func TestAMasterWhoseProcessHasEndedIsLostAtOnce(t *testing.T) {
	l := bootstrapped(t, requiredPolicy(2), "c-0", "c-1", "c-2")
	l.world.Kill("c-0")
	v := l.view()
	v.Servers[0].UnreachableFor, v.Servers[0].Ended = time.Millisecond, true
	if p := Decide(v); p.Record == nil {
		t.Errorf("%+v", p)
	}
	v.Servers[1].Reachable, v.Servers[2].Reachable = false, false
	if p := Decide(v); p.Record != nil {
		t.Errorf("nobody is there to be elected: %+v", p.Record)
	}
}
