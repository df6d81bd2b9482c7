package timeline

import (
	"testing"
	"time"
)

var (
	start = time.Unix(1000, 0)
	a1    = Server{ID: "a", Epoch: 1}
	b2    = Server{ID: "b", Epoch: 2}
)

func at(seconds float64) time.Time { return start.Add(time.Duration(seconds * float64(time.Second))) }

func ack(t *Timeline, seconds float64, by Server) { t.Acknowledged(at(seconds-0.001), at(seconds), by) }

// injected marks a fault and proves it a tenth of a second later.
func injected(t *Timeline, name string, seconds float64) {
	t.Fault(Mark{Name: name, At: at(seconds), ExpectOutage: true})
	t.Proved(name, Evidence{Kind: "process", Object: "s", Before: "1", After: "2", At: at(seconds + 0.1)})
}

func TestRTOIsTheLongestPauseAfterTheMark(t *testing.T) {
	line := New(time.Second)
	ack(line, 1, a1)
	injected(line, "kill", 1.5)
	ack(line, 1.6, a1)
	line.Failed(at(2))
	ack(line, 5.6, b2)
	ack(line, 5.7, b2)

	f := line.Faults()[0]
	if f.RTOSeconds != 4 || !f.LastOKBefore.Equal(at(1.6)) || !f.FirstOKAfter.Equal(at(5.6)) {
		t.Errorf("RTO %v from %v to %v", f.RTOSeconds, f.LastOKBefore, f.FirstOKAfter)
	}
	if f.RecoveredBy != ByFailover || !f.AckedBefore || !f.AckedAfter || !f.Recovered() {
		t.Errorf("fault %+v", f)
	}
	if pauses := line.Pauses(); len(pauses) != 1 || pauses[0].Seconds != 4 {
		t.Errorf("pauses %+v", pauses)
	}
}

func TestARestartOfTheSameServerIsToldFromAFaultNobodyNoticed(t *testing.T) {
	line := New(time.Second)
	ack(line, 1, a1)
	injected(line, "restart", 2)
	line.Failed(at(2.1))
	ack(line, 3, a1)
	injected(line, "nothing", 4)
	ack(line, 4.5, a1)
	faults := line.Faults()
	if faults[0].RecoveredBy != ByRestart || faults[1].RecoveredBy != Unnoticed {
		t.Fatalf("recovered by %q and %q", faults[0].RecoveredBy, faults[1].RecoveredBy)
	}
}

func TestAFaultWithoutALaterAcknowledgementHasNotRecovered(t *testing.T) {
	line := New(time.Second)
	ack(line, 1, a1)
	injected(line, "kill", 2)
	line.Failed(at(2.1))
	if f := line.Faults()[0]; f.AckedAfter || f.Recovered() || f.RecoveredBy != NotYet {
		t.Fatalf("fault %+v", f)
	}
}

func TestACommitSentToAnOldEpochAfterTheNewOneAcknowledgedIsCounted(t *testing.T) {
	line := New(time.Second)
	ack(line, 1, a1)
	ack(line, 2, b2)
	line.Acknowledged(at(1.9), at(2.1), a1)
	if line.StaleAcknowledgements() != 0 {
		t.Fatal("an answer that was merely late counts as a second master")
	}
	line.Acknowledged(at(2.2), at(2.3), a1)
	if line.StaleAcknowledgements() != 1 {
		t.Fatal("a second master went unnoticed")
	}
}

func TestTenuresFollowTheMaster(t *testing.T) {
	line := New(time.Second)
	ack(line, 1, a1)
	ack(line, 2, a1)
	ack(line, 3, b2)
	tenures := line.Tenures()
	if len(tenures) != 2 || tenures[0].Server != a1 || !tenures[0].LastOK.Equal(at(2)) || tenures[1].Server != b2 {
		t.Fatalf("tenures %+v", tenures)
	}
}

func TestTheLedgersOwnAbsenceIsNotAnOutageOfTheServer(t *testing.T) {
	line := New(time.Second)
	ack(line, 1, a1)
	injected(line, "kill", 2)
	line.Failed(at(2.1))
	ack(line, 4, a1)
	line.Resumed()
	ack(line, 60, a1)
	if f := line.Faults()[0]; f.RTOSeconds != 3 || f.LedgerAway {
		t.Errorf("a ledger that was stopped after the recovery changed it: %+v", f)
	}
	if pauses := line.Pauses(); len(pauses) != 1 {
		t.Errorf("pauses %+v", pauses)
	}

	injected(line, "kill again", 61)
	line.Failed(at(61.1))
	line.Resumed()
	ack(line, 90, a1)
	if f := line.Faults()[1]; f.RTOSeconds != 0 || !f.LedgerAway {
		t.Errorf("an outage that nobody saw the end of has an RTO: %+v", f)
	}
}
