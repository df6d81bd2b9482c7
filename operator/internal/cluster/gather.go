package cluster

import (
	"context"
	"errors"
	"sync"
	"time"

	"commitlab.dev/operator/internal/engine"
)

// Reach gives the connection to a server; nil when it has no address.
type Reach func(s *Server) engine.Server

// Observe asks all servers for their status at once. Replicas that are not counted yet, and the one that a switchover goes to,
// are asked a second time, after the master has answered, to see whether they hold what it had acknowledged then.
func Observe(ctx context.Context, v *View, reach Reach, timeout time.Duration) {
	forEach(v.Servers, func(s *Server) {
		server := reach(s)
		if server == nil {
			return
		}
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		status, err := server.Status(ctx)
		s.Reachable, s.Denied, s.Status = err == nil, errors.Is(err, engine.ErrDenied), status
	})
	master := v.server(v.Record.Master)
	if !v.servesAsMaster(master) {
		return
	}
	counted := setOf(v.Record.Quorum.Members)
	forEach(v.Servers, func(s *Server) {
		if !v.servesAsReplica(s) || (counted[s.Status.ServerUUID] && !v.isTarget(s)) {
			return
		}
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		if again, err := reach(s).Status(ctx); err == nil {
			held, err := contains(again.GTIDLogged, master.Status.GTIDExecuted)
			s.CaughtUp = err == nil && held
		}
	})
}

func forEach(servers []Server, do func(*Server)) {
	var wait sync.WaitGroup
	for i := range servers {
		wait.Go(func() { do(&servers[i]) })
	}
	wait.Wait()
}
