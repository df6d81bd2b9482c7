package driver

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
)

// What a write of the session was committed under, without help of the driver: its own connection tells nothing of it, so the
// source is asked what it has, which is that and more.
func gtidsOf(ctx context.Context, source *sql.Conn) (gtids string, err error) {
	err = source.QueryRowContext(ctx, "SELECT @@GLOBAL.gtid_executed").Scan(&gtids)
	return strings.ReplaceAll(gtids, "\n", ""), err
}

// writeAndRead inserts at the source and reads at the replica what it has inserted.
func writeAndRead(ctx context.Context, source, replica *sql.Conn, table string, id int) error {
	if _, err := source.ExecContext(ctx, "INSERT INTO "+table+" VALUES (?)", id); err != nil {
		return err
	}
	gtids, err := gtidsOf(ctx, source)
	if err != nil {
		return err
	}
	var timedOut, rows int
	wait := fmt.Sprintf("SELECT WAIT_FOR_EXECUTED_GTID_SET('%s', 60)", gtids)
	if err := replica.QueryRowContext(ctx, wait).Scan(&timedOut); err != nil {
		return err
	}
	if timedOut != 0 {
		return fmt.Errorf("the replica has not applied %s within a minute", gtids)
	}
	if err := replica.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+table+" WHERE id = ?", id).Scan(&rows); err != nil {
		return err
	}
	if rows != 1 {
		return fmt.Errorf("the replica says that it has applied %s, and row %d is not there", gtids, id)
	}
	return nil
}

func pool(t *testing.T, port string) *sql.DB {
	t.Helper()
	config := mysql.NewConfig()
	config.User, config.Net, config.Addr = "root", "tcp", "127.0.0.1:"+port
	config.Params = map[string]string{"session_track_gtids": "OWN_GTID"}
	connector, err := mysql.NewConnector(config)
	if err != nil {
		t.Fatal(err)
	}
	opened := sql.OpenDB(connector)
	t.Cleanup(func() { opened.Close() })
	return opened
}

// Many sessions write at the source and read at the replica, which is stopped and started meanwhile, by either thread.
func TestReadYourWrites(t *testing.T) {
	port := os.Getenv("COMMITD_REPLICA_PORT")
	if port == "" {
		t.Skip("COMMITD_REPLICA_PORT is not set: run engine/test/read_your_writes_test.py")
	}
	const sessions, writes, rounds = 8, 40, 3
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
	defer cancel()
	source, replica := pool(t, os.Getenv("COMMITD_PORT")), pool(t, port)
	var tracked string
	if err := source.QueryRow("SELECT @@session_track_gtids").Scan(&tracked); err != nil || tracked != "OWN_GTID" {
		t.Fatalf("session_track_gtids is %q: %v", tracked, err)
	}
	exec(t, source, "CREATE DATABASE ryw")
	exec(t, source, "CREATE TABLE ryw.t (id INT PRIMARY KEY)")
	var done sync.WaitGroup
	for session := range sessions {
		done.Add(1)
		go func() {
			defer done.Done()
			writer, err := source.Conn(ctx)
			if err != nil {
				t.Error(err)
				return
			}
			defer writer.Close()
			reader, err := replica.Conn(ctx)
			if err != nil {
				t.Error(err)
				return
			}
			defer reader.Close()
			for i := range writes {
				if err := writeAndRead(ctx, writer, reader, "ryw.t", session*writes+i); err != nil {
					t.Error(err)
					return
				}
			}
		}()
	}
	for range rounds {
		for _, thread := range []string{"", " SQL_THREAD", " IO_THREAD"} {
			exec(t, replica, "STOP REPLICA"+thread)
			exec(t, replica, "START REPLICA"+thread)
		}
	}
	done.Wait()
	if rows := number(t, replica, "SELECT COUNT(*) FROM ryw.t"); !t.Failed() && rows != sessions*writes {
		t.Errorf("%d rows of %d", rows, sessions*writes)
	}
}
