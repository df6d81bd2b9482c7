package cluster

import (
	"crypto/sha256"
	"encoding/binary"
	"flag"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"commitlab.dev/operator/api/v1alpha1"
)

var (
	modelFull  = flag.Bool("model.full", false, "explore the large models, too")
	modelWalks = flag.Int("model.walks", 100, "random walks of each model")
	modelSeed  = flag.Uint64("model.seed", 1, "seed of the random walks")
)

// model is a cluster and how often each kind of thing may happen to it. Every one starts with a cluster that serves.
type model struct {
	policy  Policy
	servers int
	limits  limits
	// begin leads from a cluster that serves to where the model begins.
	begin func(*testing.T, *lab)
	// large ones take minutes: `make model`.
	large bool
}

func (m *model) names() []string { return []string{"c-0", "c-1", "c-2", "c-3", "c-4"}[:m.servers] }

// start is the cluster that serves.
func (m *model) start(t *testing.T) *lab {
	l := bootstrapped(t, m.policy, m.names()...)
	m.prepare(l)
	if m.begin != nil {
		m.begin(t, l)
	}
	return l
}

func (m *model) prepare(l *lab) {
	l.world.SlowDemotions = m.limits.slow
	l.world.WithoutLeases = l.policy.SourceLease == 0
	l.sized = m.limits.sizes > 0
	l.volumesChange = l.sized || m.limits.wipes > 0 || m.limits.copies > 0
	l.ordinalsMatter = m.limits.edits > 0 || l.sized
	if l.policy.Durability == "required" && m.limits.edits == 0 {
		l.world.LeastWaitCount = l.policy.floorWaitCount()
	}
}

func waitForBoth() Policy {
	p := requiredPolicy(2)
	both := int32(2)
	p.WaitCount = &both
	return p
}

func recloning(p Policy) Policy {
	p.Divergence = v1alpha1.DivergenceReclone
	return p
}

func deletingVolumes(p Policy) Policy {
	p.DeleteVolumes = true
	return p
}

var models = map[string]model{
	"failover":                         {policy: requiredPolicy(2), servers: 3, limits: limits{epochs: 3, writes: 2, kills: 1}},
	"failover of two":                  {policy: requiredPolicy(1), servers: 2, limits: limits{epochs: 4, writes: 2, kills: 2}},
	"a master that is waited for":      {policy: leasedPolicy(1), servers: 2, limits: limits{epochs: 3, writes: 1, kills: 2}},
	"wait for both":                    {policy: waitForBoth(), servers: 3, limits: limits{epochs: 3, writes: 2, kills: 1}},
	"a master that is cut off":         {policy: requiredPolicy(2), servers: 3, limits: limits{epochs: 2, writes: 1, isolations: 1}},
	"hidden servers":                   {policy: requiredPolicy(2), servers: 3, limits: limits{epochs: 2, writes: 1, hides: 2}},
	"a paused operator":                {policy: requiredPolicy(2), servers: 3, limits: limits{epochs: 2, writes: 1, kills: 1, pauses: 1}},
	"a row that is read late":          {policy: requiredPolicy(2), servers: 3, limits: limits{epochs: 2, writes: 1, kills: 1, lateRows: 1}},
	"preferred":                        {policy: preferredPolicy(2), servers: 3, limits: limits{epochs: 3, writes: 1, kills: 1, impatience: 1}},
	"an older copy of a volume":        {policy: requiredPolicy(2), servers: 3, limits: limits{epochs: 3, writes: 1, kills: 1, copies: 1}},
	"an emptied volume":                {policy: requiredPolicy(2), servers: 3, limits: limits{epochs: 3, writes: 1, kills: 1, wipes: 1}},
	"a purged log":                     {policy: requiredPolicy(2), servers: 3, begin: aReplicaThatIsBehind, limits: limits{epochs: 1, writes: 2, kills: 1, purges: 1}},
	"a late clone":                     {policy: requiredPolicy(2), servers: 3, begin: aLateClone, limits: limits{epochs: 2, writes: 1, kills: 1}},
	"demotions that take time":         {policy: requiredPolicy(2), servers: 3, limits: limits{epochs: 3, writes: 2, kills: 1, slow: true}},
	"switchover":                       {policy: requiredPolicy(2), servers: 3, limits: limits{epochs: 3, writes: 1, switchovers: 1}},
	"another spec":                     {policy: requiredPolicy(2), servers: 3, limits: limits{epochs: 2, writes: 1, edits: 2}},
	"a quorum that becomes stronger":   {policy: preferredPolicy(2), servers: 3, begin: aloneWithoutAcknowledgements, limits: limits{epochs: 2, writes: 2, kills: 1}},
	"an old log that is longer":        {policy: requiredPolicy(2), servers: 3, begin: anOldLogThatIsLonger, limits: limits{epochs: 3, writes: 4, kills: 1}},
	"an emptied holder":                {policy: requiredPolicy(2), servers: 3, begin: anEmptiedHolder, limits: limits{epochs: 2, writes: 1, kills: 1}},
	"a late claim":                     {policy: requiredPolicy(2), servers: 3, begin: aLateClaim, limits: limits{epochs: 2, writes: 1, slow: true}},
	"a late election":                  {policy: requiredPolicy(2), servers: 3, begin: aLateElection, limits: limits{epochs: 4, writes: 1}},
	"a late promotion":                 {policy: preferredPolicy(2), servers: 3, begin: aLatePromotion, limits: limits{epochs: 3, writes: 2, kills: 1}},
	"a late promotion of a copy":       {policy: requiredPolicy(2), servers: 3, begin: aLatePromotionOfACopy, limits: limits{epochs: 3, writes: 2, kills: 3}},
	"a late follow":                    {policy: requiredPolicy(2), servers: 3, begin: aLateFollow, limits: limits{epochs: 2, writes: 1}},
	"async":                            {policy: asyncPolicy(2), servers: 3, limits: limits{epochs: 2, writes: 1, kills: 1, timeouts: 1}},
	"async and back":                   {policy: asyncPolicy(2), servers: 3, limits: limits{epochs: 2, writes: 1, terms: 1, timeouts: 1, kills: 1}},
	"a lease":                          {policy: leasedPolicy(2), servers: 3, limits: limits{epochs: 2, writes: 1, hides: 1, isolations: 1}},
	"a lease that changes":             {policy: leasedPolicy(2), servers: 3, begin: aLeaseThatIsNotToldYet, limits: limits{epochs: 2, terms: 1}},
	"a replica that has not heard":     {policy: leasedPolicy(2), servers: 3, begin: aReplicaThatHasNotHeardForLong, limits: limits{epochs: 2, hides: 1, isolations: 2}},
	"a lease that is told late":        {policy: leasedPolicy(2), servers: 3, begin: aLeaseThatIsToldLate, limits: limits{epochs: 2, writes: 1}},
	"a server that is fenced by hand":  {policy: requiredPolicy(2), servers: 3, limits: limits{epochs: 2, writes: 1, fences: 1}},
	"hibernation":                      {policy: requiredPolicy(2), servers: 3, limits: limits{epochs: 2, writes: 1, hibernations: 1}},
	"scaled down, volumes deleted":     {policy: deletingVolumes(requiredPolicy(2)), servers: 3, limits: limits{epochs: 2, writes: 1, sizes: 2}},
	"a loss that is accepted":          {policy: recloning(requiredPolicy(2)), servers: 3, begin: aLossToAccept, limits: limits{epochs: 2, writes: 2, promotions: 1}},
	"a loss, and a hidden master":      {policy: recloning(preferredPolicy(2)), servers: 3, limits: limits{epochs: 2, writes: 1, hides: 2, promotions: 1}},
	"a replica that has started again": {policy: leasedPolicy(2), servers: 3, begin: aReplicaThatHasNotHeardForLong, limits: limits{epochs: 2, kills: 1, hides: 1, isolations: 2}, large: true},
	"a switchover under async":         {policy: asyncPolicy(2), servers: 3, limits: limits{epochs: 2, writes: 1, switchovers: 1, timeouts: 1}, large: true},

	"fenced by hand, and a failure":    {policy: requiredPolicy(2), servers: 3, limits: limits{epochs: 2, writes: 1, kills: 1, fences: 1}, large: true},
	"a loss, and a fenced master":      {policy: recloning(requiredPolicy(2)), servers: 3, begin: aFencedMasterIsGone, limits: limits{epochs: 4, kills: 1}, large: true},
	"a loss, and a failure":            {policy: recloning(requiredPolicy(2)), servers: 3, begin: aLossToAccept, limits: limits{epochs: 3, writes: 2, kills: 1, promotions: 1}, large: true},
	"a purged log, and a failure":      {policy: requiredPolicy(2), servers: 3, begin: aReplicaThatIsBehind, limits: limits{epochs: 2, writes: 2, kills: 2, purges: 1}, large: true},
	"preferred, two failures":          {policy: preferredPolicy(2), servers: 3, limits: limits{epochs: 3, writes: 1, kills: 2, impatience: 1}, large: true},
	"two failovers":                    {policy: requiredPolicy(2), servers: 3, limits: limits{epochs: 3, writes: 1, kills: 2}, large: true},
	"two failovers, a paused operator": {policy: requiredPolicy(2), servers: 3, limits: limits{epochs: 3, writes: 1, kills: 2, pauses: 1}, large: true},
	"failover, and a hidden server":    {policy: requiredPolicy(2), servers: 3, limits: limits{epochs: 3, writes: 1, kills: 1, hides: 1}, large: true},
	"failover, and a cut":              {policy: requiredPolicy(2), servers: 3, limits: limits{epochs: 3, writes: 1, kills: 1, isolations: 1}, large: true},
	"switchover, and a failure":        {policy: requiredPolicy(2), servers: 3, limits: limits{epochs: 3, writes: 1, kills: 1, switchovers: 1}, large: true},
	"another spec, and a failure":      {policy: requiredPolicy(2), servers: 3, limits: limits{epochs: 2, writes: 1, kills: 1, edits: 1}, large: true},
	"replicas are restarted":           {policy: requiredPolicy(2), servers: 3, limits: limits{epochs: 1, writes: 1, configurations: 1}},
	"rolling restart":                  {policy: requiredPolicy(2), servers: 3, limits: limits{epochs: 2, configurations: 1}},
}

// TestModelToTheEnd visits every state that the steps can lead to, within the limits: nothing acknowledged may be lost, and no
// epoch may acknowledge what a later one that has acknowledged lacks.
func TestModelToTheEnd(t *testing.T) {
	var explored, states atomic.Int64
	t.Cleanup(func() {
		if explored.Load() == smallModels() {
			checkStated(t, "states", states.Load())
		}
	})
	for name, m := range models {
		t.Run(name, func(t *testing.T) {
			if m.large && !*modelFull {
				t.Skip("a large one: make model")
			}
			t.Parallel()
			e := explore(t, m.start(t), m.limits, 256)
			if e.path != nil {
				t.Fatalf("%s\nafter\n%s", e.broken, e.path)
			}
			explored.Add(1)
			states.Add(int64(e.states))
			t.Logf("%d states, %d steps, %d steps deep; %d of them were mended and served", e.states, e.steps, e.depth, e.mended)
		})
	}
}

type node struct {
	lab   *lab
	path  *trace
	depth int
}

type trace struct {
	step step
	from *trace
}

func (p *trace) String() string {
	var steps []string
	for ; p != nil; p = p.from {
		steps = append(steps, p.step.String())
	}
	slices.Reverse(steps)
	return strings.Join(steps, "\n")
}

// hash stands for a state: among ten million two share the 64 bits with a probability of 3 in a million.
func (l *lab) hash() uint64 {
	sum := sha256.Sum256(l.canonical())
	return binary.LittleEndian.Uint64(sum[:])
}

// exploration is what was found: a path to a state that must not be, or how many there are.
type exploration struct {
	broken                       string
	path                         *trace
	states, steps, depth, mended int
}

// progressEvery so many states of a large model it is said how far it is: one that is stopped has not been for nothing.
const progressEvery = 20000

// explore goes breadth first, so that a path that it finds is as short as any. One state in so many is mended: whatever has
// happened, the cluster must serve again.
func explore(t *testing.T, start *lab, lim limits, mended uint64) exploration {
	visited := map[uint64]struct{}{start.hash(): {}}
	queue := []node{{lab: start}}
	e := exploration{}
	for len(queue) > 0 {
		n := queue[0]
		queue[0] = node{}
		queue = queue[1:]
		for _, s := range n.lab.steps(lim) {
			next := n.lab.clone()
			s.do(next)
			e.steps++
			path := &trace{step: s, from: n.path}
			if broken := next.broken(); broken != "" {
				e.broken, e.path = broken, path
				return e
			}
			h := next.hash()
			if _, known := visited[h]; known {
				continue
			}
			visited[h] = struct{}{}
			e.depth = n.depth + 1
			if *modelFull && len(visited)%progressEvery == 0 {
				t.Logf("%d states so far, %d steps, %d deep, %d states to go on from", len(visited), e.steps, e.depth, len(queue))
			}
			queue = append(queue, node{next, path, n.depth + 1})
			if h%mended == 0 {
				e.mended++
				if broken := next.clone().mendAndServe(t, start.policy); broken != "" {
					e.broken, e.path = broken, path
					return e
				}
			}
		}
	}
	e.states = len(visited)
	return e
}
