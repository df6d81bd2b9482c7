// Statements from logs that earlier versions wrote.
#include "binlog/events.h"
#include "sql/catalog.h"
#include "sql/testing/sql_fixture.h"

namespace commitd::sql {
namespace {

using testing::SqlTest;

class Replay : public SqlTest {
 protected:
  // What the replay of the statement says: "" when it was planned.
  std::string replay(std::string_view sql) {
    binlog::QueryEvent event;
    event.db = "test";
    event.sql = sql;
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

TEST_F(Replay, WhatNoVersionTookStopsIt) {
  EXPECT_NE(replay("CREATE TABLE t (a INT INVISIBLE)"), "");
  EXPECT_NE(replay("CREATE VIEW v AS SELECT 1"), "");
}

}  // namespace
}  // namespace commitd::sql
