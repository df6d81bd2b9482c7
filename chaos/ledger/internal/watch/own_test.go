package watch

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"commitlab.dev/ledger/internal/dbserver"
	"commitlab.dev/ledger/internal/dbserver/dbservertest"
	"commitlab.dev/ledger/internal/entry"
	"commitlab.dev/ledger/internal/journal"
	"commitlab.dev/ledger/internal/server"
	"commitlab.dev/ledger/internal/timeline"
)

func must(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// A server that counts GTIDs as executed whose rows it does not have looks like a replica that skipped them.
func TestAServerThatSaysThatItHasACommitAndHasNotIsFound(t *testing.T) {
	table := entry.Run{Name: "own", Accounts: 2}.EntriesTable()
	create := fmt.Sprintf("CREATE TABLE %s (id BIGINT PRIMARY KEY)", table)
	source, liar := dbservertest.Start(t, dbserver.Commitd(dbservertest.Commitd(t))), dbservertest.Start(t, dbserver.Commitd(dbservertest.Commitd(t)))
	at, on := dbservertest.Open(t, source, ""), dbservertest.Open(t, liar, "")
	must(t, on, "CREATE DATABASE ledger", strings.Replace(create, "TABLE ", "TABLE ledger.", 1))
	must(t, at, "CREATE DATABASE ledger", strings.Replace(create, "TABLE ", "TABLE ledger.", 1), "INSERT INTO ledger."+table+" VALUES (1)")
	j, err := journal.Open(filepath.Join(t.TempDir(), "journal"), entry.Run{Name: "own", Accounts: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	now := time.Now()
	for _, r := range []journal.Record{
		journal.Reserved{First: 1, Last: 2},
		journal.Seen{Observation: timeline.Observation{Server: "source", ID: "A", Process: "1", At: now}},
		journal.Server{Number: 1, Server: timeline.Server{ID: "A", Epoch: 1}},
		journal.OK{ID: 1, Sent: now, At: now, Server: 1},
	} {
		if err := j.AppendSync(r); err != nil {
			t.Fatal(err)
		}
	}
	o := &ownReads{run: entry.Run{Name: "own", Accounts: 2}, journal: j, right: map[string]int{}, servers: []server.Named{
		{Name: "source", DSN: source.DSN("ledger")}, {Name: "other", DSN: liar.DSN("ledger")},
	}}
	reads := func() (found journal.Reads) {
		t.Helper()
		if err := o.once(context.Background()); err != nil {
			t.Fatal(err)
		}
		if err := o.count(time.Now()); err != nil {
			t.Fatal(err)
		}
		if err := j.Sync(); err != nil {
			t.Fatal(err)
		}
		j.View(func(s *journal.State) {
			if r := s.OwnReads["other"]; r != nil {
				found = *r
			}
		})
		return found
	}
	if found := reads(); found.Right+found.Wrong != 0 {
		t.Fatalf("it does not have the GTIDs, and yet: %+v", found)
	}
	var gtids string
	if err := at.QueryRow("SELECT @@GLOBAL.gtid_executed").Scan(&gtids); err != nil {
		t.Fatal(err)
	}
	must(t, on, "SET GLOBAL gtid_purged = '+"+gtids+"'")
	if found := reads(); found.Wrong != 1 || !strings.Contains(found.First[0].Wrong, "id 1") {
		t.Fatalf("what it says that it has is not there: %+v", found)
	}
	must(t, on, "INSERT INTO ledger."+table+" VALUES (1)")
	if found := reads(); found.Right != 1 || found.Wrong != 1 {
		t.Fatalf("now it is there: %+v", found)
	}
}
