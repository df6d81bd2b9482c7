package load

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"commitlab.dev/ledger/internal/entry"
	"commitlab.dev/ledger/internal/server"
)

const unknownDatabase = 1049

// setUp creates the database if need be, the tables and the accounts. It may be repeated after any failure: the accounts
// come in one transaction, so there are all of them or none.
func setUp(ctx context.Context, dsn string, run entry.Run, dialTimeout time.Duration) error {
	pool, err := server.OpenPool(dsn, dialTimeout)
	if err != nil {
		return err
	}
	defer pool.Close()
	conn, err := pool.Conn(ctx)
	if errno(err) == unknownDatabase {
		if err = createDatabase(ctx, dsn, dialTimeout); err == nil {
			conn, err = pool.Conn(ctx)
		}
	}
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := server.Writable(ctx, conn); err != nil {
		return err
	}
	return createTables(ctx, conn, run)
}

func createDatabase(ctx context.Context, dsn string, dialTimeout time.Duration) error {
	config, err := mysql.ParseDSN(dsn)
	if err != nil {
		return err
	}
	name := config.DBName
	config.DBName = ""
	pool, err := server.OpenPool(config.FormatDSN(), dialTimeout)
	if err != nil {
		return err
	}
	defer pool.Close()
	_, err = pool.ExecContext(ctx, "CREATE DATABASE IF NOT EXISTS `"+strings.ReplaceAll(name, "`", "``")+"`")
	return err
}

func createTables(ctx context.Context, conn *sql.Conn, run entry.Run) error {
	statements := []string{
		"CREATE TABLE IF NOT EXISTS " + run.EntriesTable() + " (id BIGINT PRIMARY KEY, payload VARCHAR(64) NOT NULL," +
			" debit INT NOT NULL, credit INT NOT NULL, amount BIGINT NOT NULL, checksum BIGINT NOT NULL)",
		"CREATE TABLE IF NOT EXISTS " + run.AccountsTable() + " (id INT PRIMARY KEY, balance BIGINT NOT NULL)",
		"CREATE TABLE IF NOT EXISTS " + run.RegistersTable() + " (id INT PRIMARY KEY, value BIGINT NOT NULL)",
	}
	for _, statement := range statements {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	var accounts int
	if err := conn.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+run.AccountsTable()).Scan(&accounts); err != nil {
		return err
	}
	if accounts == run.Accounts {
		return nil
	}
	if accounts != 0 {
		return fmt.Errorf("table %s has %d accounts instead of %d: another run used this name, choose another --run",
			run.AccountsTable(), accounts, run.Accounts)
	}
	rows := make([]string, run.Accounts)
	for i := range rows {
		rows[i] = fmt.Sprintf("(%d, %d)", i, entry.InitialBalance)
	}
	_, err := conn.ExecContext(ctx, "INSERT INTO "+run.AccountsTable()+" (id, balance) VALUES "+strings.Join(rows, ", "))
	return err
}
