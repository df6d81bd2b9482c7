package cluster

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestModelByRandomWalks goes deeper than every state can be visited, from empty volumes on, with five servers as well, and then
// mends everything: the cluster must serve again, with all that was acknowledged.
func TestModelByRandomWalks(t *testing.T) {
	for name, m := range walks() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for i := range *modelWalks {
				if broken, path := m.walk(t, *modelSeed, uint64(i)); broken != "" {
					t.Fatalf("walk %d: %s\nafter\n%s", i, broken, path)
				}
			}
		})
	}
}

// walks are the models with more of everything, and all of it together for five servers.
func walks() map[string]model {
	list := map[string]model{
		"five servers":            {policy: requiredPolicy(4), servers: 5, limits: limits{hides: 1, isolations: 1, impatience: 2, switchovers: 1, edits: 2, slow: true}},
		"five servers, preferred": {policy: preferredPolicy(4), servers: 5, limits: limits{isolations: 1, impatience: 4, switchovers: 1}},
	}
	for name, m := range models {
		if !m.large {
			list[name] = m
		}
	}
	for name, m := range list {
		lim := &m.limits
		lim.epochs, lim.writes, lim.kills, lim.hides, lim.isolations = 12, 12, 6, 4, 4
		lim.switchovers, lim.edits, lim.pauses, lim.lateRows = 4*lim.switchovers, 2*lim.edits, 6, 6
		lim.configurations *= 2
		list[name] = m
	}
	return list
}

func (m *model) walk(t *testing.T, seed, number uint64) (string, *trace) {
	random := rand.New(rand.NewPCG(seed, number))
	l := newLab(m.policy, m.names()...)
	if number%2 == 0 {
		l = bootstrapped(t, m.policy, m.names()...)
	}
	m.prepare(l)
	var path *trace
	for range 150 {
		s := pick(l.steps(m.limits), random)
		before := l.appendKey(nil, unchanged(m.servers), l.versions())
		s.do(l)
		if !slices.Equal(before, l.appendKey(nil, unchanged(m.servers), l.versions())) {
			path = &trace{step: s, from: path}
		}
		l.initialized = l.initialized || len(l.world.Acknowledged) > 0
		if l.broken() != "" {
			return l.broken(), path
		}
	}
	return l.mendAndServe(t, m.policy), path
}

// pick takes a step of the operator half of the time: what it does takes many of them.
func pick(choices []step, random *rand.Rand) step {
	isOperators := func(s step) bool { return strings.HasPrefix(s.what, "operator") }
	if operators := slices.DeleteFunc(slices.Clone(choices), func(s step) bool { return !isOperators(s) }); len(operators) > 0 && random.IntN(2) == 0 {
		return operators[random.IntN(len(operators))]
	}
	return choices[random.IntN(len(choices))]
}

// mendAndServe ends all faults, gives the cluster its first spec again, and says what keeps it from serving all that it
// acknowledged, with the configuration asked for.
func (l *lab) mendAndServe(t *testing.T, policy Policy) string {
	mend(l, policy)
	l.run()
	l.hours += 24
	plan, atRest := l.run()
	switch serves := l.whyNotServing(); {
	case l.broken() != "":
		return "when everything was mended: " + l.broken()
	case !atRest:
		return fmt.Sprintf("the operator never comes to rest: %+v\n%s", l.record, l.world)
	case len(l.outdated) > 0:
		return fmt.Sprintf("%v were never restarted: %s", l.outdated, plan.Rollout)
	case serves != "":
		return fmt.Sprintf("mended, and %s; %v %s", serves, plan.Problems, plan.Waiting)
	}
	if lost := l.world.Lost(); len(lost) > 0 {
		return fmt.Sprintf("acknowledged transactions %v are not everywhere", lost)
	}
	return ""
}

// mend ends all faults and gives the cluster its first spec again.
func mend(l *lab, policy Policy) {
	l.late, l.row, l.policy, l.keptOut = action{}, nil, policy, nil
	l.hours += 24
	for _, name := range l.world.Names() {
		if l.world.Copies(name) > 0 && !l.sized {
			l.world.Kill(name)
			l.world.Wipe(name) // as the condition says
		}
		if !l.ended[name] {
			l.start(name)
		}
		l.world.Hide(name, false)
		l.world.Isolate(name, false)
	}
}
