// Statements from logs that earlier versions wrote.
#include "binlog/events.h"
#include "sql/catalog.h"
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

TEST_F(Replay, WhatNoVersionTookStopsIt) {
  EXPECT_NE(replay("CREATE TABLE t (a INT INVISIBLE)"), "");
  EXPECT_NE(replay("CREATE VIEW v AS SELECT 1"), "");
}

}  // namespace
}  // namespace commitd::sql
