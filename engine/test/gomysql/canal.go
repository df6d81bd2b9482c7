package main

import (
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/go-mysql-org/go-mysql/canal"
	"github.com/go-mysql-org/go-mysql/replication"
)

// kinds tells what canal's actions are called in the log.
var kinds = map[string]replication.EventType{
	canal.InsertAction: replication.WRITE_ROWS_EVENTv2,
	canal.UpdateAction: replication.UPDATE_ROWS_EVENTv2,
	canal.DeleteAction: replication.DELETE_ROWS_EVENTv2,
}

// rowKeeper does to its own tables what canal hands it: rows that it has matched with the columns it asked the server for, those of the
// dump first.
type rowKeeper struct {
	canal.DummyEventHandler
	*seen
}

func (k *rowKeeper) String() string { return "rowKeeper" }

func (k *rowKeeper) OnRow(e *canal.RowsEvent) error {
	for _, values := range e.Rows {
		if len(values) > len(e.Table.Columns) { // fewer: from before an ALTER TABLE
			return fmt.Errorf("%d values for %d columns of %s", len(values), len(e.Table.Columns), e.Table)
		}
	}
	if e.Header == nil {
		k.Events["dumped"] += len(e.Rows)
	}
	return k.takeRows(kinds[e.Action], e.Table.Schema+"."+e.Table.Name, e.Rows)
}

// readCanal takes what the server has of the database `d` from a dump, unless dump is empty, and from the log, until it has caught up.
func readCanal(port uint, dump string) (*seen, error) {
	keeper := &rowKeeper{}
	var err error
	if keeper.seen, err = newSeen(); err != nil {
		return nil, err
	}
	config := canal.NewDefaultConfig()
	config.Addr = fmt.Sprintf("127.0.0.1:%d", port)
	config.User = "root"
	config.ServerID = 4712
	config.DisableRetrySync = true
	config.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	config.Dump.ExecutionPath = dump
	config.Dump.Databases = []string{"d"}
	config.Dump.DiscardErr = false
	follower, err := canal.NewCanal(config)
	if err != nil {
		return nil, err
	}
	defer follower.Close()
	follower.SetEventHandler(keeper)
	ended := make(chan error, 1)
	go func() { ended <- follower.Run() }()
	<-follower.WaitDumpDone()
	caught := make(chan error, 1)
	go func() { caught <- follower.CatchMasterPos(time.Minute) }()
	select {
	case err = <-caught:
		follower.Close()
		<-ended // nothing more comes to the keeper
		return keeper.seen, err
	case err = <-ended:
		return nil, fmt.Errorf("canal ended: %w", err)
	}
}
