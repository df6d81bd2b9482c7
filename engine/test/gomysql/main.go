// gomysql reads commitd's log with go-mysql, a replication library that is not ours: log files from the disk, the stream from the
// server with its replica protocol, and what its canal makes of it. It prints what it saw as JSON; binlog_gomysql_test.py judges it.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/go-mysql-org/go-mysql/replication"
)

// seen is what one pass over the log came to.
type seen struct {
	Events map[string]int            `json:"events"`
	Tables map[string]map[string]row `json:"tables"` // by name, by the first column's value
	GTIDs  string                    `json:"gtids"`
	gtids  mysql.GTIDSet
}

type row []any

func newSeen() (*seen, error) {
	gtids, err := mysql.ParseMysqlGTIDSet("")
	return &seen{Events: map[string]int{}, Tables: map[string]map[string]row{}, gtids: gtids}, err
}

func (s *seen) take(event *replication.BinlogEvent) error {
	s.Events[event.Header.EventType.String()]++
	switch body := event.Event.(type) {
	case *replication.RowsEvent:
		return s.takeRows(event.Header.EventType, string(body.Table.Schema)+"."+string(body.Table.Table), body.Rows)
	case *replication.GTIDEvent:
		next, err := body.GTIDNext()
		if err != nil {
			return err
		}
		if err := s.gtids.Update(next.String()); err != nil {
			return err
		}
		s.GTIDs = s.gtids.String()
	case *replication.GenericEvent:
		if event.Header.EventType != replication.IGNORABLE_EVENT && event.Header.EventType != replication.HEARTBEAT_LOG_EVENT_V2 {
			return fmt.Errorf("not understood: %s", event.Header.EventType)
		}
	}
	return nil
}

// takeRows does to its own tables what the event says, and insists that what is changed is there.
func (s *seen) takeRows(kind replication.EventType, name string, rows [][]any) error {
	table := s.Tables[name]
	if table == nil {
		table = map[string]row{}
		s.Tables[name] = table
	}
	for i := 0; i < len(rows); i++ {
		key := fmt.Sprint(rows[i][0])
		switch kind {
		case replication.WRITE_ROWS_EVENTv2:
			table[key] = printable(rows[i])
			continue
		case replication.UPDATE_ROWS_EVENTv2:
			i++
		}
		if _, ok := table[key]; !ok {
			return fmt.Errorf("%s changes row %s of %s, which is not there", kind, key, name)
		}
		delete(table, key)
		if kind == replication.UPDATE_ROWS_EVENTv2 {
			table[fmt.Sprint(rows[i][0])] = printable(rows[i])
		}
	}
	return nil
}

func printable(values []any) row {
	result := make(row, len(values))
	for i, value := range values {
		switch v := value.(type) {
		case nil:
		case []byte:
			result[i] = fmt.Sprintf("%x", v)
		case string:
			result[i] = fmt.Sprintf("%x", v)
		default:
			result[i] = fmt.Sprint(v)
		}
	}
	return result
}

func readFiles(files []string) (*seen, error) {
	s, err := newSeen()
	if err != nil {
		return nil, err
	}
	parser := replication.NewBinlogParser()
	parser.SetVerifyChecksum(true)
	for _, file := range files {
		if err := parser.ParseFile(file, 0, s.take); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return s, nil
}

// readStream follows the server until it has seen all of `until`, and acknowledges what it is asked to when it is semisync.
func readStream(port uint, until string, semisync bool) (*seen, error) {
	goal, err := mysql.ParseMysqlGTIDSet(until)
	if err != nil {
		return nil, err
	}
	s, err := newSeen()
	if err != nil {
		return nil, err
	}
	syncer := replication.NewBinlogSyncer(replication.BinlogSyncerConfig{
		ServerID: 4711, Flavor: mysql.MySQLFlavor, Host: "127.0.0.1", Port: uint16(port), User: "root",
		VerifyChecksum: true, DisableRetrySync: true, SemiSyncEnabled: semisync,
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	defer syncer.Close()
	nothing, err := mysql.ParseMysqlGTIDSet("")
	if err != nil {
		return nil, err
	}
	stream, err := syncer.StartSyncGTID(nothing)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	// What was passed is complete when the event behind the last transaction's GTID has ended it.
	for inside := true; inside || !s.gtids.Contain(goal); {
		event, err := stream.GetEvent(ctx)
		if err != nil {
			return nil, fmt.Errorf("%w; so far %s of %s", err, s.GTIDs, until)
		}
		if err := s.take(event); err != nil {
			return nil, err
		}
		switch body := event.Event.(type) {
		case *replication.XIDEvent:
			inside = false
		case *replication.QueryEvent:
			inside = string(body.Query) == "BEGIN"
		case *replication.GTIDEvent:
			inside = true
		}
	}
	return s, nil
}

func run() error {
	port := flag.Uint("port", 0, "where the server listens")
	until := flag.String("until", "", "the GTID set at which the stream is left")
	follow := flag.Bool("canal", false, "follow the server with canal")
	dump := flag.String("dump", "", "the program by which canal dumps before it follows")
	semisync := flag.Bool("semisync", false, "acknowledge the stream")
	files := flag.String("files", "", "log files, separated by commas: instead of the stream")
	flag.Parse()
	var s *seen
	var err error
	switch {
	case *files != "":
		s, err = readFiles(strings.Split(*files, ","))
	case *follow:
		s, err = readCanal(*port, *dump)
	default:
		s, err = readStream(*port, *until, *semisync)
	}
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(s)
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "gomysql:", err)
		os.Exit(1)
	}
}
