package watch

import (
	"context"
	"fmt"
	"time"

	"commitlab.dev/ledger/internal/entry"
	"commitlab.dev/ledger/internal/journal"
	"commitlab.dev/ledger/internal/server"
	"commitlab.dev/ledger/internal/timeline"
)

// ownReads reads on every other server what one has acknowledged, once the other has executed what that one had then: a client that wrote on the
// source and waits for the GTIDs on a replica must see its write. Servers without these GTIDs are not read.
type ownReads struct {
	run     entry.Run
	journal *journal.Journal
	servers []server.Named

	right   map[string]int
	counted time.Time
}

const (
	// ownEvery is how often a commit is followed.
	ownEvery = 200 * time.Millisecond
	// ownWait is how long a server may take to execute it; one that does not promises nothing.
	ownWait = "0.5"
)

func (o *ownReads) watch(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := o.once(ctx); err != nil {
			return err
		}
		select {
		case <-time.After(ownEvery):
		case <-ctx.Done():
		}
	}
	return o.count(time.Now())
}

func (o *ownReads) once(ctx context.Context) error {
	id, source, others := o.newest()
	if source == nil || len(others) == 0 {
		return nil
	}
	gtids := o.executedWith(ctx, *source, id)
	if gtids == "" {
		return nil
	}
	for _, other := range others {
		if err := o.read(ctx, other, id, gtids); err != nil {
			return err
		}
	}
	if time.Since(o.counted) < countEvery {
		return nil
	}
	return o.count(time.Now())
}

// executedWith is what the server has executed, the commit among it; empty when it does not show the commit: it has started again since, or another
// one is the source, and does not know yet what of its log is acknowledged.
func (o *ownReads) executedWith(ctx context.Context, source server.Named, id uint64) (gtids string) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	pool, err := server.OpenPool(source.DSN, lookTimeout)
	if err != nil {
		return ""
	}
	defer pool.Close()
	connection, err := pool.Conn(ctx) // of one process
	if err != nil {
		return ""
	}
	defer connection.Close()
	var rows int
	shown := fmt.Sprintf("SELECT COUNT(*) FROM %s WHERE id = %d", o.run.EntriesTable(), id)
	if connection.QueryRowContext(ctx, shown).Scan(&rows) != nil || rows == 0 {
		return ""
	}
	if connection.QueryRowContext(ctx, "SELECT @@GLOBAL.gtid_executed").Scan(&gtids) != nil {
		return ""
	}
	return gtids
}

// newest is the commit that was acknowledged last, the server that did it, and all others.
func (o *ownReads) newest() (id uint64, source *server.Named, others []server.Named) {
	o.journal.View(func(s *journal.State) {
		var by timeline.Server
		id, by = s.LastAcknowledged()
		for _, named := range o.servers {
			if seen, known := s.Timeline.Observation(named.Name); known && id != 0 && seen.ID == by.ID {
				source = &named
			} else {
				others = append(others, named)
			}
		}
	})
	return id, source, others
}

// read is over in silence when the server does not answer, or does not come to have the commit in time.
func (o *ownReads) read(ctx context.Context, on server.Named, id uint64, gtids string) error {
	var late, rows int
	if ask(ctx, on, fmt.Sprintf("SELECT WAIT_FOR_EXECUTED_GTID_SET('%s', %s)", gtids, ownWait), &late) != nil || late != 0 {
		return nil
	}
	if ask(ctx, on, fmt.Sprintf("SELECT COUNT(*) FROM %s WHERE id = %d", o.run.EntriesTable(), id), &rows) != nil {
		return nil
	}
	if rows == 0 {
		return o.journal.Append(journal.OwnRead{Server: on.Name, At: time.Now(), Wrong: fmt.Sprintf("id %d, after waiting for %s", id, gtids)})
	}
	o.right[on.Name]++
	return nil
}

func (o *ownReads) count(at time.Time) error {
	for name, right := range o.right {
		if err := o.journal.Append(journal.OwnRead{Server: name, At: at, Right: right}); err != nil {
			return err
		}
	}
	o.right, o.counted = map[string]int{}, at
	return nil
}

// ask makes a connection of its own: a session that a role change has ended must not be asked.
func ask(ctx context.Context, s server.Named, query string, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	pool, err := server.OpenPool(s.DSN, lookTimeout)
	if err != nil {
		return err
	}
	defer pool.Close()
	return pool.QueryRowContext(ctx, query).Scan(answer)
}
