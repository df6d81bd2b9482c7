// SHOW STATUS and the wait tables of performance_schema, by what they count.
#include "sql/status/status_counters.h"

#include "sql/testing/sql_fixture.h"

namespace commitd::sql {
namespace {

class StatusTest : public testing::SqlTest {
 protected:
  StatusTest() { run("CREATE TABLE t (id INT PRIMARY KEY, v INT, KEY by_v (v))"); }

  std::string value(Session& of, const std::string& show, const std::string& name) {
    const std::string row = run(of, show + " LIKE '" + name + "'");
    return row.substr(row.find('|') + 1);
  }
  std::string own(const std::string& name) { return value(session(), "SHOW STATUS", name); }
  uint64_t all(const std::string& name) { return std::stoull(value(session(), "SHOW GLOBAL STATUS", name)); }
  uint64_t waits(const std::string& event) {
    return std::stoull(
        run("SELECT COUNT_STAR FROM performance_schema.events_waits_summary_global_by_event_name WHERE "
            "EVENT_NAME = '" +
            event + "'"));
  }
};

TEST_F(StatusTest, ASessionCountsWhatItsStatementsDo) {
  run("FLUSH STATUS");
  run("INSERT INTO t VALUES (1,1),(2,2),(3,3); UPDATE t SET v = v + 1 WHERE id IN (1, 2); DELETE FROM t "
      "WHERE id = 3");
  EXPECT_EQ(own("Handler_write"), "3");
  EXPECT_EQ(own("Handler_update"), "2");
  EXPECT_EQ(own("Handler_delete"), "1");
  EXPECT_EQ(own("Handler_commit"), "3");
  EXPECT_EQ(own("Com_insert"), "1");
  EXPECT_EQ(own("Com_update"), "1");
  EXPECT_EQ(own("Com_flush"), "0") << "what was counted before FLUSH STATUS, itself included, is gone";

  run("FLUSH STATUS; SELECT * FROM t; SELECT v FROM t WHERE id = 2; SELECT id FROM t WHERE v > 0");
  EXPECT_EQ(own("Handler_read_first"), "1");
  EXPECT_EQ(own("Handler_read_key"), "2") << "a row by its key, and the start of a range";
  EXPECT_EQ(own("Handler_read_next"), "4")
      << "two rows behind the first one, and two behind the start of the range";
  EXPECT_EQ(own("Select_scan"), "1");
  EXPECT_EQ(own("Select_range"), "1");

  run("FLUSH STATUS; BEGIN; SAVEPOINT a; ROLLBACK TO a; ROLLBACK");
  EXPECT_EQ(own("Handler_savepoint"), "1");
  EXPECT_EQ(own("Handler_savepoint_rollback"), "1");
  EXPECT_EQ(own("Handler_rollback"), "1");
  EXPECT_EQ(own("Com_rollback_to_savepoint"), "1");
}

TEST_F(StatusTest, TheServerSumsUpSessionsThatAreAndThatWere) {
  const uint64_t before = all("Com_do");
  auto other = connect();
  run(*other, "DO 1; DO 2");
  run("DO 3");
  EXPECT_EQ(value(*other, "SHOW SESSION STATUS", "Com_do"), "2");
  EXPECT_EQ(all("Com_do"), before + 3);
  run(*other, "FLUSH STATUS");
  EXPECT_EQ(value(*other, "SHOW SESSION STATUS", "Com_do"), "0");
  EXPECT_EQ(all("Com_do"), before + 3);
  run(*other, "DO 4");
  other.reset();
  EXPECT_EQ(all("Com_do"), before + 4);
}

TEST_F(StatusTest, ThreadsAndQuestions) {
  auto other = connect();
  EXPECT_EQ(all("Threads_connected"), 2u);
  EXPECT_EQ(all("Threads_running"), 1u);
  EXPECT_GE(all("Max_used_connections"), 2u);
  const uint64_t before = all("Questions");
  run(*other, "SELECT 1; SELECT 2");
  EXPECT_EQ(all("Questions"), before + 3) << "two of the other's, and the one that asked before";
  const std::string selects =
      run("SELECT VARIABLE_VALUE FROM performance_schema.session_status WHERE VARIABLE_NAME = 'Com_select'");
  EXPECT_EQ(own("Com_select"), selects);
}

TEST_F(StatusTest, EveryCommandHasItsOwnName) {
  for (size_t i = kFirstCommand; i < kStatusVariables; ++i)
    EXPECT_EQ(status_variable_name(i), "Com_" + std::string(command_names[i - kFirstCommand]));
  EXPECT_EQ(status_variable_name(static_cast<size_t>(StatusVariable::HandlerWrite)), "Handler_write");
  EXPECT_EQ(status_variable_name(static_cast<size_t>(StatusVariable::SelectScan)), "Select_scan");
}

TEST_F(StatusTest, CommitsAreWaitedForOnceEach) {
  const std::string done = "wait/synch/cond/sql/MYSQL_BIN_LOG::COND_done";
  const uint64_t before = waits(done);
  run("INSERT INTO t VALUES (1,1); INSERT INTO t VALUES (2,1); SELECT * FROM t; BEGIN; INSERT INTO t VALUES "
      "(3,1); COMMIT");
  EXPECT_EQ(waits(done), before + 3);
  EXPECT_EQ(
      run("SELECT COUNT(*) FROM performance_schema.events_waits_summary_global_by_event_name WHERE "
          "EVENT_NAME = '" +
          done +
          "' AND SUM_TIMER_WAIT >= COUNT_STAR * MIN_TIMER_WAIT AND MAX_TIMER_WAIT >= AVG_TIMER_WAIT AND "
          "AVG_TIMER_WAIT >= MIN_TIMER_WAIT AND MIN_TIMER_WAIT > 1000"),
      "1");
  EXPECT_GT(waits("wait/synch/mutex/sql/MYSQL_BIN_LOG::LOCK_flush_queue"), 3u);
  EXPECT_GT(waits("wait/synch/mutex/commitd/lock_partition"), 3u);
  EXPECT_EQ(run("TRUNCATE TABLE performance_schema.events_waits_summary_global_by_event_name"), "");
  EXPECT_EQ(waits(done), 0u);
  EXPECT_EQ(
      run("SELECT ENABLED, TIMED FROM performance_schema.setup_instruments WHERE NAME = '" + done + "'"),
      "YES|YES");
  EXPECT_EQ(run("TRUNCATE TABLE performance_schema.data_locks").substr(0, 11), "ERROR 1142:");
}

}  // namespace
}  // namespace commitd::sql
