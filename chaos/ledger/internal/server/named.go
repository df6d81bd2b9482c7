package server

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-sql-driver/mysql"
)

// Named is a server that is to be there: it is given by name, never found by looking a name up, which may return fewer.
type Named struct{ Name, DSN string }

// ErrPassword says why a password is not taken from where everybody on the machine can read it.
var ErrPassword = errors.New("a password on a command line can be read by everybody on the machine: put the master's data source name into LEDGER_DSN")

// WithoutPassword returns a data source name that stands on a command line, or ErrPassword.
func WithoutPassword(dsn string) (*mysql.Config, error) {
	config, err := mysql.ParseDSN(dsn)
	if err != nil {
		return nil, fmt.Errorf("%w (expected user@tcp(host:port)/database)", err)
	}
	if config.Passwd != "" {
		return nil, ErrPassword
	}
	return config, nil
}

// ParseNamed reads NAME=[user@]tcp(host:port)/database, given repeatedly. A server without a user is logged in to as the master is.
func ParseNamed(texts []string, master string) ([]Named, error) {
	login, err := mysql.ParseDSN(master)
	if err != nil {
		return nil, err
	}
	named, names := []Named{}, map[string]bool{}
	for _, text := range texts {
		name, dsn, found := strings.Cut(text, "=")
		if !found || name == "" || strings.ContainsAny(name, "@(/:") {
			return nil, fmt.Errorf("--server wants NAME=[user@]tcp(host:port)/database")
		}
		config, err := WithoutPassword(dsn)
		if err != nil {
			return nil, fmt.Errorf("--server %s: %w", name, err)
		}
		if config.User == "" {
			config.User, config.Passwd = login.User, login.Passwd
		}
		if names[name] {
			return nil, fmt.Errorf("--server %s is given twice", name)
		}
		names[name] = true
		named = append(named, Named{Name: name, DSN: config.FormatDSN()})
	}
	return named, nil
}
