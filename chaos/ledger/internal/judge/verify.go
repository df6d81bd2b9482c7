package judge

import (
	"context"
	"log/slog"
	"net"
	"time"

	"github.com/go-sql-driver/mysql"

	"commitlab.dev/ledger/internal/journal"
	"commitlab.dev/ledger/internal/load"
)

// Servers says where to look and how long to wait for a server to answer and for a replica to catch up.
type Servers struct {
	Master string
	// Replicas are data source names. Every address that the host name of one resolves to is checked on its own, so that
	// a headless Service stands for all of its pods.
	Replicas []string
	Patience time.Duration
}

const (
	dialTimeout = 5 * time.Second
	retryEvery  = 500 * time.Millisecond
)

// Verify reads all servers and judges. The state must not change meanwhile. It looks again until everything is as it should
// be, or the patience is at an end: replicas catch up, and an indeterminate commit may still appear everywhere. Only
// what is wrong on the master for good ends it early. Servers that do not answer make the verdict inconclusive.
func Verify(ctx context.Context, state *journal.State, servers Servers, log *slog.Logger) Verdict {
	ctx, cancel := context.WithTimeout(ctx, servers.Patience)
	defer cancel()
	verdict := unread(state, "no answer in time")
	for {
		look, err := lookOnce(ctx, state, servers)
		switch {
		case err == nil:
			verdict = look
		case ctx.Err() == nil:
			verdict = unread(state, err.Error())
		}
		if verdict.Result == Passed || verdict.beyondRepair() {
			return verdict
		}
		log.Info("looking again", "verdict", verdict.Result, "reasons", verdict.Reasons)
		if !sleep(ctx, retryEvery) {
			return verdict
		}
	}
}

// beyondRepair tells whether waiting cannot help.
func (v Verdict) beyondRepair() bool {
	return v.Lost+v.Duplicated+v.Resurrected+v.Unattempted+v.Corrupt+v.StaleAcknowledgements > 0
}

func unread(state *journal.State, reason string) Verdict {
	v := Judge(state, imageOfJournal(state), nil)
	v.Result, v.Reasons = Inconclusive, []string{"the master could not be read: " + reason}
	return v
}

func lookOnce(ctx context.Context, state *journal.State, servers Servers) (Verdict, error) {
	master, err := scanOnce(ctx, state, servers.Master)
	if err != nil {
		return Verdict{}, err
	}
	replicas := []Replica{}
	for _, dsn := range servers.Replicas {
		replicas = append(replicas, compareReplicas(ctx, state, dsn, master.Digest)...)
	}
	return Judge(state, master, replicas), nil
}

// imageOfJournal is the image of a master that lost nothing: it stands in for one that cannot be read.
func imageOfJournal(state *journal.State) *Image {
	image := newImage()
	for id := uint64(1); id < state.NextID(); id++ {
		if outcome, _ := state.Outcome(id); outcome == journal.Acknowledged {
			image.add(state.Run, state.Run.Entry(id))
		}
	}
	return image
}

func scanOnce(ctx context.Context, state *journal.State, dsn string) (*Image, error) {
	pool, err := load.OpenPool(dsn, dialTimeout)
	if err != nil {
		return nil, err
	}
	defer pool.Close()
	return Scan(ctx, pool, state.Run)
}

func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

func compareReplicas(ctx context.Context, state *journal.State, dsn, digest string) []Replica {
	addresses, err := resolve(ctx, dsn)
	if err != nil {
		return []Replica{{Address: "?", Error: err.Error()}}
	}
	replicas := make([]Replica, 0, len(addresses))
	for _, at := range addresses {
		replica := Replica{Address: at.host}
		if image, err := scanOnce(ctx, state, at.dsn); err != nil {
			replica.Error = err.Error()
		} else {
			replica.Rows, replica.Equal = image.Rows, image.Digest == digest
		}
		replicas = append(replicas, replica)
	}
	return replicas
}

// address is one server behind a data source name.
type address struct{ host, dsn string }

func resolve(ctx context.Context, dsn string) ([]address, error) {
	config, err := mysql.ParseDSN(dsn)
	if err != nil {
		return nil, err
	}
	if config.Net != "tcp" {
		return []address{{host: config.Addr, dsn: dsn}}, nil
	}
	host, port, err := net.SplitHostPort(config.Addr)
	if err != nil {
		return nil, err
	}
	ips, err := net.DefaultResolver.LookupHost(ctx, host)
	if err != nil {
		return nil, err
	}
	var addresses []address
	for _, ip := range ips {
		config.Addr = net.JoinHostPort(ip, port)
		addresses = append(addresses, address{host: config.Addr, dsn: config.FormatDSN()})
	}
	return addresses, nil
}
