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
	if !s.alive || s.role != engine.RoleMaster || s.visible <= s.openedAt {
		return false
	}
	s.appendOwn(s.epoch, tx)
	w.settle(s)
	return true
}

// Connect starts a replica's receiver: the source must be the master of the same epoch, and what it does not have is cut off.
func (w *World) Connect(name string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.named(name)
	if !s.alive || s.unheard || s.role != engine.RoleReplica || s.connected || s.diverged {
		return false
	}
	source := w.byUUID(s.source.UUID)
	if source == nil || !source.alive || source.unheard || source.role != engine.RoleMaster || source.epoch != s.epoch {
		return false
	}
	common := 0
	for common < len(s.log) && common < len(source.log) && s.log[common] == source.log[common] {
		common++
	}
	if common < s.visible {
		s.diverged, s.role = true, engine.RoleFenced
		w.broken("%s had shown transactions that %s does not have", s.name, source.name)
		return true
	}
	s.log = s.log[:common]
	s.connected, s.heard = true, true
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
		s.log = append(s.log, source.log[len(s.log)])
		progress = true
	}
	if seen := min(source.visible, len(s.log)); seen > s.visible {
		s.visible = seen
		progress = true
	}
	sent := ack{from: s.uuid, to: source.name, epoch: s.epoch, position: len(s.log)}
	if source.acked[s.uuid] < len(s.log) && !slices.Contains(w.acks, sent) {
		w.acks = slices.DeleteFunc(w.acks, func(a ack) bool { return a.from == s.uuid && a.to == source.name && a.epoch == s.epoch })
		w.acks = append(w.acks, sent)
		progress = true
	}
	return progress
}

// Acknowledge lets the oldest acknowledgement arrive.
func (w *World) Acknowledge() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.acks) == 0 {
		return false
	}
	a := w.acks[0]
	w.acks = w.acks[1:]
	master := w.named(a.to)
	if master.alive && master.role == engine.RoleMaster && master.epoch == a.epoch {
		master.acked[a.from] = max(master.acked[a.from], a.position)
		w.settle(master)
	}
	return true
}

// Kill takes away everything that is not durable.
func (w *World) Kill(name string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.named(name)
	if !s.alive {
		return false
	}
	w.leaveRole(s)
	s.alive, s.variables = false, nil
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

// Lost lists acknowledged transactions that some server with a role does not show. Ask when nothing is under way.
func (w *World) Lost() []int {
	w.mu.Lock()
	defer w.mu.Unlock()
	var lost []int
	for _, a := range w.Acknowledged {
		for _, s := range w.servers {
			shown := slices.ContainsFunc(s.log[:s.visible], func(e Entry) bool { return e.Tx == a.Tx })
			if !shown && (s.role == engine.RoleMaster || s.role == engine.RoleReplica) {
				lost = append(lost, a.Tx)
			}
		}
	}
	return lost
}
