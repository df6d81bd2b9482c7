// Package server connects to a database server and asks it who it is.
package server

import (
	"database/sql"
	"fmt"
	"time"

	"github.com/go-sql-driver/mysql"
)

// OpenPool returns a pool that keeps no idle connection and looks the host name up for every new one, so that a Service
// that now names another pod is followed at once. Dialling gives up after the timeout.
func OpenPool(dsn string, dialTimeout time.Duration) (*sql.DB, error) {
	config, err := mysql.ParseDSN(dsn)
	if err != nil {
		return nil, fmt.Errorf("data source name: %w (expected user:password@tcp(host:port)/database)", err)
	}
	if config.Timeout == 0 {
		config.Timeout = dialTimeout
	}
	config.InterpolateParams = true
	config.Logger = silent{}
	config.DialFunc = dial
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, err
	}
	pool := sql.OpenDB(connector)
	pool.SetMaxIdleConns(-1)
	return pool, nil
}

// silent drops the driver's own log lines: every error reaches the journal anyway.
type silent struct{}

func (silent) Print(...any) {}
