// Locks as clients see them: what waits, what is refused, what performance_schema and SHOW ENGINE STATUS
// tell.
#include "sql/testing/beside.h"

namespace commitd::sql {
namespace {

using namespace std::chrono_literals;
using testing::ask, testing::start, testing::Started;

class Locking : public testing::SqlTest {
 protected:
  Locking() {
    run("CREATE TABLE t (id INT PRIMARY KEY, v INT, KEY by_v (v)); INSERT INTO t VALUES (1,1),(2,2),(3,3)");
  }
  std::unique_ptr<Session> other = connect_to_test_database();
};

Task<void> until_waiting(Session& observer, std::string_view state) {
  const std::string sql =
      fmt::format("SELECT COUNT(*) FROM information_schema.processlist WHERE state = '{}'", state);
  std::string seen;
  while (seen != "1") {
    seen = co_await ask(observer, sql);
    if (seen != "1") co_await sleep_until(Clock::now() + 2ms);
  }
}

TEST_F(Locking, NoWaitRefusesAndSkipLockedLeavesOut) {
  run("BEGIN; SELECT v FROM t WHERE id = 2 FOR UPDATE");
  const std::string refused =
      "ERROR 3572: Statement aborted because lock(s) could not be acquired immediately and NOWAIT is set.";
  EXPECT_EQ(run(*other, "SELECT id FROM t WHERE id = 2 FOR UPDATE NOWAIT"), refused);
  EXPECT_EQ(run(*other, "SELECT id FROM t WHERE id > 1 FOR SHARE NOWAIT").substr(0, 11), "ERROR 3572:");
  EXPECT_EQ(run(*other, "SELECT id FROM t WHERE id = 2 FOR UPDATE SKIP LOCKED"), "");
  EXPECT_EQ(run(*other, "SELECT id FROM t FOR UPDATE SKIP LOCKED"), "1\n3");
  EXPECT_EQ(run(*other, "SELECT id FROM t WHERE v >= 2 ORDER BY v DESC FOR UPDATE SKIP LOCKED"), "3");
  run("ROLLBACK");
  EXPECT_EQ(run(*other, "SELECT id FROM t WHERE id = 2 FOR UPDATE NOWAIT"), "2");
}

// What the snapshot holds cannot be read by a definition from after it.
TEST_F(Locking, ASnapshotFromBeforeAnAlterIsRefused) {
  const std::string changed = "ERROR 1412: Table definition has changed, please retry transaction";
  run("CREATE TABLE untouched (id INT PRIMARY KEY); INSERT INTO untouched VALUES (7)");
  for (const char* ddl :
       {"ALTER TABLE t ADD COLUMN first_one INT FIRST", "ALTER TABLE t ADD COLUMN last_one INT DEFAULT 5",
        "CREATE INDEX by_last ON t (last_one)", "ALTER TABLE t DROP COLUMN first_one",
        "DROP TABLE t; CREATE TABLE t (id INT PRIMARY KEY, v INT); INSERT INTO t VALUES (1, 1)"}) {
    SCOPED_TRACE(ddl);
    run("START TRANSACTION WITH CONSISTENT SNAPSHOT");
    EXPECT_EQ(run("SELECT id FROM untouched"), "7");
    run(*other, ddl);
    EXPECT_EQ(run("SELECT * FROM t"), changed);
    EXPECT_EQ(run("SELECT v FROM t WHERE id = 1"), changed);
    EXPECT_EQ(run("SELECT id FROM untouched"), "7");
    run("COMMIT");
    EXPECT_EQ(run("SELECT v FROM t WHERE id = 1"), "1");
  }
}

TEST_F(Locking, ATimeoutUndoesTheStatementOnly) {
  run("BEGIN; UPDATE t SET v = 10 WHERE id = 1");
  run(*other, "SET innodb_lock_wait_timeout = 1; BEGIN; UPDATE t SET v = 20 WHERE id = 2");
  EXPECT_EQ(run(*other, "UPDATE t SET v = 30 WHERE id IN (3, 1)").substr(0, 11), "ERROR 1205:");
  EXPECT_EQ(run(*other, "SELECT id, v FROM t"), "1|1\n2|20\n3|3");
  EXPECT_EQ(run("ROLLBACK"), "");
  run(*other, "COMMIT");
  EXPECT_EQ(run("SELECT id, v FROM t"), "1|1\n2|20\n3|3");
}

TEST_F(Locking, DataLocksNameTheRow) {
  run("BEGIN; SELECT v FROM t WHERE id = 2 FOR UPDATE");
  const std::string mine = std::to_string(session().connection_id());
  EXPECT_EQ(run("SELECT ENGINE, THREAD_ID, OBJECT_SCHEMA, OBJECT_NAME, INDEX_NAME, LOCK_TYPE, LOCK_MODE, "
                "LOCK_STATUS, LOCK_DATA FROM performance_schema.data_locks"),
            "ROCKS|" + mine + "|test|t|PRIMARY|RECORD|X,REC_NOT_GAP|GRANTED|2");
  EXPECT_EQ(run("SELECT OBJECT_TYPE, OBJECT_NAME, LOCK_STATUS, OWNER_THREAD_ID FROM "
                "performance_schema.metadata_locks"),
            "TABLE|t|GRANTED|" + mine);
  run("ROLLBACK");
  EXPECT_EQ(run("SELECT COUNT(*) FROM performance_schema.data_locks"), "0");
}

Task<void> waits_are_listed(Session& holder, Session& waiter) {
  co_await ask(holder, "BEGIN; SELECT v FROM t WHERE id = 2 FOR UPDATE");
  Started update;
  start(waiter, "UPDATE t SET v = 9 WHERE id = 2", update);
  co_await until_waiting(holder, "Waiting for row lock");
  EXPECT_EQ(co_await ask(holder,
                         "SELECT REQUESTING_THREAD_ID, BLOCKING_THREAD_ID FROM "
                         "performance_schema.data_lock_waits"),
            fmt::format("{}|{}", waiter.connection_id(), holder.connection_id()));
  EXPECT_EQ(co_await ask(holder, fmt::format("SELECT PROCESSLIST_STATE, PROCESSLIST_INFO FROM "
                                             "performance_schema.threads WHERE THREAD_ID = {}",
                                             waiter.connection_id())),
            "Waiting for row lock|UPDATE t SET v = 9 WHERE id = 2");
  EXPECT_EQ(co_await ask(holder, "SELECT COUNT(*) FROM performance_schema.processlist"), "2");
  co_await ask(holder, "COMMIT");
  while (!update.done) co_await sleep_until(Clock::now() + 2ms);
  EXPECT_EQ(co_await ask(holder, "SELECT v FROM t WHERE id = 2"), "9");

  co_await ask(holder, "BEGIN; SELECT v FROM t WHERE id = 2");
  Started alter;
  start(waiter, "ALTER TABLE t ADD COLUMN w INT", alter);
  co_await until_waiting(holder, "Waiting for table metadata lock");
  co_await ask(holder, "COMMIT");
  while (!alter.done) co_await sleep_until(Clock::now() + 2ms);
}
TEST_F(Locking, WhoWaitsForWhomIsListed) {
  run_blocking(waits_are_listed(session(), *other));
}

Task<void> definitions_go_on(Session& holder, Session& waiter, Session& third) {
  co_await ask(holder, "BEGIN; SELECT v FROM t WHERE id = 2");
  Started alter, drop;
  start(waiter, "ALTER TABLE t ADD COLUMN w INT", alter);
  co_await until_waiting(holder, "Waiting for table metadata lock");
  start(third, "CREATE TABLE u (id INT PRIMARY KEY); CREATE USER someone; DROP TABLE u", drop);
  for (int i = 0; i < 1000 && !drop.done; ++i) co_await sleep_until(Clock::now() + 2ms);
  EXPECT_EQ(drop.sink.text, " ;  ; ");
  EXPECT_FALSE(alter.done);
  co_await ask(holder, "COMMIT");
  while (!alter.done || !drop.done) co_await sleep_until(Clock::now() + 2ms);
  EXPECT_EQ(alter.sink.text, "");
}
TEST_F(Locking, ADefinitionThatWaitsHoldsUpNoOther) {
  auto third = connect_to_test_database();
  run_blocking(definitions_go_on(session(), *other, *third));
}

Task<void> global_lock_reads_on(Session& holder, Session& changer) {
  EXPECT_EQ(co_await ask(holder, "FLUSH TABLES WITH READ LOCK"), "");
  Started alter;
  start(changer, "ALTER TABLE t ADD COLUMN w INT", alter);
  co_await until_waiting(holder, "Waiting for table metadata lock");
  EXPECT_EQ(co_await ask(holder, "SELECT v FROM t WHERE id = 2"), "2");
  EXPECT_FALSE(alter.done);
  co_await ask(holder, "UNLOCK TABLES");
  while (!alter.done) co_await sleep_until(Clock::now() + 2ms);
  EXPECT_EQ(alter.sink.text, "");
}
TEST_F(Locking, ADefinitionThatWaitsForTheGlobalLockLetsItsHolderRead) {
  run_blocking(global_lock_reads_on(session(), *other));
}

TEST_F(Locking, UnderLockTablesOnlyThoseAreDefinedAnew) {
  run("CREATE TABLE u (id INT PRIMARY KEY); LOCK TABLES t WRITE");
  const std::string refused = "ERROR 1100: Table 'u' was not locked with LOCK TABLES";
  EXPECT_EQ(run("DROP TABLE u"), refused);
  EXPECT_EQ(run("ALTER TABLE u ADD COLUMN v INT"), refused);
  EXPECT_EQ(run("TRUNCATE TABLE u"), refused);
  EXPECT_EQ(run("ALTER TABLE t ADD COLUMN w INT"), "");
  EXPECT_EQ(run("CREATE TABLE new (id INT)"), "ERROR 1100: Table 'new' was not locked with LOCK TABLES");
  EXPECT_EQ(run("UNLOCK TABLES; DROP TABLE u"), " ; ");
}

TEST_F(Locking, WhatIsLockedForReadingIsNotChanged) {
  run("LOCK TABLES t READ");
  const std::string refused = "ERROR 1099: Table 't' was locked with a READ lock and can't be updated";
  for (const char* sql :
       {"INSERT INTO t VALUES (9, 9)", "UPDATE t SET v = 1", "DELETE FROM t", "DROP TABLE t",
        "ALTER TABLE t ADD COLUMN w INT", "TRUNCATE TABLE t", "CREATE TABLE t (id INT)"})
    EXPECT_EQ(run(sql), refused) << sql;
  EXPECT_EQ(run("SELECT v FROM t WHERE id = 1"), "1");
  EXPECT_EQ(run("UNLOCK TABLES; DROP TABLE t"), " ; ");
}

TEST_F(Locking, AReadOnlyTransactionDefinesNothing) {
  const std::string refused = "ERROR 1792: Cannot execute statement in a READ ONLY transaction.";
  run("START TRANSACTION READ ONLY");
  for (const char* sql :
       {"DROP TABLE t", "CREATE TABLE u (id INT)", "CREATE USER someone", "TRUNCATE TABLE t"})
    EXPECT_EQ(run(sql), refused) << sql;
  run("COMMIT; SET SESSION transaction_read_only = ON");
  EXPECT_EQ(run("DROP TABLE t"), refused);
  run("SET SESSION transaction_read_only = OFF");
  EXPECT_EQ(run("DROP TABLE t"), "");
}

Task<void> deadlock(Session& a, Session& b) {
  co_await ask(a, "BEGIN; UPDATE t SET v = 10 WHERE id = 1; UPDATE t SET v = 10 WHERE id = 3");
  co_await ask(b, "BEGIN; UPDATE t SET v = 20 WHERE id = 2");
  Started waiting;
  start(b, "UPDATE t SET v = 21 WHERE id = 1", waiting);
  co_await until_waiting(a, "Waiting for row lock");
  EXPECT_EQ(co_await ask(a, "UPDATE t SET v = 11 WHERE id = 2"), "") << "b has changed less and gives up";
  while (!waiting.done) co_await sleep_until(Clock::now() + 2ms);
  EXPECT_EQ(waiting.sink.text.substr(0, 11), "ERROR 1213:");
  co_await ask(a, "COMMIT");
  EXPECT_EQ(co_await ask(b, "SELECT v FROM t ORDER BY id"), "10\n11\n10");
  const std::string status = co_await ask(a, "SHOW ENGINE INNODB STATUS");
  for (const char* part :
       {"LATEST DETECTED DEADLOCK", "UPDATE t SET v = 21 WHERE id = 1", "UPDATE t SET v = 11 WHERE id = 2",
        "index PRIMARY of table `test`.`t` lock_mode X", "key 1", "key 2",
        "*** WE ROLL BACK TRANSACTION (2)"}) {
    EXPECT_NE(status.find(part), std::string::npos) << part << " is not in\n" << status;
  }
}
TEST_F(Locking, TheLastDeadlockIsToldInFull) {
  run_blocking(deadlock(session(), *other));
}

}  // namespace
}  // namespace commitd::sql
