package judge

import (
	"slices"
	"testing"
	"time"

	"commitlab.dev/ledger/internal/journal"
	"commitlab.dev/ledger/internal/register"
	"commitlab.dev/ledger/internal/timeline"
)

func TestAnAcknowledgementBeforeTheInjectionIsNoneAfterIt(t *testing.T) {
	s := newStory(t)
	s.acknowledged(1)
	s.fault(false)
	s.acknowledged(2)
	expect(t, s.judge(showing(1, 2)), Inconclusive, "nothing proves")
}

func TestAnErrorIsNoProofOfInjection(t *testing.T) {
	s := newStory(t)
	s.acknowledged(1)
	s.fault(true)
	s.unknown(2)
	s.acknowledged(3)
	expect(t, s.judge(showing(1, 3)), Inconclusive, "nothing proves")
}

func TestWritesThatNeverComeBackAreNoPass(t *testing.T) {
	s := newStory(t)
	s.acknowledged(1)
	s.fault(false)
	s.acknowledged(2)
	s.proof()
	s.acknowledged(3)
	s.unknown(4)
	expect(t, s.judge(showing(1, 2, 3)), Inconclusive, "had not come back")
}

func TestTheProofIsAnotherProcessOfTheTarget(t *testing.T) {
	for name, c := range map[string]struct {
		processes []string
		result    Result
	}{
		"killed and back":      {[]string{"", "two"}, Passed},
		"another one at once":  {[]string{"two"}, Passed},
		"away for a moment":    {[]string{"", "one"}, Inconclusive},
		"nothing happened":     {nil, Inconclusive},
		"never seen to return": {[]string{""}, Inconclusive},
	} {
		s := newStory(t)
		s.seen("one")
		s.acknowledged(1)
		s.fault(true)
		s.acknowledged(2)
		s.unknown(3)
		for _, process := range c.processes {
			s.seen(process)
		}
		s.unknown(4)
		s.acknowledged(5)
		if v := s.judge(showing(1, 2, 5)); v.Result != c.result {
			t.Errorf("%s: %s because %q", name, v.Result, v.Reasons)
		}
	}
}

func TestAServerThatWasDownBeforeTheMarkProvesNothing(t *testing.T) {
	s := newStory(t)
	s.seen("one")
	s.acknowledged(1)
	s.seen("")
	s.fault(false)
	s.seen("two")
	s.acknowledged(2)
	expect(t, s.judge(showing(1, 2)), Inconclusive, "nothing proves")
}

func TestTheProofOfAPartitionIsALostLink(t *testing.T) {
	s := newStory(t)
	link := func(linked bool) {
		at := s.now()
		s.check(s.j.AppendSync(journal.Seen{Observation: timeline.Observation{
			Server: "m", Since: at.Add(-time.Second / 2), At: at, Process: "one", Role: "master", Linked: linked,
		}}))
	}
	link(true)
	s.acknowledged(1)
	s.check(s.j.AppendSync(journal.Fault{Mark: timeline.Mark{At: s.now(), Name: "cut", Targets: []string{"m"}, Proof: timeline.ProofLink}}))
	s.acknowledged(2)
	expect(t, s.judge(showing(1, 2)), Inconclusive, "nothing proves")
	link(false)
	s.acknowledged(3)
	expect(t, s.judge(showing(1, 2, 3)), Passed, "")
}

func TestAFaultThatCannotBeInjectedIsUnsupported(t *testing.T) {
	s := newStory(t)
	s.acknowledged(1)
	s.check(s.j.AppendSync(journal.Fault{Mark: timeline.Mark{At: s.now(), Name: "slow disk", Unsupported: "the kernel has no FUSE"}}))
	s.acknowledged(2)
	expect(t, s.judge(showing(1, 2)), Unsupported, "no FUSE")
	expect(t, s.judge(showing(2)), Failed, "lost")
}

// Whoever injects may find out only then that it cannot be done.
func TestAMarkedFaultThatTurnsOutToBeImpossibleIsUnsupported(t *testing.T) {
	s := newStory(t)
	s.acknowledged(1)
	s.check(s.j.AppendSync(journal.Fault{Mark: timeline.Mark{At: s.now(), Name: "delay"}}))
	s.acknowledged(2)
	expect(t, s.judge(showing(1, 2)), Inconclusive, "nothing proves")
	s.check(s.j.AppendSync(journal.Fault{Mark: timeline.Mark{At: s.now(), Name: "delay", Unsupported: "no sch_netem"}}))
	s.acknowledged(3)
	expect(t, s.judge(showing(1, 2, 3)), Unsupported, "no sch_netem")
}

func TestABankThatWasWrongForAMomentIsAFailure(t *testing.T) {
	s := newStory(t)
	s.acknowledged(1)
	s.check(s.j.AppendSync(journal.BankRead{Server: "r", At: s.now(), Right: 7}))
	expect(t, s.judge(showing(1)), Passed, "")
	s.check(s.j.AppendSync(journal.BankRead{Server: "r", At: s.now(), Wrong: "4 accounts with 3999999"}))
	expect(t, s.judge(showing(1)), Failed, "1 reads of r showed a bank that never was")
}

func TestAReaderThatWaitedForACommitAndDoesNotSeeItIsAFailure(t *testing.T) {
	s := newStory(t)
	s.acknowledged(1)
	s.check(s.j.AppendSync(journal.OwnRead{Server: "r", At: s.now(), Right: 7}))
	expect(t, s.judge(showing(1)), Passed, "")
	s.check(s.j.AppendSync(journal.OwnRead{Server: "r", At: s.now(), Wrong: "id 1"}))
	expect(t, s.judge(showing(1)), Failed, "did not see an acknowledged commit though they had waited for its GTIDs, the first at")
}

func TestTwoServersInOneEpochAreTwoMasters(t *testing.T) {
	s := newStory(t)
	s.check(s.j.AppendSync(journal.Server{Number: 1, Server: timeline.Server{ID: "x", Epoch: 4}}))
	s.check(s.j.AppendSync(journal.Server{Number: 2, Server: timeline.Server{ID: "y", Epoch: 4}}))
	for id, by := range map[uint64]int{1: 1, 2: 2} {
		s.check(s.j.AppendSync(journal.OK{ID: id, Sent: time.Unix(int64(id), 0), At: time.Unix(int64(id), 1), Server: by}))
	}
	expect(t, s.judge(showing(1, 2)), Failed, "epoch 4")
}

func TestWhatIsWrongInTheHistoryCountsWhenTheMasterCannotBeRead(t *testing.T) {
	s := newStory(t)
	s.check(s.j.AppendSync(journal.Server{Number: 1, Server: timeline.Server{ID: "x", Epoch: 4}}))
	s.check(s.j.AppendSync(journal.Server{Number: 2, Server: timeline.Server{ID: "y", Epoch: 5}}))
	s.check(s.j.AppendSync(journal.OK{ID: 1, Sent: s.now(), At: s.now(), Server: 2}))
	s.check(s.j.AppendSync(journal.OK{ID: 2, Sent: s.now(), At: s.now(), Server: 1}))
	expect(t, s.judge(nil), Failed, "older epoch")
}

func TestARowThatIsNotLinearizableIsAFailure(t *testing.T) {
	s := newStory(t)
	s.acknowledged(1)
	operations := []register.Operation{
		{Key: 3, Write: true, Value: 7, Call: 1, Return: 2}, {Key: 3, Value: 0, Call: 3, Return: 4},
	}
	for _, op := range operations {
		s.check(s.j.AppendSync(journal.Register{Operation: op}))
	}
	var v Verdict
	s.j.View(func(state *journal.State) {
		v = Judge(state, Findings{Master: Found{Image: showing(1)}, Registers: register.Check(state.Operations)})
	})
	expect(t, v, Failed, "rows [3] are not linearizable")
}

func TestAnRTOBeyondItsLimitFails(t *testing.T) {
	for limit, want := range map[float64]Result{0: Passed, 30: Passed, 1: Failed} {
		s := newStory(t)
		s.acknowledged(1)
		s.mark(timeline.Mark{LimitSeconds: limit})
		s.proof()
		s.acknowledged(2)
		if v := s.judge(showing(1, 2)); v.Result != want {
			t.Errorf("limit %v: %s because %q", limit, v.Result, v.Reasons)
		}
	}
}

func TestWritesThatDoNotComeBackWithinTheLimitFail(t *testing.T) {
	s := newStory(t)
	s.acknowledged(1)
	s.mark(timeline.Mark{LimitSeconds: 2})
	s.proof()
	for id := uint64(2); id < 10; id++ {
		s.unknown(id)
	}
	expect(t, s.judge(showing(1)), Failed, "the limit is 2.0 s")
}

func TestAFaultOfSeveralIsProvedForEach(t *testing.T) {
	for proved, want := range map[int]Result{1: Inconclusive, 2: Passed} {
		s := newStory(t)
		s.acknowledged(1)
		s.mark(timeline.Mark{Objects: 2})
		for n := range proved {
			s.proofOf(string(rune('a' + n)))
			s.proofOf(string(rune('a' + n))) // twice is no other one
		}
		s.acknowledged(2)
		if v := s.judge(showing(1, 2)); v.Result != want {
			t.Errorf("%d of 2 proved: %s because %q", proved, v.Result, v.Reasons)
		}
	}
}

func TestTheRateCountsEverySecond(t *testing.T) {
	s := newStory(t)
	s.acknowledged(1) // sent in second 1, acknowledged in second 2
	s.unknown(2)
	s.acknowledged(3)
	rate := s.judge(showing(1, 3)).Rate
	if rate.From.Unix() != 1 || !slices.Equal(rate.Seconds, []int{0, 1, 0, 0, 1}) {
		t.Fatalf("%+v", rate)
	}
}
