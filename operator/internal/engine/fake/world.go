// Package fake is a small world of commitd servers in memory: epochs, logs, GTIDs, acknowledgements, crashes and cut links.
// Nothing happens by itself: every delivery, acknowledgement and connection is a step that a test takes.
package fake

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"commitlab.dev/operator/internal/engine"
)

// Entry is one transaction in a log.
type Entry struct {
	UUID  string
	GNO   int64
	Epoch int64
	// Tx is the client's transaction; 0 for the transaction that opens an epoch.
	Tx int
}

// World is a set of servers and of what is under way between them.
type World struct {
	mu      sync.Mutex
	servers []*state
	acks    []ack

	// Acknowledged are the client transactions that were acknowledged, in order, with the epoch that did it.
	Acknowledged []Acknowledgement
	// GivenUp were acknowledged, and a person has accepted that they are lost.
	GivenUp []Acknowledgement
	// Broken says which promise a server or the protocol has broken, if any.
	Broken string

	// SlowDemotions: FENCE answers before the server has stepped down; until FinishDemotion it goes on in its old role and epoch.
	SlowDemotions bool
	// LeastWaitCount is the wait count below which nobody may acknowledge.
	LeastWaitCount int32
	// WithoutLeases: nobody ever asks for one.
	WithoutLeases bool
}

// Acknowledgement is what a client was told.
type Acknowledgement struct {
	Tx    int
	Epoch int64
	By    string
}

// ack is an acknowledgement on its way to a master.
type ack struct {
	from, to string
	epoch    int64
	position int
}

// state is one server. What a crash does not take away: uuid, epoch, next, granted, kept, log, purged, visible, floor, initializations.
type state struct {
	name            string
	uuid            string
	initializations int
	// copies counts how often the volume was replaced by an older copy of itself.
	copies int
	epoch  int64
	// next is an epoch that has been promised while the server has not stepped down from its role in the former one.
	next    int64
	granted grant
	kept    keptQuorum
	log     []Entry
	visible int
	// purged is where the log begins that a replica can be sent.
	purged int
	floor  int64
	// given is the highest number that was ever given to a transaction: what floor has to be.
	given int64

	alive      bool
	cut        bool
	unheard    bool
	role       engine.Role
	connected  bool
	heard      bool          // since it was told to follow; one that is fenced remembers it
	silence    time.Duration // since it has heard its source last, as far as time was let go by
	alone      time.Duration // for how long too few members have renewed the lease
	diverged   bool
	behindLog  bool // its source does not have the log any more that it needs
	source     engine.Source
	quorum     engine.Quorum
	version    int64
	acked      positions
	accounts   []string
	openedAt   int
	gaveUp     bool // by the terms of its quorum: it acknowledges by itself
	handedOver bool // a master that takes no writes
	leased     bool // a master that answers clients though it has a lease: it has heard enough members lately
	ackWaiting float64
	variables  map[string]string
}

// positions says up to which position each member has acknowledged.
type positions []acknowledged

type acknowledged struct {
	uuid     string
	position int
}

func (p positions) of(uuid string) int {
	for i := range p {
		if p[i].uuid == uuid {
			return p[i].position
		}
	}
	return 0
}

func (p positions) raised(uuid string, position int) positions {
	raised := slices.DeleteFunc(slices.Clone(p), func(a acknowledged) bool { return a.uuid == uuid })
	return append(raised, acknowledged{uuid, max(p.of(uuid), position)})
}

// grant is the role that the durable epoch was given with.
type grant struct {
	role   engine.Role
	source string
}

// keptQuorum is the last one of the mastership that was granted.
type keptQuorum struct {
	engine.Quorum
	version int64
}

// New makes servers without data. Name them as their pods.
func New(names ...string) *World {
	w := &World{}
	for _, n := range names {
		w.servers = append(w.servers, &state{name: n, alive: true, role: engine.RoleUninitialized})
	}
	return w
}

// Clone copies a world, for tests that try every step. What is only ever appended to, or replaced, is shared.
func (w *World) Clone() *World {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := &World{acks: slices.Clone(w.acks), Acknowledged: slices.Clip(w.Acknowledged), GivenUp: slices.Clip(w.GivenUp), Broken: w.Broken,
		SlowDemotions: w.SlowDemotions, LeastWaitCount: w.LeastWaitCount, WithoutLeases: w.WithoutLeases}
	servers := make([]state, len(w.servers))
	c.servers = make([]*state, len(w.servers))
	for i, s := range w.servers {
		servers[i] = *s
		servers[i].log, servers[i].variables = slices.Clip(s.log), maps.Clone(s.variables)
		c.servers[i] = &servers[i]
	}
	return c
}

// Names lists the servers.
func (w *World) Names() []string {
	list := make([]string, 0, len(w.servers))
	for _, s := range w.servers {
		list = append(list, s.name)
	}
	return list
}

func (w *World) named(name string) *state {
	for _, s := range w.servers {
		if s.name == name {
			return s
		}
	}
	return nil
}

func (w *World) byUUID(uuid string) *state {
	for _, s := range w.servers {
		if uuid != "" && s.uuid == uuid {
			return s
		}
	}
	return nil
}

func (w *World) broken(format string, args ...any) {
	if w.Broken == "" {
		w.Broken = fmt.Sprintf(format, args...)
	}
}

func (w *World) appendOwn(s *state, tx int) {
	s.floor++
	if s.floor <= s.given {
		w.broken("%s gives the number %d to a second transaction", s.name, s.floor)
	}
	s.given = s.floor
	epoch := s.epoch
	s.log = append(s.log, Entry{UUID: s.uuid, GNO: s.floor, Epoch: epoch, Tx: tx})
}

func (s *state) lastLogEpoch() int64 {
	if len(s.log) == 0 {
		return 0
	}
	return s.log[len(s.log)-1].Epoch
}

// ackedBy counts members that have acknowledged the log up to a position.
func (s *state) ackedBy(position int) int32 {
	var n int32
	for _, m := range s.quorum.Members {
		if s.acked.of(m) >= position {
			n++
		}
	}
	return n
}

// settle moves the acknowledged watermark of a master. Transactions of earlier epochs only become visible together with
// the one that opened this epoch: before that, another election might still prefer a log without them.
func (w *World) settle(s *state) {
	if s.role != engine.RoleMaster {
		return
	}
	s.gaveUp = s.gaveUp && s.ackedBy(len(s.log)) < s.quorum.WaitCount
	for position := len(s.log); position > max(s.visible, s.openedAt); position-- {
		if !s.gaveUp && s.ackedBy(position) < s.quorum.WaitCount {
			continue
		}
		for _, e := range s.log[s.visible:position] {
			w.acknowledge(s, e)
		}
		s.visible = position
		return
	}
}

// acknowledge notes what clients were told, and checks the two promises: each later master has what an earlier one
// acknowledged, and an earlier one acknowledges nothing that a later one lacks. An acknowledgement that was sent before its
// sender was fenced may still arrive late: its transaction was counted in the election.
func (w *World) acknowledge(s *state, e Entry) {
	if s.quorum.WaitCount < w.LeastWaitCount || (s.gaveUp && w.LeastWaitCount > 0) {
		w.broken("%s acknowledges %+v by a wait count of %d (given up: %t)", s.name, e, s.quorum.WaitCount, s.gaveUp)
	}
	w.checkReaders(s.epoch, s.name)
	for _, a := range w.Acknowledged {
		if a.Epoch == s.epoch && a.By != s.uuid {
			w.broken("two servers acknowledge in epoch %d: %s and %s", s.epoch, a.By, s.uuid)
		}
		if a.Epoch > s.epoch && !w.isInEpoch(a.Epoch, e) {
			w.broken("%s acknowledges %+v in epoch %d after epoch %d has acknowledged without it", s.name, e, s.epoch, a.Epoch)
		}
		held := slices.ContainsFunc(s.log, func(held Entry) bool { return held.Tx == a.Tx })
		if !held && a.Epoch <= s.epoch {
			w.broken("transaction %d was acknowledged in epoch %d and is not in the log of %s, master of epoch %d", a.Tx, a.Epoch, s.name, s.epoch)
		}
	}
	known := slices.ContainsFunc(w.Acknowledged, func(a Acknowledgement) bool { return a.Tx == e.Tx && (e.Tx != 0 || a.Epoch == s.epoch) })
	if !known {
		w.Acknowledged = append(w.Acknowledged, Acknowledgement{Tx: e.Tx, Epoch: s.epoch, By: s.uuid})
	}
}

// GiveUpWhatIsNotOn: a person accepts that what was acknowledged and this server does not have is lost. Nothing else may be.
func (w *World) GiveUpWhatIsNotOn(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.named(name)
	var kept []Acknowledgement
	for _, a := range w.Acknowledged {
		if slices.ContainsFunc(s.log, a.isOf) {
			kept = append(kept, a)
		} else {
			w.GivenUp = append(w.GivenUp, a)
		}
	}
	w.Acknowledged = kept
}

// isOf: the entry is what was acknowledged.
func (a Acknowledgement) isOf(e Entry) bool { return a.Tx == e.Tx && (e.Tx != 0 || a.Epoch == e.Epoch) }

func (w *World) isGivenUp(e Entry) bool {
	return slices.ContainsFunc(w.GivenUp, func(a Acknowledgement) bool { return a.isOf(e) })
}

// isInEpoch says whether the logs with transactions of an epoch have this one, too.
func (w *World) isInEpoch(epoch int64, e Entry) bool {
	for _, s := range w.servers {
		of := slices.ContainsFunc(s.log, func(one Entry) bool { return one.Epoch == epoch })
		if of && !slices.Contains(s.log, e) {
			return false
		}
	}
	return true
}
