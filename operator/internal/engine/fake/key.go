package fake

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"commitlab.dev/operator/internal/engine"
)

// Order says which server stands at which position: a world looks the same when servers that are alike change places, and
// Position finds the place of a server by its UUID.
type Order []int

// Position gives a server's place and how often its volume had been initialised then, in one byte; 0 for nobody.
func (o Order) Position(uuid string) byte {
	if len(uuid) != uuidLength {
		return 0
	}
	server := int(uuid[uuidLength-1] - '1')
	return byte(1+slices.Index(o, server)) + 16*(uuid[lastOfGeneration]-'0')
}

// UUIDs are made by newUUID: the last figure of the fourth group is the initialisation, that of the fifth the server.
const (
	uuidLength       = 36
	lastOfGeneration = 22
)

// Set writes a set of servers.
func (o Order) Set(b []byte, uuids []string) []byte {
	var list [8]byte
	positions := list[:0]
	for _, uuid := range uuids {
		positions = append(positions, o.Position(uuid))
	}
	slices.Sort(positions)
	return append(append(b, byte(len(positions))), positions...)
}

// AppendKey writes all that decides how the world behaves from here on, as it looks in an order of its servers: worlds of one
// key behave alike. Epochs, numbers and positions are below 256 in worlds that can be explored.
func (w *World) AppendKey(b []byte, o Order, ranks Versions) []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, i := range o {
		b = w.appendServer(b, w.servers[i], o, ranks)
	}
	b = appendSorted(b, len(w.Acknowledged), func(b []byte, i int) []byte {
		a := w.Acknowledged[i]
		return append(b, byte(a.Tx), byte(a.Epoch), o.Position(a.By))
	})
	b = appendSorted(b, len(w.GivenUp), func(b []byte, i int) []byte {
		a := w.GivenUp[i]
		return append(b, byte(a.Tx), byte(a.Epoch), o.Position(a.By))
	})
	return appendSorted(b, len(w.acks), func(b []byte, i int) []byte {
		a := w.acks[i]
		to := w.named(a.to)
		if !a.counts(to) {
			return b // it will arrive and change nothing
		}
		return append(b, o.Position(a.from), o.Position(to.uuid), byte(a.epoch), byte(a.position))
	})
}

// AppendSignature writes what a server is by itself, without naming any other one: servers of different signatures are not alike.
func (w *World) AppendSignature(b []byte, server int) []byte {
	s := w.servers[server]
	b = append(w.appendBare(b, s), roleByte(s.granted.role))
	for _, e := range s.log {
		b = append(b, byte(e.GNO), byte(e.Epoch), byte(e.Tx))
	}
	return b
}

// appendSorted writes things whose order means nothing.
func appendSorted(b []byte, count int, write func([]byte, int) []byte) []byte {
	var parts [][]byte
	for i := range count {
		if part := write(nil, i); len(part) > 0 {
			parts = append(parts, part)
		}
	}
	slices.SortFunc(parts, bytes.Compare)
	b = append(b, byte(len(parts)))
	for _, part := range parts {
		b = append(b, part...)
	}
	return b
}

func (w *World) appendServer(b []byte, s *state, o Order, ranks Versions) []byte {
	b = append(w.appendBare(b, s), roleByte(s.granted.role), o.Position(s.granted.source), byte(len(s.log)))
	for _, e := range s.log {
		b = append(b, o.Position(e.UUID), byte(e.GNO), byte(e.Epoch), byte(e.Tx))
	}
	if s.granted.role == engine.RoleMaster {
		b = o.Set(append(b, byte(s.kept.WaitCount), ranks.Of(s.epoch, s.kept.version), termsByte(s.kept.Terms)), s.kept.Members)
	}
	switch s.shownRole() {
	case engine.RoleMaster:
		b = o.Set(append(b, byte(s.quorum.WaitCount), ranks.Of(s.epoch, s.version), byte(s.openedAt), termsByte(s.quorum.Terms)), s.quorum.Members)
		return appendSorted(b, len(s.acked), func(b []byte, i int) []byte {
			return append(b, o.Position(s.acked[i].uuid), byte(s.acked[i].position))
		})
	case engine.RoleReplica:
		return append(b, o.Position(s.source.UUID))
	}
	return b
}

// appendBare writes what of a server names no other one.
func (w *World) appendBare(b []byte, s *state) []byte {
	return append(b, byte(s.initializations), byte(s.copies), byte(s.epoch), byte(s.next), roleByte(s.shownRole()), byte(s.visible), byte(s.floor),
		byte(s.given), w.flags(s), moreFlags(s), byte(s.purged), tenths(s.silence), tenths(s.loneliness()))
}

// shownRole: what a server that does not run was, nobody asks.
func (s *state) shownRole() engine.Role {
	if !s.alive {
		return ""
	}
	return s.role
}

// loneliness and leased mean nothing to a master without a lease.
func (s *state) loneliness() time.Duration {
	if s.lease() == 0 {
		return 0
	}
	return s.alone
}

func tenths(d time.Duration) byte { return byte(d / (100 * time.Millisecond)) }

func roleByte(r engine.Role) byte {
	if r == "" {
		return 0
	}
	return r[2] // tells all of them apart
}

// termsByte tells terms apart; the length of a timeout means nothing in a world without clocks, and leases are some seconds.
func termsByte(t engine.Terms) byte {
	lease := byte(t.LeaseMilliseconds/1000) << 2
	switch t.OnTimeout {
	case engine.OnTimeoutError:
		return lease | 1
	case engine.OnTimeoutAsync:
		return lease | 2
	}
	return lease
}

func moreFlags(s *state) byte {
	return bits(s.handedOver, s.leased && s.lease() > 0, s.behindLog, s.uuid == "")
}

func (w *World) flags(s *state) byte {
	heard := s.heard && (s.role != engine.RoleFenced || !w.WithoutLeases) // only leases ask who was heard before
	return bits(s.alive, s.cut, s.unheard, s.connected, heard, s.diverged, s.ackWaiting > 0, s.gaveUp)
}

func bits(set ...bool) byte {
	var b byte
	for i, is := range set {
		if is {
			b |= 1 << i
		}
	}
	return b
}

// String shows a world to people.
func (w *World) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := fmt.Sprint(w.Acknowledged, w.acks)
	for _, s := range w.servers {
		text += fmt.Sprintf("\n%+v", *s)
	}
	return text
}
