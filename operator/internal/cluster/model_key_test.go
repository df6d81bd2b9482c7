package cluster

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/engine"
	"commitlab.dev/operator/internal/engine/fake"
)

// A state's key is what it looks like when servers that are alike are put into the order that makes it smallest. Servers are
// alike where no rule asks for ordinals other than to break a tie, and ties are broken in every way (lab.plans): then what can
// follow from a state can follow, with the same names exchanged, from every state with its key.

// canonical writes the key. In models that scale ordinals mean something, and every server is itself.
func (l *lab) canonical() []byte {
	var smallest []byte
	versions := l.versions()
	for _, order := range l.likelyOrders() {
		if key := l.appendKey(nil, order, versions); smallest == nil || bytes.Compare(key, smallest) < 0 {
			smallest = key
		}
	}
	return smallest
}

func (l *lab) orders() []fake.Order {
	all := permutations[len(l.world.Names())]
	if l.ordinalsMatter || all == nil {
		return []fake.Order{unchanged(len(l.world.Names()))}
	}
	return all
}

// likelyOrders are those that put the servers' signatures in order: only servers with the same one are tried both ways round.
func (l *lab) likelyOrders() []fake.Order {
	if l.ordinalsMatter {
		return l.orders()
	}
	n := len(l.world.Names())
	signatures := make([][]byte, n)
	for i, name := range l.world.Names() {
		signatures[i] = l.world.AppendSignature(make([]byte, 0, 64), i)
		if name == l.record.Master {
			signatures[i] = append(signatures[i], 'm')
		}
	}
	var sorted []fake.Order
	for _, order := range l.orders() {
		if slices.IsSortedFunc(order, func(a, b int) int { return bytes.Compare(signatures[a], signatures[b]) }) {
			sorted = append(sorted, order)
		}
	}
	return sorted
}

func unchanged(n int) fake.Order {
	order := make(fake.Order, n)
	for i := range order {
		order[i] = i
	}
	return order
}

// permutations of as many servers as are explored exhaustively.
var permutations = map[int][]fake.Order{
	2: {{0, 1}, {1, 0}},
	3: {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}},
}

// versions are all that anybody may compare with another one.
func (l *lab) versions() fake.Versions {
	named := l.world.NamedVersions(make([]fake.Version, 0, 12))
	add := func(epoch, number int64) { named = append(named, fake.Version{Epoch: epoch, Number: number}) }
	if q := l.record.Quorum; q != nil {
		add(q.Epoch, q.Version)
	}
	if r := l.late.record; r != nil && r.Quorum != nil {
		add(r.Quorum.Epoch, r.Quorum.Version)
	}
	add(l.late.command.Epoch, l.late.command.Version)
	if l.row != nil {
		add(l.row.server.Status.Epoch, l.row.server.Status.QuorumVersion)
	}
	return fake.Rank(named)
}

func (l *lab) appendKey(b []byte, o fake.Order, versions fake.Versions) []byte {
	k := keyWriter{b: l.world.AppendKey(b, o, versions), order: o, now: l.now(), pods: l.pods, versions: versions}
	k.record(&l.record)
	k.policy(&l.policy)
	k.bits(l.initialized, l.request != nil && slices.Contains(l.record.SwitchoversSeen, l.request.ID))
	if l.request != nil {
		k.add('r', k.place(l.request.To))
	}
	k.add(byte(l.written), byte(l.kills), byte(l.hides), byte(l.isolations), byte(l.impatience), byte(l.edits), byte(l.switchovers),
		byte(l.wipes), byte(l.pauses), byte(l.lateRows), byte(l.configurations), byte(l.terms), byte(l.timeouts), byte(l.purges), byte(l.fences), byte(l.promotions), byte(l.hibernations), byte(l.sizes), byte(l.waitedNow()/(100*time.Millisecond)))
	if p := l.promotion; p != nil {
		k.add('P', k.place(p.Server), byte(p.Epoch))
		k.bits(l.record.Promotion != nil && l.record.Promotion.ID == p.ID)
	}
	names := l.world.Names()
	for _, i := range o {
		k.bits(l.outdated[names[i]], l.taken[names[i]], l.keptOut[names[i]], l.ended[names[i]], l.deleted[names[i]], l.sized && l.released[l.claim(names[i])])
	}
	if l.late.isAny() && l.mayStillAct(&l.late) {
		k.action(&l.late)
	}
	if l.row != nil && l.row.version == l.version {
		k.row(l.row)
	}
	return k.b
}

// mayStillAct: what a paused operator would do is not refused for ever. Promises are kept for as long as volumes are.
func (l *lab) mayStillAct(a *action) bool {
	c := a.command
	switch {
	case a.record != nil:
		return a.version == l.version
	case c.Kind == CommandRestart:
		return c.PodUID == podUID(l.pods[c.Server])
	case l.volumesChange || c.Kind == CommandClone || c.Kind == CommandInitialize:
		return true
	}
	return !l.world.HasPromisedMore(c.Server, c.Epoch)
}

type keyWriter struct {
	b        []byte
	order    fake.Order
	now      time.Time
	pods     map[string]int
	versions fake.Versions
}

func (k *keyWriter) add(b ...byte) { k.b = append(k.b, b...) }

func (k *keyWriter) bits(set ...bool) {
	for _, s := range set {
		if s {
			k.add(1)
		} else {
			k.add(0)
		}
	}
}

// place of a pod by its name; names end in their ordinal.
func (k *keyWriter) place(name string) byte {
	if name == "" {
		return 0
	}
	return byte(1 + slices.Index(k.order, int(name[len(name)-1]-'0')))
}

func (k *keyWriter) record(r *v1alpha1.Record) {
	k.add(byte(r.Epoch), k.place(r.Master))
	k.election(r.Election)
	var quorums [][]byte
	for i := range r.PriorQuorums {
		prior := r.PriorQuorums[i]
		prior.Version = 0 // nobody asks which of them came first
		quorums = append(quorums, k.quorum(&prior))
	}
	slices.SortFunc(quorums, bytes.Compare)
	k.add(byte(len(quorums)))
	for _, q := range quorums {
		k.add(q...)
	}
	if r.Quorum != nil {
		k.add(k.quorum(r.Quorum)...)
	}
	var members [][]byte
	for _, m := range r.Members {
		members = append(members, []byte{k.place(m.Name), k.order.Position(m.ServerUUID), m.PVCUID[len(m.PVCUID)-1]})
	}
	slices.SortFunc(members, bytes.Compare)
	k.add(byte(len(members)))
	for _, m := range members {
		k.add(m...)
	}
	k.switchover(r.Switchover)
	k.restart(r.Restart)
	k.clones(r.Clones)
	k.promotion(r)
	for _, released := range r.Released {
		k.add('R', k.place(released.Name), released.PVCUID[len(released.PVCUID)-1])
	}
	k.unknownFields(r, "Released", "Promotion", "LossAcceptedEpoch", "Epoch", "Master", "Election", "PriorQuorums", "Quorum", "Members", "Switchover", "SwitchoversSeen", "Restart", "Clones")
}

func (k *keyWriter) promotion(r *v1alpha1.Record) {
	k.add(byte(r.LossAcceptedEpoch))
	if p := r.Promotion; p != nil && !p.Ended() {
		k.add('p', k.place(p.Server))
	}
}

func (k *keyWriter) clones(list []v1alpha1.CloneStatus) {
	var clones [][]byte
	for _, c := range list {
		clones = append(clones, []byte{k.place(c.Name), k.order.Position(c.FormerUUID), c.PVCUID[len(c.PVCUID)-1], c.Reason[0]})
	}
	slices.SortFunc(clones, bytes.Compare)
	k.add('c', byte(len(clones)))
	for _, c := range clones {
		k.add(c...)
	}
}

func (k *keyWriter) election(e *v1alpha1.ElectionStatus) {
	if e == nil {
		k.add(0)
		return
	}
	k.add('e', byte(len(e.Reason)), e.Reason[0], k.place(e.Candidate))
	k.bits(e.Reason == ReasonMasterCutOff && k.now.Sub(e.StartedAt.Time) < withoutTheMaster, e.AcceptDataLoss)
}

func (k *keyWriter) quorum(q *v1alpha1.QuorumStatus) []byte {
	kind := byte('q')
	if q.LeaseShortened {
		kind = 'Q'
	}
	return k.order.Set([]byte{kind, byte(q.Epoch), k.versions.Of(q.Epoch, q.Version), k.order.Position(q.MasterUUID), byte(q.WaitCount), termsByte(termsOf(q))}, q.Members)
}

// termsByte tells terms apart; the length of a timeout means nothing to a model without clocks, and leases are some seconds.
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

// switchover: one that has ended counts only while one of the operator's own is not tried again, and who has not asked for it withdraws
// it by no name.
func (k *keyWriter) switchover(s *v1alpha1.SwitchoverStatus) {
	requested := s != nil && s.Reason == v1alpha1.SwitchoverRequested
	if s == nil || s.Ended() && (requested || s.Phase != v1alpha1.SwitchoverFailed || k.now.Sub(s.CompletedAt.Time) >= ownSwitchoverRetry) {
		k.add(0)
		return
	}
	k.add('s', s.Phase[0], s.Phase[1], s.Reason[0], byte(len(s.Reason)))
	if s.Ended() {
		return
	}
	k.add(k.place(s.From), k.place(s.To))
	if requested {
		k.add(byte(len(s.ID)), s.ID[len(s.ID)-1])
	}
	k.bits(k.now.After(s.Deadline.Time), s.HandoverAt != nil && k.now.Sub(s.HandoverAt.Time) > handoverPatience)
}

func (k *keyWriter) restart(r *v1alpha1.RestartStatus) {
	if r == nil {
		k.add(0)
		return
	}
	k.add('p', k.place(r.Name), k.podsSince(r.Name, r.PodUID))
}

// podsSince counts the pods that a server has had since the one of that UID: nobody asks for more than whether two are the same.
func (k *keyWriter) podsSince(server, uid string) byte {
	number, err := strconv.Atoi(strings.TrimPrefix(uid, podPrefix))
	if err != nil {
		return 255
	}
	return byte(k.pods[server] - number)
}

func (k *keyWriter) policy(p *Policy) {
	k.add(byte(p.Replicas), byte(len(p.Durability)), byte(p.MinSyncReplicas), termsByte(p.terms(&engine.Status{KnowsLease: true})))
	if p.WaitCount != nil {
		k.add('w', byte(*p.WaitCount))
	}
	k.bits(p.FailoverDisabled, p.Adopt, p.Hibernated, p.Divergence == v1alpha1.DivergenceReclone)
}

func (k *keyWriter) action(a *action) {
	k.add('a')
	if a.record != nil {
		k.record(a.record)
		return
	}
	c := a.command
	k.add(c.Kind[0], c.Kind[1], k.place(c.Server), byte(c.Epoch), k.versions.Of(c.Epoch, c.Version), byte(c.Quorum.WaitCount), termsByte(c.Quorum.Terms), k.order.Position(c.Source.UUID), k.podsSince(c.Server, c.PodUID))
	k.b = k.order.Set(k.b, c.Quorum.Members)
}

func (k *keyWriter) row(r *lateRow) {
	st := &r.server.Status
	k.add('l', k.place(r.server.Name), k.podsSince(r.server.Name, r.server.PodUID))
	k.bits(r.server.Outdated != "", r.server.Reachable, r.server.Ended, st.HandedOver, st.LeaseLost, st.WritesBlocked, st.AckWaitingSeconds > 0, st.SecondsSinceHeartbeat == nil, st.SecondsSinceHeartbeat != nil && *st.SecondsSinceHeartbeat > 1)
	if !r.server.Reachable {
		return
	}
	if last := st.SecondsSinceHeartbeat; last != nil && st.Role == engine.RoleFenced {
		k.add(byte(*last * 10))
	}
	k.add(st.Role[2], byte(st.Epoch), k.versions.Of(st.Epoch, st.QuorumVersion), byte(st.LastLogEpoch), byte(st.WaitCount), termsByte(st.Terms), st.ReceiverState[0],
		k.order.Position(st.ServerUUID), k.order.Position(st.SourceUUID), r.server.PVCUID[len(r.server.PVCUID)-1])
	for _, set := range [][]string{st.Members, st.SemisyncClients, st.AckedMembers} {
		k.b = k.order.Set(k.b, set)
	}
	k.gtids(st.GTIDExecuted)
	k.gtids(st.GTIDLogged)
}

func (k *keyWriter) gtids(set string) {
	var parts [][]byte
	for _, part := range strings.Split(set, ",") {
		uuid, numbers, _ := strings.Cut(part, ":")
		parts = append(parts, append([]byte{k.order.Position(uuid)}, numbers...))
	}
	slices.SortFunc(parts, bytes.Compare)
	k.add(bytes.Join(parts, []byte(","))...)
	k.add(0)
}

// unknownFields keeps states apart by fields that this file does not know yet: that costs states and hides none.
func (k *keyWriter) unknownFields(of any, known ...string) {
	v := reflect.ValueOf(of).Elem()
	for i := range v.NumField() {
		if f := v.Field(i); !slices.Contains(known, v.Type().Field(i).Name) && !f.IsZero() {
			text, _ := json.Marshal(f.Interface())
			k.add(text...)
		}
	}
}
