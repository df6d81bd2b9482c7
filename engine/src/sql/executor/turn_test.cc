// Statements that compute for long, beside others on the same reactor.
#include "sql/testing/beside.h"

namespace commitd::sql {
namespace {

using namespace std::chrono_literals;
using testing::ask, testing::start, testing::Started;

constexpr std::string_view kEndless =
    "t a, t b, t c, t d, t e, t f, t g, t h, t i, t j, t k, t l";  // 10^12 rows

class Turns : public testing::SqlTest {
 protected:
  Turns() {
    run("CREATE TABLE t (id INT PRIMARY KEY, v INT); CREATE TABLE copy (id INT)");
    for (int i = 0; i < 10; ++i) run(fmt::format("INSERT INTO t VALUES ({}, {})", i, i % 3));
  }
  std::unique_ptr<Session> busy = connect_to_test_database(), also_busy = connect_to_test_database();
};

Task<void> others_are_answered(Session& other, Session& one, Session& two, std::string sql) {
  Started first, second;
  start(one, sql, first);
  start(two, sql, second);
  for (int i = 0; i < 20; ++i) {
    co_await sleep_until(Clock::now() + 1ms);
    EXPECT_EQ(co_await ask(other, "SELECT COUNT(*) FROM copy"), "0");
  }
  EXPECT_FALSE(first.done || second.done);
  EXPECT_EQ(co_await ask(other, fmt::format("KILL QUERY {}", one.connection_id())), "");
  EXPECT_EQ(co_await ask(other, fmt::format("KILL {}", two.connection_id())), "");
  while (!first.done || !second.done) co_await sleep_until(Clock::now() + 1ms);
  constexpr std::string_view kInterrupted = "ERROR 1317: Query execution was interrupted";
  EXPECT_TRUE(first.sink.text.ends_with(kInterrupted)) << first.sink.text;  // rows may stand in front
  EXPECT_TRUE(second.sink.text.ends_with(kInterrupted)) << second.sink.text;
  EXPECT_TRUE(two.killed());
}

TEST_F(Turns, OthersAreAnsweredAndMayKill) {
  for (const std::string select :
       {"SELECT COUNT(*) FROM {}", "SELECT a.v, MAX(l.id) FROM {} GROUP BY a.v ORDER BY 2",
        "SELECT 1 FROM {} WHERE a.id + l.id < 0",
        "SELECT COUNT(*) FROM t z LEFT JOIN ({}) ON a.id + l.id < 0",
        "SELECT 1 FROM {} WHERE (SELECT MAX(x.v) FROM t x WHERE x.id >= a.id + 0 * l.id) < 0",
        "SELECT 1 FROM t z WHERE (SELECT COUNT(*) FROM {} WHERE a.id + l.id < z.id) < 0",
        "SELECT (SELECT MAX(a.v) FROM {} WHERE EXISTS (SELECT 1 FROM t x WHERE x.id + l.id + z.id < 0)) FROM "
        "t z",
        "SELECT DISTINCT a.v FROM {}", "INSERT INTO copy SELECT 1 FROM {} WHERE a.id + l.id < 0",
        "UPDATE {} SET a.v = 1 WHERE a.id + l.id < 0", "DELETE a FROM {} WHERE a.id + l.id < 0"}) {
    SCOPED_TRACE(select);
    auto killed = connect_to_test_database();
    run_blocking(others_are_answered(session(), *busy, *killed, fmt::format(fmt::runtime(select), kEndless)));
  }
}

TEST_F(Turns, SortsOfManyRowsAreStableAndRight) {
  run("CREATE TABLE many (id INT PRIMARY KEY, v INT); SET @n = -1");
  run("INSERT INTO many SELECT @n := @n + 1, @n % 7 FROM t a, t b, t c, t d, t e");
  EXPECT_EQ(run("SELECT COUNT(*) FROM many"), "100000");
  EXPECT_EQ(run("SELECT v, id FROM many ORDER BY v, id LIMIT 14285, 3"), "0|99995\n1|1\n1|8");
  EXPECT_EQ(run("SELECT v, id FROM many ORDER BY v DESC LIMIT 2"), "6|6\n6|13");
  EXPECT_EQ(run("UPDATE many SET v = 9 ORDER BY v DESC, id DESC LIMIT 2"), "");
  EXPECT_EQ(run("SELECT id FROM many WHERE v = 9"), "99987\n99994");
}

TEST_F(Turns, ASelectHasItsTime) {
  const std::string over =
      "ERROR 3024: Query execution was interrupted, maximum statement execution time exceeded";
  const std::string endless = fmt::format(" COUNT(*) FROM {}", kEndless);
  EXPECT_EQ(run("SELECT /*+ MAX_EXECUTION_TIME(20) */" + endless), over);
  EXPECT_EQ(run("select  /*+ NO_ICP(t) max_execution_time( 20 ) */" + endless), over);
  run("SET max_execution_time = 20");
  EXPECT_EQ(run("SELECT" + endless), over);
  EXPECT_EQ(run("SELECT * FROM t WHERE (SELECT" + endless + " WHERE t.id = a.id) > 0"), over);
  EXPECT_EQ(run("SELECT SLEEP(1000)"), "1");
  EXPECT_EQ(run("SELECT COUNT(*) FROM t"), "10");
  EXPECT_EQ(run("SET max_execution_time = 0; SELECT COUNT(*) FROM t a, t b, t c, t d"), " ; 10000");
}

TEST_F(Turns, SubqueriesInSubqueriesAreBoundOnce) {
  std::string nested = "t.id";
  for (int i = 0; i < 30; ++i) nested = fmt::format("(SELECT {} FROM t r{} WHERE r{}.id = 5)", nested, i, i);
  EXPECT_EQ(run("SELECT SUM(" + nested + ") FROM t"), "45");
}

}  // namespace
}  // namespace commitd::sql
