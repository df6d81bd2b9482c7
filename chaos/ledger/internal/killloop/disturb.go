package killloop

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/go-sql-driver/mysql"
)

// How long the disturber rests between two statements, at most.
const disturbEvery = 60 * time.Millisecond

// How many kinds of disturbance there are. Each round begins with another one: short rounds do not get through all.
const disturbances = 6

// disturb runs what meets a kill less often than commits do: checkpoints, new log files, purges, and DDL on a table of its own. What it gets back does
// not matter; the ledger beside it does, and that the server starts again. A table may be left by a kill, so every statement copes with both.
//
// A replica that is away while its source purges can only be cloned anew, which nobody here does: sets are not purged.
func disturb(ctx context.Context, dsn string, purge bool) {
	config, err := mysql.ParseDSN(dsn)
	if err != nil {
		return
	}
	config.Logger = &mysql.NopLogger{} // that a server was killed is no news
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	for number := rand.N(disturbances); ctx.Err() == nil; number++ {
		for _, statement := range disturbance(number, purge) {
			statementCtx, cancel := context.WithTimeout(ctx, statementTimeout)
			_, _ = db.ExecContext(statementCtx, statement)
			cancel()
		}
		sleep(ctx, rand.N(disturbEvery))
	}
}

func disturbance(number int, purge bool) []string {
	switch number % disturbances {
	case 0:
		return []string{
			"CREATE TABLE IF NOT EXISTS aside (id INT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(40))",
			"INSERT INTO aside (v) VALUES ('a'), ('b'), ('c')",
		}
	case 1:
		return []string{
			fmt.Sprintf("ALTER TABLE aside ADD COLUMN c%d INT NOT NULL DEFAULT 7", number),
			"INSERT INTO aside (v) VALUES ('d')",
		}
	case 2:
		return []string{"FLUSH BINARY LOGS"}
	case 3:
		// Rounds are too short for a flush of the storage engine by itself: no kill would meet one, and every start would replay all rounds before it.
		return []string{"TRUNCATE TABLE aside", "FLUSH ENGINE LOGS"}
	case 4:
		if !purge {
			return nil
		}
		return []string{"PURGE BINARY LOGS BEFORE NOW()"}
	default:
		return []string{"DROP TABLE IF EXISTS aside"}
	}
}
