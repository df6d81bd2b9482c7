#include "sql/testing/sql_fixture.h"

namespace commitd::sql {
namespace {

using Explain = testing::SqlTest;

TEST_F(Explain, OfChangesDoesNothing) {
  run("CREATE TABLE t (id INT PRIMARY KEY, a INT, KEY by_a (a))");
  EXPECT_EQ(run("EXPLAIN UPDATE t SET a = 1 WHERE id = 5"),
            "1|UPDATE|t|NULL|range|NULL|PRIMARY|NULL|NULL|NULL|NULL|Using where");
  EXPECT_EQ(run("EXPLAIN DELETE FROM t WHERE a = 5"),
            "1|DELETE|t|NULL|ref|NULL|by_a|NULL|NULL|NULL|NULL|Using where");
  EXPECT_EQ(run("EXPLAIN DELETE FROM t"), "1|DELETE|t|NULL|ALL|NULL|NULL|NULL|NULL|NULL|NULL|NULL");
  EXPECT_EQ(run("EXPLAIN INSERT INTO t VALUES (1, 2)"),
            "1|INSERT|t|NULL|ALL|NULL|NULL|NULL|NULL|NULL|NULL|NULL");
  EXPECT_EQ(run("EXPLAIN REPLACE INTO t SELECT id, 1 FROM t WHERE id = 3"),
            "1|REPLACE|t|NULL|ALL|NULL|NULL|NULL|NULL|NULL|NULL|NULL\n"
            "1|SIMPLE|t|NULL|const|NULL|PRIMARY|NULL|NULL|NULL|NULL|NULL");
  EXPECT_EQ(run("SELECT COUNT(*) FROM t"), "0") << "nothing was done";
  EXPECT_EQ(run("EXPLAIN UPDATE nowhere SET a = 1"), "ERROR 1146: Table 'test.nowhere' doesn't exist");
  EXPECT_EQ(run("EXPLAIN FORMAT=TRADITIONAL SELECT 1 FROM t WHERE id = 1"),
            "1|SIMPLE|t|NULL|const|NULL|PRIMARY|NULL|NULL|NULL|NULL|NULL");
  EXPECT_EQ(run("EXPLAIN FORMAT=JSON SELECT 1").substr(0, 11), "ERROR 1235:");
  EXPECT_EQ(run("EXPLAIN FORMAT=nice SELECT 1"), "ERROR 1791: Unknown EXPLAIN format name: 'nice'");
}

}  // namespace
}  // namespace commitd::sql
