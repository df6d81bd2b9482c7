package fake

import (
	"context"
	"fmt"
	"strings"

	"commitlab.dev/operator/internal/engine"
)

// defaults of the variables that these servers let one set while they run.
var defaults = map[string]string{"max_connections": "151", "long_query_time": "10.000000", "general_log": "OFF",
	requireVariable: "NONE", "require_secure_transport": "OFF"}

// requireVariable says whom a server asks for a certificate.
const requireVariable = "commitd_built_in_accounts_require"

// asksForCertificates: neither the operator nor a replica gets in without one.
func (s *state) asksForCertificates() bool { return s.variables[requireVariable] == "X509" }

// GlobalVariables reads what was set since the start, or the defaults.
func (h Server) GlobalVariables(_ context.Context, names []string) (map[string]string, error) {
	values := map[string]string{}
	err := h.with(func(s *state) error {
		for _, name := range names {
			if value, set := s.variables[name]; set {
				values[name] = value
			} else if value, known := defaults[name]; known {
				values[name] = value
			}
		}
		return nil
	})
	return values, err
}

// SetGlobal knows the variables that have defaults here; the others can only be set at start.
func (h Server) SetGlobal(_ context.Context, name string, value *string) error {
	return h.with(func(s *state) error {
		initial, dynamic := defaults[name]
		if !dynamic {
			return fmt.Errorf("%w: Variable '%s' is a read only variable", engine.ErrStatic, name)
		}
		if s.variables == nil {
			s.variables = map[string]string{}
		}
		s.variables[name] = initial
		if value != nil {
			s.variables[name] = strings.ToUpper(*value)
		}
		return nil
	})
}
