package peerset

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"commitlab.dev/ledger/internal/dbserver"
)

// place is where in the relay log an event begins.
type place struct {
	file     string
	position int64
}

// applyRelayLog lets a replica that has been started again apply what it had received, and maybe acknowledged, before it ended. START SLAVE with
// MASTER_USE_GTID would throw that away and ask the source for it, which may be gone. Without GTIDs the applier goes on in the relay log, at the
// first transaction that has not been applied: what MariaDB itself remembers of the place is inexact.
func applyRelayLog(ctx context.Context, m *dbserver.Member) error {
	from, err := unapplied(ctx, m)
	if err != nil || from == (place{}) {
		return err
	}
	err = commands(ctx, m, fmt.Sprintf("CHANGE MASTER TO MASTER_USE_GTID=no, RELAY_LOG_FILE='%s', RELAY_LOG_POS=%d", from.file, from.position),
		"SET GLOBAL slave_parallel_threads = 0", // with more, the applier is through with the log before its workers are
		"START SLAVE SQL_THREAD")
	if err != nil {
		return err
	}
	for {
		now, err := readReplication(ctx, m)
		if err != nil {
			return err
		}
		if now.appliedAll || !now.applies { // it stops where the log is torn
			break
		}
		if !dbserver.Pause(ctx, retryEvery) {
			return fmt.Errorf("%s still applies what it had received", m.Name)
		}
	}
	return commands(ctx, m, "STOP SLAVE", "SET GLOBAL slave_parallel_threads = DEFAULT")
}

// unapplied finds the first transaction in the relay log that has not been applied; nowhere when there is none.
func unapplied(ctx context.Context, m *dbserver.Member) (place, error) {
	files, err := relayLogs(m.DataDir())
	if err != nil {
		return place{}, err
	}
	var position string
	if err := value(ctx, m, "SELECT @@GLOBAL.gtid_slave_pos", &position); err != nil {
		return place{}, err
	}
	applied, err := sequence(position)
	if err != nil {
		return place{}, err
	}
	for _, file := range files {
		at, err := firstBehind(ctx, m, file, applied)
		if err != nil || at != 0 {
			return place{file, at}, err
		}
	}
	return place{}, nil
}

// firstBehind is where in the file the first transaction behind the given one begins; 0 where there is none. The last file may be torn.
func firstBehind(ctx context.Context, m *dbserver.Member, file string, applied uint64) (at int64, err error) {
	err = m.Control(ctx, commandTimeout, func(ctx context.Context, conn *sql.Conn) error {
		rows, err := conn.QueryContext(ctx, fmt.Sprintf("SHOW RELAYLOG EVENTS IN '%s'", file))
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var name, kind, info string
			var position, serverID, end int64
			if err := rows.Scan(&name, &position, &kind, &serverID, &end, &info); err != nil {
				return err
			}
			if number, is := transaction(kind, info); is && number > applied {
				at = position
				return nil
			}
		}
		return nil
	})
	return at, err
}

var gtid = regexp.MustCompile(`\bGTID (\d+-\d+-\d+)`)

// transaction is the number of the one that begins with the event.
func transaction(kind, info string) (uint64, bool) {
	found := gtid.FindStringSubmatch(info)
	if kind != "Gtid" || found == nil {
		return 0, false
	}
	number, err := sequence(found[1])
	return number, err == nil
}

// relayLogs names the files that the index has and that are there, the oldest first. A kill while they are removed leaves some of the names.
func relayLogs(dataDir string) ([]string, error) {
	index, err := os.ReadFile(filepath.Join(dataDir, "relay-bin.index"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var files []string
	for line := range strings.Lines(string(index)) {
		file := strings.TrimPrefix(strings.TrimSpace(line), "./")
		if _, err := os.Stat(filepath.Join(dataDir, file)); err == nil {
			files = append(files, file)
		}
	}
	return files, nil
}
