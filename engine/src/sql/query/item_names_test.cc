// What a name in ORDER BY, GROUP BY and HAVING means: an item of the select list, or a column.
#include "sql/testing/sql_fixture.h"

namespace commitd::sql {
namespace {

class ItemNames : public testing::SqlTest {
 protected:
  void SetUp() override {
    run("CREATE TABLE t (a INT, b INT); INSERT INTO t VALUES (1, 3), (2, 2), (3, 1);"
        "CREATE TABLE o (id INT, n INT); INSERT INTO o VALUES (1, 2), (2, 1), (3, 0);"
        "CREATE TABLE p (id INT, n INT); INSERT INTO p VALUES (2, 1), (1, 2), (3, 3)");
  }
  std::string ambiguous(const std::string& name, const std::string& clause) {
    return "ERROR 1052: Column '" + name + "' in " + clause + " is ambiguous";
  }
};

TEST_F(ItemNames, AnAliasIsSortedByAlonePlainlyAndInExpressionsTheColumnComesFirst) {
  EXPECT_EQ(run("SELECT -a AS a FROM t ORDER BY a"), "-3\n-2\n-1");
  EXPECT_EQ(run("SELECT -a AS a FROM t ORDER BY a + 0"), "-1\n-2\n-3");
  EXPECT_EQ(run("SELECT -a AS x FROM t ORDER BY x + 0"), "-3\n-2\n-1");
  EXPECT_EQ(run("SELECT b AS a, a AS b FROM t ORDER BY a + b * 10"), "1|3\n2|2\n3|1");
  EXPECT_EQ(run("SELECT -a AS a FROM t GROUP BY a ORDER BY ABS(a)"), "-1\n-2\n-3");
  EXPECT_EQ(run("SELECT -a AS a FROM t HAVING a + 0 < -1 ORDER BY a"), "-3\n-2");
  EXPECT_EQ(run("SELECT -a AS a, SUM(b) AS b FROM t GROUP BY a ORDER BY b + 0").substr(0, 11), "ERROR 1055:");
}

TEST_F(ItemNames, OfSeveralColumnsTheOneThatIsShown) {
  const std::string joined = " FROM o JOIN p ON o.id = p.id ";
  EXPECT_EQ(run("SELECT o.n" + joined + "ORDER BY n"), "0\n1\n2");
  EXPECT_EQ(run("SELECT o.n x, p.id" + joined + "ORDER BY id"), "2|1\n1|2\n0|3");
  EXPECT_EQ(run("SELECT o.*" + joined + "ORDER BY n DESC"), "1|2\n2|1\n3|0");
  EXPECT_EQ(run("SELECT o.n, o.n" + joined + "ORDER BY n"), "0|0\n1|1\n2|2");
  EXPECT_EQ(run("SELECT o.n, COUNT(*)" + joined + "GROUP BY n HAVING n > 0 ORDER BY n"), "1|1\n2|1");
  EXPECT_EQ(run("SELECT MAX(o.n), p.id" + joined + "GROUP BY id ORDER BY id"), "2|1\n1|2\n0|3");
  EXPECT_EQ(run("SELECT o.id + 0 AS id, p.n" + joined + "GROUP BY id, p.n ORDER BY id"), "1|2\n2|1\n3|3");
  EXPECT_EQ(run("SELECT o.n" + joined + "HAVING n > 0 ORDER BY n"), "1\n2");
  EXPECT_EQ(run("SELECT o.n, p.n" + joined + "ORDER BY n"), ambiguous("n", "order clause"));
  EXPECT_EQ(run("SELECT o.n, p.n" + joined + "GROUP BY n"), ambiguous("n", "group statement"));
  EXPECT_EQ(run("SELECT *" + joined + "ORDER BY n"), ambiguous("n", "order clause"));
  EXPECT_EQ(run("SELECT o.n" + joined + "ORDER BY n + 1"), ambiguous("n", "order clause"));
  EXPECT_EQ(run("SELECT o.n + 1" + joined + "ORDER BY n"), ambiguous("n", "order clause"));
  EXPECT_EQ(run("SELECT o.n x" + joined + "ORDER BY n"), ambiguous("n", "order clause"));
}

TEST_F(ItemNames, TwoColumnsUnderOneNameAreAmbiguousAndAnExpressionComesBeforeThem) {
  EXPECT_EQ(run("SELECT a AS x, b AS x FROM t ORDER BY x"), ambiguous("x", "order clause"));
  EXPECT_EQ(run("SELECT a AS x, b AS x FROM t GROUP BY x"), ambiguous("x", "group statement"));
  EXPECT_EQ(run("SELECT a AS x, b AS x FROM t HAVING x > 0"), ambiguous("x", "having clause"));
  EXPECT_EQ(run("SELECT a AS x, a AS x FROM t ORDER BY x"), "1|1\n2|2\n3|3");
  EXPECT_EQ(run("SELECT a, -a AS a FROM t ORDER BY a"), "3|-3\n2|-2\n1|-1");
}

}  // namespace
}  // namespace commitd::sql
