package cluster

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"testing"
	"time"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/engine"
	"commitlab.dev/operator/internal/engine/fake"
)

// lab is a world of servers, the record in the API server, and operators that look and act at their own pace.
type lab struct {
	world       *fake.World
	policy      Policy
	initialized bool

	record  v1alpha1.Record
	version int

	// late is what a paused operator decided some time ago and may still do; row, what a slow one has read of one server.
	late action
	row  *lateRow

	// pods are the pods' numbers by server; outdated: those made before the last change of the configuration; taken: those that an
	// operator has taken down and that have not started again.
	pods            map[string]int
	outdated, taken map[string]bool

	// ended are the pods that were too many; deleted, of those the ones without a volume.
	ended, deleted map[string]bool
	// released are the claims that were ever on record as such.
	released map[string]bool

	// request is the annotation; expired: every deadline so far has passed; hours have gone by:
	// whatever is left alone for a while is tried again later.
	request *SwitchoverRequest
	// keptOut are fenced by hand; promotion is the request of the last resort.
	keptOut   map[string]bool
	promotion *PromotionRequest
	expired   bool
	hours     int

	// ordinalsMatter: spec.replicas changes, so servers are not alike.
	ordinalsMatter bool
	// sized: pods end when they are too many.
	sized bool
	// volumesChange: volumes are emptied, replaced or deleted, and what their servers have promised is forgotten.
	volumesChange bool

	// waited is how long leases are known to have run out, in the epoch waitedIn.
	waited   time.Duration
	waitedIn int64

	written, kills, hides, isolations, impatience, edits, switchovers, wipes, pauses, lateRows, configurations, terms, timeouts, purges, fences, promotions, hibernations, sizes int

	// wrong says which promise an operator has broken.
	wrong string
}

// pending is a plan and the version of the record that it was made from.
type pending struct {
	plan    Plan
	version int
}

func newLab(policy Policy, names ...string) *lab {
	return &lab{world: fake.New(names...), policy: policy, pods: map[string]int{}, outdated: map[string]bool{}, taken: map[string]bool{}}
}

func requiredPolicy(replicas int32) Policy {
	return Policy{Replicas: replicas, Durability: v1alpha1.DurabilityRequired, MinSyncReplicas: 1,
		AckTimeout: 10 * time.Second, UnreachableAfter: 2 * time.Second, HeartbeatTimeout: 3 * time.Second}
}

// The leases that specs ask for.
const shortLease, longLease = 3 * time.Second, 6 * time.Second

func leasedPolicy(replicas int32) Policy {
	p := requiredPolicy(replicas)
	p.SourceLease = shortLease
	return p
}

func preferredPolicy(replicas int32) Policy {
	p := requiredPolicy(replicas)
	p.Durability = v1alpha1.DurabilityPreferred
	return p
}

func asyncPolicy(replicas int32) Policy {
	p := preferredPolicy(replicas)
	p.OnTimeout = engine.OnTimeoutAsync
	return p
}

// clone shares what nobody changes in place: records, and maps of pods, are replaced as a whole.
func (l *lab) clone() *lab {
	c := *l
	c.world = l.world.Clone()
	return &c
}

func (l *lab) now() time.Time {
	hours := time.Duration(l.hours)
	if l.expired {
		hours++
	}
	return time.Time{}.Add(hours * time.Hour)
}

// view looks at everything there is.
func (l *lab) view() View {
	v := View{Now: l.now(), Namespace: "ns", Policy: l.policy, Record: l.record, Initialized: l.initialized, Request: l.request, KeptOut: l.keptOut, Promotion: l.promotion, CoveredFor: l.waitedNow()}
	names := l.world.Names()
	v.Servers = make([]Server, 0, len(names))
	for i, name := range names {
		switch {
		case !l.ended[name]:
			v.Servers = append(v.Servers, l.look(i, name))
		case !l.deleted[name]:
			v.Unused = with(v.Unused, name, l.claim(name))
		}
	}
	l.findCaughtUp(&v)
	return v
}

func (l *lab) look(ordinal int, name string) Server {
	s := Server{Name: name, Ordinal: int32(ordinal), Address: name, Claim: "data-" + name, PVCUID: l.claim(name), UnreachableFor: time.Hour,
		PodUID: podUID(l.pods[name])}
	if l.outdated[name] {
		s.Outdated = "image"
	}
	if st, err := l.world.Server(name).Status(context.Background()); err == nil {
		s.Reachable, s.UnreachableFor, s.Status = true, 0, st
		if st.LeaseLost && l.impatience > 0 {
			s.LeaseLostFor = time.Hour
		}
	}
	s.Ended = !l.world.Runs(name)
	return s
}

// claim is the UID of a server's volume.
func (l *lab) claim(name string) string { return fmt.Sprint("pvc-", name, "-", l.world.Copies(name)) }

// resize does what the StatefulSet controller would: it ends pods that are too many, makes those that are missing, and volumes for
// them. Their volumes go when the record says so, by an operator that may be late.
func (l *lab) resize(name string) bool {
	ordinal, _ := OrdinalOf(name)
	asked := ordinal < PodCount(l.policy, &l.record)
	switch {
	case !asked && !l.ended[name]:
		l.world.Kill(name)
		l.ended = with(l.ended, name, true)
	case asked && l.ended[name]:
		l.ended, l.deleted = without(l.ended, name), without(l.deleted, name)
		l.start(name)
	default:
		return false
	}
	return true
}

// deleteReleased deletes a volume that was released, whenever that was.
func (l *lab) deleteReleased(name string) bool {
	if l.deleted[name] || !l.released[l.claim(name)] {
		return false
	}
	if !l.ended[name] {
		l.wrong = name + " runs on a volume that is being deleted"
	}
	l.world.Discard(name)
	l.deleted = with(l.deleted, name, true)
	return true
}

// findCaughtUp is the second question to the replicas: always a fresh one, asked after the master has answered.
func (l *lab) findCaughtUp(v *View) {
	m := v.server(l.record.Master)
	if m == nil || !m.Reachable {
		return
	}
	for i := range v.Servers {
		if st, err := l.world.Server(v.Servers[i].Name).Status(context.Background()); err == nil {
			held, err := contains(st.GTIDLogged, m.Status.GTIDExecuted)
			v.Servers[i].CaughtUp = err == nil && held
		}
	}
}

// leases are those that a spec may ask for; none where there is no lease.
func (l *lab) leases() []time.Duration {
	if l.policy.SourceLease == 0 {
		return nil
	}
	return []time.Duration{shortLease, longLease}
}

// waitedNow is how long an operator has seen those that are fenced cover the record.
func (l *lab) waitedNow() time.Duration {
	if l.waitedIn != l.record.Epoch || l.record.Election == nil {
		return 0
	}
	return l.waited
}

// outwait has an operator see the cover, and lets a lease and the margin pass.
func (l *lab) outwait(lease time.Duration) {
	l.world.Pass(lease)
	l.waited, l.waitedIn = withMargin(lease), l.record.Epoch
}

func (l *lab) decide() *pending { return &pending{plan: Decide(l.view()), version: l.version} }

// persist is the resourceVersion-checked status update.
func (l *lab) persist(p *pending) bool {
	if p.version != l.version && !mutated(forcedUpdates) {
		return false
	}
	l.checkClaim(p.plan.Record)
	if r := p.plan.Record; r.LossAcceptedEpoch != l.record.LossAcceptedEpoch {
		l.world.GiveUpWhatIsNotOn(r.Master)
	}
	for _, r := range p.plan.Record.Released {
		l.released = with(l.released, r.PVCUID, true)
	}
	l.record, l.version = *p.plan.Record.DeepCopy(), l.version+1
	return true
}

// checkClaim: rule 9: a master that is switched off is demoted only when the target holds everything that was acknowledged.
func (l *lab) checkClaim(r *v1alpha1.Record) {
	if r.Election == nil || r.Election.Reason != ReasonSwitchover || l.record.Election != nil {
		return
	}
	if lacking := l.world.Lacks(r.Election.Candidate); len(lacking) > 0 {
		l.wrong = fmt.Sprintf("the switchover to %s demotes the master while %s lacks %v", r.Election.Candidate, r.Election.Candidate, lacking)
	}
}

// checkRules: what whoever has just looked must not do.
func (l *lab) checkRules(a *action) {
	l.checkLoss(a)
	l.checkAwaited(a)
	l.checkKeptOut(a)
	l.checkHibernation(a)
}

// checkLoss: rule 5: whoever has just looked takes no master for lost, or cut off, that has its writes acknowledged.
func (l *lab) checkLoss(a *action) {
	claimed := a.record != nil && a.record.Election != nil && l.record.Election == nil
	lost := claimed && (a.record.Election.Reason == ReasonMasterLost || a.record.Election.Reason == ReasonMasterCutOff)
	if lost && l.world.Acknowledges(l.record.Master) {
		l.wrong = fmt.Sprintf("%s takes writes and has them acknowledged, and is taken for lost", l.record.Master)
	}
}

// checkAwaited: rule 5: whoever has just looked waits for a master that has ended, where fewer others run than it takes to have another
// one, with a lease, that answers anybody.
func (l *lab) checkAwaited(a *action) {
	claimed := a.record != nil && a.record.Election != nil && l.record.Election == nil && a.record.Election.Reason == ReasonMasterLost
	if !claimed || l.world.Runs(l.record.Master) || l.policy.SourceLease == 0 {
		return
	}
	running := int32(0)
	for _, name := range l.world.Names() {
		if l.world.Runs(name) {
			running++
		}
	}
	if running <= l.policy.floorWaitCount() {
		l.wrong = fmt.Sprintf("%s has ended and is not waited for, though only %d others run", l.record.Master, running)
	}
}

// checkHibernation: whoever has just looked does nothing to a cluster that hibernates.
func (l *lab) checkHibernation(a *action) {
	if l.policy.Hibernated {
		l.wrong = "the cluster hibernates, and an operator " + a.String()
	}
}

// checkKeptOut: whoever has just looked elects nobody that a person has fenced, but at the first bootstrap.
func (l *lab) checkKeptOut(a *action) {
	if a.record != nil && a.record.Election == nil && l.record.Election != nil && l.record.Quorum != nil && l.keptOut[a.record.Master] {
		l.wrong = a.record.Master + " is fenced by hand, and is elected"
	}
}

// broken says what servers or operators did that must not happen.
func (l *lab) broken() string { return cmp.Or(l.world.Broken, l.wrong) }

const podPrefix = "pod-"

func podUID(number int) string { return fmt.Sprint(podPrefix, number) }

// execute runs one command; refusals are part of life.
func (l *lab) execute(c Command) {
	if c.Kind == CommandRestart {
		l.takeDown(c)
		return
	}
	_ = Execute(context.Background(), c, l.world.Server(c.Server), Logins{Operator: "secret"})
}

// takeDown deletes a pod and makes another one, which starts in a step of its own. No operator ever takes a second server down.
func (l *lab) takeDown(c Command) {
	if c.PodUID != podUID(l.pods[c.Server]) {
		return
	}
	l.pods = with(l.pods, c.Server, l.pods[c.Server]+1)
	l.outdated = without(l.outdated, c.Server)
	if !l.world.Kill(c.Server) {
		return
	}
	if len(l.taken) > 0 {
		l.wrong = fmt.Sprintf("%s is taken down while %v has not started again", c.Server, l.taken)
	}
	l.taken = with(l.taken, c.Server, true)
}

// start brings a server back, if it is down.
func (l *lab) start(name string) {
	l.world.Start(name)
	l.taken = without(l.taken, name)
}

// edit is a person's change that every server must be restarted for.
func (l *lab) edit() {
	l.configurations++
	for _, name := range l.world.Names() {
		l.outdated = with(l.outdated, name, true)
	}
}

// promote is a person's last resort, asked for in the epoch that is on record.
func (l *lab) promote(name string) {
	l.promotions++
	l.promotion = &PromotionRequest{ID: fmt.Sprint(l.promotions), Server: name, Epoch: l.record.Epoch, AcceptDataLoss: true}
}

func with[V any](m map[string]V, name string, value V) map[string]V {
	if m = maps.Clone(m); m == nil {
		m = map[string]V{}
	}
	m[name] = value
	return m
}

func without(m map[string]bool, name string) map[string]bool {
	if !m[name] {
		return m
	}
	m = maps.Clone(m)
	delete(m, name)
	return m
}

// operate lets an operator work until it has nothing left to do, with the servers running along.
func (l *lab) operate(t *testing.T) Plan {
	t.Helper()
	plan, atRest := l.run()
	if !atRest {
		t.Fatalf("the operator never comes to rest: %+v\n%s", l.record, l.world)
	}
	return plan
}

func (l *lab) run() (plan Plan, atRest bool) {
	for range 100 {
		for name := range l.taken {
			l.start(name)
		}
		l.resizeAll()
		l.world.Run()
		p := l.decide()
		if p.plan.Record != nil {
			l.persist(p)
			continue
		}
		if p.plan.Left > 0 {
			l.outwait(leaseOnRecord(&l.record))
			continue
		}
		if len(p.plan.Commands) == 0 {
			return p.plan, true
		}
		for _, c := range p.plan.Commands {
			l.execute(c)
		}
	}
	return Plan{}, false
}

// bootstrapped is a lab whose cluster serves.
func bootstrapped(t *testing.T, policy Policy, names ...string) *lab {
	t.Helper()
	l := newLab(policy, names...)
	l.operate(t)
	l.initialized = true
	l.mustServe(t)
	return l
}

// resizeAll makes pods and volumes as many as there are to be, where the size changes at all.
func (l *lab) resizeAll() {
	if !l.sized {
		return
	}
	for _, name := range l.world.Names() {
		l.resize(name)
		if l.ended[name] {
			l.deleteReleased(name)
		}
	}
}

// mustServe checks that the master on record takes writes and that everybody else follows it.
func (l *lab) mustServe(t *testing.T) {
	t.Helper()
	if why := l.whyNotServing(); why != "" {
		t.Fatal(why)
	}
}

func (l *lab) whyNotServing() string {
	v := l.view()
	master := v.server(l.record.Master)
	if !v.servesAsMaster(master) || master.Status.WritesBlocked {
		return fmt.Sprintf("no master takes writes: %+v\n%s", l.record, l.world)
	}
	if len(l.record.PriorQuorums) > 0 {
		return fmt.Sprintf("prior quorums were never dropped: %+v", l.record.PriorQuorums)
	}
	for i := range v.Servers {
		if s := &v.Servers[i]; s.Name != master.Name && v.wanted(s) && !v.servesAsReplica(s) {
			return fmt.Sprintf("%s does not follow: %+v", s.Name, s.Status)
		}
	}
	return l.broken()
}
