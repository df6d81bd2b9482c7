#include "sql/parser/logged_text.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "sql/accounts/account_statements.h"
#include "sql/ast/definitions.h"
#include "sql/ddl/ddl.h"
#include "sql/parser/parser.h"
#include "sql/variables/system_variables.h"

namespace commitd::sql {
namespace {

using ast::StatementKind;
using What = ast::AlterAction::What;

struct Logged {
  std::string error = {};  // of who asks for the statement
  StatementKind kind = StatementKind::Empty;
  std::string text = {};     // as it is logged
  std::string earlier = {};  // as earlier versions logged it: from its first word to its last
};

Logged logged(std::string_view sql, uint64_t mode = 0) {
  Arena arena;
  const auto parsed = parse_statement(sql, arena, lexer_options(mode));
  if (!parsed.ok()) return {.error = parsed.error().message};
  const ast::Statement& statement = *parsed->statement;
  return {"", statement.kind, logged_text(statement, mode), std::string(statement.text)};
}

std::string without_blanks(std::string text) {
  std::erase_if(text, [](char c) { return c == ' '; });
  return text;
}

// "" when it is read as a statement of that kind.
std::string replayed(std::string_view text, StatementKind kind, uint64_t mode = 0) {
  Arena arena;
  const auto parsed = parse_logged_statement(text, mode, arena);
  if (!parsed.ok()) return parsed.error().message;
  return parsed->statement->kind == kind ? "" : "another kind";
}

// Of every kind that is logged as text.
const std::vector<std::string> kStatements = {
    "CREATE DATABASE IF NOT EXISTS d DEFAULT CHARACTER SET = utf8mb4 COLLATE utf8mb4_bin",
    "ALTER DATABASE d CHARACTER SET latin1",
    "DROP DATABASE IF EXISTS d",
    "CREATE TABLE IF NOT EXISTS `d`.`t1` (a INT(5) UNSIGNED NOT NULL AUTO_INCREMENT COMMENT 'x''y\\'', b "
    "ENUM('a','b') CHARACTER SET latin1 DEFAULT 'a', c DECIMAL(5,2) CHECK (c > 1.5e0 OR c IS NULL) NOT "
    "ENFORCED, "
    "e DATETIME(3) DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3), PRIMARY KEY USING BTREE (a), "
    "UNIQUE KEY k (b DESC, c), CONSTRAINT x CHECK (NOT (a * 2 = 7) && b <> 'q')) ENGINE=InnoDB COMMENT='t'",
    "CREATE TABLE t LIKE u",
    "DROP TABLE IF EXISTS t, d.u CASCADE",
    "TRUNCATE TABLE t",
    "RENAME TABLE t TO u, d.v TO d.w",
    "CREATE UNIQUE INDEX i ON t (a, b(3) DESC) COMMENT 'i' ALGORITHM=INPLACE LOCK=NONE",
    "DROP INDEX i ON t",
    "ALTER TABLE t ADD COLUMN c REAL DEFAULT -1.5 AFTER b, ADD COLUMN (x INT, y TEXT)",
    "ALTER TABLE t DROP COLUMN c",
    "ALTER TABLE t MODIFY c BIGINT FIRST, CHANGE d e VARCHAR(3)",
    "ALTER TABLE t RENAME COLUMN a TO b",
    "ALTER TABLE t ALTER COLUMN a SET DEFAULT 'q', ALTER b DROP DEFAULT",
    "ALTER TABLE t ADD UNIQUE KEY k (a), ADD PRIMARY KEY (b), ALGORITHM=COPY, LOCK=SHARED",
    "ALTER TABLE t DROP INDEX k, DROP PRIMARY KEY",
    "ALTER TABLE t RENAME INDEX a TO b",
    "ALTER TABLE t RENAME TO d.u",
    "ALTER TABLE t ADD CONSTRAINT x CHECK (a > 0)",
    "ALTER TABLE t DROP CHECK x",
    "ALTER TABLE t DROP CONSTRAINT x",
    "ALTER TABLE t ALTER CHECK x NOT ENFORCED",
    "ALTER TABLE t CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci",
    "ALTER TABLE t AUTO_INCREMENT = 7, COMMENT 'c'",
    "ALTER TABLE t DISABLE KEYS",
    "CREATE SERVER s FOREIGN DATA WRAPPER mysql OPTIONS (HOST 'h', PORT 3306, USER 'u', PASSWORD 'p''q')",
    "ALTER SERVER s OPTIONS (HOST 'h2')",
    "DROP SERVER IF EXISTS s",
    "CREATE USER `u\\v`@'%' IDENTIFIED WITH 'mysql_native_password' AS "
    "'*94BDCEBE19083CE2A1F959FD02F964C7AF4CFC29' "
    "REQUIRE SSL ACCOUNT LOCK",
    "ALTER USER 'it''s'@'%' IDENTIFIED WITH 'caching_sha2_password' AS 0xAB REQUIRE NONE",
    "DROP USER 'u'@'h', 'v'@'%'",
    "GRANT SELECT, INSERT ON `d`.`t` TO 'u'@'h' WITH GRANT OPTION",
    "REVOKE ALL PRIVILEGES, GRANT OPTION FROM 'u'@'h'",
};

template <class Enumeration, class Each>
void for_all_until(Enumeration last, const Each& each) {
  for (int i = 0; i <= static_cast<int>(last); ++i) each(static_cast<Enumeration>(i));
}

TEST(LoggedText, TheseStatementsAreOfEveryKind) {
  std::map<StatementKind, size_t> kinds;
  std::map<What, size_t> actions;
  for (const std::string& sql : kStatements) {
    Arena arena;
    const auto parsed = parse_statement(sql, arena);
    ASSERT_TRUE(parsed.ok()) << sql << ": " << parsed.error().message;
    ++kinds[parsed->statement->kind];
    if (parsed->statement->kind != StatementKind::AlterTable) continue;
    for (const auto& action : ast::as<ast::AlterTableStatement>(*parsed->statement).actions)
      ++actions[action.what];
  }
  for_all_until(StatementKind::Comment, [&](StatementKind kind) {
    const bool logged_as_another = kind == StatementKind::SetPassword;  // ALTER USER
    if ((ddl::is_ddl(kind) || is_account_statement(kind)) && !logged_as_another) {
      EXPECT_GT(kinds[kind], 0u) << "kind " << static_cast<int>(kind);
    }
  });
  for_all_until(What::Options, [&](What what) { EXPECT_GT(actions[what], 0u) << static_cast<int>(what); });
}

// Wherever version comments stand, and however much of a statement is in one.
TEST(LoggedText, VersionCommentsAreNotLogged) {
  size_t tried = 0;
  for (const std::string& plain : kStatements) {
    EXPECT_EQ(logged(plain).text, plain);
    for (size_t at = plain.find(' '); at != std::string::npos; at = plain.find(' ', at + 1)) {
      const std::string first = plain.substr(0, at), rest = plain.substr(at);
      for (const std::string& commented :
           {"/*! " + first + " */" + rest, "/*!50100" + first + " /*!99999 no */ */" + rest,
            first + " /*!080000" + rest + "*/", first + "/*M! no */" + rest + " /*!50000 */",
            "/*! " + first + rest + " */"}) {
        const Logged result = logged(commented);
        if (!result.error.empty()) continue;  // in a string
        ++tried;
        EXPECT_EQ(without_blanks(result.text), without_blanks(plain)) << commented;
        EXPECT_EQ(replayed(result.text, result.kind), "") << result.text;
        EXPECT_EQ(replayed(result.earlier, result.kind), "") << result.earlier;
      }
    }
  }
  EXPECT_GT(tried, 1000u);
}

TEST(LoggedText, PlainCommentsStay) {
  for (const std::string sql : {"DROP TABLE /* all of it */ t", "DROP TABLE t -- and\n, u # so on\n, v",
                                "CREATE TABLE t (a INT, CHECK (a*/* twice */2 > a / 3 /* ** */))"}) {
    const Logged result = logged(sql);
    EXPECT_EQ(result.text, sql);
    EXPECT_EQ(replayed(result.text, result.kind), "");
  }
  EXPECT_EQ(logged("DROP TABLE /*! IF EXISTS /* plain */ a */, b").text,
            "DROP TABLE IF EXISTS /* plain */ a , b");
  EXPECT_EQ(logged("DROP TABLE /*!99999 x */ a").text, "DROP TABLE a");
  EXPECT_EQ(logged("CREATE TABLE t (a INT COMMENT '/*! x */')").text,
            "CREATE TABLE t (a INT COMMENT '/*! x */')");
}

TEST(LoggedText, NamesTheTypeThatRealIs) {
  constexpr uint64_t kReal = sql_mode::kRealAsFloat;
  const std::string sql =
      "CREATE TABLE t (a real, `REAL` REAL(3,1) DEFAULT 1, CHECK (CAST(a AS Real) > 'REAL'))";
  EXPECT_EQ(logged(sql).text, sql);
  EXPECT_EQ(logged(sql, kReal).text,
            "CREATE TABLE t (a FLOAT, `REAL` FLOAT(3,1) DEFAULT 1, CHECK (CAST(a AS FLOAT) > 'REAL'))");
  EXPECT_EQ(logged("ALTER TABLE t ADD \"real\" REAL", kReal | sql_mode::kAnsiQuotes).text,
            "ALTER TABLE t ADD \"real\" FLOAT");
}

// What is refused now was accepted once, and is in logs.
TEST(LoggedText, WhatEarlierVersionsLoggedIsRead) {
  const uint64_t pipes = sql_mode::kPipesAsConcat, high = sql_mode::kHighNotPrecedence;
  constexpr auto kCreate = StatementKind::CreateTable;
  const std::string or_not = "CREATE TABLE t (a INT, b INT, CHECK (a || NOT b))";
  EXPECT_NE(logged(or_not, pipes).error, "");
  EXPECT_EQ(replayed(or_not, kCreate, pipes), "");
  EXPECT_EQ(replayed(or_not, kCreate, pipes | high), "");
  EXPECT_EQ(replayed("CREATE TABLE t (a INT) /*! ENGINE = innodb", kCreate), "");
  EXPECT_EQ(replayed("CREATE */ TABLE t (a INT)", kCreate), "");
  EXPECT_EQ(replayed("CREATE TABLE t (a INT) /* no end", kCreate), "");
  // What is no beginning of a comment's end stays what it is.
  EXPECT_EQ(replayed("CREATE TABLE t (a INT, CHECK (a*/* twice */2 > 1))", kCreate), "");
  EXPECT_NE(replayed("CREATE TABLE t (a INT", kCreate), "");

  Arena arena;
  const auto read_anew = parse_logged_statement("CREATE TABLE t (a INT, CHECK (a || a))", pipes, arena);
  ASSERT_TRUE(read_anew.ok());
  EXPECT_EQ(read_anew->sql_mode, pipes);
}

}  // namespace
}  // namespace commitd::sql
