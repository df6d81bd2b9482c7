package server

import (
	"fmt"
	"strings"

	"github.com/go-sql-driver/mysql"
)

// Named is a server that is to be there: it is given by name, never found by looking a name up, which may return fewer.
type Named struct{ Name, DSN string }

// ParseNamed reads NAME=user:password@tcp(host:port)/database, given repeatedly.
func ParseNamed(texts []string) ([]Named, error) {
	named, names := []Named{}, map[string]bool{}
	for _, text := range texts {
		name, dsn, found := strings.Cut(text, "=")
		if !found || name == "" || strings.ContainsAny(name, "@(/:") {
			return nil, fmt.Errorf("--server wants NAME=user:password@tcp(host:port)/database")
		}
		if _, err := mysql.ParseDSN(dsn); err != nil {
			return nil, fmt.Errorf("--server %s: %w (expected user:password@tcp(host:port)/database)", name, err)
		}
		if names[name] {
			return nil, fmt.Errorf("--server %s is given twice", name)
		}
		names[name] = true
		named = append(named, Named{Name: name, DSN: dsn})
	}
	return named, nil
}
