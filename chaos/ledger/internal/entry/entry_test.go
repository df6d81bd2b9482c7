package entry

import "testing"

func TestEntryFollowsFromRunAndID(t *testing.T) {
	run := Run{Name: "a", Accounts: 8}
	if first, again := run.Entry(7), run.Entry(7); first != again {
		t.Fatal("the same id gave two different rows")
	}
	if run.Entry(7).Payload == run.Entry(8).Payload {
		t.Fatal("two ids share a payload")
	}
	other := Run{Name: "b", Accounts: 8}
	if run.Entry(7).Payload == other.Entry(7).Payload {
		t.Fatal("two runs share a payload")
	}
}

func TestTransfersMoveMoneyBetweenTwoExistingAccounts(t *testing.T) {
	for _, accounts := range []int{2, 3, 64} {
		run := Run{Name: "t", Accounts: accounts}
		transfers := 0
		for id := uint64(1); id <= 4000; id++ {
			e := run.Entry(id)
			if !e.Transfer() {
				continue
			}
			transfers++
			if e.Debit == e.Credit || e.Debit < 0 || e.Debit >= accounts || e.Credit < 0 || e.Credit >= accounts || e.Amount < 1 {
				t.Fatalf("%d accounts, id %d: impossible transfer %+v", accounts, id, e)
			}
		}
		if transfers < 700 || transfers > 1300 {
			t.Fatalf("%d of 4000 entries are transfers, expected about one in four", transfers)
		}
	}
}

func TestRunNamesThatCannotBeTablesAreRefused(t *testing.T) {
	for _, name := range []string{"", "UPPER", "a-b", "x;drop", "aaaaaaaaaaaaaaaaaaaaaaaaa"} {
		if (Run{Name: name, Accounts: 2}).Validate() == nil {
			t.Errorf("%q was accepted", name)
		}
	}
	if err := (Run{Name: "run_1", Accounts: 2}).Validate(); err != nil {
		t.Error(err)
	}
}
