package cluster

import (
	"bytes"
	"fmt"
	"slices"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/engine"
	"commitlab.dev/operator/internal/engine/fake"
)

// limits bound a model: how often each kind of thing may happen.
type limits struct {
	// epochs is the highest that may be claimed; the cluster that serves at the beginning has one.
	epochs                                       int64
	writes, kills, hides, isolations, impatience int
	switchovers, wipes, copies, edits            int
	// configurations: something of the spec changes that every server must be restarted for.
	configurations int
	// terms: a person asks for another onTimeout, or another lease; timeouts: a master gives up waiting, if it may.
	terms, timeouts int
	// purges: a server drops what it shows from the log that replicas read.
	purges int
	// fences: a person fences a server; promotions: a person asks for one though too few others are there.
	fences, promotions int
	// hibernations: the spec asks for one, and pods end in any order.
	hibernations int
	// sizes: the spec asks for another number of replicas, and pods and volumes follow.
	sizes int
	// pauses: an operator stops between deciding and acting, and acts at any later time; lateRows: it reads the row of one
	// server, then anything may happen before it reads the others.
	pauses, lateRows int
	// slow: demotions take time.
	slow bool
}

// action is a step of an operator: a record to persist, or a command.
type action struct {
	record  *v1alpha1.Record
	command Command
	version int
}

func (a *action) isAny() bool { return a.record != nil || a.command.Kind != "" }

func (a *action) String() string {
	if a.record != nil {
		return fmt.Sprintf("persists epoch %d %s%+v", a.record.Epoch, a.record.Master, a.record.Quorum)
	}
	return a.command.String()
}

func (l *lab) do(a *action) {
	if a.record != nil {
		l.persist(&pending{plan: Plan{Record: a.record}, version: a.version})
		return
	}
	l.execute(a.command)
}

// lateRow is what an operator has read of one server, under one version of the record.
type lateRow struct {
	server  Server
	version int
}

// step is one atomic thing that may happen next; action is what an operator does in it.
type step struct {
	what   string
	action *action
	do     func(*lab)
}

func (s step) String() string {
	if s.action == nil {
		return s.what
	}
	return s.what + " " + s.action.String()
}

type adder func(what string, do func(*lab))

// steps lists everything that may happen next: one step of an operator, of servers, of the network, of people, and faults.
func (l *lab) steps(lim limits) []step {
	list := make([]step, 0, 32)
	add := func(what string, do func(*lab)) { list = append(list, step{what: what, do: do}) }
	l.operatorSteps(func(what string, a *action, do func(*lab)) { list = append(list, step{what, a, do}) }, lim)
	l.serverSteps(add, lim)
	l.faultSteps(add, lim)
	l.personSteps(add, lim)
	return list
}

// operatorSteps: operators look and act, pause in between, or look slowly. Commands are idempotent and independent of one
// another, so one that is late stands for a paused operator with any number of them.
func (l *lab) operatorSteps(add func(string, *action, func(*lab)), lim limits) {
	v := l.view()
	for _, a := range l.actions(v, lim) {
		add("operator:", &a, func(n *lab) { n.checkRules(&a); n.do(&a) })
		if l.pauses < lim.pauses && !l.late.isAny() {
			add("an operator is paused before:", &a, func(n *lab) { n.late = a; n.pauses++ })
		}
	}
	if a := l.late; a.isAny() {
		add("the paused operator:", &a, func(n *lab) { n.late = action{}; n.do(&a) })
	}
	for _, length := range l.leases() {
		if v.Covered() && l.waitedNow() < withMargin(length) {
			add("the operator sees a cover, and then passes "+length.String(), nil, func(n *lab) { n.outwait(length) })
		}
	}
	if l.row == nil || l.row.version != l.version {
		l.lateRowSteps(add, lim, v)
		return
	}
	v.Servers = slices.Clone(v.Servers)
	i := slices.IndexFunc(v.Servers, func(s Server) bool { return s.Name == l.row.server.Name })
	if i < 0 {
		return // its pod has ended
	}
	v.Servers[i] = l.row.server
	l.findCaughtUp(&v)
	for _, a := range l.actions(v, lim) {
		add("operator, with what "+l.row.server.Name+" said before:", &a, func(n *lab) { n.do(&a) })
	}
}

func (l *lab) lateRowSteps(add func(string, *action, func(*lab)), lim limits, v View) {
	if l.lateRows >= lim.lateRows {
		return
	}
	for _, s := range v.Servers {
		add("an operator reads the row of "+s.Name, nil, func(n *lab) { n.row = &lateRow{s, n.version}; n.lateRows++ })
	}
}

// actions are those of every plan that a view can lead to. Where a plan chooses among servers that are alike, by ordinal or
// by the order in which they are listed, every choice is a plan of its own; plans that only command choose nobody.
func (l *lab) actions(v View, lim limits) []action {
	var list []action
	add := func(p Plan) {
		if p.Record != nil && p.Record.Epoch <= lim.epochs {
			list = append(list, action{record: p.Record, version: l.version})
		}
		for _, c := range p.Commands {
			list = append(list, action{command: c, version: l.version})
		}
	}
	first := Decide(v)
	if first.Record == nil || l.ordinalsMatter {
		add(first)
		return list
	}
	var seen [][]byte
	for _, order := range l.orders() {
		p := Decide(v.in(order))
		k := keyWriter{order: unchanged(len(v.Servers)), now: v.Now, pods: l.pods}
		if p.Record != nil {
			k.record(p.Record)
		}
		if !slices.ContainsFunc(seen, func(s []byte) bool { return bytes.Equal(s, k.b) }) {
			seen = append(seen, k.b)
			add(p)
		}
	}
	return list
}

// in lists the servers in another order.
func (v View) in(o fake.Order) View {
	servers := make([]Server, len(o))
	members := make([]v1alpha1.MemberStatus, 0, len(o))
	for position, i := range o {
		servers[position] = v.Servers[i]
		servers[position].Ordinal = int32(position)
		for _, m := range v.Record.Members {
			if m.Name == v.Servers[i].Name {
				members = append(members, m)
			}
		}
	}
	v.Servers, v.Record.Members = servers, members
	return v
}

func (l *lab) serverSteps(add adder, lim limits) {
	for _, name := range l.world.Names() {
		if l.written < lim.writes {
			add("write to "+name, func(n *lab) {
				if n.world.Write(name, n.written+1) {
					n.written++
				}
			})
		}
		if l.timeouts < lim.timeouts {
			add(name+" gives up waiting", func(n *lab) {
				if n.world.GiveUp(name) {
					n.timeouts++
				}
			})
		}
		if l.world.Answers(name) && len(l.leases()) > 0 {
			add("time passes for the lease of "+name, func(n *lab) { n.world.Pass(longLease) })
		}
		add("connect "+name, func(n *lab) { n.world.Connect(name) })
		add("deliver to "+name, func(n *lab) { n.world.Deliver(name) })
		if lim.slow {
			add(name+" has stepped down", func(n *lab) { n.world.FinishDemotion(name) })
		}
	}
	for i := range l.world.UnderWay() {
		add("acknowledgement arrives", func(n *lab) { n.world.AcknowledgeAny(i) })
	}
}

func (l *lab) faultSteps(add adder, lim limits) {
	for _, name := range l.world.Names() {
		if !l.ended[name] {
			add("start "+name, func(n *lab) { n.start(name) })
		}
		if l.kills < lim.kills {
			add("kill "+name, func(n *lab) {
				if n.world.Kill(name) {
					n.kills++
				}
			})
		}
		l.volumeSteps(add, lim, name)
		if l.purges < lim.purges {
			add("the log of "+name+" is purged", func(n *lab) {
				if n.world.Purge(name) {
					n.purges++
				}
			})
		}
		if l.hides < lim.hides {
			add("hide "+name+" from operators", func(n *lab) { n.world.Hide(name, true); n.hides++ })
		}
		if l.hides > 0 {
			add("show "+name+" to operators", func(n *lab) { n.world.Hide(name, false) })
		}
		if l.isolations < lim.isolations {
			add("isolate "+name, func(n *lab) { n.world.Isolate(name, true); n.isolations++ })
		}
		if l.isolations > 0 {
			add("mend "+name, func(n *lab) { n.world.Isolate(name, false) })
		}
		if l.impatience < lim.impatience {
			add("writes have waited on "+name, func(n *lab) { n.world.Impatient(name, 60); n.impatience++ })
		}
	}
}

// volumeSteps: a killed server comes back with an empty volume, or with an older copy of its own.
func (l *lab) volumeSteps(add adder, lim limits, name string) {
	if l.wipes >= lim.wipes+lim.copies || l.kills == 0 {
		return
	}
	if lim.wipes > 0 {
		add("the volume of "+name+" is emptied", func(n *lab) {
			if n.world.Wipe(name) {
				n.wipes++
			}
		})
	}
	if lim.copies > 0 {
		for length := range 4 {
			add(fmt.Sprintf("the volume of %s is replaced by a copy with %d transactions", name, length), func(n *lab) {
				if n.world.Restore(name, length) {
					n.wipes++
				}
			})
		}
	}
}

// personSteps are what people ask for: switchovers and other specs.
func (l *lab) personSteps(add adder, lim limits) {
	if l.switchovers < lim.switchovers {
		for _, name := range l.world.Names() {
			add("ask for a switchover to "+name, func(n *lab) {
				n.switchovers++
				n.request = &SwitchoverRequest{ID: fmt.Sprint(n.switchovers), To: name}
			})
		}
	}
	if l.request != nil {
		add("withdraw the switchover", func(n *lab) { n.request = nil })
	}
	l.fenceSteps(add, lim)
	l.hibernationSteps(add, lim)
	l.sizeSteps(add, lim)
	if l.timeMatters() {
		add("time passes", func(n *lab) { n.hours++ })
	}
	if l.configurations < lim.configurations {
		add("change the configuration", func(n *lab) { n.edit() })
	}
	if l.edits < lim.edits {
		l.editSteps(add)
	}
	if l.terms < lim.terms {
		l.termSteps(add)
	}
}

// fenceSteps: a person keeps servers out, lets them in again, and promotes one when nothing else helps.
func (l *lab) fenceSteps(add adder, lim limits) {
	for _, name := range l.world.Names() {
		if l.keptOut[name] {
			add("unfence "+name, func(n *lab) { n.keptOut = without(n.keptOut, name) })
		} else if l.fences < lim.fences {
			add("fence "+name, func(n *lab) { n.keptOut, n.fences = with(n.keptOut, name, true), n.fences+1 })
		}
		if l.promotions < lim.promotions {
			add("promote "+name+", whatever is lost", func(n *lab) { n.promote(name) })
		}
	}
}

// hibernationSteps: pods end one by one, and it may be over before all have.
func (l *lab) hibernationSteps(add adder, lim limits) {
	if l.hibernations < lim.hibernations {
		add("the spec asks for hibernation", func(n *lab) { n.policy.Hibernated = true; n.hibernations++ })
	}
	if !l.policy.Hibernated {
		return
	}
	add("the spec asks for no hibernation any more", func(n *lab) { n.policy.Hibernated = false })
	for _, name := range l.world.Names() {
		add("the pod of "+name+" ends", func(n *lab) { n.world.Kill(name) })
	}
}

// sizeSteps: there is one replica at least, so that LeastWaitCount holds.
func (l *lab) sizeSteps(add adder, lim limits) {
	if lim.sizes == 0 {
		return
	}
	names := l.world.Names()
	for replicas := int32(1); replicas < int32(len(names)); replicas++ {
		if l.sizes < lim.sizes && replicas != l.policy.Replicas {
			add(fmt.Sprintf("the spec asks for %d replicas", replicas), func(n *lab) { n.policy.Replicas = replicas; n.sizes++ })
		}
	}
	for _, name := range names {
		add("the pod of "+name+" ends, or is made", func(n *lab) { n.resize(name) })
		add("the volume of "+name+" is deleted", func(n *lab) { n.deleteReleased(name) })
	}
}

// termSteps ask for another lease, where there is one, or another onTimeout.
func (l *lab) termSteps(add adder) {
	for _, lease := range l.leases() {
		if l.policy.SourceLease != lease {
			add("the spec asks for a lease of "+lease.String(), func(n *lab) { n.policy.SourceLease = lease; n.terms++ })
		}
	}
	if len(l.leases()) > 0 {
		return
	}
	for _, onTimeout := range []string{"", engine.OnTimeoutError, engine.OnTimeoutAsync} {
		if l.policy.OnTimeout != onTimeout {
			add("the spec asks for onTimeout '"+onTimeout+"'", func(n *lab) { n.policy.OnTimeout = onTimeout; n.terms++ })
		}
	}
}

func (l *lab) timeMatters() bool {
	if e := l.record.Election; e != nil && e.Reason == ReasonMasterCutOff && l.now().Sub(e.StartedAt.Time) < withoutTheMaster {
		return true
	}
	s := l.record.Switchover
	switch {
	case s == nil:
		return false
	case !s.Ended():
		return !l.now().After(s.Deadline.Time)
	}
	return s.Phase == v1alpha1.SwitchoverFailed && s.Reason != v1alpha1.SwitchoverRequested && l.now().Sub(s.CompletedAt.Time) < ownSwitchoverRetry
}

// editSteps change one thing of the spec; specs that the API server refuses are left out.
func (l *lab) editSteps(add adder) {
	key := func(p *Policy) string {
		k := keyWriter{}
		k.policy(p)
		return string(k.b)
	}
	edit := func(what string, change func(*Policy)) {
		p := l.policy
		change(&p)
		if key(&p) == key(&l.policy) {
			return
		}
		if p.WaitCount != nil && (*p.WaitCount > p.Replicas || (p.Durability == v1alpha1.DurabilityRequired && *p.WaitCount < p.MinSyncReplicas)) {
			return
		}
		if p.Replicas > 0 && p.MinSyncReplicas > p.Replicas {
			return
		}
		add("the spec asks for "+what, func(n *lab) { n.policy = p; n.edits++ })
	}
	one, two := int32(1), int32(2)
	edit("preferred", func(p *Policy) { p.Durability = v1alpha1.DurabilityPreferred })
	edit("required", func(p *Policy) { p.Durability = v1alpha1.DurabilityRequired })
	edit("minSyncReplicas 1", func(p *Policy) { p.MinSyncReplicas = 1 })
	edit("minSyncReplicas 2", func(p *Policy) { p.MinSyncReplicas = 2 })
	edit("waitCount 1", func(p *Policy) { p.WaitCount = &one })
	edit("waitCount 2", func(p *Policy) { p.WaitCount = &two })
	if !l.ordinalsMatter {
		return
	}
	for replicas := range int32(len(l.world.Names())) {
		edit(fmt.Sprintf("%d replicas", replicas), func(p *Policy) { p.Replicas = replicas })
	}
}
