// SET as sessions see it: scopes, ranges, and what is kept for the next start.
#include "base/error_codes.h"
#include "sql/testing/sql_fixture.h"
#include "sql/variables/persisted_variables.h"

namespace commitd::sql {
namespace {

class Variables : public testing::SqlTest {};

TEST_F(Variables, RefusalsHaveMysqlsNumbers) {
  EXPECT_EQ(run("SET nothing_like_it = 1").substr(0, 11), "ERROR 1193:");
  EXPECT_EQ(run("SET GLOBAL version_comment = 'x'").substr(0, 11), "ERROR 1238:");
  EXPECT_EQ(run("SET SESSION local_infile = ON").substr(0, 11), "ERROR 1229:");
  EXPECT_EQ(run("SET GLOBAL insert_id = 1").substr(0, 11), "ERROR 1228:");
  EXPECT_EQ(run("SET autocommit = 2").substr(0, 11), "ERROR 1231:");
  EXPECT_EQ(run("SET wait_timeout = 'soon'").substr(0, 11), "ERROR 1232:");
  EXPECT_EQ(run("SET GLOBAL time_zone = 'nowhere'").substr(0, 11), "ERROR 1298:");
}

TEST_F(Variables, NumbersOutOfRangeAreClampedWithAWarning) {
  EXPECT_EQ(run("SET lock_wait_timeout = 0"), "");
  EXPECT_EQ(run("SHOW WARNINGS"), "Warning|1292|Truncated incorrect lock_wait_timeout value: '0'");
  EXPECT_EQ(run("SELECT @@lock_wait_timeout"), "1");
  EXPECT_EQ(run("SET GLOBAL lock_wait_timeout = 99999999999"), "");
  EXPECT_EQ(run("SHOW WARNINGS"), "Warning|1292|Truncated incorrect lock_wait_timeout value: '99999999999'");
  EXPECT_EQ(run("SELECT @@GLOBAL.lock_wait_timeout"), "31536000");
  EXPECT_EQ(run("SET lock_wait_timeout = 5; SHOW WARNINGS"), " ; ");
}

TEST_F(Variables, ModesThatStandForOthersTurnThemOn) {
  EXPECT_EQ(
      run("SET sql_mode = 'traditional'; SELECT @@sql_mode"),
      " ; STRICT_TRANS_TABLES,STRICT_ALL_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,"
      "TRADITIONAL,NO_ENGINE_SUBSTITUTION");
  EXPECT_EQ(run("CREATE TABLE t (n TINYINT); INSERT INTO t VALUES (1000)").substr(0, 14), " ; ERROR 1264:");
  EXPECT_EQ(run("SET sql_mode = 'ANSI'; SELECT @@sql_mode"),
            " ; REAL_AS_FLOAT,PIPES_AS_CONCAT,ANSI_QUOTES,IGNORE_SPACE,ONLY_FULL_GROUP_BY,ANSI");
  EXPECT_EQ(run("SELECT 'a' || 'b', \"n\" FROM t"), "");
  EXPECT_EQ(run("SET sql_mode = 'ANSI,nonsense'").substr(0, 11), "ERROR 1231:");
  EXPECT_EQ(run("SET sql_mode = 4; SELECT @@sql_mode"), " ; ANSI_QUOTES");
}

TEST_F(Variables, SessionsThatStartWithTheSameChangeOnlyTheirOwn) {
  constexpr std::string_view kRead =
      "SELECT @@sql_mode, @@max_error_count, @@character_set_client, @@collation_connection";
  auto latin = connect(), other = connect();
  latin->set_client_collation(8);
  other->set_client_collation(8);
  const std::string before = run(*other, kRead);
  EXPECT_TRUE(before.ends_with("|1024|latin1|latin1_swedish_ci")) << before;
  EXPECT_EQ(run(*latin, "SET sql_mode = '', max_error_count = 3, NAMES utf8mb4"), "");
  EXPECT_EQ(run(*latin, kRead), "|3|utf8mb4|utf8mb4_general_ci");
  EXPECT_EQ(run(*other, kRead), before);
  EXPECT_EQ(run("SET GLOBAL max_error_count = 9"), "");
  EXPECT_EQ(run(*other, kRead), before);  // has begun before
  auto later = connect();
  EXPECT_EQ(run(*later, "SELECT @@max_error_count"), "9");
  later->set_client_collation(8);
  EXPECT_EQ(run(*later, "SELECT @@max_error_count, @@character_set_client"), "9|latin1");
  run_blocking(other->reset());
  EXPECT_EQ(run(*other, "SELECT @@max_error_count"), "9");
}

TEST_F(Variables, PersistSetsAndKeeps) {
  std::string file;
  auto& persisted = server().variables->persisted();
  persisted.save_with([&](const std::string& content) -> Status {
    file = content;
    return {};
  });
  EXPECT_EQ(run("SET PERSIST lock_wait_timeout = 7, PERSIST_ONLY local_infile = ON"), "");
  EXPECT_EQ(run("SELECT @@GLOBAL.lock_wait_timeout, @@GLOBAL.local_infile"), "7|0");
  EXPECT_EQ(run("SELECT * FROM performance_schema.persisted_variables"),
            "local_infile|ON\nlock_wait_timeout|7");
  EXPECT_EQ(
      run("SELECT variable_source, set_user FROM performance_schema.variables_info WHERE variable_name IN "
          "('lock_wait_timeout', 'local_infile')"),
      "COMPILED|NULL\nDYNAMIC|root");
  PersistedVariables read;
  ASSERT_TRUE(read.load(file).ok());
  EXPECT_EQ(read.all().at("lock_wait_timeout").value, "7");
  EXPECT_EQ(read.all().at("lock_wait_timeout").user, "root");

  EXPECT_EQ(run("SET PERSIST version_comment = 'x'").substr(0, 11), "ERROR 1238:");
  EXPECT_EQ(run("RESET PERSIST nothing").substr(0, 11), "ERROR 3615:");
  EXPECT_EQ(run("RESET PERSIST IF EXISTS nothing; SHOW WARNINGS").substr(0, 16), " ; Warning|3615|");
  EXPECT_EQ(run("RESET PERSIST local_infile"), "");
  EXPECT_EQ(run("SELECT variable_name FROM performance_schema.persisted_variables"), "lock_wait_timeout");
  EXPECT_EQ(run("RESET PERSIST"), "");
  EXPECT_EQ(run("SELECT COUNT(*) FROM performance_schema.persisted_variables"), "0");
  EXPECT_EQ(run("SELECT @@GLOBAL.lock_wait_timeout"), "7");
}

TEST_F(Variables, WhatCannotBeKeptIsNotTaken) {
  server().variables->persisted().save_with([](const std::string&) -> Status {
    return Error{er::kErrorOnWrite, "disk full"};
  });
  EXPECT_EQ(run("SET PERSIST_ONLY local_infile = ON"), "ERROR 1026: disk full");
  EXPECT_EQ(run("SELECT COUNT(*) FROM performance_schema.persisted_variables"), "0");
}

TEST(PersistedVariables, DamagedFilesAreRefused) {
  PersistedVariables variables;
  for (const char* content :
       {"", "{", "[]", R"({"Version": 1})", R"({"Version": 2, "mysql_dynamic_variables": 1})",
        R"({"Version": 2, "mysql_dynamic_variables": {"a": {"Value": 1}}})"}) {
    EXPECT_FALSE(variables.load(content).ok()) << content;
  }
  EXPECT_TRUE(variables.load(R"({"Version": 2, "mysql_dynamic_variables": {"a": {"Value": "1"}}})").ok());
}

}  // namespace
}  // namespace commitd::sql
