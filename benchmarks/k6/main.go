// k6 with MySQL: the stock program plus two JavaScript modules. k6/x/sql with k6/x/sql/driver/mysql is xk6-sql,
// for scripts that already use it; k6/x/mysql is ours and is what the scenarios use.
package main

import (
	_ "github.com/go-sql-driver/mysql"
	"github.com/grafana/xk6-sql/sql"
	k6cmd "go.k6.io/k6/cmd"

	_ "commitlab.dev/k6/mysqlmod"
)

func init() { sql.RegisterModule("mysql") }

func main() { k6cmd.Execute() }
