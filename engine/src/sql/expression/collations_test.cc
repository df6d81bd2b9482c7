#include "sql/expression/collations.h"

#include "sql/testing/sql_fixture.h"

namespace commitd::sql {
namespace {

class Collations : public testing::SqlTest {};

TEST_F(Collations, AClauseDecidesForAllSidesOfAnOperation) {
  EXPECT_EQ(value("'a' LIKE 'A', 'a' LIKE 'A' COLLATE utf8mb4_bin, 'a' LIKE BINARY 'A', 'a' COLLATE "
                  "utf8mb4_bin LIKE 'A'"),
            "1|0|0|0");
  EXPECT_EQ(value("'a' REGEXP 'A', 'a' REGEXP 'A' COLLATE utf8mb4_bin, 'a' REGEXP BINARY 'A'"), "1|0|0");
  EXPECT_EQ(value("'a' IN ('A'), 'a' IN ('A', 'b' COLLATE utf8mb4_bin), 'a' COLLATE utf8mb4_bin IN ('A')"),
            "1|0|0");
  EXPECT_EQ(value("'b' BETWEEN 'A' AND 'C', 'b' BETWEEN 'A' AND 'C' COLLATE utf8mb4_bin"), "1|0");
  EXPECT_EQ(value("CASE 'a' WHEN 'A' THEN 1 WHEN 'b' COLLATE utf8mb4_bin THEN 2 ELSE 3 END"), "3");
}

TEST_F(Collations, TwoClausesContradictEachOther) {
  EXPECT_EQ(value("'a' COLLATE utf8mb4_bin = 'a' COLLATE utf8mb4_general_ci"),
            "ERROR 1267: Illegal mix of collations (utf8mb4_bin,EXPLICIT) and (utf8mb4_general_ci,EXPLICIT) "
            "for operation '='");
  for (const char* mixed : {"'a' COLLATE utf8mb4_bin IN ('a' COLLATE utf8mb4_general_ci)",
                            "'a' COLLATE utf8mb4_bin LIKE 'a' COLLATE utf8mb4_general_ci",
                            "'a' BETWEEN 'a' COLLATE utf8mb4_bin AND 'b' COLLATE utf8mb4_general_ci"})
    EXPECT_EQ(value(mixed).substr(0, 10), "ERROR 1267") << mixed;
}

TEST_F(Collations, AnIndexIsUsedOnlyInTheOrderOfTheComparison) {
  run("CREATE TABLE t (v VARCHAR(5) COLLATE utf8mb4_general_ci, KEY (v)); INSERT INTO t VALUES ('a'), ('B'), "
      "('Z'), ('b')");
  EXPECT_EQ(run("SELECT v FROM t WHERE v BETWEEN 'A' AND 'a' COLLATE utf8mb4_bin ORDER BY BINARY v"),
            "B\nZ\na");
  EXPECT_EQ(run("SELECT v FROM t WHERE v IN ('b', 'x' COLLATE utf8mb4_bin)"), "b");
}

TEST_F(Collations, LiteralsGoByTheConnection) {
  run("SET NAMES utf8mb4 COLLATE utf8mb4_bin");
  EXPECT_EQ(value("'a' = 'A', COLLATION('a'), 'a' IN ('A')"), "0|utf8mb4_bin|0");
}

TEST_F(Collations, BytesBesideAColumnOfTextAreText) {
  run("CREATE TABLE t (v VARCHAR(5) COLLATE utf8mb4_general_ci); INSERT INTO t VALUES ('A')");
  EXPECT_EQ(run("SELECT v = 0x61, v IN (0x61), v BETWEEN 0x61 AND 0x62, 'A' = 0x61 FROM t"), "1|1|1|0");
}

}  // namespace
}  // namespace commitd::sql
