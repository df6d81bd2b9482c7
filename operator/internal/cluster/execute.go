package cluster

import (
	"context"
	"fmt"

	"commitlab.dev/operator/internal/engine"
)

// Logins are the passwords of commitd's built-in accounts: a replica must be able to attach before the first write can be
// acknowledged, so it needs one that is there before any data are.
type Logins struct{ Operator, Replication string }

func (l Logins) of(user string) string {
	if user == engine.ReplicationUser {
		return l.Replication
	}
	return l.Operator
}

// sourceFor is where a server reads from. One that does not know the account of replicas is an older one.
func sourceFor(s, from *Server) engine.Source {
	source := engine.Source{Host: from.Address, Port: MySQLPort, UUID: from.Status.ServerUUID, User: engine.OperatorUser}
	if from.Status.HasReplicationAccount() {
		source.User = engine.ReplicationUser
	}
	if s.TLSName != "" {
		source.TLSName = from.TLSName
	}
	return source
}

// Execute sends one command to its server.
func Execute(ctx context.Context, c Command, server engine.Server, logins Logins) error {
	switch c.Kind {
	case CommandInitialize:
		return server.Initialize(ctx)
	case CommandFence:
		return server.Fence(ctx, c.Epoch)
	case CommandPromote:
		return server.PromoteFenced(ctx, c.Epoch, c.Quorum)
	case CommandFollow:
		source := c.Source
		source.Password = logins.of(source.User)
		return server.Follow(ctx, c.Epoch, source)
	case CommandClone:
		donor := c.Source
		donor.Password = logins.of(donor.User)
		return server.Clone(ctx, c.UUID, donor)
	case CommandHandover:
		return server.HandOver(ctx, c.Epoch)
	case CommandRestart:
		return fmt.Errorf("%s: a pod is not deleted by SQL", c.Server)
	case CommandQuorum:
		return server.SetQuorum(ctx, c.Epoch, c.Version, c.Quorum)
	}
	return fmt.Errorf("unknown command %q", c.Kind)
}
