package fake

import (
	"slices"

	"commitlab.dev/operator/internal/engine"
)

// Steps return false when they are not possible now.

// Write is a client's transaction, which may or may not be acknowledged later.
func (w *World) Write(name string, tx int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.named(name)
	if !s.alive || s.role != engine.RoleMaster || s.visible <= s.openedAt || s.handedOver {
		return false
	}
	w.appendOwn(s, tx)
	w.settle(s)
	return true
}

// GiveUp lets a master's timeout pass: under `async` it acknowledges what it has logged, and goes on so until enough members hold
// everything. A mastership that has not begun to take writes waits on.
func (w *World) GiveUp(name string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.named(name)
	waits := s.alive && s.role == engine.RoleMaster && s.visible > s.openedAt && len(s.log) > s.visible
	if !waits || s.gaveUp || s.quorum.Terms.OnTimeout != engine.OnTimeoutAsync {
		return false
	}
	s.gaveUp = true
	w.settle(s)
	return true
}

// Connect starts a replica's receiver: the source must be the master of the same epoch, and what it does not have is cut off.
func (w *World) Connect(name string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.named(name)
	if !s.alive || s.unheard || s.role != engine.RoleReplica || s.next != 0 || s.connected || s.diverged {
		return false
	}
	source := w.byUUID(s.source.UUID)
	if source == nil || !source.alive || source.unheard || source.role != engine.RoleMaster || source.next != 0 || source.epoch != s.epoch {
		return false
	}
	if source.asksForCertificates() && s.source.TLSName == "" {
		return false
	}
	common := 0
	for common < len(s.log) && common < len(source.log) && s.log[common] == source.log[common] {
		common++
	}
	if mutated(TailKept) {
		common = len(s.log)
	}
	if common < s.visible {
		s.diverged, s.role = true, engine.RoleFenced
		if !w.isGivenUp(s.log[common]) {
			w.broken("%s had shown transactions that %s does not have", s.name, source.name)
		}
		return true
	}
	if common < source.purged {
		progress := !s.behindLog
		s.behindLog = true
		return progress
	}
	s.behindLog = false
	s.log = s.log[:common:common]
	if mutated(FloorFromLog) {
		s.floor = s.highestOwn()
	}
	s.hear()
	w.renew(source)
	return true
}

// Purge drops what a server shows from the log that it sends.
func (w *World) Purge(name string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.named(name)
	if !s.alive || s.purged >= s.visible {
		return false
	}
	s.purged = s.visible
	return true
}

// Deliver sends one entry to a replica, which makes it durable and sends an acknowledgement.
func (w *World) Deliver(name string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.named(name)
	if !s.alive || !s.connected {
		return false
	}
	source := w.byUUID(s.source.UUID)
	progress := false
	if len(s.log) < len(source.log) {
		e := source.log[len(s.log)]
		s.log = append(s.log, e)
		if e.UUID == s.uuid {
			s.floor = max(s.floor, e.GNO)
		}
		progress = true
	}
	if seen := min(source.visible, len(s.log)); seen > s.visible {
		s.visible = seen
		progress = true
	}
	sent := ack{from: s.uuid, to: source.name, epoch: s.epoch, position: len(s.log)}
	if source.acked.of(s.uuid) < len(s.log) && !slices.Contains(w.acks, sent) {
		w.acks = slices.DeleteFunc(w.acks, func(a ack) bool { return a.from == s.uuid && a.to == source.name && a.epoch == s.epoch })
		w.acks = append(w.acks, sent)
		progress = true
	}
	return progress
}

// Acknowledge lets the oldest acknowledgement arrive.
func (w *World) Acknowledge() bool { return w.AcknowledgeAny(0) }

// UnderWay is the number of acknowledgements that have not arrived.
func (w *World) UnderWay() int { return len(w.acks) }

// AcknowledgeAny lets one acknowledgement arrive, the oldest or another one: they come over different connections.
func (w *World) AcknowledgeAny(i int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if i >= len(w.acks) {
		return false
	}
	a := w.acks[i]
	w.acks = slices.Delete(slices.Clone(w.acks), i, i+1)
	if master := w.named(a.to); a.counts(master) {
		master.acked = master.acked.raised(a.from, a.position)
		w.settle(master)
	}
	return true
}

// counts: an acknowledgement for an epoch that its receiver has left means nothing any more.
func (a ack) counts(master *state) bool {
	return master.alive && master.role == engine.RoleMaster && master.epoch == a.epoch && master.acked.of(a.from) < a.position
}

// FinishDemotion lets a server that has been fenced step down.
func (w *World) FinishDemotion(name string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.named(name)
	if !s.alive || s.next == 0 {
		return false
	}
	w.stepDown(s, engine.RoleFenced)
	return true
}

func (w *World) stepDown(s *state, to engine.Role) {
	w.leaveFor(s, to)
	if s.next != 0 {
		s.epoch, s.next, s.granted = s.next, 0, grant{role: engine.RoleFenced}
	}
}

// Kill takes away everything that is not durable.
func (w *World) Kill(name string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.named(name)
	if !s.alive {
		return false
	}
	w.stepDown(s, s.role)
	s.alive, s.heard, s.silence, s.ackWaiting, s.variables = false, false, 0, 0, nil
	w.acks = slices.DeleteFunc(w.acks, func(a ack) bool { return a.to == name })
	return true
}

func (w *World) disconnect(source *state) {
	for _, f := range w.servers {
		if source.uuid != "" && f.source.UUID == source.uuid {
			f.connected = false
		}
	}
}

// Start brings a killed server back, without a role.
func (w *World) Start(name string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.named(name)
	if s.alive {
		return false
	}
	s.alive = true
	s.role = engine.RoleUndecided
	if s.uuid == "" {
		s.role = engine.RoleUninitialized
	}
	return true
}

// Wipe empties the volume of a killed server.
func (w *World) Wipe(name string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.named(name)
	if s.alive {
		return false
	}
	*s = state{name: s.name, initializations: s.initializations, cut: s.cut, unheard: s.unheard}
	return true
}

// Discard deletes the volume of a killed server: what comes under its name has another one.
func (w *World) Discard(name string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.named(name)
	if s.alive {
		return false
	}
	w.checkReplaced(s)
	*s = state{name: s.name, initializations: s.initializations, copies: s.copies + 1, cut: s.cut, unheard: s.unheard}
	return true
}

// Restore replaces the volume of a killed server by a copy of itself from when its log ended earlier.
func (w *World) Restore(name string, length int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.named(name)
	if s.alive || length >= len(s.log) {
		return false
	}
	*s = state{name: s.name, uuid: s.uuid, initializations: s.initializations, copies: s.copies + 1, given: s.given, cut: s.cut, unheard: s.unheard,
		log: s.log[:length:length], visible: min(s.visible, length)}
	s.epoch, s.floor = s.lastLogEpoch(), s.highestOwn()
	return true
}

// Copies is how often a server's volume was replaced by a copy.
func (w *World) Copies(name string) int { return w.named(name).copies }

func (s *state) highestOwn() int64 {
	var highest int64
	for _, e := range s.log {
		if e.UUID == s.uuid {
			highest = max(highest, e.GNO)
		}
	}
	return highest
}

// Hide cuts, or mends, the operator's link to a server.
func (w *World) Hide(name string, hidden bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.named(name).cut = hidden
}

// Isolate cuts, or mends, a server's links to the other servers.
func (w *World) Isolate(name string, isolated bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.named(name)
	s.unheard = isolated
	if isolated {
		s.connected = false
		w.disconnect(s)
	}
}

// Impatient says how long the oldest unacknowledged transaction of a server is said to have waited.
func (w *World) Impatient(name string, seconds float64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.named(name).ackWaiting = seconds
}

// Run connects, delivers and acknowledges until nothing is left to do.
func (w *World) Run() {
	for progress := true; progress; {
		progress = false
		for _, name := range w.Names() {
			progress = w.FinishDemotion(name) || progress
			progress = w.Connect(name) || progress
			progress = w.Deliver(name) || progress
		}
		progress = w.Acknowledge() || progress
	}
}

// Accounts lists the accounts that were created on a server.
func (w *World) Accounts(name string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.named(name).accounts)
}

// Acknowledges says whether a server is a master whose writes are acknowledged now.
func (w *World) Acknowledges(name string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.named(name)
	return s != nil && s.alive && s.next == 0 && !w.writesBlocked(s)
}

// Lacks lists the acknowledged transactions that a server's log does not have.
func (w *World) Lacks(name string) []int {
	w.mu.Lock()
	defer w.mu.Unlock()
	var lacking []int
	for _, a := range w.Acknowledged {
		if s := w.named(name); s == nil || !slices.ContainsFunc(s.log, func(e Entry) bool { return e.Tx == a.Tx && (e.Tx != 0 || e.Epoch == a.Epoch) }) {
			lacking = append(lacking, a.Tx)
		}
	}
	return lacking
}

// Lost lists acknowledged transactions that some server that is up and has a role does not show. Ask when nothing is under way.
func (w *World) Lost() []int {
	w.mu.Lock()
	defer w.mu.Unlock()
	var lost []int
	for _, a := range w.Acknowledged {
		for _, s := range w.servers {
			shown := slices.ContainsFunc(s.log[:s.visible], func(e Entry) bool { return e.Tx == a.Tx })
			if !shown && s.alive && (s.role == engine.RoleMaster || s.role == engine.RoleReplica) {
				lost = append(lost, a.Tx)
			}
		}
	}
	return lost
}
