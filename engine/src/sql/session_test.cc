#include "sql/session.h"

#include "sql/testing/sql_fixture.h"

namespace commitd::sql {
namespace {

class Sessions : public testing::SqlTest {};

Task<std::string> prepare_and_execute(Session& session, std::string_view sql, std::vector<Value> parameters) {
  auto prepared = co_await session.prepare(sql);
  if (!prepared.ok()) co_return "ERROR " + std::to_string(prepared.error().code);
  testing::TextSink sink;
  co_await session.execute(prepared->id, parameters, sink);
  session.close_statement(prepared->id);
  co_return std::to_string(prepared->parameters.size()) + "/" + std::to_string(prepared->columns.size()) +
      ": " + sink.text;
}

TEST_F(Sessions, PreparedStatements) {
  run("CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(10)); INSERT INTO t VALUES (1,'a'),(2,'b')");
  std::vector<Value> one(1, Value::integer(2));
  EXPECT_EQ(run_blocking(prepare_and_execute(session(), "SELECT v, id FROM t WHERE id = ?", one)),
            "1/2: b|2");
  std::vector<Value> two{Value::integer(3), Value::string("c")};
  EXPECT_EQ(run_blocking(prepare_and_execute(session(), "INSERT INTO t VALUES (?, ?)", two)), "2/0: ");
  EXPECT_EQ(run("SELECT * FROM t"), "1|a\n2|b\n3|c");
  EXPECT_EQ(run_blocking(prepare_and_execute(session(), "BEGIN", {})), "ERROR 1295");
  EXPECT_EQ(run_blocking(prepare_and_execute(session(), "SELECT 1; SELECT 2", {})), "ERROR 1295");
  EXPECT_EQ(run("PREPARE s FROM 'SELECT ? + 1'; SET @x = 4; EXECUTE s USING @x; DEALLOCATE PREPARE s"),
            " ;  ; 5 ; ");
}

TEST_F(Sessions, AQuestionMarkIsAParameterOnlyInWhatIsPrepared) {
  run("CREATE TABLE t (id INT PRIMARY KEY, v INT); INSERT INTO t VALUES (1, 1)");
  for (const char* text :
       {"UPDATE t SET v = ?", "SELECT ?", "DELETE FROM t WHERE id <> ? OR 1", "SELECT 1 LIMIT ?"})
    EXPECT_EQ(run(text).substr(0, 11), "ERROR 1064:") << text;
  EXPECT_EQ(run("SELECT '?', id FROM t /* ? */"), "?|1");
}

TEST_F(Sessions, AnErrorStopsTheStatementsBehindIt) {
  EXPECT_EQ(run("SELECT 1; SELECT nope; SELECT 2"), "1 ; ERROR 1054: Unknown column 'nope' in 'field list'");
}

TEST_F(Sessions, SetAndShowVariables) {
  EXPECT_EQ(run("SET autocommit = OFF; SELECT @@autocommit; SET autocommit = 1"), " ; 0 ; ");
  EXPECT_EQ(run("SHOW VARIABLES LIKE 'autoc%'"), "autocommit|ON");
  EXPECT_EQ(run("SHOW VARIABLES WHERE Variable_name IN ('autocommit', 'sql_notes') AND Value = 'ON'"),
            "autocommit|ON\nsql_notes|ON");
  EXPECT_EQ(run("SET nonsense = 1"), "ERROR 1193: Unknown system variable 'nonsense'");
  EXPECT_EQ(run("SET autocommit = 7").substr(0, 11), "ERROR 1231:");
  EXPECT_EQ(run("SET NAMES utf8mb4 COLLATE utf8mb4_bin; SELECT @@collation_connection"), " ; utf8mb4_bin");
  EXPECT_EQ(run("SET NAMES nonsense"), "ERROR 1115: Unknown character set: 'nonsense'");
  EXPECT_EQ(run("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED; SELECT @@transaction_isolation"),
            " ; READ-COMMITTED");
  run("SET GLOBAL group_concat_max_len = 2000");
  EXPECT_EQ(run("SELECT @@global.group_concat_max_len, @@group_concat_max_len"), "2000|1024");
}

TEST_F(Sessions, MaxErrorCountBoundsWhatIsRemembered) {
  EXPECT_EQ(run("SET max_error_count = 2; SELECT 1/0, 1/0, 1/0"), " ; NULL|NULL|NULL");
  EXPECT_EQ(run("SHOW COUNT(*) WARNINGS; SHOW WARNINGS"),
            "3 ; Warning|1365|Division by 0\nWarning|1365|Division by 0");
  EXPECT_EQ(run("SET max_error_count = 0; SELECT 1/0; SHOW WARNINGS; SELECT nope; SHOW WARNINGS"),
            " ; NULL ;  ; ERROR 1054: Unknown column 'nope' in 'field list'");
  EXPECT_EQ(run("SHOW ERRORS"), "");
  EXPECT_EQ(run("SET max_error_count = DEFAULT; SELECT @@max_error_count"), " ; 1024");
}

TEST_F(Sessions, ShowsWhatThereIs) {
  run("CREATE TABLE t (id INT NOT NULL AUTO_INCREMENT, v VARCHAR(10) DEFAULT 'x', PRIMARY KEY (id), KEY by_v "
      "(v))");
  EXPECT_EQ(run("SHOW TABLES"), "t");
  EXPECT_EQ(run("SHOW COLUMNS FROM t"), "id|int|NO|PRI|NULL|auto_increment\nv|varchar(10)|YES|MUL|x|");
  const std::string created = run("SHOW CREATE TABLE t");
  EXPECT_NE(created.find("PRIMARY KEY (`id`)"), std::string::npos) << created;
  EXPECT_EQ(run("SELECT table_name FROM information_schema.tables WHERE table_schema = 'test'"), "t");
  EXPECT_NE(run("SHOW DATABASES").find("test"), std::string::npos);
  EXPECT_NE(run("SHOW PROCESSLIST").find("SHOW PROCESSLIST"), std::string::npos);
}

TEST_F(Sessions, PrivilegesAreChecked) {
  run("CREATE TABLE t (id INT PRIMARY KEY); CREATE DATABASE other; CREATE USER reader@'%' IDENTIFIED BY "
      "'secret'; GRANT SELECT ON test.* TO reader@'%'");
  auto reader = connect("reader");
  EXPECT_EQ(run(*reader, "USE test; SELECT * FROM t"), " ; ");
  EXPECT_EQ(run(*reader, "INSERT INTO t VALUES (1)"),
            "ERROR 1142: INSERT command denied to user 'reader'@'localhost' for table 't'");
  EXPECT_EQ(run(*reader, "USE other"), "ERROR 1044: Access denied for user 'reader'@'%' to database 'other'");
  EXPECT_EQ(run(*reader, "SET GLOBAL wait_timeout = 5").substr(0, 11), "ERROR 1227:");
  EXPECT_EQ(run(*reader, "ALTER INSTANCE FENCE EPOCH 1").substr(0, 11), "ERROR 1227:");
}

TEST_F(Sessions, TheProcessListShowsWhatIsExecutedAndNothingAfterwards) {
  const auto shown = [this] {
    const ProcessInfo info = server().processes->list().front();
    return info.command + "|" + info.info + "|" + info.user + "|" + info.db;
  };
  const std::string idle = shown();
  EXPECT_EQ(idle, "Sleep||root|test");
  EXPECT_EQ(run("SELECT command, info FROM information_schema.processlist LIMIT 1"),
            "Query|SELECT command, info FROM information_schema.processlist LIMIT 1");
  EXPECT_EQ(
      run_blocking(prepare_and_execute(session(), "SELECT info FROM information_schema.processlist", {})),
      "0/1: SELECT info FROM information_schema.processlist");
  EXPECT_EQ(run_blocking(prepare_and_execute(session(), "SELECT FROM", {})), "ERROR 1064");
  EXPECT_EQ(shown(), idle);
  run("CREATE DATABASE shop; USE shop");
  EXPECT_EQ(shown(), "Sleep||root|shop");
}

TEST_F(Sessions, KillEndsAStatement) {
  session().kill(true);
  EXPECT_TRUE(session().killed());
  EXPECT_EQ(run("SELECT SLEEP(100)"), "1");
}

std::string told(Session& session) {
  std::string text;
  for (const SessionChange& change : session.take_changes()) {
    text += fmt::format("{}{}:{}={}", text.empty() ? "" : " ", static_cast<int>(change.what), change.name,
                        change.value);
  }
  return text;
}

TEST_F(Sessions, TellsWhatChangedToClientsThatTrackIt) {
  run("CREATE DATABASE shop; USE shop");
  EXPECT_EQ(told(session()), "");  // nobody listens
  session().set_tracking(true);
  run("SET autocommit = 0, time_zone = '+01:00', sql_notes = 0");
  EXPECT_EQ(told(session()), "0:autocommit=OFF 0:time_zone=+01:00");
  run("SET session_track_system_variables = 'sql_notes', session_track_state_change = ON, autocommit = 1");
  run("USE shop");
  EXPECT_EQ(told(session()), "1:=shop 2:=1");
  run("SET sql_notes = 1");
  EXPECT_EQ(told(session()), "0:sql_notes=ON 2:=1");
  EXPECT_EQ(told(session()), "");
}

TEST_F(Sessions, TellsTheGtidOfEachTransactionOnce) {
  run("CREATE TABLE tracked (id INT PRIMARY KEY)");
  session().set_tracking(true);
  run("SET session_track_gtids = OWN_GTID");
  (void)told(session());
  run("BEGIN; INSERT INTO tracked VALUES (1)");
  EXPECT_EQ(told(session()), "");
  run("COMMIT");
  const std::string own = told(session());
  EXPECT_TRUE(own.starts_with("3:=")) << own;
  EXPECT_EQ(own.substr(own.rfind(':') + 1),
            std::to_string(server().transactions->pipeline.gtid_executed().count()))
      << own;
  EXPECT_EQ(told(session()), "");  // reading has none
}

TEST_F(Sessions, WhatIsSetForTheSessionHoldsForTheNextTransactionToo) {
  run("CREATE TABLE t (id INT PRIMARY KEY)");
  EXPECT_EQ(run("SET TRANSACTION READ ONLY; SET SESSION TRANSACTION READ WRITE; INSERT INTO t VALUES (1)"),
            " ;  ; ");
  EXPECT_EQ(
      run("SET TRANSACTION READ ONLY; SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED; INSERT INTO t "
          "VALUES (2)")
          .substr(0, 16),
      " ;  ; ERROR 1792");
}

TEST_F(Sessions, WithoutDataOnlyWhatNeedsNoneWorks) {
  ServerContext bare;
  bare.accounts = server().accounts;
  bare.variables = server().variables;
  bare.processes = server().processes;
  Session session(bare, 999);
  Account account;
  account.user = "root";
  account.host = "localhost";
  session.set_user(account, "localhost");
  EXPECT_EQ(run(session, "SELECT 1 + 1"), "2");
  EXPECT_EQ(run(session, "SHOW VARIABLES LIKE 'autocommit'"), "autocommit|ON");
  EXPECT_EQ(run(session, "SELECT * FROM test.t").substr(0, 11), "ERROR 1290:");
  EXPECT_EQ(run(session, "CREATE TABLE test.t (a INT)").substr(0, 11), "ERROR 1290:");
  EXPECT_EQ(run(session, "INSERT INTO test.t VALUES (1)").substr(0, 11), "ERROR 1290:");
}

}  // namespace
}  // namespace commitd::sql
