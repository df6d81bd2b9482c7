package judge

import (
	"fmt"
	"slices"

	"commitlab.dev/ledger/internal/entry"
	"commitlab.dev/ledger/internal/journal"
	"commitlab.dev/ledger/internal/timeline"
)

// maxExamples bounds how many ids are named per kind of trouble.
const maxExamples = 10

// Judge decides. It is given the journal's state and the master's image, and what was found on each replica.
func Judge(state *journal.State, master *Image, replicas []Replica) Verdict {
	v := Verdict{
		Run:           state.Run.Name,
		Acknowledged:  state.Count(journal.Acknowledged),
		Indeterminate: state.Count(journal.Indeterminate),
		Refused:       state.Count(journal.RefusedOutcome),
		Examples:      map[string][]uint64{},
		Replicas:      replicas,
		Faults:        state.Timeline.Faults(),
		Pauses:        state.Timeline.Pauses(),
		Masters:       state.Timeline.Tenures(),
		StartedAt:     state.Started(),
		LastOK:        state.Timeline.LastOK(),

		StaleAcknowledgements: state.Timeline.StaleAcknowledgements(),
	}
	v.compareIDs(state, master)
	v.Bank = checkBank(state.Run, master)
	v.decide()
	return v
}

func (v *Verdict) compareIDs(state *journal.State, master *Image) {
	for id := uint64(1); id < state.NextID(); id++ {
		outcome, _ := state.Outcome(id)
		switch count := master.seen[id]; {
		case count == 0 && outcome == journal.Acknowledged:
			v.note("lost", &v.Lost, id)
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

// checkBank compares every account with its initial balance and the transfers that are there: the sum stays the same,
// and a transaction of which only a part is there is found even where the sum is right by chance.
func checkBank(run entry.Run, master *Image) Bank {
	bank := Bank{Accounts: run.Accounts, Expected: int64(run.Accounts) * entry.InitialBalance}
	for account := range run.Accounts {
		balance, exists := master.Balances[account]
		bank.Actual += balance
		if !exists || balance != entry.InitialBalance+master.moved[account] {
			bank.WrongAccounts++
		}
	}
	bank.WrongAccounts += max(0, len(master.Balances)-run.Accounts)
	return bank
}

// decide turns counts into the word and its reasons. What is wrong counts for more than what is not proven.
func (v *Verdict) decide() {
	var failures, doubts []string
	fail := func(wrong bool, format string, args ...any) {
		if wrong {
			failures = append(failures, fmt.Sprintf(format, args...))
		}
	}
	fail(v.Lost > 0, "%d acknowledged commits are lost", v.Lost)
	fail(v.Duplicated > 0, "%d ids are there more than once", v.Duplicated)
	fail(v.Resurrected > 0, "%d commits are there although the server refused them", v.Resurrected)
	fail(v.Unattempted > 0, "%d rows are there that nobody wrote", v.Unattempted)
	fail(v.Corrupt > 0, "%d rows are not what was written", v.Corrupt)
	fail(v.Bank.WrongAccounts > 0, "%d accounts do not hold what the transfers left them", v.Bank.WrongAccounts)
	fail(v.StaleAcknowledgements > 0, "%d commits were acknowledged by an older epoch after a newer one had begun", v.StaleAcknowledgements)
	for _, r := range v.Replicas {
		if r.Error != "" {
			doubts = append(doubts, fmt.Sprintf("replica %s could not be compared: %s", r.Address, r.Error))
			continue
		}
		fail(!r.Equal, "replica %s differs from the master (%d rows)", r.Address, r.Rows)
	}
	if v.Acknowledged == 0 {
		doubts = append(doubts, "nothing was acknowledged")
	}
	for _, f := range v.Faults {
		doubts = append(doubts, faultDoubts(f)...)
	}
	v.Result, v.Reasons = Passed, []string{}
	switch {
	case len(failures) > 0:
		v.Result, v.Reasons = Failed, append(failures, doubts...)
	case len(doubts) > 0:
		v.Result, v.Reasons = Inconclusive, doubts
	}
}

// faultDoubts says what is missing as proof that the run has lived through the fault.
func faultDoubts(f timeline.Fault) []string {
	var doubts []string
	if !f.AckedBefore {
		doubts = append(doubts, fmt.Sprintf("nothing was acknowledged before the fault %q", f.Name))
	}
	if !f.AckedAfter {
		doubts = append(doubts, fmt.Sprintf("nothing was acknowledged after the fault %q", f.Name))
	}
	if f.ExpectOutage && f.AckedAfter && f.RecoveredBy == timeline.Unnoticed {
		doubts = append(doubts, fmt.Sprintf("no writer noticed the fault %q: it may not have been injected", f.Name))
	}
	return doubts
}
