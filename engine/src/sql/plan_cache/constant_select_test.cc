// SELECTs of literals that are answered from what another session's left: as if they had been run.
#include "sql/plan_cache/constant_select.h"

#include <fmt/format.h>

#include "sql/testing/prepared_fixture.h"

namespace commitd::sql {
namespace {

class ConstantSelectsTest : public testing::SqlTest {
 protected:
  // Too long to be kept, so it is run.
  static std::string never_kept(std::string_view sql) {
    return fmt::format("{} /* {} */", sql, std::string(300, 'x'));
  }

  // All that a client is told.
  std::string told(std::string_view sql) {
    std::string all = run(sql);
    for (const ResultColumn& column : last().columns) {
      all += fmt::format(" [{} {} {} {} {} {} {}]", column.db, column.name, static_cast<int>(column.type),
                         column.collation, column.length, column.flags, column.decimals);
    }
    return all + fmt::format(" {} {}", last().last.warnings, last().last.server_status);
  }

  bool is_kept(std::string_view sql) {
    run(sql);
    const uint64_t before = testing::reuses();
    run(sql);
    return testing::reuses() == before + 1;
  }

  void expect_the_same(std::string_view sql) {
    const std::string expected = told(never_kept(sql));
    EXPECT_TRUE(is_kept(sql)) << sql;
    EXPECT_EQ(told(sql), expected) << sql;
  }
};

constexpr std::string_view kTexts[] = {"SELECT 1",
                                       "select -1",
                                       "SELECT 1.50, -0.5",
                                       "SELECT 1e3",
                                       "SELECT 18446744073709551615, 123456789012345678901234567890",
                                       "SELECT 'a', '', 'it''s'",
                                       "SELECT NULL",
                                       "SELECT TRUE, FALSE",
                                       "SELECT 0x4142, x'00ff', b'101'",
                                       "SELECT 1 AS one, 'b' `two`"};

TEST_F(ConstantSelectsTest, EveryLiteralIsToldAsIfItHadBeenRun) {
  for (const std::string_view sql : kTexts) expect_the_same(sql);
}

TEST_F(ConstantSelectsTest, SettingsOfTheSessionCount) {
  for (const char* setting :
       {"SET NAMES latin1", "SET NAMES utf8mb4 COLLATE utf8mb4_bin", "SET sql_select_limit = 0",
        "SET sql_mode = 'NO_BACKSLASH_ESCAPES'", "SET autocommit = 0", "BEGIN"}) {
    for (const std::string_view sql : kTexts) {
      EXPECT_TRUE(is_kept(sql)) << sql;
      run(setting);
      EXPECT_EQ(told(sql), told(never_kept(sql))) << setting << "; " << sql;
      run("ROLLBACK; SET autocommit = 1, sql_select_limit = DEFAULT, sql_mode = DEFAULT; SET NAMES utf8mb4");
    }
  }
}

TEST_F(ConstantSelectsTest, TheSameTextMayMeanSomethingElse) {
  EXPECT_EQ(run("SELECT \"a\\\\b\""), "a\\b");
  run("SET sql_mode = 'NO_BACKSLASH_ESCAPES'");
  EXPECT_EQ(run("SELECT \"a\\\\b\""), "a\\\\b");
  run("SET sql_mode = 'ANSI_QUOTES'");
  EXPECT_EQ(run("SELECT \"a\\\\b\"").substr(0, 10), "ERROR 1054");
}

TEST_F(ConstantSelectsTest, AnotherSessionIsAnsweredToo) {
  run("SELECT 'for all'");
  const auto other = connect();
  const uint64_t before = testing::reuses();
  EXPECT_EQ(run(*other, "SELECT 'for all'"), "for all");
  EXPECT_EQ(testing::reuses(), before + 1);
}

TEST_F(ConstantSelectsTest, TheLastFewAreKept) {
  run("SELECT 'first'");
  for (int i = 0; i < 7; ++i) run(fmt::format("SELECT {}", i));
  const uint64_t before = testing::reuses();
  EXPECT_EQ(run("SELECT 'first'"), "first");
  EXPECT_EQ(testing::reuses(), before + 1);
  for (int i = 10; i < 20; ++i) EXPECT_EQ(run(fmt::format("SELECT {}", i)), std::to_string(i));
  EXPECT_EQ(run("SELECT 'first'"), "first");
  EXPECT_EQ(testing::reuses(), before + 1) << "run again, since it had to give way";
}

TEST_F(ConstantSelectsTest, WhatIsNoConstantIsRunEachTime) {
  for (const char* sql :
       {"SELECT 1 + 1", "SELECT NOW(6)", "SELECT @@port", "SELECT @x", "SELECT 1 LIMIT 0",
        "SELECT DISTINCT 1", "SELECT 1 WHERE 0", "SELECT 1 UNION SELECT 2", "SELECT SQL_CALC_FOUND_ROWS 1",
        "SELECT 1; SELECT 2", "SELECT *", "SELECT 1 ORDER BY 1", "DO 1", "SET @x = 1"})
    EXPECT_FALSE(is_kept(sql)) << sql;
  EXPECT_EQ(run("SELECT 1 WHERE 0"), "");
  EXPECT_EQ(run("SELECT 1; SELECT 2"), "1 ; 2");
}

TEST_F(ConstantSelectsTest, TheSessionRemembersAStatement) {
  const auto remembered = [&](const std::string& sql, std::string_view setting = "DO 0") {
    run("FLUSH STATUS; SELECT 1/0");
    run(setting);
    run(sql);
    run("SET sql_select_limit = DEFAULT");
    return run(
        "SHOW WARNINGS; SELECT FOUND_ROWS(), ROW_COUNT(); SHOW SESSION STATUS LIKE 'Com_select'; "
        "SHOW SESSION STATUS LIKE 'Questions'; SHOW SESSION STATUS LIKE 'Handler_commit'");
  };
  run("SELECT 1");
  EXPECT_EQ(remembered("SELECT 1"), remembered(never_kept("SELECT 1")));
  const std::string_view none = "SET sql_select_limit = 0";
  EXPECT_EQ(remembered("SELECT 1", none), remembered(never_kept("SELECT 1"), none));
}

}  // namespace
}  // namespace commitd::sql
