package dbserver

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// Application is the account of who writes and reads. Unlike root it is not above read_only, nor let in while a new master does not yet show
// all that the former one has.
const Application = "application"

// CreateApplication makes the account, behind what else is to be said on that connection.
func (m *Member) CreateApplication(ctx context.Context, patience time.Duration, before ...string) error {
	return m.Control(ctx, patience, func(ctx context.Context, conn *sql.Conn) error {
		for _, statement := range append(before,
			"CREATE USER IF NOT EXISTS "+Application+"@'127.0.0.1'",
			"GRANT RELOAD ON *.* TO "+Application+"@'127.0.0.1'",
			"GRANT ALL ON `ledger`.* TO "+Application+"@'127.0.0.1'") {
			if _, err := conn.ExecContext(ctx, statement); err != nil {
				return fmt.Errorf("%s: %w", statement, err)
			}
		}
		return nil
	})
}
