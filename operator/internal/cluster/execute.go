package cluster

import (
	"context"
	"fmt"

	"commitlab.dev/operator/internal/engine"
)

// Execute sends one command to its server. password is that of the account replicas log in with at their source: the
// built-in one, because a replica must be able to attach before the first write can be acknowledged.
func Execute(ctx context.Context, c Command, server engine.Server, password string) error {
	switch c.Kind {
	case CommandInitialize:
		return server.Initialize(ctx)
	case CommandFence:
		return server.Fence(ctx, c.Epoch)
	case CommandPromote:
		return server.PromoteFenced(ctx, c.Epoch, c.Quorum)
	case CommandFollow:
		source := c.Source
		source.User, source.Password = engine.OperatorUser, password
		return server.Follow(ctx, c.Epoch, source)
	case CommandClone:
		donor := c.Source
		donor.User, donor.Password = engine.OperatorUser, password
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
