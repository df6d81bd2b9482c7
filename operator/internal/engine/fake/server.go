package fake

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"commitlab.dev/operator/internal/engine"
)

// Server is the operator's connection to one server.
type Server struct {
	world *World
	name  string
	// bare: the client shows no certificate.
	bare bool
}

var _ engine.Server = Server{}

// Server connects to a server by its pod's name.
func (w *World) Server(name string) Server { return Server{world: w, name: name} }

// WithoutCertificate is the same for a client that shows none.
func (h Server) WithoutCertificate() Server {
	h.bare = true
	return h
}

// DataFormat is that of every server here.
const DataFormat = "1.2"

var errUnreachable = errors.New("connection refused")

// with runs one statement, if the server can be reached.
func (h Server) with(do func(s *state) error) error {
	h.world.mu.Lock()
	defer h.world.mu.Unlock()
	s := h.world.named(h.name)
	if s == nil || !s.alive || s.cut {
		return errUnreachable
	}
	if h.bare && s.asksForCertificates() {
		return engine.ErrDenied
	}
	return do(s)
}

// Close does nothing.
func (h Server) Close() error { return nil }

// Began does not tell: nothing is reported of containers that these servers would run in.
func (h Server) Began(context.Context) (began time.Time, err error) {
	return began, h.with(func(*state) error { return nil })
}

// Initialize makes a datadir.
func (h Server) Initialize(context.Context) error {
	return h.with(func(s *state) error {
		if s.role != engine.RoleUninitialized {
			return engine.ErrInitialized
		}
		s.initializations++
		s.uuid = newUUID(h.world, s)
		s.role = engine.RoleUndecided
		return nil
	})
}

// newUUID is valid in GTID sets and tells servers apart at a glance.
func newUUID(w *World, s *state) string {
	return fmt.Sprintf("00000000-0000-0000-%04d-%012d", s.initializations, slices.Index(w.servers, s)+1)
}

// Fence promises an epoch.
func (h Server) Fence(_ context.Context, epoch int64) error {
	return h.with(func(s *state) error {
		if err := s.promise(epoch, grant{role: engine.RoleFenced}, h.world.SlowDemotions); err != nil {
			return err
		}
		if s.next == 0 {
			h.world.leaveFor(s, engine.RoleFenced)
		}
		return nil
	})
}

// promise makes an epoch durable together with the role it comes with. Slowly: whoever serves has yet to step down.
func (s *state) promise(epoch int64, g grant, slowly bool) error {
	promised := max(s.epoch, s.next)
	switch {
	case s.role == engine.RoleUninitialized:
		return errors.New("not initialized")
	case epoch < promised && !mutated(EpochNotChecked):
		return fmt.Errorf("%w: epoch %d is older than the epoch %d this server has promised", engine.ErrEpoch, epoch, promised)
	case slowly && (s.role == engine.RoleMaster || s.role == engine.RoleReplica) && epoch > s.epoch:
		s.next = epoch
		return nil
	case epoch == s.epoch && s.granted != g && s.granted.role != engine.RoleFenced:
		return fmt.Errorf("%w: epoch %d was given with another role", engine.ErrEpoch, epoch)
	}
	s.epoch, s.next, s.granted = epoch, 0, g
	return nil
}

// leaveRole drops what belongs to a role, and with it the replicas' connections; the log stays as it is.
func (w *World) leaveRole(s *state) {
	w.disconnect(s)
	s.connected, s.heard, s.silence, s.diverged, s.behindLog = false, false, 0, false, false
	s.source, s.quorum, s.version, s.acked, s.openedAt, s.gaveUp, s.handedOver, s.leased, s.alone = engine.Source{}, engine.Quorum{}, 0, nil, 0, false, false, false, 0
}

// leaveFor ends what a server was. One that is fenced remembers when it has heard its source last.
func (w *World) leaveFor(s *state, role engine.Role) {
	heard, silence := s.heard && (s.role == engine.RoleReplica || s.role == engine.RoleFenced), s.silence
	w.leaveRole(s)
	s.role = role
	if role == engine.RoleFenced && heard {
		s.heard, s.silence = heard, silence
	}
}

// Promote makes a master and logs the transaction that opens the epoch. A server that was promoted in this epoch and has
// restarted since goes on with the quorum that it had last, and shows nothing more until all that it has is acknowledged.
func (h Server) Promote(_ context.Context, epoch int64, q engine.Quorum) error {
	return h.with(func(s *state) error { return h.world.promote(s, epoch, q) })
}

// PromoteFenced asks first, over the same connection.
func (h Server) PromoteFenced(_ context.Context, epoch int64, q engine.Quorum) error {
	return h.with(func(s *state) error {
		status := h.world.status(s)
		if err := status.MayBePromoted(epoch); err != nil && !mutated(PromotedUnasked) {
			return err
		}
		return h.world.promote(s, epoch, q)
	})
}

func (w *World) promote(s *state, epoch int64, q engine.Quorum) error {
	q = asSent(q)
	if err := satisfiable(q); err != nil {
		return err
	}
	again := s.epoch == epoch && s.next == 0 && s.granted.role == engine.RoleMaster
	if again && !sameQuorum(s.kept.Quorum, q) {
		return fmt.Errorf("%w: in epoch %d this server waits for %d of %v", engine.ErrEpoch, epoch, s.kept.WaitCount, s.kept.Members)
	}
	if err := s.promise(epoch, grant{role: engine.RoleMaster}, false); err != nil {
		return err
	}
	if again && s.role == engine.RoleMaster {
		s.handedOver = false
		return nil
	}
	if !again {
		s.kept = keptQuorum{Quorum: q}
	}
	w.leaveRole(s)
	s.role = engine.RoleMaster
	s.quorum, s.version = s.kept.Quorum, s.kept.version
	if s.lastLogEpoch() < epoch {
		w.appendOwn(s, 0)
	}
	s.openedAt = len(s.log) - 1
	w.settle(s)
	return nil
}

// asSent is what a server makes of a quorum: members travel as one text with commas in it.
func asSent(q engine.Quorum) engine.Quorum {
	members := slices.DeleteFunc(slices.Clone(q.Members), func(m string) bool { return m == "" })
	return engine.Quorum{WaitCount: q.WaitCount, Members: members, Terms: q.Terms}
}

func sameQuorum(a, b engine.Quorum) bool {
	return a.WaitCount == b.WaitCount && a.Terms == b.Terms && slices.Equal(slices.Sorted(slices.Values(a.Members)), slices.Sorted(slices.Values(b.Members)))
}

func satisfiable(q engine.Quorum) error {
	if int(q.WaitCount) > len(q.Members) {
		return fmt.Errorf("WAIT_COUNT %d can never be reached: MEMBERS names %d servers", q.WaitCount, len(q.Members))
	}
	return nil
}

// Follow makes a replica; it connects in a later step.
func (h Server) Follow(_ context.Context, epoch int64, source engine.Source) error {
	return h.with(func(s *state) error {
		if s.epoch == epoch && s.next == 0 && s.role == engine.RoleReplica && s.source.UUID == source.UUID {
			return nil
		}
		if err := s.promise(epoch, grant{role: engine.RoleReplica, source: source.UUID}, false); err != nil {
			return err
		}
		h.world.leaveRole(s)
		s.role, s.source = engine.RoleReplica, source
		return nil
	})
}

// Clone takes no time: it happens at the moment that the copy is of. What was under way to or from the former server means nothing.
func (h Server) Clone(_ context.Context, uuid string, donor engine.Source) error {
	return h.with(func(s *state) error {
		if s.uuid != uuid && !mutated(ClonedUnasked) {
			return fmt.Errorf("its data are those of server %q, not of %q: they are not replaced", s.uuid, uuid)
		}
		if s.next != 0 || s.role == engine.RoleMaster || s.granted.role == engine.RoleMaster {
			return errors.New("this server is the master of its epoch, or has not stepped down yet")
		}
		if s.role == engine.RoleReplica {
			h.world.leaveRole(s)
			s.role = engine.RoleUndecided
			return nil
		}
		from := h.world.byUUID(donor.UUID)
		if from == nil || from == s || !from.alive || from.unheard || s.unheard {
			return errors.New("the donor cannot be reached")
		}
		h.world.clone(s, from)
		return nil
	})
}

// clone: the copy has what the donor shows, and no other promise than the server itself has made.
func (w *World) clone(s, from *state) {
	w.checkReplaced(s)
	w.disconnect(s)
	*s = state{name: s.name, initializations: s.initializations + 1, copies: s.copies, epoch: s.epoch, granted: s.granted, alive: true, cut: s.cut,
		role: engine.RoleUndecided, log: from.log[:from.visible:from.visible], visible: from.visible, accounts: from.accounts}
	s.uuid = newUUID(w, s)
}

// checkReplaced: a clone, or a deletion, leaves every transaction that was acknowledged on as many servers as its master had to wait for.
func (w *World) checkReplaced(s *state) {
	for _, a := range w.Acknowledged {
		holds := func(o *state) bool { return slices.ContainsFunc(o.log, func(e Entry) bool { return e.Tx == a.Tx }) }
		if a.Tx == 0 || !holds(s) {
			continue
		}
		var left int32
		for _, o := range w.servers {
			if o != s && holds(o) {
				left++
			}
		}
		if left < 1+w.LeastWaitCount {
			w.broken("the data of %s are replaced or deleted: that leaves transaction %d, which was acknowledged, on %d servers", s.name, a.Tx, left)
		}
	}
}

// CloneProgress: nothing is ever under way.
func (h Server) CloneProgress(context.Context) (done, estimate int64, err error) { return 0, 0, nil }

// SetQuorum changes who must acknowledge.
func (h Server) SetQuorum(_ context.Context, epoch, version int64, q engine.Quorum) error {
	return h.with(func(s *state) error {
		q = asSent(q)
		if err := satisfiable(q); err != nil {
			return err
		}
		if s.next != 0 {
			return fmt.Errorf("%w: epoch %d has been promised", engine.ErrEpoch, s.next)
		}
		if s.role == engine.RoleMaster && s.epoch == epoch && version == s.version && sameQuorum(s.quorum, q) {
			return nil
		}
		if s.role != engine.RoleMaster || s.epoch != epoch || version <= s.version {
			return fmt.Errorf("%w: QUORUM EPOCH %d VERSION %d in epoch %d, version %d", engine.ErrEpoch, epoch, version, s.epoch, s.version)
		}
		before := s.leaseLeft()
		s.leased = s.answers()
		s.quorum, s.version, s.gaveUp = q, version, false
		s.alone = max(s.lease()-before, 0) // what holds goes on, for no longer than the new lease says
		s.kept = keptQuorum{q, version}
		h.world.renew(s)
		h.world.settle(s)
		return nil
	})
}

// HandOver succeeds or fails at once: time passes between steps only.
func (h Server) HandOver(_ context.Context, epoch int64) error {
	return h.with(func(s *state) error {
		if s.role != engine.RoleMaster || s.epoch != epoch || s.next != 0 {
			return fmt.Errorf("%w: HANDOVER EPOCH %d to a %s of epoch %d", engine.ErrEpoch, epoch, s.role, max(s.epoch, s.next))
		}
		s.handedOver = s.visible == len(s.log) && s.ackedBy(len(s.log)) >= s.quorum.WaitCount
		if !s.handedOver {
			return errors.New("not everything that is logged was acknowledged: nothing was handed over")
		}
		return nil
	})
}

// EnsureAccounts remembers the accounts' names.
func (h Server) EnsureAccounts(_ context.Context, _ string, accounts []engine.Account) error {
	return h.with(func(s *state) error {
		if h.world.writesBlocked(s) {
			return errors.New("read-only")
		}
		s.accounts = nil
		for _, a := range accounts {
			s.accounts = append(s.accounts, a.User)
		}
		return nil
	})
}

// Status is the status row.
func (h Server) Status(context.Context) (engine.Status, error) {
	var status engine.Status
	err := h.with(func(s *state) error {
		status = h.world.status(s)
		return nil
	})
	return status, err
}

func (w *World) status(s *state) engine.Status {
	st := engine.Status{
		ServerUUID: s.uuid, Version: "8.4.0-fake", DataFormat: DataFormat, Role: s.role, Epoch: s.epoch, LastLogEpoch: s.lastLogEpoch(),
		GTIDExecuted: gtids(s.log[:s.visible]), GTIDLogged: gtids(s.log),
		WritesBlocked: w.writesBlocked(s), AckWaiting: int64(len(s.log) - s.visible), ReceiverState: "off", CanHandOver: true, HandedOver: s.handedOver, SendsClientsAway: true,
		KnowsLease: true, LeaseLost: s.role == engine.RoleMaster && !s.answers(),
	}
	if s.next != 0 {
		// A role is shown when it is true: while a server steps down it is undecided.
		st.Role, st.Epoch, st.WritesBlocked = engine.RoleUndecided, s.next, true
		return st
	}
	switch s.role {
	case engine.RoleMaster:
		st.QuorumVersion, st.WaitCount, st.Members, st.Terms = s.version, s.quorum.WaitCount, slices.Clone(s.quorum.Members), s.quorum.Terms
		st.SemisyncClients = w.attached(s)
		for _, m := range s.quorum.Members {
			if s.acked.of(m) >= s.visible {
				st.AckedMembers = append(st.AckedMembers, m)
			}
		}
		if len(s.log) > s.visible {
			st.AckWaitingSeconds = s.ackWaiting
		}
	case engine.RoleReplica:
		st.SourceUUID, st.SourceHost, st.ReceiverState = s.source.UUID, s.source.Host, "connecting"
		if s.connected {
			st.ReceiverState = engine.ReceiverReceiving
		}
		if s.behindLog {
			st.ReceiverState, st.ReceiverError = engine.ReceiverError, "the source purged required binary logs"
		}
		if seconds := secondsSinceHeartbeat(s); s.heard {
			st.SecondsSinceHeartbeat = &seconds
		}
	}
	if s.role == engine.RoleFenced && s.heard {
		silent := s.silence.Seconds()
		st.SecondsSinceHeartbeat = &silent
	}
	if s.diverged {
		st.ReceiverState = engine.ReceiverDiverged
	}
	return st
}

// secondsSinceHeartbeat: whoever is not connected has not been for long.
func secondsSinceHeartbeat(s *state) float64 {
	if s.connected {
		return 0.1
	}
	return 3600
}

func (w *World) attached(master *state) []string {
	var list []string
	for _, f := range w.servers {
		if f.connected && f.source.UUID == master.uuid && slices.Contains(master.quorum.Members, f.uuid) {
			list = append(list, f.uuid)
		}
	}
	return list
}

func (w *World) writesBlocked(s *state) bool {
	return s.role != engine.RoleMaster || s.handedOver || s.visible <= s.openedAt || (!s.gaveUp && int32(len(w.attached(s))) < s.quorum.WaitCount)
}

// gtids writes a log's contents as a GTID set.
func gtids(log []Entry) string {
	var text []byte
	for i, uuid := range uuidsIn(log) {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(text, uuid...)
		for _, e := range log {
			if e.UUID == uuid {
				text = strconv.AppendInt(append(text, ':'), e.GNO, 10)
			}
		}
	}
	return string(text)
}

func uuidsIn(log []Entry) []string {
	var list []string
	for _, e := range log {
		if !slices.Contains(list, e.UUID) {
			list = append(list, e.UUID)
		}
	}
	slices.Sort(list)
	return list
}
