#include "sql/testing/sql_fixture.h"

namespace commitd::sql {
namespace {

class Absent : public testing::SqlTest {
 protected:
  std::string code(std::string_view sql) { return run(sql).substr(0, 10); }
};

TEST_F(Absent, StatementsObjectsAndClausesAreNamed) {
  run("CREATE TABLE t (a INT PRIMARY KEY, s TEXT)");
  for (const char* sql : {"CALL p()",
                          "HANDLER t OPEN",
                          "XA START 'x'",
                          "TABLE t",
                          "VALUES ROW(1)",
                          "SIGNAL SQLSTATE '45000'",
                          "HELP 'x'",
                          "CREATE PROCEDURE p() SELECT 1",
                          "CREATE DEFINER=root@localhost FUNCTION f() RETURNS INT RETURN 1",
                          "CREATE DEFINER='a'@'%' TRIGGER x BEFORE INSERT ON t FOR EACH ROW SET NEW.a = 1",
                          "DROP TRIGGER x",
                          "CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO SELECT 1",
                          "CREATE OR REPLACE VIEW v AS SELECT 1",
                          "CREATE ALGORITHM=MERGE SQL SECURITY INVOKER VIEW v AS SELECT 1",
                          "ALTER VIEW v AS SELECT 1",
                          "DROP VIEW v",
                          "CREATE TABLESPACE x",
                          "ALTER PROCEDURE p COMMENT 'x'",
                          "SELECT 1 EXCEPT SELECT 2",
                          "SELECT 1 INTERSECT SELECT 2",
                          "(SELECT 1) EXCEPT (SELECT 2)",
                          "SELECT 1 UNION (SELECT 1) INTERSECT (SELECT 2)",
                          "SELECT (SELECT 1) IN ((SELECT 1) EXCEPT (SELECT 2))",
                          "SELECT a FROM t WINDOW w AS (ORDER BY a)",
                          "SELECT * FROM t, LATERAL (SELECT t.a) x",
                          "SELECT * FROM JSON_TABLE('[1]', '$[*]' COLUMNS (a INT PATH '$')) x",
                          "SELECT * FROM t PARTITION (p0)",
                          "INSERT INTO t PARTITION (p0) VALUES (1, '')",
                          "ALTER TABLE t ORDER BY a",
                          "ALTER TABLE t ALTER INDEX k INVISIBLE",
                          "CREATE TABLE x (a INT INVISIBLE)",
                          "CREATE TABLE x (a INT, KEY k (a) INVISIBLE)",
                          "CREATE TABLE x (a INT(5) ZEROFILL)",
                          "CREATE TABLE x (a INT) ENCRYPTION='Y'",
                          "CREATE TABLE x (a INT) COMPRESSION='zlib'",
                          "COMMIT AND CHAIN",
                          "ROLLBACK RELEASE",
                          "SELECT 1 UNION SELECT a FROM t FOR UPDATE",
                          "SELECT LAG(a, 1) FROM t",
                          "SELECT ROW_NUMBER() OVER () FROM t",
                          "SELECT ST_Distance(1, 2)",
                          "SELECT POINT(1, 2)",
                          "SELECT LOAD_FILE('/etc/passwd')",
                          "ALTER TABLE t ADD PARTITION (PARTITION p0 VALUES LESS THAN (1))",
                          "INSTALL COMPONENT 'x'",
                          "SELECT UUID_SHORT()",
                          "SELECT 1234567890123456789012345678901234567890",
                          "SELECT CAST('1234567890123456789012345678901234567890' AS DECIMAL(65))"})
    EXPECT_EQ(code(sql), "ERROR 1235") << sql;
}

TEST_F(Absent, WhatIsAMistakeInMysqlIsOneHere) {
  run("CREATE TABLE t (a INT)");
  for (const char* sql :
       {"CREATE NONSENSE x", "DROP NONSENSE x", "NONSENSE", "SELECT a FROM t GROUP BY a DESC",
        "DROP TEMPORARY VIEW v", "START TRANSACTION READ ONLY, READ WRITE",
        "SET TRANSACTION READ ONLY, READ WRITE", "SET SESSION TRANSACTION READ ONLY, READ ONLY",
        "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE, ISOLATION LEVEL READ COMMITTED",
        "CREATE TABLE x (a DOUBLE(5))", "CREATE TABLE x (a NATIONAL INT)"})
    EXPECT_EQ(code(sql), "ERROR 1064") << sql;
  EXPECT_EQ(code("SELECT UPPER(DISTINCT 'a')"), "ERROR 1064");
  EXPECT_EQ(run("SELECT test.nosuch(1)"), "ERROR 1305: FUNCTION test.nosuch does not exist");
  EXPECT_EQ(run("SET binlog_format = ROW; SET SESSION binlog_format = 'STATEMENT'").substr(0, 14),
            " ; ERROR 1231:");
  EXPECT_EQ(code("ALTER TABLE t ADD b INT, ALGORITHM=NONSENSE"), "ERROR 1800");
  EXPECT_EQ(code("ALTER TABLE t ADD b INT, LOCK=NONSENSE"), "ERROR 1801");
  EXPECT_EQ(run("ALTER TABLE t ADD b INT, ALGORITHM=INPLACE, LOCK=NONE"), "");
  EXPECT_EQ(run("SELECT 'a' LIKE 'b' ESCAPE 'ab'"), "ERROR 1210: Incorrect arguments to ESCAPE");
  EXPECT_EQ(run("SELECT 'a%' LIKE 'aé%' ESCAPE 'é', 'ax' LIKE 'aé%' ESCAPE 'é'"), "1|0");
  EXPECT_EQ(run("COMMIT AND NO CHAIN NO RELEASE"), "");
}

TEST_F(Absent, TablesOfInformationSchema) {
  EXPECT_EQ(run("SELECT * FROM information_schema.nosuch"),
            "ERROR 1109: Unknown table 'NOSUCH' in information_schema");
  EXPECT_EQ(run("SELECT * FROM performance_schema.nosuch"),
            "ERROR 1146: Table 'performance_schema.nosuch' doesn't exist");
  EXPECT_EQ(code("SELECT * FROM nosuch.nosuch"), "ERROR 1049");
}

TEST_F(Absent, TemporaryTablesAreNotThereAndOthersStay) {
  run("CREATE TABLE t (a INT); BEGIN; INSERT INTO t VALUES (1)");
  EXPECT_EQ(run("DROP TEMPORARY TABLE t"), "ERROR 1051: Unknown table 'test.t'");
  EXPECT_EQ(run("DROP TEMPORARY TABLE IF EXISTS t; SHOW WARNINGS"), " ; Note|1051|Unknown table 'test.t'");
  EXPECT_EQ(run("SELECT COUNT(*) FROM t; ROLLBACK; SELECT COUNT(*) FROM t"), "1 ;  ; 0")
      << "the transaction goes on";
}

}  // namespace
}  // namespace commitd::sql
