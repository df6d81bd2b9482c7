// Package mysqlmod is the JavaScript module k6/x/mysql. It differs from xk6-sql in what a load test of a commit path needs:
// every statement is timed in microseconds and counted by kind and by MySQL error number, a connection belongs to one
// virtual user so that transactions stay on it, and statements end with the test.
package mysqlmod

import (
	"errors"

	"go.k6.io/k6/js/common"
	"go.k6.io/k6/js/modules"
	"go.k6.io/k6/metrics"
)

// ImportPath is what scripts import.
const ImportPath = "k6/x/mysql"

func init() { modules.Register(ImportPath, &rootModule{}) }

type rootModule struct{}

// NewModuleInstance is called once per virtual user.
func (*rootModule) NewModuleInstance(vu modules.VU) modules.Instance {
	registry := vu.InitEnv().Registry
	m := &module{vu: vu}
	var errs [3]error
	m.duration, errs[0] = registry.NewMetric("mysql_statement_duration", metrics.Trend, metrics.Time)
	m.statements, errs[1] = registry.NewMetric("mysql_statements", metrics.Counter)
	m.failures, errs[2] = registry.NewMetric("mysql_errors", metrics.Counter)
	if err := errors.Join(errs[:]...); err != nil {
		common.Throw(vu.Runtime(), err)
	}
	return m
}

type module struct {
	vu         modules.VU
	duration   *metrics.Metric
	statements *metrics.Metric
	failures   *metrics.Metric
}

// Exports returns what scripts see: open(dsn).
func (m *module) Exports() modules.Exports {
	return modules.Exports{Named: map[string]any{"open": m.open}}
}
