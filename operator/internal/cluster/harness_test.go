package cluster

import (
	"context"
	"fmt"
	"maps"
	"testing"
	"time"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/engine/fake"
)

// lab is a world of servers, the record in the API server, and operators that look and act at their own pace.
type lab struct {
	world       *fake.World
	policy      Policy
	initialized bool

	record  v1alpha1.Record
	version int

	// stale is what a paused operator decided some time ago and may still do.
	stale *pending

	// pods are the pods' numbers by server; outdated: those made before the last change of the configuration; taken: those that an
	// operator has taken down and that have not started again.
	pods            map[string]int
	outdated, taken map[string]bool

	// request is the annotation; expired: every deadline so far has passed.
	request *SwitchoverRequest
	expired bool
	// days that have passed: whatever is left alone for a while is tried again on the next.
	days int

	written, kills, hides, isolations, impatience, scalings, switchovers, edits int
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

func preferredPolicy(replicas int32) Policy {
	p := requiredPolicy(replicas)
	p.Durability = v1alpha1.DurabilityPreferred
	return p
}

func (l *lab) clone() *lab {
	c := *l
	c.world = l.world.Clone()
	c.record = *l.record.DeepCopy()
	c.pods, c.outdated, c.taken = maps.Clone(l.pods), maps.Clone(l.outdated), maps.Clone(l.taken)
	if l.stale != nil {
		p := *l.stale
		c.stale = &p
	}
	return &c
}

func (l *lab) key() string {
	key := fmt.Sprint(l.world.Key(), l.record.Epoch, l.record.Election, l.record.Master, l.record.Members, l.record.PriorQuorums,
		l.record.Switchover, l.record.SwitchoversSeen, l.record.Restart, l.request, l.expired, l.pods, l.outdated, l.taken,
		l.written, l.kills, l.hides, l.isolations, l.impatience, l.scalings, l.switchovers, l.edits, l.policy.Replicas, l.initialized)
	if l.record.Quorum != nil {
		key += fmt.Sprint(*l.record.Quorum)
	}
	if l.stale != nil {
		key += fmt.Sprint("stale", l.version-l.stale.version, l.stale.plan.Record != nil, l.stale.plan.Commands)
		if r := l.stale.plan.Record; r != nil && l.stale.version == l.version {
			key += fmt.Sprint(r.Epoch, r.Election, r.Quorum, len(r.PriorQuorums))
		}
	}
	return key
}

// view looks at everything there is.
func (l *lab) view() View {
	v := View{Policy: l.policy, Record: *l.record.DeepCopy(), Initialized: l.initialized, Request: l.request}
	if l.expired {
		v.Now = v.Now.Add(time.Hour)
	}
	v.Now = v.Now.Add(time.Duration(l.days) * 24 * time.Hour)
	for i, name := range l.world.Names() {
		s := Server{Name: name, Ordinal: int32(i), Address: name, PVCUID: "pvc-" + name, UnreachableFor: time.Hour, PodUID: fmt.Sprint("pod-", l.pods[name])}
		if l.outdated[name] {
			s.Outdated = "image"
		}
		if st, err := l.world.Server(name).Status(context.Background()); err == nil {
			s.Reachable, s.UnreachableFor, s.Status = true, 0, st
		}
		v.Servers = append(v.Servers, s)
	}
	if m := v.server(l.record.Master); m != nil && m.Reachable {
		for i := range v.Servers {
			held, err := contains(v.Servers[i].Status.GTIDLogged, m.Status.GTIDExecuted)
			v.Servers[i].CaughtUp = err == nil && held
		}
	}
	return v
}

func (l *lab) decide() *pending { return &pending{plan: Decide(l.view()), version: l.version} }

// persist is the resourceVersion-checked status update.
func (l *lab) persist(p *pending) bool {
	if p.version != l.version {
		return false
	}
	l.record, l.version = *p.plan.Record.DeepCopy(), l.version+1
	return true
}

// execute runs one command; refusals are part of life.
func (l *lab) execute(c Command) {
	if c.Kind == CommandRestart {
		l.takeDown(c)
		return
	}
	_ = Execute(context.Background(), c, l.world.Server(c.Server), "secret")
}

// takeDown deletes a pod and makes another one, which starts in a step of its own. No operator ever takes a second server down.
func (l *lab) takeDown(c Command) {
	if c.PodUID != fmt.Sprint("pod-", l.pods[c.Server]) {
		return
	}
	l.pods[c.Server]++
	delete(l.outdated, c.Server)
	if !l.world.Kill(c.Server) {
		return
	}
	if len(l.taken) > 0 {
		l.world.Broken = fmt.Sprintf("%s is taken down while %v has not started again", c.Server, l.taken)
	}
	l.taken[c.Server] = true
}

// start brings a server back, if it is down.
func (l *lab) start(name string) {
	l.world.Start(name)
	delete(l.taken, name)
}

// edit is a person's change that every server must be restarted for.
func (l *lab) edit() {
	l.edits++
	for _, name := range l.world.Names() {
		l.outdated[name] = true
	}
}

// operate lets an operator work until it has nothing left to do, with the servers running along.
func (l *lab) operate(t *testing.T) Plan {
	t.Helper()
	for range 100 {
		for name := range maps.Clone(l.taken) {
			l.start(name)
		}
		l.world.Run()
		p := l.decide()
		if p.plan.Record != nil {
			l.persist(p)
			continue
		}
		if len(p.plan.Commands) == 0 {
			return p.plan
		}
		for _, c := range p.plan.Commands {
			l.execute(c)
		}
	}
	t.Fatalf("the operator never comes to rest: %+v\n%s", l.record, l.world.Key())
	return Plan{}
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

// mustServe checks that the master on record takes writes and that everybody else follows it.
func (l *lab) mustServe(t *testing.T) {
	t.Helper()
	v := l.view()
	master := v.server(l.record.Master)
	if !v.servesAsMaster(master) || master.Status.WritesBlocked {
		t.Fatalf("no master takes writes: %+v\n%s", l.record, l.world.Key())
	}
	if len(l.record.PriorQuorums) > 0 {
		t.Fatalf("prior quorums were never dropped: %+v", l.record.PriorQuorums)
	}
	for i := range v.Servers {
		if s := &v.Servers[i]; s.Name != master.Name && v.wanted(s) && !v.servesAsReplica(s) {
			t.Fatalf("%s does not follow: %+v", s.Name, s.Status)
		}
	}
	if l.world.Broken != "" {
		t.Fatal(l.world.Broken)
	}
}
