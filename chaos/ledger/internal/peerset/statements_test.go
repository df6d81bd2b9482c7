package peerset

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestSequence(t *testing.T) {
	for position, want := range map[string]uint64{"": 0, "0-1-105": 105, "0-4294967295-18446744073709551615": 18446744073709551615} {
		if got, err := sequence(position); got != want || err != nil {
			t.Errorf("%q: %d, %v", position, got, err)
		}
	}
	for _, position := range []string{"0-1", "0-1-5,1-1-7", "0-1-x", "0-1-2-3"} {
		if got, err := sequence(position); err == nil {
			t.Errorf("%q is %d", position, got)
		}
	}
}

func TestAReplicaHearsItsSourceOnceThatHasBegunToSend(t *testing.T) {
	row := map[string]string{"Slave_IO_Running": "Yes", "Slave_SQL_Running": "Yes", "Last_IO_Errno": "0", "Master_Log_File": ""}
	if replicationOf(row).hears {
		t.Error("its position has not been accepted yet")
	}
	row["Master_Log_File"] = "binlog.000001"
	if r := replicationOf(row); !r.hears || r.idle() {
		t.Errorf("%+v", r)
	}
	row["Slave_IO_Running"], row["Last_IO_Errno"] = "No", "1236"
	if r := replicationOf(row); r.hears || r.idle() || r.receiveError != positionNotFound {
		t.Errorf("%+v", r)
	}
	row["Slave_SQL_Running"] = "No"
	if !replicationOf(row).idle() || (replication{}).idle() {
		t.Error("who does nothing is idle, unless it was never told of a source")
	}
}

func TestRelayLogsAreThoseOfTheIndex(t *testing.T) {
	dir := t.TempDir()
	if files, err := relayLogs(dir); files != nil || err != nil {
		t.Errorf("without an index: %q, %v", files, err)
	}
	for name, content := range map[string]string{"relay-bin.index": "./relay-bin.000003\n./relay-bin.000004\n./relay-bin.000005\n", "relay-bin.000004": "", "relay-bin.000005": ""} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	if files, err := relayLogs(dir); !slices.Equal(files, []string{"relay-bin.000004", "relay-bin.000005"}) || err != nil {
		t.Errorf("%q, %v", files, err)
	}
}

func TestTransactionsAreKnownByTheirFirstEvents(t *testing.T) {
	for _, info := range []string{"BEGIN GTID 0-1-8", "GTID 0-1-8 cid=12", "BEGIN GTID 0-1-8 cid=12"} {
		if number, is := transaction("Gtid", info); !is || number != 8 {
			t.Errorf("%q: %d, %t", info, number, is)
		}
	}
	for kind, info := range map[string]string{"Gtid_list": "[0-1-8]", "Query": "INSERT INTO t VALUES ('GTID 0-1-8')", "Rotate": "binlog.000002;pos=4"} {
		if _, is := transaction(kind, info); is {
			t.Errorf("%s %q begins one", kind, info)
		}
	}
}
