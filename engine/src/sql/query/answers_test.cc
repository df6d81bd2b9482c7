// Shapes of queries that once gave rows that MySQL does not give.
#include "sql/testing/sql_fixture.h"

namespace commitd::sql {
namespace {

class Shapes : public testing::SqlTest {
 protected:
  void SetUp() override {
    run("CREATE TABLE t (a INT, b INT, e ENUM('y', 'x', 'z')); INSERT INTO t VALUES (3, 1, 'x'), (1, 1, "
        "'y'), (2, 2, 'z'), (4, 2, NULL)");
  }
};

TEST_F(Shapes, WhatStandsBehindParenthesesIsDoneToTheirRows) {
  EXPECT_EQ(run("(SELECT a FROM t ORDER BY a LIMIT 2) ORDER BY a DESC"), "2\n1");
  EXPECT_EQ(run("(SELECT a FROM t ORDER BY a DESC LIMIT 3) LIMIT 1"), "4");
  EXPECT_EQ(run("(SELECT a FROM t ORDER BY a LIMIT 3) ORDER BY a DESC LIMIT 2"), "3\n2");
  EXPECT_EQ(run("(SELECT a FROM t) ORDER BY b DESC, a LIMIT 1"), "2");
  EXPECT_EQ(run("SELECT * FROM ((SELECT a FROM t ORDER BY a LIMIT 2) ORDER BY a DESC LIMIT 1) x"), "2");
}

TEST_F(Shapes, AggregatesOfTheStatementAroundASubquery) {
  EXPECT_EQ(run("SELECT (SELECT SUM(o.a)) FROM t o"), "10");
  EXPECT_EQ(
      run("SELECT b, (SELECT MAX(o.a) + COUNT(*) FROM t i WHERE i.b = 1) FROM t o GROUP BY b ORDER BY b"),
      "1|5\n2|6");
  EXPECT_EQ(run("SELECT b FROM t o GROUP BY b HAVING (SELECT MAX(o.a)) > 3"), "2");
  EXPECT_EQ(run("SELECT b FROM t o GROUP BY b HAVING EXISTS (SELECT 1 FROM t i WHERE i.a = SUM(o.b))"),
            "1\n2");
  EXPECT_EQ(run("SELECT a FROM t o WHERE (SELECT SUM(o.a)) > 1"),
            "ERROR 1111: Invalid use of group function");
}

TEST_F(Shapes, ASelectInTwoParentheses) {
  EXPECT_EQ(run("SELECT a FROM t WHERE a IN ((SELECT a FROM t WHERE a < 3)) ORDER BY a"), "1\n2");
  EXPECT_EQ(run("SELECT a FROM t WHERE a NOT IN ((SELECT a FROM t WHERE a < 3)) ORDER BY a"), "3\n4");
}

TEST_F(Shapes, LabelsAreNumbersBesideNumbersEverywhere) {
  EXPECT_EQ(run("SELECT CASE e WHEN 1 THEN 'one' WHEN 'x' THEN 'ex' ELSE 'no' END, NULLIF(e, 1), NULLIF(e, "
                "'x'), e IN (1, 'x') FROM t ORDER BY a"),
            "one|NULL|y|1\nno|z|z|0\nex|x|NULL|1\nno|NULL|NULL|NULL");
  EXPECT_EQ(run("SELECT e, e + 0, e = 1 FROM (SELECT e FROM t WHERE e IS NOT NULL) x ORDER BY e"),
            "y|1|1\nx|2|0\nz|3|0");
  EXPECT_EQ(run("WITH w AS (SELECT DISTINCT e FROM t) SELECT e + 0 FROM w ORDER BY e"), "NULL\n1\n2\n3");
}

TEST_F(Shapes, ZeroDatesThatMustNotBeNullAreFoundAsNull) {
  run("SET sql_mode = ''; CREATE TABLE z (id INT, d DATE NOT NULL, m DATETIME NOT NULL, n DATE);"
      "INSERT INTO z VALUES (1, 0, 0, 0), (2, '2020-01-01', '2020-01-01', NULL)");
  EXPECT_EQ(run("SELECT id FROM z WHERE d IS NULL; SELECT id FROM z WHERE m IS NULL; SELECT id FROM z WHERE "
                "n IS NULL"),
            "1 ; 1 ; 2");
  EXPECT_EQ(run("SELECT d IS NULL FROM z; SELECT id FROM z WHERE d IS NOT NULL"), "0\n0 ; 1\n2");
}

TEST_F(Shapes, DefinitionsKeepWhatWasSaidOfIndexes) {
  run("CREATE TABLE i (a INT, b INT, KEY k (a DESC, b) COMMENT 'it''s', f FLOAT(7,3)) ENGINE=InnoDB");
  const std::string shown = run("SHOW CREATE TABLE i");
  EXPECT_NE(shown.find("KEY `k` (`a` DESC,`b`) COMMENT 'it''s'"), std::string::npos) << shown;
  EXPECT_NE(shown.find("`f` float(7,3)"), std::string::npos) << shown;
  EXPECT_NE(shown.find("ENGINE=InnoDB"), std::string::npos) << shown;
  EXPECT_EQ(run("SELECT column_name, collation, index_comment FROM information_schema.statistics WHERE "
                "table_name = 'i'"),
            "a|D|it's\nb|A|it's");
}

TEST_F(Shapes, TransactionsAreReadOnlyOrNotAsTheyWereStarted) {
  run("SET SESSION TRANSACTION READ ONLY; START TRANSACTION READ WRITE");
  EXPECT_EQ(run("DELETE FROM t WHERE a = 1; COMMIT"), " ; ");
  EXPECT_EQ(run("DELETE FROM t").substr(0, 10), "ERROR 1792");
}

TEST_F(Shapes, ColumnsAreDescribedAsDriversKnowThem) {
  run("CREATE TABLE m (d DECIMAL(10,2), u DECIMAL(5,0) UNSIGNED, m DATETIME(3), y YEAR, i INT)");
  run("SELECT d, u, m, y, i, 1.5, i + 1 FROM m");
  std::string described;
  for (const ResultColumn& column : last().columns)
    described += fmt::format("{}/{} ", column.length, column.flags);
  EXPECT_EQ(described, "12/0 5/32 23/128 4/96 11/0 4/129 21/128 ");
  run("EXPLAIN SELECT * FROM m");
  EXPECT_EQ(last().columns[0].type, FieldType::LongLong);
}

}  // namespace
}  // namespace commitd::sql
