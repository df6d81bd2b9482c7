package controller

import (
	"context"

	"commitlab.dev/operator/internal/engine"
)

func (t *tapped) PromoteFenced(ctx context.Context, epoch int64, q engine.Quorum) error {
	return t.stage.write(t.name+": PROMOTE", func() error { return t.server.PromoteFenced(ctx, epoch, q) })
}

func (t *tapped) HandOver(ctx context.Context, epoch int64) error {
	return t.stage.write(t.name+": HANDOVER", func() error { return t.server.HandOver(ctx, epoch) })
}
