package journal

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"commitlab.dev/ledger/internal/entry"
	"commitlab.dev/ledger/internal/timeline"
)

var testRun = entry.Run{Name: "test", Accounts: 4}

func open(t *testing.T, path string) *Journal {
	t.Helper()
	j, err := Open(path, testRun)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestWhatWasAppendedIsThereAfterReopening(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	now := time.Unix(1000, 0)
	j := open(t, path)
	must(t, j.AppendSync(Reserved{1, 10}))
	must(t, j.Append(SetUp{}))
	must(t, j.Append(Started{At: now}))
	must(t, j.Append(Server{Number: 0, Server: timeline.Server{ID: "a server", Epoch: 3}}))
	must(t, j.Append(OK{ID: 1, Sent: now, At: now.Add(time.Millisecond), Server: 0}))
	must(t, j.Append(Refused{ID: 2, At: now, Errno: 1290}))
	must(t, j.Append(Unknown{ID: 3, At: now}))
	must(t, j.Append(Fault{timeline.Mark{At: now.Add(time.Second), Name: "kill the master", ExpectOutage: true}}))
	must(t, j.Append(Unreachable{At: now.Add(2 * time.Second)}))
	must(t, j.Close())

	state, err := Load(path)
	must(t, err)
	want := map[uint64]Outcome{1: Acknowledged, 2: RefusedOutcome, 3: Indeterminate, 4: Unanswered}
	for id, outcome := range want {
		if got, reserved := state.Outcome(id); got != outcome || !reserved {
			t.Errorf("id %d: outcome %d reserved %t, want %d", id, got, reserved, outcome)
		}
	}
	if _, reserved := state.Outcome(11); reserved {
		t.Error("id 11 counts as reserved")
	}
	if state.Run != testRun || !state.SetUp || state.NextID() != 11 || state.Count(Unanswered) != 7 {
		t.Errorf("run %+v, set up %t, next %d, open %d", state.Run, state.SetUp, state.NextID(), state.Count(Unanswered))
	}
	fault := state.Timeline.Faults()[0]
	if fault.Name != "kill the master" || fault.ServerBefore.ID != "a server" || fault.ErrorsNoticed != 1 {
		t.Errorf("fault %+v", fault)
	}
}

func TestAHalfWrittenLineIsCutOffAndItsIDIsOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	j := open(t, path)
	must(t, j.AppendSync(Reserved{1, 5}))
	must(t, j.Close())
	whole, err := os.ReadFile(path)
	must(t, err)
	// Longer than what is written next: it has to be cut, overwriting it is not enough.
	torn := "ok 1 10" + strings.Repeat("0", 500)
	must(t, os.WriteFile(path, append(whole, torn...), 0o644))

	j = open(t, path)
	must(t, j.AppendSync(OK{ID: 2, Sent: time.Unix(1, 0), At: time.Unix(2, 0)}))
	must(t, j.Close())
	state, err := Load(path)
	must(t, err)
	first, _ := state.Outcome(1)
	second, _ := state.Outcome(2)
	if first != Unanswered || second != Acknowledged {
		t.Fatalf("outcomes %d, %d", first, second)
	}
}

func TestASecondLedgerOnTheSameFileIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	j := open(t, path)
	defer j.Close()
	if second, err := Open(path, testRun); err == nil {
		second.Close()
		t.Fatal("two ledgers opened one journal")
	}
}

func TestADamagedLineIsReportedWithItsNumber(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	must(t, os.WriteFile(path, []byte("ledger 1 test 4\nok one 2 3 4\n"), 0o644))
	if _, err := Load(path); err == nil {
		t.Fatal("a damaged journal was accepted")
	}
}

func TestConcurrentAppendsAreAllCounted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	j := open(t, path)
	must(t, j.AppendSync(Reserved{1, 800}))
	var writers sync.WaitGroup
	for w := range 8 {
		writers.Go(func() {
			for i := range 100 {
				id := uint64(1 + w*100 + i)
				if err := j.Append(OK{ID: id, Sent: time.Unix(1, 0), At: time.Unix(1, int64(id))}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	must(t, j.Close())
	state, err := Load(path)
	must(t, err)
	if state.Count(Acknowledged) != 800 {
		t.Fatalf("%d acknowledged", state.Count(Acknowledged))
	}
}
