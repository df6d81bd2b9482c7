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
  EXPECT_EQ(run("SET sql_mode = 'ANSI_QUOTES,ALLOW_INVALID_DATES'"),
            "ERROR 1231: Variable 'sql_mode' can't be set to the value of 'ALLOW_INVALID_DATES'");
  for (const std::string absent : {"TIME_TRUNCATE_FRACTIONAL", "PAD_CHAR_TO_FULL_LENGTH"})
    EXPECT_EQ(run("SET sql_mode = '" + absent + "'").substr(0, 11), "ERROR 1231:") << absent;
}

TEST_F(Variables, ModesSayHowOperatorsAreRead) {
  EXPECT_EQ(run("SET sql_mode = 'PIPES_AS_CONCAT'; SELECT 1 || 2 + 1, 'a' || NULL, 2 ^ 1 || 0, 1 OR 0 || 0"),
            " ; 13|NULL|8|1");
  EXPECT_EQ(run("SET sql_mode = ''; SELECT 1 || 2 + 1, 'a || b' OR 0"), " ; 1|0");
  EXPECT_EQ(run("SET sql_mode = 'HIGH_NOT_PRECEDENCE'; SELECT NOT 1 BETWEEN -5 AND 5, NOT 1 = 1, 3 * NOT 0"),
            " ; 1|0|3");
  EXPECT_EQ(run("SET sql_mode = ''; SELECT NOT 1 BETWEEN -5 AND 5, NOT 1 = 2"), " ; 0|1");
  EXPECT_EQ(run("SET sql_mode = 'REAL_AS_FLOAT'; CREATE TABLE r (a REAL, b DOUBLE); SET sql_mode = '';"
                "SELECT column_type FROM information_schema.columns WHERE table_name = 'r' ORDER BY 1"),
            " ;  ;  ; double\nfloat");
}

TEST_F(Variables, OptimizerSwitchIsMadeOfFlags) {
  const std::string before = run("SELECT @@optimizer_switch");
  EXPECT_TRUE(before.starts_with("index_merge=on,index_merge_union=on,")) << before;
  const std::string is = "SELECT @@optimizer_switch = '" + before + "', @@optimizer_switch LIKE ";
  EXPECT_EQ(run("SET optimizer_switch = 'mrr=off,MRR_cost_based=OFF'"), "");
  EXPECT_EQ(run(is + "'%,mrr=off,mrr_cost_based=off,block%'"), "0|1");
  EXPECT_EQ(run("SET optimizer_switch = 'mrr=default'"), "");
  EXPECT_EQ(run(is + "'%,mrr=on,mrr_cost_based=off,%'"), "0|1");
  EXPECT_EQ(run("SET optimizer_switch = 'default,semijoin=off'"), "");
  EXPECT_EQ(run(is + "'%,mrr_cost_based=on,%semijoin=off,loosescan=on,%'"), "0|1");
  EXPECT_EQ(run("SET optimizer_switch = DEFAULT"), "");
  EXPECT_EQ(run(is + "'%'"), "1|1");
  EXPECT_EQ(run("SET optimizer_switch = @@optimizer_switch"), "");
  EXPECT_EQ(run("SET optimizer_switch = 'mrr=off,nonsense=on'"),
            "ERROR 1231: Variable 'optimizer_switch' can't be set to the value of 'nonsense=on'");
  for (const char* wrong : {"'mrr'", "'mrr=maybe'", "'mrr=on,mrr=off'", "'default,default'", "-1"})
    EXPECT_EQ(run(std::string("SET optimizer_switch = ") + wrong).substr(0, 11), "ERROR 1231:") << wrong;
  EXPECT_EQ(run(is + "'%'"), "1|1");
  EXPECT_EQ(run("SET GLOBAL optimizer_switch = 'skip_scan=off'"), "");
  EXPECT_EQ(run(*connect(),
                "SELECT @@optimizer_switch LIKE '%skip_scan=off%', @@optimizer_switch LIKE "
                "'index_merge=on,%'"),
            "1|1");
}

TEST_F(Variables, WhatWouldChangeNothingIsNotTaken) {
  for (const char* usual :
       {"sql_auto_is_null = 0", "sql_auto_is_null = OFF", "sql_quote_show_create = 1",
        "explicit_defaults_for_timestamp = ON", "lc_time_names = 'en_US'", "lc_time_names = 0"})
    EXPECT_EQ(run(std::string("SET ") + usual), "") << usual;
  for (const char* other :
       {"sql_auto_is_null = 1", "GLOBAL sql_auto_is_null = ON", "sql_quote_show_create = 0",
        "explicit_defaults_for_timestamp = OFF", "lc_time_names = 'de_DE'"})
    EXPECT_EQ(run(std::string("SET ") + other).substr(0, 11), "ERROR 1231:") << other;
  EXPECT_EQ(run("SET sql_auto_is_null = 1"),
            "ERROR 1231: Variable 'sql_auto_is_null' can't be set to the value of 'ON'");
}

TEST_F(Variables, TheClockIsSetWithFractions) {
  run("SET time_zone = '+00:00'");
  EXPECT_EQ(run("SET timestamp = 1700000000.123456; SELECT @@timestamp, NOW(6), UNIX_TIMESTAMP()"),
            " ; 1700000000.123456|2023-11-14 22:13:20.123456|1700000000");
  EXPECT_EQ(run("SET timestamp = 1e9; SELECT NOW(6)"), " ; 2001-09-09 01:46:40.000000");
  EXPECT_EQ(run("SET timestamp = '12'"), "ERROR 1232: Incorrect argument type to variable 'timestamp'");
  for (const char* wrong : {"-1", "0.5", "2147483648"})
    EXPECT_EQ(run(std::string("SET timestamp = ") + wrong),
              std::string("ERROR 1231: Variable 'timestamp' can't be set to the value of '") + wrong + "'");
  EXPECT_EQ(run("SET timestamp = 0; SELECT NOW() > '2020-01-01'"), " ; 1");
  EXPECT_EQ(run("SET timestamp = 1.5; SET timestamp = DEFAULT; SELECT NOW() > '2020-01-01'"), " ;  ; 1");
}

TEST_F(Variables, NotesCanBeTurnedOff) {
  EXPECT_EQ(run("DROP TABLE IF EXISTS nothing; SHOW WARNINGS"), " ; Note|1051|Unknown table 'test.nothing'");
  EXPECT_EQ(run("SET sql_notes = 0; DROP TABLE IF EXISTS nothing; SHOW WARNINGS"), " ;  ; ");
  EXPECT_EQ(run("SELECT 1 / 0; SHOW WARNINGS"), "NULL ; Warning|1365|Division by 0");
}

TEST_F(Variables, InsertIdIsTheNextNumber) {
  run("CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, a INT); INSERT INTO t (a) VALUES (1)");
  EXPECT_EQ(run("SET insert_id = 7; INSERT INTO t (a) VALUES (2), (3); SELECT LAST_INSERT_ID()"), " ;  ; 7");
  EXPECT_EQ(run("INSERT INTO t (a) VALUES (4); SELECT id FROM t"), " ; 1\n7\n8\n9");
}

TEST_F(Variables, MaxJoinSizeEndsASelectThatLooksAtMore) {
  constexpr std::string_view kTooBig =
      "ERROR 1104: The SELECT would examine more than MAX_JOIN_SIZE rows; check your WHERE and use SET "
      "SQL_BIG_SELECTS=1 or SET MAX_JOIN_SIZE=# if the SELECT is okay";
  run("CREATE TABLE t (a INT PRIMARY KEY); INSERT INTO t VALUES (1), (2), (3)");
  EXPECT_EQ(run("SET max_join_size = 3; SELECT @@max_join_size, @@sql_big_selects"), " ; 3|0");
  EXPECT_EQ(run("SELECT COUNT(*) FROM t"), "3");
  EXPECT_EQ(run("SELECT COUNT(*) FROM t, t u"), kTooBig);
  EXPECT_EQ(run("SELECT COUNT(*) FROM (SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4) x"),
            kTooBig);
  EXPECT_EQ(run("CREATE TABLE c (a INT); INSERT INTO c SELECT t.a FROM t, t u"),
            " ; " + std::string(kTooBig));
  EXPECT_EQ(run("UPDATE t, t u SET t.a = t.a + 10 WHERE u.a = 3"), kTooBig);
  EXPECT_EQ(run("SELECT t.a FROM t, t u LIMIT 1"), "1");
  EXPECT_EQ(run("SHOW STATUS WHERE variable_name = 'Uptime' AND value < 0"), "");
  EXPECT_EQ(run("SET sql_big_selects = 1; SELECT COUNT(*) FROM t, t u"), " ; 9");
  EXPECT_EQ(run("SET max_join_size = 2; SELECT COUNT(*) FROM t"), " ; " + std::string(kTooBig));
  EXPECT_EQ(run("SET max_join_size = DEFAULT; SELECT COUNT(*) FROM t, t u, t v; SELECT @@sql_big_selects"),
            " ; 27 ; 1");
  EXPECT_EQ(run("SET GLOBAL max_join_size = 5; SELECT @@GLOBAL.sql_big_selects"), " ; 0");
  auto later = connect_to_test_database();
  EXPECT_EQ(run(*later, "SELECT COUNT(*) FROM t, t u"), kTooBig);
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
