// Statements from logs that earlier versions wrote.
#include <fstream>
#include <iterator>
#include <set>

#include "binlog/event_writer.h"
#include "binlog/events.h"
#include "sql/accounts/account_statements.h"
#include "sql/ast/accounts.h"
#include "sql/catalog.h"
#include "sql/ddl/ddl.h"
#include "sql/parser/parser.h"
#include "sql/testing/sql_fixture.h"
#include "sql/variables/system_variables.h"

namespace commitd::sql {
namespace {

using testing::SqlTest;

class Replay : public SqlTest {
 protected:
  // What the replay of the statement says: "" when it was planned.
  std::string replay(std::string_view sql, uint64_t sql_mode = 0, bool by_commitd = true) {
    binlog::QueryEvent event;
    event.db = "test";
    event.sql = sql;
    event.sql_mode = sql_mode;
    event.by_commitd = by_commitd;
    WriteSet writes;
    auto publish = apply_logged_statement(server(), event, writes);
    if (!publish.ok()) return publish.error().message;
    (*publish)();
    return "";
  }
};

TEST_F(Replay, WhatEarlierVersionsIgnoredDoesNotStopIt) {
  EXPECT_EQ(replay("CREATE TABLE z (a INT(5) ZEROFILL PRIMARY KEY, b NATIONAL INT)"), "");
  EXPECT_NE(run("SHOW CREATE TABLE z").find("`a` int unsigned NOT NULL"), std::string::npos);
  EXPECT_EQ(replay("ALTER TABLE z ADD c INT, ALGORITHM=NONSENSE, LOCK=NONSENSE"), "");
  EXPECT_EQ(replay("CREATE INDEX i ON z (c) ALGORITHM NOCOPY"), "");
}

TEST_F(Replay, NamesInAlterTableMayBeThoseThatEarlierActionsMade) {
  run("CREATE TABLE z (a INT, b INT, KEY x (a))");
  EXPECT_EQ(
      replay(
          "ALTER TABLE z RENAME COLUMN a TO c, ALTER COLUMN c SET DEFAULT 4, ADD d INT, RENAME COLUMN d TO "
          "e, RENAME INDEX x TO y, DROP INDEX y"),
      "");
  EXPECT_EQ(run("INSERT INTO z () VALUES (); SELECT c, e FROM z"), " ; 4|NULL");
}

TEST_F(Replay, WhatIsRefusedSinceIsTaken) {
  const std::string comment(3000, 'x');
  EXPECT_EQ(replay("CREATE TABLE y (s SET('a', 'a'), i INT(256), d DECIMAL(0,10), c CHAR(5) COMMENT '" +
                       comment + "', KEY (c(0)), k INT, f DOUBLE DEFAULT 1) COMMENT='" + comment + "'",
                   sql_mode::kStrictTransTables),
            "");
  EXPECT_NE(run("SHOW CREATE TABLE y").find("`d` decimal(10,10)"), std::string::npos);
  EXPECT_NE(run("SHOW CREATE TABLE y").find("COMMENT='" + comment + "'"), std::string::npos);
  // Of this version, what is dropped goes first; earlier ones did what was written first.
  EXPECT_EQ(replay("ALTER TABLE y ADD KEY c (k), DROP KEY c"), "");
  EXPECT_NE(run("SHOW CREATE TABLE y").find("KEY `c` (`k`)"), std::string::npos);
  EXPECT_EQ(replay("ALTER TABLE y ADD COLUMN z INT, DROP COLUMN z"), "");
  EXPECT_NE(replay("ALTER TABLE y ADD COLUMN z INT, DROP COLUMN nothing"), "");
}

TEST_F(Replay, RealIsWhatItsServerMadeOfIt) {
  const auto type_of = [&](const std::string& table) {
    const std::string shown = run("SHOW CREATE TABLE " + table);
    return shown.find("`a` float") != std::string::npos    ? "float"
           : shown.find("`a` double") != std::string::npos ? "double"
                                                           : "";
  };
  constexpr uint64_t kReal = sql_mode::kRealAsFloat;
  EXPECT_EQ(replay("CREATE TABLE earlier (a REAL, CHECK (CAST(a AS REAL) > 0.1))", kReal), "");
  EXPECT_STREQ(type_of("earlier"), "double");
  EXPECT_NE(run("SHOW CREATE TABLE earlier").find("CAST(a AS REAL)"), std::string::npos);
  EXPECT_EQ(replay("CREATE TABLE mysqls (a REAL, CHECK (CAST(a AS REAL) > 0.1))", kReal, false), "");
  EXPECT_STREQ(type_of("mysqls"), "float");
  EXPECT_NE(run("SHOW CREATE TABLE mysqls").find("CAST(a AS FLOAT)"), std::string::npos);
  EXPECT_EQ(replay("CREATE TABLE usual (a REAL)", 0, false), "");
  EXPECT_STREQ(type_of("usual"), "double");
}

TEST_F(Replay, OperatorsThatNoModeReadsAreReadAsEarlierVersionsDid) {
  EXPECT_EQ(replay("CREATE TABLE t (a INT, b INT, CHECK (a || NOT b))", sql_mode::kPipesAsConcat), "");
  EXPECT_NE(run("SHOW CREATE TABLE t").find("CHECK (a || NOT b)"), std::string::npos);
  EXPECT_EQ(run("INSERT INTO t VALUES (1, 1)"), "");
}

class ReplayOfOwnLog : public Replay {
 protected:
  std::vector<binlog::QueryEvent> logged() const {
    std::vector<binlog::QueryEvent> queries;
    std::ifstream file(log_directory() / "binlog.000001", std::ios::binary);
    const std::string log{std::istreambuf_iterator<char>(file), {}};
    std::string_view rest = std::string_view(log).substr(binlog::kFileMagic.size());
    while (!rest.empty()) {
      const auto event = binlog::parse_event(rest);
      if (!event.ok()) break;  // what the file has been grown by
      rest.remove_prefix(event->bytes.size());
      if (event->header.type != binlog::EventType::Query) continue;
      auto query = binlog::parse_query_event(*event, true);
      if (query.ok() && query->sql != "BEGIN") queries.push_back(*std::move(query));
    }
    return queries;
  }
};

// Earlier versions of commitd kept 0 where a column became AUTO_INCREMENT; MySQL, and commitd since, number
// it.
TEST_F(ReplayOfOwnLog, RowsAreNumberedAsTheyWereWhereTheStatementRan) {
  const std::string made =
      "CREATE TABLE z (id INT PRIMARY KEY, n INT); INSERT INTO z VALUES (1, 0), (2, 7), (3, 0)";
  const std::string alter = "ALTER TABLE z MODIFY n INT AUTO_INCREMENT, ADD KEY (n) -- why";
  const auto numbers = [&] { return run("SELECT n FROM z ORDER BY id; DROP TABLE z"); };
  run(made);
  EXPECT_EQ(replay(alter), "");
  EXPECT_EQ(numbers(), "0\n7\n0 ; ");
  run(made);
  EXPECT_EQ(replay(alter, 0, false), "");
  EXPECT_EQ(numbers(), "1\n7\n8 ; ");
  run(made);
  EXPECT_EQ(run(alter), "");
  EXPECT_EQ(numbers(), "1\n7\n8 ; ");
  const auto queries = logged();
  const std::string text = queries[queries.size() - 2].sql;  // the DROP is behind it
  run(made);
  EXPECT_EQ(replay(text), "") << text;
  EXPECT_EQ(numbers(), "1\n7\n8 ; ");
}

// Whatever the sql_mode says of quotes and backslashes.
TEST_F(ReplayOfOwnLog, EveryKindOfStatementIsReadAgain) {
  std::set<ast::StatementKind> kinds;
  for (const std::string mode :
       {"", "NO_BACKSLASH_ESCAPES", "ANSI", "ANSI,NO_BACKSLASH_ESCAPES,HIGH_NOT_PRECEDENCE"}) {
    run("SET sql_mode = '" + mode + "'");
    const size_t before = logged().size();
    const std::vector<std::string> statements = {
        "CREATE DATABASE d /*! CHARACTER SET latin1 */",
        "ALTER DATABASE d COLLATE utf8mb4_bin",
        "CREATE TABLE d.t (a REAL COMMENT 'it''s', b VARCHAR(9) DEFAULT 'x', CHECK (NOT a = 7 || b))",
        "/*! CREATE */ TABLE d.m (a INT) ENGINE=MEMORY",
        "ALTER TABLE d.t ADD c INT /*!50000 DEFAULT 5 */",
        "CREATE INDEX i ON d.t (a)",
        "DROP INDEX i ON d.t",
        "TRUNCATE TABLE d.t",
        "RENAME TABLE d.t TO d.u",
        "DROP TABLE d.u, d.m",
        "DROP DATABASE d",
        "CREATE SERVER s FOREIGN DATA WRAPPER mysql OPTIONS (HOST 'h', PASSWORD 'it''s')",
        "ALTER SERVER s OPTIONS (USER 'u')",
        "DROP SERVER s",
        "CREATE USER `a\\b`@'%' IDENTIFIED BY 'p', 'it''s'@'%' IDENTIFIED WITH mysql_native_password BY 'q'",
        "ALTER USER `a\\b`@'%' ACCOUNT LOCK",
        "SET PASSWORD FOR 'it''s'@'%' = 'r'",
        "GRANT SELECT ON `d``e`.* TO `a\\b`@'%', 'it''s'@'%'",
        "REVOKE SELECT ON `d``e`.* FROM 'it''s'@'%'",
        "DROP USER `a\\b`@'%', 'it''s'@'%'"};
    for (const std::string& sql : statements) EXPECT_EQ(run(sql), "") << mode << ": " << sql;
    const auto queries = logged();
    ASSERT_EQ(queries.size(), before + statements.size());
    for (size_t i = before; i < queries.size(); ++i) {
      Arena arena;
      const auto parsed = parse_logged_statement(queries[i].sql, queries[i].sql_mode, arena);
      ASSERT_TRUE(parsed.ok()) << mode << ": " << queries[i].sql << ": " << parsed.error().message;
      EXPECT_TRUE(queries[i].by_commitd);
      EXPECT_EQ(queries[i].sql.find("*/"), std::string::npos) << queries[i].sql;
      kinds.insert(parsed->statement->kind);
      if (parsed->statement->kind != ast::StatementKind::CreateUser) continue;
      const auto& accounts = ast::as<ast::UserStatement>(*parsed->statement).accounts;
      ASSERT_EQ(accounts.size(), 2u);
      EXPECT_EQ(accounts[0].name.user, "a\\b") << mode;
      EXPECT_EQ(accounts[1].name.user, "it's") << mode;
    }
  }
  for (int i = 0; i <= static_cast<int>(ast::StatementKind::Comment); ++i) {
    const auto kind = static_cast<ast::StatementKind>(i);
    const bool is_logged = ddl::is_ddl(kind) || is_account_statement(kind);
    const bool as_another = kind == ast::StatementKind::SetPassword;  // ALTER USER
    EXPECT_EQ(kinds.contains(kind), is_logged && !as_another) << "kind " << i;
  }
}

TEST_F(Replay, WhatNoVersionTookStopsIt) {
  EXPECT_NE(replay("CREATE TABLE t (a INT INVISIBLE)"), "");
  EXPECT_NE(replay("CREATE VIEW v AS SELECT 1"), "");
}

}  // namespace
}  // namespace commitd::sql
