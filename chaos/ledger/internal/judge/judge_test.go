package judge

import (
	"fmt"
	"log/slog"
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
	mark := timeline.Mark{At: s.now(), Name: "kill", ExpectOutage: expectOutage, Targets: []string{"m"}, Proof: timeline.ProofProcess}
	s.check(s.j.AppendSync(journal.Fault{Mark: mark}))
}

func (s *story) mark(m timeline.Mark) {
	m.At, m.Name = s.now(), "kill"
	s.check(s.j.AppendSync(journal.Fault{Mark: m}))
}

func (s *story) proof() { s.proofOf("m") }

func (s *story) proofOf(object string) {
	s.check(s.j.AppendSync(journal.Evidence{Fault: "kill", Evidence: timeline.Evidence{
		Kind: "pod-uid", Object: object, Before: "1", After: "deleted", At: s.now(),
	}}))
}

func (s *story) seen(process string) {
	at := s.now()
	s.check(s.j.AppendSync(journal.Seen{Observation: timeline.Observation{
		Server: "m", Since: at.Add(-time.Second / 2), At: at, Process: process,
	}}))
}

func (s *story) judge(master *Image, servers ...Found) (v Verdict) {
	found := Findings{Master: Found{Image: master}, Servers: servers}
	s.j.View(func(state *journal.State) { v = Judge(state, found) })
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
	image.Digest = fmt.Sprint(ids)
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
	s.unknown(2)
	s.unknown(3)
	s.acknowledged(1)
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
	before.proof()
	before.acknowledged(2)
	expect(t, before.judge(showing(2)), Inconclusive, "before the fault")

	after := newStory(t)
	after.acknowledged(1)
	after.fault(true)
	after.proof()
	after.unknown(2)
	expect(t, after.judge(showing(1)), Inconclusive, "sent after the fault")

	unnoticed := newStory(t)
	unnoticed.acknowledged(1)
	unnoticed.fault(true)
	unnoticed.proof()
	unnoticed.acknowledged(2)
	expect(t, unnoticed.judge(showing(1, 2)), Inconclusive, "no writer noticed")

	silent := newStory(t)
	silent.acknowledged(1)
	silent.fault(false)
	silent.proof()
	silent.acknowledged(2)
	expect(t, silent.judge(showing(1, 2)), Passed, "")
}

func TestEveryServerThatWasGivenCounts(t *testing.T) {
	s := newStory(t)
	s.acknowledged(1)
	a, b := Found{Name: "a", ID: "a", Image: showing(1)}, Found{Name: "b", ID: "b", Image: showing(1)}
	expect(t, s.judge(showing(1), a, b), Passed, "")
	expect(t, s.judge(showing(1), a, Found{Name: "b", ID: "b", Image: showing()}), Failed, "server b differs")
	expect(t, s.judge(showing(1), a, Found{Name: "b", Error: "no such host"}), Inconclusive, "server b could not be read: no such host")
	expect(t, s.judge(showing(1), a, Found{Name: "b", ID: "a", Image: showing(1)}), Inconclusive, "a and b are one server")
	expect(t, s.judge(showing(1), b), Inconclusive, "server a acknowledged commits and was not read")
	b.GTIDs = "it lacks some"
	expect(t, s.judge(showing(1), a, b), Failed, "server b: it lacks some")
}

func TestALostIDIsNamedWithWhoAcknowledgedItAndWhoStillHasIt(t *testing.T) {
	s := newStory(t)
	s.acknowledged(1, 2)
	v := s.judge(showing(1), Found{Name: "a", ID: "a", Image: showing(1)}, Found{Name: "b", ID: "b", Image: showing(1, 2)})
	expect(t, v, Failed, "1 acknowledged commits are lost")
	if len(v.LostCommits) != 1 {
		t.Fatalf("%+v", v.LostCommits)
	}
	text := v.LostCommits[0].String()
	for _, part := range []string{"id 2", "by a in epoch 0", "1970-01-01T00:00:04", "still on b"} {
		if !strings.Contains(text, part) {
			t.Errorf("%q does not say %q", text, part)
		}
	}
}

func TestAWrongBalanceIsNotReadAgain(t *testing.T) {
	s := newStory(t)
	s.acknowledged(1)
	wrong, looks := showing(1), 0
	wrong.Balances[0]++
	for name, image := range map[string][2]*Image{"master": {wrong, showing(1)}, "replica": {showing(1), wrong}} {
		looks = 0
		v := settle(t.Context(), func() Verdict {
			if looks++; looks > 1 { // what a second look would find
				return s.judge(showing(1), Found{Name: "a", ID: "a", Image: showing(1)})
			}
			return s.judge(image[0], Found{Name: "a", ID: "a", Image: image[1]})
		}, slog.New(slog.DiscardHandler))
		if v.Result != Failed || looks != 1 {
			t.Errorf("%s: %s after %d looks", name, v.Result, looks)
		}
	}
}

func TestWhatIsUnsupportedIsNotReadAgain(t *testing.T) {
	s := newStory(t)
	s.acknowledged(1)
	s.check(s.j.AppendSync(journal.Fault{Mark: timeline.Mark{At: s.now(), Name: "delay", Unsupported: "no sch_netem"}}))
	s.acknowledged(2)
	looks := 0
	v := settle(t.Context(), func() Verdict {
		looks++
		verdict := s.judge(showing(1, 2), Found{Name: "a", ID: "a", Image: showing(1, 2)})
		verdict.settled = looks > 3
		return verdict
	}, slog.New(slog.DiscardHandler))
	if v.Result != Unsupported || looks != 1 {
		t.Fatalf("%s after %d looks", v.Result, looks)
	}
}

func TestAReplicaMayCatchUp(t *testing.T) {
	s := newStory(t)
	s.acknowledged(1)
	looks := 0
	v := settle(t.Context(), func() Verdict {
		if looks++; looks > 1 {
			return s.judge(showing(1), Found{Name: "a", ID: "a", Image: showing(1)})
		}
		return s.judge(showing(1), Found{Name: "a", ID: "a", Image: showing()})
	}, slog.New(slog.DiscardHandler))
	expect(t, v, Passed, "")
	if looks != 2 {
		t.Fatalf("%d looks", looks)
	}
}
