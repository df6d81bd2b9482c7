package fake

import (
	"time"

	"commitlab.dev/operator/internal/engine"
)

// lease of a mastership; 0: it answers clients for ever. Nobody could renew that of one that waits for nobody.
func (s *state) lease() time.Duration {
	if s.quorum.WaitCount == 0 {
		return 0
	}
	return time.Duration(s.quorum.Terms.LeaseMilliseconds) * time.Millisecond
}

// leaseLeft is how much of it is left to a master that is not heard from now on.
func (s *state) leaseLeft() time.Duration {
	if s.lease() == 0 {
		return forEver
	}
	return s.lease() - s.alone
}

// answers says whether clients of a master are answered.
func (s *state) answers() bool {
	return s.alive && s.role == engine.RoleMaster && (s.lease() == 0 || s.leased)
}

// renew: a member that is connected has answered.
func (w *World) renew(master *state) {
	if int32(len(w.attached(master))) >= master.quorum.WaitCount {
		master.leased, master.alone = true, 0
	}
}

// forEver is longer than anybody waits for a lease: what has lasted longer is not told apart.
const forEver = 6600 * time.Millisecond

// Pass lets so much time go by. Leases that have lasted no longer run out where too few members are connected to renew them; a
// server that has promised another epoch and has not stepped down yet still answers its master. The clocks of those who do not
// hear their source are as fast as a lease's margin allows.
func (w *World) Pass(length time.Duration) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	changed := false
	for _, s := range w.servers {
		if s.heard && !s.connected && s.silence < forEver {
			s.silence, changed = min(s.silence+length+length/10, forEver), true
		}
		if !s.leased || int32(len(w.attached(s))) >= s.quorum.WaitCount {
			s.alone = 0
			continue
		}
		s.alone, changed = s.alone+length, true
		if s.alone >= s.lease() {
			s.leased, s.alone = false, 0
		}
	}
	return changed
}

// hear: whoever is connected has just heard its source.
func (s *state) hear() { s.connected, s.heard, s.silence = true, true, 0 }

// Runs says whether a server's process is there.
func (w *World) Runs(name string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.named(name).alive
}

// Answers says whether a server is a master that answers clients.
func (w *World) Answers(name string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.named(name).answers()
}

// checkReaders: what an epoch has acknowledged, readers of an older epoch's master do not see. Only a lease can close them.
func (w *World) checkReaders(epoch int64, by string) {
	for _, s := range w.servers {
		if s.answers() && s.lease() > 0 && s.epoch < epoch {
			w.broken("%s has acknowledged in epoch %d, and %s answers readers in epoch %d", by, epoch, s.name, s.epoch)
		}
	}
}
