package dbserver

import (
	"context"
	"fmt"
	"time"

	"commitlab.dev/ledger/internal/proxy"
)

// Behind are members behind the one address that leads to their source.
type Behind struct {
	Members
	Proxy *proxy.Proxy
}

// Stop ends all servers.
func (b *Behind) Stop(patience time.Duration) error {
	_ = b.Proxy.Close()
	return b.Members.Stop(patience)
}

// DSNOf leads an account to whoever is the source.
func (b *Behind) DSNOf(account, database string) string {
	return fmt.Sprintf("%s@tcp(%s)/%s", account, b.Proxy.Address(), database)
}

// Pause is false when it was cut short.
func Pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}
