// Which joins a text means. What is expected is what MariaDB answers.
#include "sql/testing/sql_fixture.h"

namespace commitd::sql {
namespace {

class Joins : public testing::SqlTest {
 protected:
  void SetUp() override {
    run("CREATE TABLE t1 (a INT, b INT); INSERT INTO t1 VALUES (1, 1), (2, 3);"
        "CREATE TABLE t2 (a INT); INSERT INTO t2 VALUES (1), (3);"
        "CREATE TABLE t3 (a INT); INSERT INTO t3 VALUES (1)");
  }
};

TEST_F(Joins, AConditionIsThatOfTheLastJoinWithoutOne) {
  EXPECT_EQ(run("SELECT * FROM t1 LEFT JOIN t2 LEFT JOIN t3 ON t2.a = t3.a ON t1.a = t3.a"),
            "1|1|1|1\n2|3|NULL|NULL");
  EXPECT_EQ(run("SELECT * FROM t1 JOIN t2 JOIN t3 ON t2.a = t3.a ON t1.a = t3.a"), "1|1|1|1");
  EXPECT_EQ(run("SELECT * FROM t1 JOIN t2 LEFT JOIN t3 ON t2.a = t3.a ON t1.b = t2.a ORDER BY t1.a"),
            "1|1|1|1\n2|3|3|NULL");
  EXPECT_EQ(run("SELECT * FROM t1 LEFT JOIN t2 JOIN t3 USING (a) ON t1.a = t3.a ORDER BY t1.a"),
            "1|1|1\n2|3|NULL");
  EXPECT_EQ(run("SELECT * FROM t1 LEFT JOIN t2 LEFT JOIN t3 ON t2.a = t3.a").substr(0, 11), "ERROR 1064:");
}

TEST_F(Joins, WithoutAConditionTheLeftOneIsFirst) {
  EXPECT_EQ(run("SELECT * FROM t1 JOIN t2 LEFT JOIN t3 ON t1.a = t3.a ORDER BY t1.a, t2.a"),
            "1|1|1|1\n1|1|3|1\n2|3|1|NULL\n2|3|3|NULL");
  EXPECT_EQ(run("SELECT * FROM t1 JOIN t2 RIGHT JOIN t3 ON t1.a = t3.a ORDER BY t2.a"), "1|1|1|1\n1|1|3|1");
  EXPECT_EQ(run("SELECT COUNT(*) FROM t1 JOIN t2 JOIN t3; SELECT COUNT(*) FROM t1 CROSS JOIN t2, t3"),
            "4 ; 4");
  EXPECT_EQ(run("SELECT * FROM t3 JOIN t1 NATURAL JOIN t2").substr(0, 11), "ERROR 1052:");
  EXPECT_EQ(run("SELECT * FROM t3 LEFT JOIN t1 NATURAL JOIN t2 ON t3.a = t1.b"), "1|1|1");
}

TEST_F(Joins, ParenthesesAreAboutJoinsAndAboutSelects) {
  EXPECT_EQ(run("SELECT t1.a FROM ((t1 JOIN t2 ON t1.a = t2.a))"), "1");
  EXPECT_EQ(run("SELECT * FROM (((t3))); SELECT x.a FROM ((t3 x))"), "1 ; 1");
  EXPECT_EQ(run("SELECT * FROM (t1 LEFT JOIN (t2, t3) ON t1.a = t2.a) ORDER BY t1.a"),
            "1|1|1|1\n2|3|NULL|NULL");
  EXPECT_EQ(run("SELECT * FROM ((SELECT 1 a) x JOIN t1 ON x.a = t1.a)"), "1|1|1");
  EXPECT_EQ(run("SELECT * FROM (((SELECT 1 a) UNION (SELECT 2)) x JOIN t1 USING (a)) ORDER BY a"),
            "1|1\n2|3");
  EXPECT_EQ(run("SELECT * FROM ((SELECT 1 a)) x; SELECT * FROM ((SELECT 1 a) LIMIT 1) x"), "1 ; 1");
  EXPECT_EQ(run("SELECT * FROM ((SELECT a FROM t1) UNION SELECT 7 ORDER BY a DESC) x"), "7\n2\n1");
  EXPECT_EQ(run("SELECT * FROM ((SELECT 1 a))").substr(0, 11), "ERROR 1248:");
  EXPECT_EQ(run("SELECT * FROM ((SELECT 1 a) JOIN t1)").substr(0, 11), "ERROR 1248:");
  EXPECT_EQ(run("SELECT * FROM (t1 JOIN)").substr(0, 11), "ERROR 1064:");
}

TEST_F(Joins, DeepOnesHaveALimit) {
  std::string joins = "SELECT 1 FROM t1", parentheses(1000, '(');
  for (int i = 0; i < 1000; ++i) joins += " JOIN t2";
  EXPECT_EQ(run(joins).substr(0, 11), "ERROR 1436:");
  EXPECT_EQ(run("SELECT 1 FROM " + parentheses + "t1" + std::string(1000, ')')).substr(0, 11), "ERROR 1436:");
}

}  // namespace
}  // namespace commitd::sql
