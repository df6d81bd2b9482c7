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

TEST_F(Joins, ConditionsSeeTheTablesThatTheyJoin) {
  run("CREATE TABLE a (x INT, y INT); CREATE TABLE b (x INT, y INT); CREATE TABLE c (x INT, z INT); INSERT "
      "INTO a "
      "VALUES (1, 1), (2, 2); INSERT INTO b VALUES (1, 1), (3, 2); INSERT INTO c VALUES (1, 1), (5, 2)");
  EXPECT_EQ(run("SELECT * FROM a JOIN (b JOIN c ON y = z) ON a.x = b.x"), "1|1|1|1|1|1");
  EXPECT_EQ(run("SELECT a.x FROM a JOIN (b JOIN c ON y = z) USING (y) ORDER BY 1"), "1\n2");
  EXPECT_EQ(run("SELECT a.x, b.x, z FROM a RIGHT JOIN (c LEFT JOIN b ON y = z) ON a.x = c.x ORDER BY z"),
            "1|1|1\nNULL|3|2");
  EXPECT_EQ(run("SELECT x FROM a WHERE EXISTS (SELECT 1 FROM b p JOIN c ON p.y = z AND a.y = 2)"), "2");
  EXPECT_EQ(
      run("SELECT a.x FROM a WHERE EXISTS (SELECT 1 FROM c JOIN (b JOIN c q ON a.y = z) ON c.x = b.x AND y = "
          "1)"),
      "1\n2");
  EXPECT_EQ(run("SELECT a.x FROM a LEFT JOIN b ON a.x = (SELECT MAX(c.x) FROM c WHERE c.z = y) ORDER BY 1")
                .substr(0, 10),
            "ERROR 1052");
  for (const std::string from :
       {"a LEFT JOIN b ON c.x = b.x LEFT JOIN c ON a.x = c.x", "a, b JOIN c ON a.x = c.x",
        "a JOIN (b JOIN c ON a.y = z) ON a.x = b.x", "a RIGHT JOIN b ON z = b.x JOIN c ON 1",
        "a LEFT JOIN b ON a.x = (SELECT MAX(d.x) FROM c d WHERE d.z = c.z) LEFT JOIN c ON 1"})
    EXPECT_EQ(run("SELECT 1 FROM " + from).substr(0, 10), "ERROR 1054") << from;
  EXPECT_EQ(run("DELETE a FROM a JOIN b ON c.x = b.x JOIN c ON 1").substr(0, 10), "ERROR 1054");
  EXPECT_EQ(run("UPDATE a JOIN (b JOIN c ON y = z) ON a.x = b.x SET a.y = 100; SELECT y FROM a"),
            " ; 100\n2");
  EXPECT_EQ(run("DELETE a FROM a JOIN (b JOIN c ON y = z) ON a.x = b.x; SELECT x FROM a"), " ; 2");
}

TEST_F(Joins, DeepOnesHaveALimit) {
  std::string joins = "SELECT 1 FROM t1", parentheses(1000, '(');
  for (int i = 0; i < 1000; ++i) joins += " JOIN t2";
  EXPECT_EQ(run(joins).substr(0, 11), "ERROR 1436:");
  EXPECT_EQ(run("SELECT 1 FROM " + parentheses + "t1" + std::string(1000, ')')).substr(0, 11), "ERROR 1436:");
}

}  // namespace
}  // namespace commitd::sql
