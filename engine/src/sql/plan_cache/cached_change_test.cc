// Plans of prepared INSERTs, UPDATEs and DELETEs that are kept: used again while they hold, and never longer.
#include "sql/plan_cache/cached_change.h"

#include "sql/testing/prepared_fixture.h"

namespace commitd::sql {
namespace {

using testing::reuses;
using testing::Statement;
using Parameters = std::vector<Value>;

Value number(int64_t value) {
  return Value::integer(value);
}
Value text(std::string_view value) {
  return Value::string(std::string(value));
}

class CachedChanges : public testing::PreparedTest {
 protected:
  CachedChanges() {
    for (const char* name : {"t", "fresh"}) {
      run(fmt::format(
          "CREATE TABLE {} (id INT AUTO_INCREMENT PRIMARY KEY, k INT NOT NULL DEFAULT 0, c VARCHAR(5), "
          "d DECIMAL(6,2), u INT UNIQUE, changed DATETIME, KEY by_k (k)); "
          "INSERT INTO {} VALUES (1, 10, 'one', 1.5, 1, NULL), (2, 20, 'two', 2.5, 2, NULL), "
          "(3, 20, 'three', NULL, 3, NULL), (4, 40, NULL, 4, NULL, NULL)",
          name, name));
    }
    update.id = prepare("UPDATE t SET k = k + 1 WHERE id = ?").id;
    insert.id = prepare("INSERT INTO t (id, c) VALUES (?, 'new')").id;
    erase.id = prepare("DELETE FROM t WHERE id = ?").id;
  }

  // All that a client is told.
  std::string outcome(const Statement& statement, const Parameters& parameters) {
    const std::string said = execute(statement, parameters);
    return fmt::format("{} affected {} id {} info '{}' warnings {} [{}]", said, sink.last.affected_rows,
                       sink.last.last_insert_id, sink.last.info, sink.last.warnings, run("SHOW WARNINGS"));
  }
  std::string rows(std::string_view table = "t") {
    return run(fmt::format("SELECT * FROM {} ORDER BY id", table));
  }
  std::string k_of(int id) { return run(fmt::format("SELECT k FROM t WHERE id = {}", id)); }

  // Executes the statement with the plan of before, and on a table of the same rows one that is bound anew.
  void expect_same(std::string_view sql, const Statement& kept, const Parameters& parameters, bool reused) {
    const uint64_t before = reuses();
    const std::string with_plan = outcome(kept, parameters);
    EXPECT_EQ(reuses() - before, reused ? 1u : 0u) << sql;
    std::string without = outcome(prepare(named(sql, "fresh")), parameters);
    for (size_t at = without.find("fresh."); at != std::string::npos; at = without.find("fresh."))
      without.replace(at, 6, "t.");
    EXPECT_EQ(with_plan, without) << sql;
    EXPECT_EQ(rows("t"), rows("fresh")) << sql;
  }
  static std::string named(std::string_view sql, std::string_view table) {
    return fmt::format(fmt::runtime(sql), table);
  }

  Statement update{session()}, insert{session()}, erase{session()};
};

TEST_F(CachedChanges, TheSecondExecutionUsesThePlanOfTheFirst) {
  for (const Statement* statement : {&update, &insert, &erase}) {
    EXPECT_FALSE(reuses_plan(*statement, 100));
    EXPECT_TRUE(reuses_plan(*statement, 101));
  }
  execute(update, 1);
  execute(insert, 7);
  execute(erase, 2);
  EXPECT_EQ(run("SELECT id, k, c FROM t ORDER BY id"), "1|11|one\n3|20|three\n4|40|NULL\n7|0|new");
}

TEST_F(CachedChanges, EveryShapeDoesWhatItDoesWithoutAPlan) {
  struct Case {
    const char* sql;
    std::vector<Parameters> executions;
  };
  const std::vector<Case> cases = {
      {"UPDATE {} SET k = k + 1 WHERE id = ?", {{number(1)}, {number(2)}, {number(99)}, {number(2)}}},
      {"UPDATE {} SET k = k - ?, c = ? WHERE id = ?",
       {{number(1), text("a"), number(1)},
        {number(-5), Value::null(), number(2)},
        {number(0), text("b"), number(1)}}},
      {"UPDATE {} SET k = ? WHERE id = ?",
       {{number(5), number(1)}, {Value::null(), number(1)}, {text("7"), number(2)}, {text("x"), number(2)}}},
      {"UPDATE {} SET c = ? WHERE id = ?",
       {{text("short"), number(1)}, {text("too long"), number(1)}, {text("fits"), number(3)}}},
      {"UPDATE {} SET u = ? WHERE id = ?",
       {{number(9), number(1)}, {number(2), number(1)}, {number(8), number(2)}}},
      {"UPDATE {} SET id = ? WHERE id = ?",
       {{number(50), number(4)}, {number(1), number(50)}, {number(4), number(50)}}},
      {"UPDATE {} SET k = 3, d = d * 2 WHERE k = ? AND c <> 'two'",
       {{number(20)}, {number(20)}, {number(3)}}},
      {"UPDATE {} SET k = k + 1 WHERE k BETWEEN ? AND ? LIMIT 1",
       {{number(1), number(30)}, {number(1), number(90)}}},
      {"UPDATE {} SET c = DEFAULT, k = DEFAULT WHERE id = ?", {{number(1)}, {number(2)}}},
      {"UPDATE IGNORE {} SET u = ? WHERE id = ?", {{number(2), number(1)}, {number(2), number(3)}}},
      {"INSERT INTO {} (id, k, c, d) VALUES (?, ?, ?, ?)",
       {{number(60), number(6), text("six"), text("6.66")},
        {number(61), number(6), text("too long"), number(1)},
        {number(60), number(6), text("dup"), number(1)},
        {number(62), Value::null(), text("null"), number(1)},
        {number(63), number(1), Value::null(), Value::null()}}},
      {"INSERT INTO {} (k, c) VALUES (?, ?), (5, 'five')", {{number(1), text("a")}, {text("2"), text("b")}}},
      {"INSERT INTO {} VALUES (NULL, ?, DEFAULT, 1 + 1, NULL, NULL)", {{number(1)}, {number(2)}}},
      {"INSERT IGNORE INTO {} (id, u) VALUES (?, ?)", {{number(70), number(2)}, {number(70), number(70)}}},
      {"REPLACE INTO {} (id, u) VALUES (?, ?)", {{number(1), number(5)}, {number(80), number(5)}}},
      {"DELETE FROM {} WHERE id = ?", {{number(1)}, {number(1)}, {number(2)}}},
      {"DELETE FROM {} WHERE k > ? OR c IS NULL", {{number(1000)}, {number(5)}}},
  };
  for (const Case& tested : cases) {
    const Statement kept = prepare(named(tested.sql, "t"));
    bool reused = false;
    for (const Parameters& parameters : tested.executions) {
      expect_same(tested.sql, kept, parameters, reused);
      reused = true;
    }
  }
}

TEST_F(CachedChanges, KindsOfParametersThatAreComparedCount) {
  EXPECT_FALSE(reuses_plan(update, 1));
  EXPECT_EQ(execute(update, {text("2")}), "");
  EXPECT_EQ(k_of(2), "21");
  EXPECT_EQ(execute(update, {text("2x")}).substr(0, 11), "ERROR 1292:") << "strict mode";
  EXPECT_EQ(execute(update, {Value::null()}), "");
  EXPECT_EQ(execute(update, {Value::real(1.5)}), "");
  EXPECT_EQ(execute(update, {Value::decimal({20, 1})}), "");
  EXPECT_EQ(k_of(2), "22") << "2.0 is 2";
  run("SET sql_mode = ''");
  run("SELECT k FROM t WHERE id = '1.5x'");
  for (int i = 0; i < 2; ++i) {
    execute(update, {text("1.5x")});
    EXPECT_EQ(sink.last.warnings, last().last.warnings);
  }
  const Statement add = prepare("UPDATE t SET d = d + ? WHERE id = 1");
  execute(add, {number(1)});
  execute(add, {Value::decimal({125, 2})});
  execute(add, {text("0.25")});
  execute(add, {Value::real(1)});
  EXPECT_EQ(run("SELECT d FROM t WHERE id = 1"), "5.00");
}

TEST_F(CachedChanges, ConditionsBesideTheKeyCount) {
  const Statement of_two[] = {prepare("UPDATE t SET k = 99 WHERE id = ? AND c = 'two'"),
                              prepare("DELETE FROM t WHERE id = ? AND c = 'two'")};
  for (const Statement& statement : of_two) {
    for (const int id : {1, 2, 3}) {
      execute(statement, id);
      EXPECT_EQ(sink.last.affected_rows, id == 2 ? 1u : 0u);
    }
  }
  EXPECT_EQ(run("SELECT id, k FROM t ORDER BY id"), "1|10\n3|20\n4|40");
}

TEST_F(CachedChanges, DefinitionsEndThem) {
  const auto other = connect();
  auto all = [&] {
    execute(update, 1), execute(insert, 200), execute(erase, 200);
    EXPECT_TRUE(reuses_plan(update, 1) && reuses_plan(insert, 200) && reuses_plan(erase, 200));
  };
  all();
  run(*other, "ALTER TABLE test.t ADD COLUMN added INT NOT NULL DEFAULT 7 FIRST");
  execute(insert, 90);
  EXPECT_EQ(run("SELECT added, id, k, c FROM t WHERE id = 90"), "7|90|0|new");
  execute(update, 90);
  EXPECT_EQ(k_of(90), "1");
  all();
  EXPECT_EQ(run("ALTER TABLE t ADD CONSTRAINT small CHECK (c <> 'new' OR k < 3)"), "");
  execute(update, 90);
  EXPECT_EQ(execute(update, 90), "ERROR 3819: Check constraint 'small' is violated.");
  EXPECT_EQ(execute(update, 90), "ERROR 3819: Check constraint 'small' is violated.");
  run("ALTER TABLE t DROP CHECK small; ALTER TABLE t MODIFY c CHAR(2)");
}

TEST_F(CachedChanges, IndexesOfANewDefinitionAreFilled) {
  execute(update, 1);
  execute(insert, 90);
  run("CREATE UNIQUE INDEX by_c ON t (c)");
  EXPECT_EQ(execute(insert, 91), "ERROR 1062: Duplicate entry 'new' for key 't.by_c'");
  run("DROP INDEX by_k ON t; CREATE INDEX by_k ON t (k)");
  execute(update, 1);
  EXPECT_EQ(run("SELECT id FROM t FORCE INDEX (by_k) WHERE k = 12"), "1");
  run("RENAME TABLE t TO elsewhere");
  for (const Statement* statement : {&update, &insert, &erase})
    EXPECT_EQ(execute(*statement, 1), "ERROR 1146: Table 'test.t' doesn't exist");
  run("CREATE TABLE t (c CHAR(3), id BIGINT PRIMARY KEY, k INT)");
  execute(insert, 1);
  execute(update, 1);
  EXPECT_EQ(run("SELECT * FROM t"), "new|1|NULL");
}

TEST_F(CachedChanges, PrivilegesEndThem) {
  run("CREATE USER writer@localhost; GRANT SELECT, INSERT, UPDATE, DELETE ON test.t TO writer@localhost");
  const auto writer = connect_to_test_database("writer");
  const Statement theirs[] = {prepare(*writer, "UPDATE t SET k = 1 WHERE id = ?"),
                              prepare(*writer, "INSERT INTO t (id) VALUES (?)"),
                              prepare(*writer, "DELETE FROM t WHERE id = ?")};
  for (const Statement& statement : theirs) {
    EXPECT_EQ(execute(statement, 500), "");
    EXPECT_TRUE(reuses_plan(statement, 501));
  }
  run("REVOKE INSERT, UPDATE, DELETE ON test.t FROM writer@localhost");
  for (const Statement& statement : theirs) EXPECT_EQ(execute(statement, 502).substr(0, 11), "ERROR 1142:");
  EXPECT_EQ(run("SELECT id FROM t WHERE id > 400"), "") << "the rows were deleted again";
}

TEST_F(CachedChanges, TheSessionsVariablesAndDatabaseCount) {
  const Statement cut = prepare("UPDATE t SET c = ? WHERE id = 1");
  EXPECT_EQ(execute(cut, {text("aaaaaaa")}).substr(0, 11), "ERROR 1406:");
  EXPECT_EQ(execute(cut, {text("aaaaaaa")}).substr(0, 11), "ERROR 1406:");
  run("SET sql_mode = ''");
  EXPECT_EQ(execute(cut, {text("bbbbbbb")}), "");
  EXPECT_EQ(sink.last.warnings, 1);
  EXPECT_EQ(run("SELECT c FROM t WHERE id = 1"), "bbbbb");
  run("SET sql_mode = DEFAULT");
  EXPECT_EQ(execute(cut, {text("aaaaaaa")}).substr(0, 11), "ERROR 1406:");
  run("CREATE TABLE times (id INT PRIMARY KEY, at TIMESTAMP DEFAULT CURRENT_TIMESTAMP); SET time_zone = "
      "'+00:00'");
  const Statement at = prepare("INSERT INTO times VALUES (?, '2024-01-01 12:00:00')");
  const Statement now = prepare("INSERT INTO times (id) VALUES (?)");
  execute(at, 1);
  run("SET time_zone = '+02:00'");
  execute(at, 2);
  run("SET time_zone = '+00:00', timestamp = 1000");
  execute(now, 3);
  run("SET timestamp = 2000");
  execute(now, 4);
  EXPECT_EQ(run("SELECT at FROM times ORDER BY id"),
            "2024-01-01 12:00:00\n2024-01-01 10:00:00\n1970-01-01 00:16:40\n1970-01-01 00:33:20");
  run("CREATE DATABASE other; CREATE TABLE other.t (id INT PRIMARY KEY, k INT, c CHAR(5)); USE other");
  execute(insert, 1);
  execute(update, 1);
  EXPECT_EQ(run("SELECT id, c FROM other.t"), "1|new");
}

TEST_F(CachedChanges, WhoeverMayNotWriteIsTold) {
  execute(update, 1);
  run("SET TRANSACTION READ ONLY; BEGIN");
  EXPECT_EQ(execute(update, 1).substr(0, 11), "ERROR 1792:");
  run("COMMIT; LOCK TABLES t READ");
  EXPECT_EQ(execute(update, 1).substr(0, 11), "ERROR 1099:");
  run("UNLOCK TABLES; CREATE TABLE u (id INT PRIMARY KEY); LOCK TABLES u WRITE");
  EXPECT_EQ(execute(update, 1).substr(0, 11), "ERROR 1100:");
  run("UNLOCK TABLES; SET sql_safe_updates = 1");
  EXPECT_EQ(execute(update, 1), "");
  const Statement all = prepare("UPDATE t SET k = 0 WHERE d > ?");
  run("SET sql_safe_updates = 0");
  execute(all, 100);
  run("SET sql_safe_updates = 1");
  EXPECT_EQ(execute(all, 100).substr(0, 11), "ERROR 1175:");
}

TEST_F(CachedChanges, AnUnfinishedBindingIsNotKept) {
  const Statement unknown = prepare("UPDATE t SET nothing = 1 WHERE id = ?");
  EXPECT_EQ(execute(unknown, 1).substr(0, 11), "ERROR 1054:");
  EXPECT_EQ(execute(unknown, 1).substr(0, 11), "ERROR 1054:");
  run("ALTER TABLE t ADD nothing INT");
  EXPECT_EQ(execute(unknown, 1), "");
  run("CREATE TABLE without (id INT PRIMARY KEY, v INT NOT NULL)");
  const Statement none = prepare("INSERT INTO without (id) VALUES (?)");
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(execute(none, 1), "ERROR 1364: Field 'v' doesn't have a default value");
  const Statement few = prepare("INSERT INTO without VALUES (?)");
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(execute(few, 1), "ERROR 1136: Column count doesn't match value count at row 1");
}

TEST_F(CachedChanges, TablesOfOtherEnginesAreBoundAnew) {
  run("CREATE TABLE m (id INT PRIMARY KEY, k INT) ENGINE=MEMORY; INSERT INTO m VALUES (1, 5)");
  const Statement in_memory = prepare("UPDATE m SET k = k + 1 WHERE id = ?");
  EXPECT_FALSE(reuses_plan(in_memory, 1));
  EXPECT_FALSE(reuses_plan(in_memory, 1));
  EXPECT_EQ(run("SELECT k FROM m"), "7");
}

TEST_F(CachedChanges, TransactionsAreUndoneAsAnyOther) {
  execute(update, 1);
  run("BEGIN");
  execute(update, 1);
  execute(insert, 90);
  execute(erase, 2);
  EXPECT_EQ(execute(insert, 90), "ERROR 1062: Duplicate entry '90' for key 't.PRIMARY'");
  EXPECT_EQ(k_of(1), "12");
  run("ROLLBACK");
  EXPECT_EQ(run("SELECT id, k FROM t ORDER BY id"), "1|11\n2|20\n3|20\n4|40");
}

TEST_F(CachedChanges, SubqueriesAreReadAnew) {
  const Statement copied = prepare("INSERT INTO t (k, c) VALUES ((SELECT MAX(id) FROM fresh), ?)");
  for (int i = 0; i < 2; ++i) {
    execute(copied, {text("max")});
    run("INSERT INTO fresh (k) VALUES (1)");
  }
  EXPECT_EQ(run("SELECT k FROM t WHERE c = 'max' ORDER BY id"), "4\n5");
}

TEST_F(CachedChanges, LongValuesOfAnExecutionAreNotKept) {
  run("CREATE TABLE long_ones (id INT PRIMARY KEY, v LONGTEXT); INSERT INTO long_ones VALUES (1, 'x')");
  const Statement store = prepare("UPDATE long_ones SET v = ? WHERE id = 1");
  execute(store, {text("y")});
  execute(store, {text(std::string(100000, 'z'))});
  EXPECT_EQ(run("SELECT LENGTH(v) FROM long_ones"), "100000");
  execute(store, {text("y")});
  EXPECT_EQ(run("SELECT v FROM long_ones"), "y");
}

TEST_F(CachedChanges, CountersAreThoseOfTheSameText) {
  auto counted = [&](auto&& statement) {
    run("FLUSH STATUS");
    statement();
    std::string counters;
    for (const char* name : {"Handler_read_key", "Handler_read_next", "Handler_update", "Handler_write",
                             "Handler_delete", "Handler_commit", "Com_update", "Com_insert", "Com_delete"})
      counters += run(std::string("SHOW SESSION STATUS LIKE '") + name + "'") + " ";
    return counters;
  };
  execute(update, 1), execute(insert, 300), execute(erase, 300);
  EXPECT_EQ(counted([&] { execute(update, 1); }),
            counted([&] { run("UPDATE t SET k = k + 1 WHERE id = 1"); }));
  EXPECT_EQ(counted([&] { execute(insert, 300); }),
            counted([&] { run("INSERT INTO t (id, c) VALUES (301, 'new')"); }));
  EXPECT_EQ(counted([&] { execute(erase, 300); }), counted([&] { run("DELETE FROM t WHERE id = 301"); }));
}

}  // namespace
}  // namespace commitd::sql
