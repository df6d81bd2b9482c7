// Plans of prepared statements that are kept: used again while they hold, and never longer.
#include "sql/plan_cache/cached_select.h"

#include "sql/testing/prepared_fixture.h"

namespace commitd::sql {
namespace {

using namespace std::chrono_literals;

using testing::reuses;
using testing::Statement;

class CachedSelects : public testing::PreparedTest {
 protected:
  CachedSelects() {
    run("CREATE TABLE t (id INT PRIMARY KEY, v INT, name VARCHAR(20), KEY by_v (v)); "
        "INSERT INTO t VALUES (1, 10, 'one'), (2, 20, 'two'), (3, 20, 'three')");
    by_id.id = prepare("SELECT name, v FROM t WHERE id = ?").id;
  }

  Statement by_id{session()};
};

TEST_F(CachedSelects, TheSecondExecutionUsesThePlanOfTheFirst) {
  EXPECT_FALSE(reuses_plan(by_id, 1));
  EXPECT_TRUE(reuses_plan(by_id, 2));
  EXPECT_EQ(execute(by_id, 2), "two|20");
  EXPECT_EQ(sink.columns.size(), 2u);
  EXPECT_EQ(execute(by_id, 4), "");
  EXPECT_EQ(execute(by_id, 3), "three|20");
}

TEST_F(CachedSelects, EveryShapeGivesWhatItGivesWithoutAPlan) {
  struct Case {
    const char* sql;
    std::vector<std::vector<Value>> executions;
  };
  auto ints = [](std::initializer_list<int> numbers) {
    std::vector<Value> values;
    for (const int number : numbers) values.push_back(Value::integer(number));
    return values;
  };
  const Case cases[] = {
      {"SELECT * FROM t WHERE id = ?", {ints({1}), ints({2}), ints({9}), ints({3})}},
      {"SELECT id FROM t WHERE v = ?", {ints({20}), ints({10}), ints({5})}},
      {"SELECT id FROM t WHERE id BETWEEN ? AND ?", {ints({1, 2}), ints({2, 3}), ints({3, 1})}},
      {"SELECT id FROM t WHERE id IN (?, ?)", {ints({1, 3}), ints({2, 2}), ints({7, 1})}},
      {"SELECT name FROM t WHERE v >= ? ORDER BY name", {ints({0}), ints({20}), ints({21})}},
      {"SELECT DISTINCT v FROM t WHERE id > ? ORDER BY v", {ints({0}), ints({1}), ints({3})}},
      {"SELECT v, COUNT(*), SUM(id) FROM t WHERE id < ? GROUP BY v", {ints({3}), ints({4}), ints({1})}},
      {"SELECT id FROM t ORDER BY id LIMIT ?", {ints({1}), ints({2}), ints({0})}},
      {"SELECT id FROM t WHERE id = ? AND v = ?", {ints({1, 10}), ints({1, 20}), ints({2, 20})}},
      {"SELECT id FROM t WHERE id = ? OR NOT v = ?", {ints({1, 20}), ints({2, 20}), ints({3, 10})}},
      {"SELECT id FROM t WHERE name IS NOT NULL AND id <> ?", {ints({1}), ints({2})}},
  };
  for (const Case& tested : cases) {
    const Statement kept = prepare(tested.sql);
    for (const auto& parameters : tested.executions) {
      const Statement fresh = prepare(tested.sql);
      const std::string expected = execute(fresh, parameters);
      EXPECT_EQ(execute(kept, parameters), expected) << tested.sql;
    }
    EXPECT_GE(reuses(), tested.executions.size() - 1);
  }
}

TEST_F(CachedSelects, KindsOfParametersCount) {
  execute(by_id, 1);
  EXPECT_EQ(execute(by_id, {Value::string("2")}), "two|20");
  EXPECT_EQ(execute(by_id, {Value::string("2x")}), "two|20");
  const auto warnings = sink.last.warnings;
  EXPECT_GT(warnings, 0) << "2x is not wholly a number";
  execute(prepare("SELECT name, v FROM t WHERE id = ?"), {Value::string("2x")});
  EXPECT_EQ(warnings, sink.last.warnings);
  EXPECT_EQ(execute(by_id, {Value::string("3")}), "three|20");
  EXPECT_EQ(sink.last.warnings, 0);
  EXPECT_EQ(execute(by_id, {Value::null()}), "");
  EXPECT_EQ(execute(by_id, {Value::real(2.0)}), "two|20");
  EXPECT_EQ(execute(by_id, {Value::real(2.5)}), "");
  EXPECT_EQ(execute(by_id, {Value::unsigned_integer(UINT64_MAX)}), "");
  EXPECT_EQ(execute(by_id, 3), "three|20");
  const Statement by_name = prepare("SELECT id FROM t WHERE name = ?");
  EXPECT_EQ(execute(by_name, {Value::string("ONE")}), "1");
  EXPECT_EQ(execute(by_name, {Value::string("ONE", true)}), "") << "bytes are compared as bytes";
  EXPECT_EQ(execute(by_name, {Value::string("Two")}), "2");
}

TEST_F(CachedSelects, DefinitionsEndThem) {
  const Statement star = prepare("SELECT * FROM t WHERE id = ?");
  const Statement by_v = prepare("SELECT id FROM t WHERE v = ?");
  auto all = [&] {
    execute(star, 1), execute(by_id, 1), execute(by_v, 20);
    EXPECT_TRUE(reuses_plan(star, 1) && reuses_plan(by_id, 1) && reuses_plan(by_v, 20));
  };
  all();
  run("ALTER TABLE t ADD COLUMN added INT NOT NULL DEFAULT 7 FIRST");
  EXPECT_EQ(execute(star, 2), "7|2|20|two");
  EXPECT_EQ(sink.columns.size(), 4u);
  EXPECT_EQ(execute(by_id, 2), "two|20");
  all();
  run("ALTER TABLE t MODIFY v VARCHAR(5)");
  EXPECT_EQ(execute(by_id, 2), "two|20");
  EXPECT_EQ(sink.columns[1].type, FieldType::VarString);
  all();
  run("ALTER TABLE t DROP INDEX by_v");
  EXPECT_EQ(execute(by_v, 20), "2\n3");
  run("CREATE INDEX by_v ON t (v)");
  EXPECT_EQ(execute(by_v, 20), "2\n3");
  all();
  run("RENAME TABLE t TO u");
  EXPECT_EQ(execute(by_id, 1), "ERROR 1146: Table 'test.t' doesn't exist");
  run("RENAME TABLE u TO t");
  EXPECT_EQ(execute(by_id, 1), "one|10");
  all();
  run("TRUNCATE TABLE t");
  EXPECT_EQ(execute(by_id, 1), "");
  run("DROP TABLE t; CREATE TABLE t (name INT, id BIGINT PRIMARY KEY, v INT); INSERT INTO t VALUES (5, 1, "
      "6)");
  EXPECT_EQ(execute(by_id, 1), "5|6");
  EXPECT_EQ(execute(star, 1), "5|1|6");
  run("ALTER TABLE t DROP COLUMN v");
  EXPECT_EQ(execute(by_id, 1), "ERROR 1054: Unknown column 'v' in 'field list'");
}

TEST_F(CachedSelects, DefinitionsOfOtherSessionsEndThemToo) {
  const auto other = connect();
  execute(by_id, 1);
  run(*other, "ALTER TABLE test.t ADD COLUMN w INT FIRST");
  EXPECT_EQ(execute(by_id, 2), "two|20");
  run(*other, "DROP TABLE test.t");
  EXPECT_EQ(execute(by_id, 2), "ERROR 1146: Table 'test.t' doesn't exist");
}

TEST_F(CachedSelects, PrivilegesEndThem) {
  run("CREATE USER reader@localhost; GRANT SELECT ON test.t TO reader@localhost");
  const auto reader = connect_to_test_database("reader");
  const Statement theirs = prepare(*reader, "SELECT v FROM t WHERE id = ?");
  EXPECT_EQ(execute(theirs, 1), "10");
  EXPECT_TRUE(reuses_plan(theirs, 1));
  run("REVOKE SELECT ON test.t FROM reader@localhost");
  EXPECT_EQ(execute(theirs, 1).substr(0, 11), "ERROR 1142:");
  run("GRANT SELECT ON test.* TO reader@localhost");
  EXPECT_EQ(execute(theirs, 1), "10");
  EXPECT_TRUE(reuses_plan(theirs, 1));
  run("DROP USER reader@localhost");
  EXPECT_EQ(execute(theirs, 1).substr(0, 11), "ERROR 1142:");
}

TEST_F(CachedSelects, TheCurrentDatabaseCounts) {
  run("CREATE DATABASE elsewhere; CREATE TABLE elsewhere.t (id INT PRIMARY KEY, v INT, name CHAR(3)); "
      "INSERT INTO elsewhere.t VALUES (1, 0, 'far')");
  const Statement qualified = prepare("SELECT name FROM test.t WHERE id = ?");
  EXPECT_EQ(execute(by_id, 1), "one|10");
  EXPECT_EQ(execute(qualified, 1), "one");
  run("USE elsewhere");
  EXPECT_EQ(execute(by_id, 1), "far|0");
  EXPECT_EQ(execute(qualified, 1), "one");
  run("USE test");
  EXPECT_EQ(execute(by_id, 1), "one|10");
}

TEST_F(CachedSelects, VariablesOfTheSessionCount) {
  run("CREATE TABLE times (id INT PRIMARY KEY, at TIMESTAMP); SET time_zone = '+00:00'; "
      "INSERT INTO times VALUES (1, '2024-01-01 12:00:00')");
  const Statement at = prepare("SELECT at FROM times WHERE id = ?");
  EXPECT_EQ(execute(at, 1), "2024-01-01 12:00:00");
  run("SET time_zone = '+02:00'");
  EXPECT_EQ(execute(at, 1), "2024-01-01 14:00:00");
  EXPECT_TRUE(reuses_plan(at, 1));
  run("SET sql_mode = ''");
  const Statement grouped = prepare("SELECT id, COUNT(*) FROM t WHERE id < ? GROUP BY v");
  EXPECT_EQ(execute(grouped, 2), "1|1");
  EXPECT_EQ(execute(grouped, 2), "1|1");
  run("SET sql_mode = 'ONLY_FULL_GROUP_BY'");
  EXPECT_EQ(execute(grouped, 2).substr(0, 11), "ERROR 1055:");
  run("SET sql_select_limit = 0");
  EXPECT_EQ(execute(by_id, 1), "");
  run("SET sql_select_limit = DEFAULT");
  EXPECT_EQ(execute(by_id, 1), "one|10");
}

TEST_F(CachedSelects, TransactionsReadTheirOwnWay) {
  const auto other = connect();
  execute(by_id, 1);
  run("BEGIN");
  EXPECT_EQ(execute(by_id, 1), "one|10");
  run(*other, "UPDATE test.t SET v = 11 WHERE id = 1");
  EXPECT_EQ(execute(by_id, 1), "one|10") << "the snapshot of the transaction";
  run("UPDATE t SET v = 21 WHERE id = 2");
  EXPECT_EQ(execute(by_id, 2), "two|21") << "its own change";
  run("ROLLBACK");
  EXPECT_EQ(execute(by_id, 1), "one|11");
  EXPECT_EQ(execute(by_id, 2), "two|20");
  run("SET autocommit = 0");
  EXPECT_EQ(execute(by_id, 1), "one|11");
  run(*other, "UPDATE test.t SET v = 12 WHERE id = 1");
  EXPECT_EQ(execute(by_id, 1), "one|11");
  run("COMMIT; SET autocommit = 1");
  EXPECT_EQ(execute(by_id, 1), "one|12");
}

TEST_F(CachedSelects, TransactionsWarnAsOften) {
  execute(by_id, {Value::string("1")});
  run("BEGIN");
  for (const char* key : {"1", "1x", "1.5x", "y"}) {
    const std::string kept = execute(by_id, {Value::string(key)});
    EXPECT_EQ(kept, run(fmt::format("SELECT name, v FROM t WHERE id = '{}'", key))) << key;
    EXPECT_EQ(sink.last.warnings, last().last.warnings) << key;
  }
  run("COMMIT");
}

TEST_F(CachedSelects, RowsOfATransactionAreCounted) {
  const Statement found = prepare("SELECT FOUND_ROWS()");
  const std::vector<Value> none;
  execute(by_id, 1);
  run("BEGIN");
  execute(by_id, 1);
  EXPECT_EQ(execute(found, none), "1");
  execute(by_id, 99);
  EXPECT_EQ(execute(found, none), "0");
  run("SET sql_select_limit = 0");
  EXPECT_EQ(execute(by_id, 1), "");
  run("SET sql_select_limit = DEFAULT; COMMIT");
}

TEST_F(CachedSelects, SerializableTransactionsLockWhatTheyRead) {
  const auto other = connect();
  execute(by_id, 1);
  run("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE; BEGIN");
  EXPECT_EQ(execute(by_id, 1), "one|10");
  EXPECT_EQ(run(*other, "SELECT id FROM test.t WHERE id = 1 FOR UPDATE NOWAIT").substr(0, 11), "ERROR 3572:");
  run("COMMIT");
  EXPECT_EQ(execute(by_id, 1), "one|10");
  EXPECT_EQ(run(*other, "SELECT id FROM test.t WHERE id = 1 FOR UPDATE NOWAIT"), "1");
}

TEST_F(CachedSelects, LockedTablesAreRespected) {
  run("CREATE TABLE u (id INT PRIMARY KEY)");
  execute(by_id, 1);
  run("LOCK TABLES u READ");
  EXPECT_EQ(execute(by_id, 1), "ERROR 1100: Table 't' was not locked with LOCK TABLES");
  run("UNLOCK TABLES");
  EXPECT_EQ(execute(by_id, 1), "one|10");
}

Task<std::string> ask(Session& session, std::string sql) {
  testing::TextSink sink;
  co_await session.query(sql, sink);
  co_return sink.text;
}

Task<void> execute_later(Statement statement, testing::TextSink& sink, bool& done) {
  const std::vector<Value> one(1, Value::integer(1));
  co_await statement.session.execute(statement.id, one, sink);
  done = true;
}

Task<void> waits_for_the_lock(Statement statement, Session& other) {
  co_await ask(other, "LOCK TABLES test.t WRITE");
  testing::TextSink sink;
  bool done = false;
  Reactor::current()->spawn(execute_later(statement, sink, done));
  const std::string waiting =
      "SELECT COUNT(*) FROM performance_schema.metadata_locks WHERE LOCK_STATUS = 'PENDING'";
  std::string seen;
  while (!done && seen != "1") {
    co_await sleep_until(Clock::now() + 2ms);
    seen = co_await ask(other, waiting);
  }
  EXPECT_FALSE(done) << "it has read a table that another has locked";
  co_await ask(other, "UPDATE test.t SET v = 99 WHERE id = 1; UNLOCK TABLES");
  while (!done) co_await sleep_until(Clock::now() + 2ms);
  EXPECT_EQ(sink.text, "one|99");
}

TEST_F(CachedSelects, ATableThatAnotherHasLockedIsWaitedFor) {
  const auto other = connect();
  execute(by_id, 1);
  execute(by_id, 1);
  run_blocking(waits_for_the_lock(by_id, *other));
}

TEST_F(CachedSelects, TablesInMemoryAndOfTheServerAreReadAnew) {
  run("CREATE TABLE m (id INT PRIMARY KEY, v INT) ENGINE=MEMORY; INSERT INTO m VALUES (1, 5)");
  const Statement in_memory = prepare("SELECT v FROM m WHERE id = ?");
  EXPECT_EQ(execute(in_memory, 1), "5");
  run("UPDATE m SET v = 6");
  EXPECT_EQ(execute(in_memory, 1), "6");
  const Statement tables = prepare("SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = ?");
  const std::vector<Value> test(1, Value::string("test"));
  EXPECT_EQ(execute(tables, test), "2");
  run("CREATE TABLE one_more (id INT PRIMARY KEY)");
  EXPECT_EQ(execute(tables, test), "3");
}

TEST_F(CachedSelects, LongValuesOfAnExecutionAreNotKept) {
  run("CREATE TABLE long_ones (id INT PRIMARY KEY, v LONGTEXT); "
      "INSERT INTO long_ones VALUES (1, REPEAT('x', 100000)), (2, 'y')");
  const Statement of_long = prepare("SELECT v FROM long_ones WHERE id = ?");
  execute(of_long, 2);
  EXPECT_EQ(execute(of_long, 1).size(), 100000u);
  EXPECT_EQ(execute(of_long, 2), "y");
}

TEST_F(CachedSelects, ByNameAsWell) {
  run("PREPARE s FROM 'SELECT name FROM t WHERE id = ?'; SET @one = 1, @two = 2, @none = NULL");
  EXPECT_EQ(run("EXECUTE s USING @one"), "one");
  const uint64_t before = reuses();
  EXPECT_EQ(run("EXECUTE s USING @two"), "two");
  EXPECT_EQ(reuses(), before + 1);
  EXPECT_EQ(run("EXECUTE s USING @none"), "");
  EXPECT_EQ(run("EXECUTE s USING @one"), "one");
}

TEST_F(CachedSelects, CountersAreThoseOfAnyOtherSelect) {
  auto counted = [&] {
    std::string text;
    for (const char* name : {"Handler_read_key", "Handler_commit", "Com_select", "Questions"})
      text += run(std::string("SHOW SESSION STATUS LIKE '") + name + "'") + " ";
    return text;
  };
  auto difference = [&](auto&& statement) {
    run("FLUSH STATUS");
    statement();
    return counted();
  };
  execute(by_id, 1);
  const std::string kept = difference([&] { execute(by_id, 1); });
  const std::string text = difference([&] { run("SELECT name, v FROM t WHERE id = 1"); });
  EXPECT_EQ(kept, text);
  run("BEGIN");
  const std::string in_transaction = difference([&] { execute(by_id, 1); });
  EXPECT_EQ(in_transaction, difference([&] { run("SELECT name, v FROM t WHERE id = 1"); }));
  run("COMMIT");
  EXPECT_EQ(execute(by_id, 2), "two|20");
  EXPECT_EQ(run("SELECT FOUND_ROWS(), ROW_COUNT()"), "1|-1");
}

}  // namespace
}  // namespace commitd::sql
