package cluster

import (
	"flag"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"commitlab.dev/operator/internal/engine/fake"
)

var (
	modelStates = flag.Int("model.states", 6_000, "states of each model to visit exhaustively, breadth first")
	modelWalks  = flag.Int("model.walks", 200, "random walks of each model")
	modelSeed   = flag.Uint64("model.seed", 1, "seed of the random walks")
)

// limits bound a model: how often each kind of thing may happen.
type limits struct {
	epochs                                              int64
	writes, kills, hides, isolations, impatience, scale int
	switchovers, edits                                  int
}

// step is one atomic thing that may happen next.
type step struct {
	name string
	do   func(*lab)
}

// steps lists everything that may happen next: one step of an operator with a fresh view, of one with an old view, of the
// servers, of the network, and faults.
func (l *lab) steps(lim limits) []step {
	var list []step
	add := func(name string, do func(*lab)) { list = append(list, step{name, do}) }
	if l.record.Epoch <= lim.epochs {
		l.operatorSteps(add)
	}
	l.serverSteps(add, lim)
	l.faultSteps(add, lim)
	l.personSteps(add, lim)
	return list
}

func (l *lab) operatorSteps(add func(string, func(*lab))) {
	p := l.decide()
	if p.plan.Record != nil {
		add("operator persists", func(n *lab) { n.persist(n.decide()) })
	}
	for _, c := range p.plan.Commands {
		add("operator: "+c.String(), func(n *lab) { n.execute(c) })
	}
	if l.stale == nil {
		if p.plan.Record != nil || len(p.plan.Commands) > 0 {
			add("second operator looks, then pauses", func(n *lab) { n.stale = n.decide() })
		}
		return
	}
	add("second operator forgets", func(n *lab) { n.stale = nil })
	if l.stale.plan.Record != nil {
		add("second operator persists", func(n *lab) { n.persist(n.stale); n.stale = nil })
	}
	for i, c := range l.stale.plan.Commands {
		add("second operator: "+c.String(), func(n *lab) {
			n.execute(c)
			rest := append([]Command{}, n.stale.plan.Commands[:i]...)
			n.stale.plan.Commands = append(rest, n.stale.plan.Commands[i+1:]...)
			if len(n.stale.plan.Commands) == 0 {
				n.stale = nil
			}
		})
	}
}

func (l *lab) serverSteps(add func(string, func(*lab)), lim limits) {
	for _, name := range l.world.Names() {
		if l.written < lim.writes {
			add("write to "+name, func(n *lab) {
				if n.world.Write(name, n.written+1) {
					n.written++
				}
			})
		}
		add("connect "+name, func(n *lab) { n.world.Connect(name) })
		add("deliver to "+name, func(n *lab) { n.world.Deliver(name) })
	}
	add("acknowledgement arrives", func(n *lab) { n.world.Acknowledge() })
}

func (l *lab) faultSteps(add func(string, func(*lab)), lim limits) {
	for _, name := range l.world.Names() {
		add("start "+name, func(n *lab) { n.start(name) })
		if l.kills < lim.kills {
			add("kill "+name, func(n *lab) {
				if n.world.Kill(name) {
					n.kills++
				}
			})
		}
		if l.hides < lim.hides {
			add("hide "+name+" from operators", func(n *lab) { n.world.Hide(name, true); n.hides++ })
		}
		add("show "+name+" to operators", func(n *lab) { n.world.Hide(name, false) })
		if l.isolations < lim.isolations {
			add("isolate "+name, func(n *lab) { n.world.Isolate(name, true); n.isolations++ })
		}
		add("mend "+name, func(n *lab) { n.world.Isolate(name, false) })
		if l.impatience < lim.impatience {
			add("writes have waited on "+name, func(n *lab) { n.world.Impatient(name, 60); n.impatience++ })
		}
	}
}

// personSteps are what people ask for: sizes and switchovers.
func (l *lab) personSteps(add func(string, func(*lab)), lim limits) {
	if l.switchovers < lim.switchovers {
		for _, name := range append(l.world.Names(), "") {
			add("ask for a switchover to "+name, func(n *lab) {
				n.switchovers++
				n.request = &SwitchoverRequest{ID: fmt.Sprint(n.switchovers), To: name}
			})
		}
	}
	if l.request != nil {
		add("withdraw the switchover", func(n *lab) { n.request = nil })
	}
	if s := l.record.Switchover; s != nil && !s.Ended() && !l.expired {
		add("the deadline passes", func(n *lab) { n.expired = true })
	}
	if l.edits < lim.edits {
		add("change the configuration", func(n *lab) { n.edit() })
	}
	if l.scalings < lim.scale {
		for replicas := range int32(len(l.world.Names())) {
			if replicas != l.policy.Replicas {
				add(fmt.Sprintf("scale to %d", replicas), func(n *lab) { n.policy.Replicas = replicas; n.scalings++ })
			}
		}
	}
}

// models are the clusters that are explored. Every one starts with a cluster that serves.
var models = map[string]struct {
	policy Policy
	names  []string
	limits limits
}{
	"required, two replicas":  {requiredPolicy(2), []string{"c-0", "c-1", "c-2"}, limits{epochs: 4, writes: 2, kills: 2, hides: 1, isolations: 1}},
	"required, one replica":   {requiredPolicy(1), []string{"c-0", "c-1"}, limits{epochs: 4, writes: 3, kills: 3, hides: 1, isolations: 1}},
	"preferred, two replicas": {preferredPolicy(2), []string{"c-0", "c-1", "c-2"}, limits{epochs: 4, writes: 2, kills: 2, isolations: 1, impatience: 2}},
	"preferred, one replica":  {preferredPolicy(1), []string{"c-0", "c-1"}, limits{epochs: 4, writes: 3, kills: 3, hides: 1, impatience: 2}},
	"scaling":                 {requiredPolicy(2), []string{"c-0", "c-1", "c-2"}, limits{epochs: 4, writes: 2, kills: 1, isolations: 1, scale: 2}},
	"switchover":              {requiredPolicy(2), []string{"c-0", "c-1", "c-2"}, limits{epochs: 4, writes: 2, kills: 1, isolations: 1, switchovers: 2}},
	"switchover of two":       {requiredPolicy(1), []string{"c-0", "c-1"}, limits{epochs: 4, writes: 3, kills: 2, hides: 1, switchovers: 2}},
	"switchover, preferred":   {preferredPolicy(2), []string{"c-0", "c-1", "c-2"}, limits{epochs: 4, writes: 2, kills: 1, impatience: 1, switchovers: 2}},
	"rolling restart":         {requiredPolicy(2), []string{"c-0", "c-1", "c-2"}, limits{epochs: 6, writes: 2, kills: 1, isolations: 1, edits: 1}},
	"wait for both":           {waitForBoth(), []string{"c-0", "c-1", "c-2"}, limits{epochs: 4, writes: 2, kills: 2, isolations: 1, impatience: 2}},
}

func waitForBoth() Policy {
	p := requiredPolicy(2)
	both := int32(2)
	p.WaitCount = &both
	return p
}

// TestModelExhaustively visits every state that few steps reach: nothing acknowledged may be lost, and no epoch may
// acknowledge what a later one that has acknowledged lacks.
func TestModelExhaustively(t *testing.T) {
	for name, m := range models {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			explore(t, bootstrapped(t, m.policy, m.names...), m.limits)
		})
	}
}

type node struct {
	lab  *lab
	path *trace
}

type trace struct {
	step string
	from *trace
}

func (p *trace) String() string {
	var steps []string
	for ; p != nil; p = p.from {
		steps = append([]string{p.step}, steps...)
	}
	return strings.Join(steps, "\n")
}

func explore(t *testing.T, start *lab, lim limits) {
	seed := maphash.MakeSeed()
	visited := map[uint64]bool{maphash.String(seed, start.key()): true}
	queue := []node{{lab: start}}
	for len(queue) > 0 && len(visited) < *modelStates {
		n := queue[0]
		queue = queue[1:]
		for _, s := range n.lab.steps(lim) {
			next := n.lab.clone()
			s.do(next)
			path := &trace{step: s.name, from: n.path}
			if next.world.Broken != "" {
				t.Fatalf("%s\nafter\n%s", next.world.Broken, path)
			}
			if h := maphash.String(seed, next.key()); !visited[h] {
				visited[h] = true
				queue = append(queue, node{next, path})
			}
		}
	}
	t.Logf("%d states", len(visited))
}

// TestModelByRandomWalks goes deeper than every state can be visited, from empty volumes on, and then mends everything:
// the cluster must serve again, with all that was acknowledged.
func TestModelByRandomWalks(t *testing.T) {
	for name, m := range models {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lim := m.limits
			lim.epochs, lim.writes, lim.kills, lim.hides, lim.isolations = 12, 12, 6, 4, 4
			lim.switchovers *= 4
			for i := range *modelWalks {
				random := rand.New(rand.NewPCG(*modelSeed, uint64(i)))
				l := newLab(m.policy, m.names...)
				if i%2 == 0 {
					l = bootstrapped(t, m.policy, m.names...)
				}
				path := walk(l, lim, random)
				if l.world.Broken != "" {
					t.Fatalf("walk %d: %s\nafter\n%s", i, l.world.Broken, path)
				}
				mend(l, m.policy)
				l.operate(t)
				l.days++
				plan := l.operate(t)
				if t.Failed() || len(plan.Problems) > 0 {
					t.Fatalf("walk %d: %v %s\nafter\n%s", i, plan.Problems, plan.Waiting, path)
				}
				l.mustServe(t)
				if len(l.outdated) > 0 {
					t.Fatalf("walk %d: %v were never restarted: %s\nafter\n%s", i, l.outdated, plan.Rollout, path)
				}
				mustHold(t, l.world, path)
			}
		})
	}
}

func walk(l *lab, lim limits, random *rand.Rand) *trace {
	var path *trace
	for range 150 {
		s := pick(l.steps(lim), random)
		before := l.key()
		s.do(l)
		if l.key() != before {
			path = &trace{step: s.name, from: path}
		}
		l.initialized = l.initialized || len(l.world.Acknowledged) > 0
		if l.world.Broken != "" {
			break
		}
	}
	return path
}

// pick takes a step of the operator half of the time: what it does takes many of them.
func pick(choices []step, random *rand.Rand) step {
	isOperators := func(s step) bool { return strings.HasPrefix(s.name, "operator") }
	if operators := slices.DeleteFunc(slices.Clone(choices), func(s step) bool { return !isOperators(s) }); len(operators) > 0 && random.IntN(2) == 0 {
		return operators[random.IntN(len(operators))]
	}
	return choices[random.IntN(len(choices))]
}

// mend ends all faults and gives the cluster its first size again.
func mend(l *lab, policy Policy) {
	l.stale, l.policy = nil, policy
	l.days++
	for _, name := range l.world.Names() {
		l.start(name)
		l.world.Hide(name, false)
		l.world.Isolate(name, false)
	}
}

func mustHold(t *testing.T, w *fake.World, path *trace) {
	t.Helper()
	if lost := w.Lost(); len(lost) > 0 {
		t.Fatalf("acknowledged transactions %v are visible nowhere\nafter\n%s", lost, path)
	}
}
