package judge

import (
	"context"
	"database/sql"
	"log/slog"
	"time"

	"commitlab.dev/ledger/internal/journal"
	"commitlab.dev/ledger/internal/register"
	"commitlab.dev/ledger/internal/server"
	"commitlab.dev/ledger/internal/timeline"
)

// Servers says where to look and how long to wait for a server to answer and for a replica to catch up.
type Servers struct {
	// Master is where writers are sent.
	Master string
	// Expected are all servers that must show the same, each read by itself.
	Expected []server.Named
	Patience time.Duration
}

const (
	dialTimeout = 5 * time.Second
	retryEvery  = 500 * time.Millisecond
)

// Verify reads all servers and judges. The state must not change meanwhile. It looks again while replicas catch up or
// a server does not answer, until the patience is at an end. What no waiting mends ends it at once.
func Verify(ctx context.Context, state *journal.State, servers Servers, log *slog.Logger) Verdict {
	registers := register.Check(state.Operations)
	ctx, cancel := context.WithTimeout(ctx, servers.Patience)
	defer cancel()
	look := func() Verdict {
		found := find(ctx, state, servers)
		found.Registers = registers
		return Judge(state, found)
	}
	return settle(ctx, look, log)
}

// settle looks until waiting cannot change the verdict: Unsupported has nothing wrong either. The last look that was not cut short by the end of the patience counts.
func settle(ctx context.Context, look func() Verdict, log *slog.Logger) Verdict {
	verdict := look()
	for verdict.Result != Passed && verdict.Result != Unsupported && !verdict.settled {
		log.Info("looking again", "verdict", verdict.Result, "reasons", verdict.Reasons)
		if !sleep(ctx, retryEvery) {
			return verdict
		}
		if next := look(); ctx.Err() == nil || next.settled {
			verdict = next
		}
	}
	return verdict
}

// find reads the master, then every expected server.
func find(ctx context.Context, state *journal.State, servers Servers) Findings {
	var found Findings
	master, err := open(ctx, server.Named{Name: "master", DSN: servers.Master})
	if err != nil {
		found.Master = Found{Name: "master", Error: err.Error()}
	} else {
		defer master.close()
		found.Master = master.read(ctx, state, server.Writable)
	}
	for _, named := range servers.Expected {
		found.Servers = append(found.Servers, findServer(ctx, state, named, master))
	}
	return found
}

func findServer(ctx context.Context, state *journal.State, named server.Named, master *reader) Found {
	r, err := open(ctx, named)
	if err != nil {
		return Found{Name: named.Name, Error: err.Error()}
	}
	defer r.close()
	found := r.read(ctx, state, anyRole)
	if master != nil && found.Image != nil {
		if found.GTIDs, err = compareGTIDs(ctx, r, master); err != nil {
			found.Image, found.Error = nil, err.Error()
		}
	}
	return found
}

func anyRole(ctx context.Context, conn *sql.Conn) (timeline.Server, error) {
	status, err := server.ReadStatus(ctx, conn)
	return status.Server, err
}

func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}
