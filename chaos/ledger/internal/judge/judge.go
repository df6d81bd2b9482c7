package judge

import (
	"iter"
	"maps"
	"slices"
	"time"

	"commitlab.dev/ledger/internal/entry"
	"commitlab.dev/ledger/internal/journal"
	"commitlab.dev/ledger/internal/timeline"
)

// maxExamples bounds how many ids are named per kind of trouble.
const maxExamples = 10

// Judge decides. It is a function of the recorded history and of what the servers showed in the end: it reads no clock and asks nobody.
func Judge(state *journal.State, found Findings) Verdict {
	v := Verdict{
		Run:           state.Run.Name,
		Acknowledged:  state.Count(journal.Acknowledged),
		Indeterminate: state.Count(journal.Indeterminate),
		Refused:       state.Count(journal.RefusedOutcome),
		Examples:      map[string][]uint64{},
		Servers:       []Server{},
		Faults:        state.Timeline.Faults(),
		Pauses:        state.Timeline.Pauses(),
		Masters:       state.Timeline.Tenures(),
		Reads:         state.Reads,
		OwnReads:      state.OwnReads,
		Registers:     found.Registers,
		Rate:          state.Rate(),
		StartedAt:     state.Started(),
		LastOK:        state.Timeline.LastOK(),

		StaleAcknowledgements: state.Timeline.StaleAcknowledgements(),
	}
	var say opinion
	v.judgeMaster(state, found, &say)
	v.compareServers(state, found, &say)
	v.judgeHistory(state, &say)
	for _, f := range v.Faults {
		judgeFault(f, &say)
		judgeRecovery(f, state.Timeline.Stalled(), &say)
	}
	v.Result, v.Reasons = say.conclude()
	v.settled = say.settled
	return v
}

func (v *Verdict) judgeMaster(state *journal.State, found Findings, say *opinion) {
	master := found.Master.Image
	if master == nil {
		say.doubt(true, "the master could not be read: %s", found.Master.Error)
		return
	}
	v.compareIDs(state, found)
	v.Bank = checkBank(state.Run, master)
	say.failAtOnce(v.Lost > 0, "%d acknowledged commits are lost", v.Lost)
	say.failAtOnce(v.Duplicated > 0, "%d ids are there more than once", v.Duplicated)
	say.failAtOnce(v.Resurrected > 0, "%d commits are there although the server refused them", v.Resurrected)
	say.failAtOnce(v.Unattempted > 0, "%d rows are there that nobody wrote", v.Unattempted)
	say.failAtOnce(v.Corrupt > 0, "%d rows are not what was written", v.Corrupt)
	say.failAtOnce(v.Bank.WrongAccounts > 0, "%d accounts do not hold what the transfers left them", v.Bank.WrongAccounts)
}

func (v *Verdict) compareIDs(state *journal.State, found Findings) {
	master := found.Master.Image
	for id := uint64(1); id < state.NextID(); id++ {
		outcome, _ := state.Outcome(id)
		switch count := master.seen[id]; {
		case count == 0 && outcome == journal.Acknowledged:
			v.note("lost", &v.Lost, id)
			v.describeLost(state, found, id)
		case count > 0 && outcome == journal.RefusedOutcome:
			v.note("resurrected", &v.Resurrected, id)
		}
	}
	for id, count := range master.seen {
		if count > 1 {
			v.note("duplicated", &v.Duplicated, id)
		}
		if _, reserved := state.Outcome(id); !reserved {
			v.note("unattempted", &v.Unattempted, id)
		}
	}
	for _, id := range master.corrupt {
		v.note("corrupt", &v.Corrupt, id)
	}
}

func (v *Verdict) note(kind string, counter *int, id uint64) {
	*counter++
	if len(v.Examples[kind]) < maxExamples {
		v.Examples[kind] = append(v.Examples[kind], id)
		slices.Sort(v.Examples[kind])
	}
}

func (v *Verdict) describeLost(state *journal.State, found Findings, id uint64) {
	if len(v.LostCommits) == maxExamples {
		return
	}
	at, by, _ := state.Acknowledgement(id)
	v.LostCommits = append(v.LostCommits, LostCommit{ID: id, AcknowledgedAt: at, AcknowledgedBy: by, StillOn: found.stillOn(id)})
}

// checkBank compares every account with its initial balance and the transfers that are there: the sum stays the same,
// and a transaction of which only a part is there is found even where the sum is right by chance.
func checkBank(run entry.Run, image *Image) Bank {
	bank := Bank{Accounts: run.Accounts, Expected: run.Total()}
	for account := range run.Accounts {
		balance, exists := image.Balances[account]
		bank.Actual += balance
		if !exists || balance != entry.InitialBalance+image.moved[account] {
			bank.WrongAccounts++
		}
	}
	bank.WrongAccounts += max(0, len(image.Balances)-run.Accounts)
	return bank
}

// judgeHistory needs no server: what was wrong or missing while the load went on.
func (v *Verdict) judgeHistory(state *journal.State, say *opinion) {
	for _, pair := range state.Timeline.TwoMasters() {
		say.failAtOnce(true, "two masters: %s", pair)
	}
	for server, reads := range wrongReads(state.Reads) {
		say.failAtOnce(true, "%d reads of %s showed a bank that never was, the first at %s", reads.Wrong, server, reads.First[0])
	}
	for server, reads := range wrongReads(state.OwnReads) {
		say.failAtOnce(true, "%d reads of %s did not see an acknowledged commit though they had waited for its GTIDs, the first at %s",
			reads.Wrong, server, reads.First[0])
	}
	say.failAtOnce(len(v.Registers.Wrong) > 0, "rows %v are not linearizable: a read was not of the value written last", v.Registers.Wrong)
	say.doubt(len(v.Registers.Unchecked) > 0, "rows %v have too many unanswered writes to be checked", v.Registers.Unchecked)
	say.doubt(v.Acknowledged == 0, "nothing was acknowledged")
	if stalled := state.Timeline.Stalled(); stalled > 0 {
		say.doubt(true, "writes had not come back when the load ended: %.1f s of errors alone", stalled.Seconds())
	}
}

// wrongReads goes through the servers that had some, in the order of their names.
func wrongReads(all map[string]*journal.Reads) iter.Seq2[string, *journal.Reads] {
	return func(yield func(string, *journal.Reads) bool) {
		for _, server := range slices.Sorted(maps.Keys(all)) {
			if all[server].Wrong > 0 && !yield(server, all[server]) {
				return
			}
		}
	}
}

// judgeFault says what is missing as proof that the run has lived through the fault.
func judgeFault(f timeline.Fault, say *opinion) {
	if f.Unsupported != "" {
		say.unsupported = append(say.unsupported, "the fault \""+f.Name+"\" cannot be injected here: "+f.Unsupported)
		return
	}
	say.doubt(!f.Injected(), "nothing proves that the fault %q was injected", f.Name)
	say.doubt(!f.AckedBefore, "nothing was acknowledged before the fault %q", f.Name)
	say.doubt(!f.AckedAfter, "no commit that was sent after the fault %q was acknowledged", f.Name)
	say.doubt(f.ExpectOutage && f.AckedAfter && f.RecoveredBy == timeline.Unnoticed, "no writer noticed the fault %q", f.Name)
}

// judgeRecovery holds a fault to the RTO that was promised for it. Writes that never came back are late as soon as the limit is over.
func judgeRecovery(f timeline.Fault, stalled time.Duration, say *opinion) {
	if f.LimitSeconds == 0 || !f.Injected() {
		return
	}
	rto := f.RTOSeconds
	if !f.AckedAfter {
		rto = stalled.Seconds()
	}
	say.failAtOnce(rto > f.LimitSeconds, "writes stopped for %.1f s at the fault %q, the limit is %.1f s", rto, f.Name, f.LimitSeconds)
	say.doubt(f.LedgerAway, "the ledger itself was away when writes came back after the fault %q: its RTO is not known", f.Name)
}
