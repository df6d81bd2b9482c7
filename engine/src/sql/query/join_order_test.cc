// The order in which tables are joined, by how many rows it looks at.
#include "sql/testing/sql_fixture.h"

namespace commitd::sql {
namespace {

constexpr int kTables = 21, kRows = 10;

class JoinOrders : public testing::SqlTest {
 protected:
  // Tables t1 … t21 of ten rows: b is the next one's key. Written so that no neighbours are joined.
  JoinOrders() {
    for (int i = 1; i <= kTables; ++i) {
      run(fmt::format("CREATE TABLE t{0} (a{0} INT PRIMARY KEY, b{0} INT, x{0} VARCHAR(20))", i));
      std::string rows;
      for (int row = 1; row <= kRows; ++row)
        rows += fmt::format("{}({}, {}, 'table {} row {}')", rows.empty() ? "" : ", ", row, row % kRows + 1,
                            i, row);
      run(fmt::format("INSERT INTO t{} VALUES {}", i, rows));
    }
  }

  static std::string chain(int tables, std::string_view join = ", ") {
    std::string from, where = fmt::format("a{} = 5", tables / 2);
    for (int i = 0; i < tables; ++i) {
      const int number = i * 8 % tables + 1;  // 8 has no divisor in common with 7 and 21
      from += fmt::format("{}t{}", i == 0 ? "" : join, number);
    }
    for (int i = 1; i < tables; ++i) where += fmt::format(" AND a{} = b{}", i + 1, i);
    return fmt::format(" FROM {} WHERE {}", from, where);
  }

  // Rows looked at, by MySQL's counters.
  uint64_t rows_read(const std::string& select, const std::string& expected) {
    const uint64_t before = reads();
    EXPECT_EQ(run(select), expected);
    return reads() - before;
  }
  uint64_t reads() {
    uint64_t all = 0;
    for (const std::string name : {"key", "next", "first"}) {
      const std::string answer = run("SHOW SESSION STATUS LIKE 'Handler_read_" + name + "'");
      all += std::stoull(answer.substr(answer.find('|') + 1));
    }
    return all;
  }
};

TEST_F(JoinOrders, AChainIsFollowed) {
  EXPECT_LT(rows_read("SELECT x1, x21" + chain(21), "table 1 row 6|table 21 row 6"), 300u);
}

TEST_F(JoinOrders, SevenTablesWithConstants) {
  EXPECT_LT(rows_read("SELECT COUNT(*), MIN(x7)" + chain(7), "1|table 7 row 9"), 100u);
  EXPECT_LT(
      rows_read("SELECT COUNT(*) FROM t1, t2, t3, t4, t5, t6, t7 WHERE a7 = 1 AND a6 = b7 AND a5 = b6 AND "
                "a4 = b5 AND a3 = b4 AND a2 = b3 AND a1 = b2",
                "1"),
      100u);
}

TEST_F(JoinOrders, TheColumnsStayWhereTheyAreWritten) {
  const std::string rows = "7|8|table 3 row 7|5|6|table 1 row 5|6|7|table 2 row 6";
  EXPECT_EQ(run("SELECT * FROM t3, t1, t2 WHERE a1 = 5 AND a2 = b1 AND a3 = b2"), rows);
  EXPECT_EQ(run("SELECT * FROM t3 JOIN t1 JOIN t2 ON a2 = b1 AND a3 = b2 WHERE a1 = 5"), rows);
  EXPECT_EQ(run("SELECT * FROM t3, t1, t2 WHERE a1 = 5 AND a2 = b1 AND a3 = b2 FOR UPDATE"), rows);
  EXPECT_EQ(run("SELECT (SELECT x3 FROM t3, t2 WHERE a2 = b1 AND a3 = b2) FROM t1 WHERE a1 = 5"),
            "table 3 row 7");
}

TEST_F(JoinOrders, StraightJoinsAndOuterJoinsKeepTheirs) {
  const std::string where = " WHERE a1 = 5 AND a2 = b1 AND a3 = b2", all = "SELECT COUNT(*) FROM ";
  const uint64_t chosen = rows_read(all + "t3, t2, t1" + where, "1");
  EXPECT_LT(chosen, 10u);
  EXPECT_GT(rows_read(all + "t3 STRAIGHT_JOIN t2 STRAIGHT_JOIN t1" + where, "1"), 100u);
  EXPECT_GT(rows_read("SELECT STRAIGHT_JOIN COUNT(*) FROM t3, t2, t1" + where, "1"), 100u);
  EXPECT_EQ(run("SELECT x3, x2 FROM t3 LEFT JOIN t2 ON a2 = b3 AND a2 = 99 WHERE a3 = 1"),
            "table 3 row 1|NULL");
}

TEST_F(JoinOrders, ThereIsNoReasonToLeaveTheWrittenOne) {
  EXPECT_EQ(run("SELECT a1, a2 FROM t1, t2 WHERE a1 < 3 AND a2 < 3"), "1|1\n1|2\n2|1\n2|2");
  EXPECT_EQ(run("SELECT a1, a2 FROM t1, t2 WHERE a2 = b1 AND a1 < 3"), "1|2\n2|3");
}

}  // namespace
}  // namespace commitd::sql
