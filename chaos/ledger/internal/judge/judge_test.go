package judge

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"commitlab.dev/ledger/internal/entry"
	"commitlab.dev/ledger/internal/journal"
	"commitlab.dev/ledger/internal/timeline"
)

var run = entry.Run{Name: "judge", Accounts: 4}

// A story is a journal under construction: ids 1 to 100 are reserved.
type story struct {
	t *testing.T
	j *journal.Journal
	n int
}

func newStory(t *testing.T) *story {
	j, err := journal.Open(filepath.Join(t.TempDir(), "j"), run)
	if err != nil {
		t.Fatal(err)
	}
	s := &story{t: t, j: j}
	t.Cleanup(func() { j.Close() })
	s.check(j.AppendSync(journal.Reserved{First: 1, Last: 100}))
	s.check(j.AppendSync(journal.Server{Number: 0, Server: timeline.Server{ID: "a"}}))
	return s
}

func (s *story) check(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *story) now() time.Time { s.n++; return time.Unix(int64(s.n), 0) }

func (s *story) acknowledged(ids ...uint64) {
	for _, id := range ids {
		s.check(s.j.AppendSync(journal.OK{ID: id, Sent: s.now(), At: s.now()}))
	}
}

func (s *story) refused(id uint64) {
	s.check(s.j.AppendSync(journal.Refused{ID: id, At: s.now(), Errno: 1290}))
}

func (s *story) unknown(id uint64) { s.check(s.j.AppendSync(journal.Unknown{ID: id, At: s.now()})) }

func (s *story) fault(expectOutage bool) {
	s.check(s.j.AppendSync(journal.Fault{At: s.now(), Name: "kill", ExpectOutage: expectOutage}))
}

func (s *story) judge(master *Image, replicas ...Replica) (v Verdict) {
	s.j.View(func(state *journal.State) { v = Judge(state, master, replicas) })
	return v
}

// showing is a server that has committed exactly these ids.
func showing(ids ...uint64) *Image {
	image := newImage()
	for _, id := range ids {
		image.add(run, run.Entry(id))
	}
	for account := range run.Accounts {
		image.Balances[account] = entry.InitialBalance + image.moved[account]
	}
	return image
}

func expect(t *testing.T, v Verdict, result Result, reason string) {
	t.Helper()
	if v.Result != result || !strings.Contains(strings.Join(v.Reasons, "; "), reason) {
		t.Fatalf("%s because %q, want %s because of %q", v.Result, v.Reasons, result, reason)
	}
}

func TestEverythingThereIsPassed(t *testing.T) {
	s := newStory(t)
	s.acknowledged(1, 2, 3)
	v := s.judge(showing(1, 2, 3))
	expect(t, v, Passed, "")
	if v.Acknowledged != 3 || v.Lost != 0 {
		t.Fatalf("%+v", v)
	}
}

func TestALostIDIsNamed(t *testing.T) {
	s := newStory(t)
	s.acknowledged(1, 2, 3)
	v := s.judge(showing(1, 3))
	expect(t, v, Failed, "1 acknowledged commits are lost")
	if v.Lost != 1 || v.Examples["lost"][0] != 2 {
		t.Fatalf("%+v", v)
	}
}

func TestIndeterminateIDsMayBeEither(t *testing.T) {
	s := newStory(t)
	s.acknowledged(1)
	s.unknown(2)
	s.unknown(3)
	expect(t, s.judge(showing(1, 2)), Passed, "")
}

func TestWhatWasRefusedMustNotBeThere(t *testing.T) {
	s := newStory(t)
	s.acknowledged(1)
	s.refused(2)
	expect(t, s.judge(showing(1, 2)), Failed, "although the server refused them")
}

func TestWhatNobodyWroteMustNotBeThere(t *testing.T) {
	s := newStory(t)
	s.acknowledged(1)
	expect(t, s.judge(showing(1, 101)), Failed, "that nobody wrote")
}

func TestDuplicatedAndCorruptRowsAreFound(t *testing.T) {
	s := newStory(t)
	s.acknowledged(1, 2)
	twice := showing(1, 2)
	twice.add(run, run.Entry(2))
	expect(t, s.judge(twice), Failed, "more than once")

	changed := showing(1, 2)
	row := run.Entry(3)
	row.Payload = "x"
	changed.add(run, row)
	expect(t, s.judge(changed), Failed, "not what was written")
}

func TestATransferOfWhichHalfIsMissingIsFound(t *testing.T) {
	transfer := uint64(1)
	for !run.Entry(transfer).Transfer() {
		transfer++
	}
	s := newStory(t)
	s.acknowledged(transfer)
	half := showing(transfer)
	half.Balances[run.Entry(transfer).Debit] = entry.InitialBalance
	v := s.judge(half)
	expect(t, v, Failed, "accounts do not hold")
	if v.Bank.Actual == v.Bank.Expected {
		t.Fatal("the total did not change")
	}
}

func TestNoProofIsInconclusive(t *testing.T) {
	expect(t, newStory(t).judge(showing()), Inconclusive, "nothing was acknowledged")

	before := newStory(t)
	before.fault(true)
	before.unknown(1)
	before.acknowledged(2)
	expect(t, before.judge(showing(2)), Inconclusive, "before the fault")

	after := newStory(t)
	after.acknowledged(1)
	after.fault(true)
	after.unknown(2)
	expect(t, after.judge(showing(1)), Inconclusive, "after the fault")

	unnoticed := newStory(t)
	unnoticed.acknowledged(1)
	unnoticed.fault(true)
	unnoticed.acknowledged(2)
	expect(t, unnoticed.judge(showing(1, 2)), Inconclusive, "may not have been injected")

	silent := newStory(t)
	silent.acknowledged(1)
	silent.fault(false)
	silent.acknowledged(2)
	expect(t, silent.judge(showing(1, 2)), Passed, "")
}

func TestReplicasCount(t *testing.T) {
	s := newStory(t)
	s.acknowledged(1)
	expect(t, s.judge(showing(1), Replica{Address: "r", Equal: true}), Passed, "")
	expect(t, s.judge(showing(1), Replica{Address: "r"}), Failed, "replica r differs")
	expect(t, s.judge(showing(1), Replica{Address: "r", Error: "refused"}), Inconclusive, "could not be compared")
}
