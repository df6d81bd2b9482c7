// INSERT, REPLACE, UPDATE, DELETE and definitions.
#include "sql/testing/sql_fixture.h"

namespace commitd::sql {
namespace {

class Changes : public testing::SqlTest {
 protected:
  std::string table(const std::string& name = "t") { return run("SELECT * FROM " + name); }
};

TEST_F(Changes, FromTheFirstRowToTheLast) {
  EXPECT_EQ(
      run("CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(10) NOT NULL DEFAULT 'new', n INT)"),
      "");
  EXPECT_EQ(run("INSERT INTO t (n) VALUES (1), (2)"), "");
  EXPECT_EQ(last().last.affected_rows, 2u);
  EXPECT_EQ(last().last.last_insert_id, 1u);
  EXPECT_EQ(last().last.info, "Records: 2  Duplicates: 0  Warnings: 0");
  EXPECT_EQ(run("INSERT INTO t SET v = 'x', n = 1 + 2"), "");
  EXPECT_EQ(run("SELECT LAST_INSERT_ID()"), "3");
  EXPECT_EQ(table(), "1|new|1\n2|new|2\n3|x|3");
  EXPECT_EQ(run("UPDATE t SET n = n * 10, v = CONCAT(v, n) WHERE id >= 2"), "");
  EXPECT_EQ(last().last.affected_rows, 2u);
  EXPECT_EQ(last().last.info, "Rows matched: 2  Changed: 2  Warnings: 0");
  EXPECT_EQ(table(), "1|new|1\n2|new20|20\n3|x30|30");
  EXPECT_EQ(run("UPDATE t SET n = 20 WHERE id = 2"), "");
  EXPECT_EQ(last().last.affected_rows, 0u) << "nothing changed";
  EXPECT_EQ(run("DELETE FROM t WHERE n > 1 ORDER BY n LIMIT 1"), "");
  EXPECT_EQ(table(), "1|new|1\n3|x30|30");
  EXPECT_EQ(run("DELETE FROM t"), "");
  EXPECT_EQ(table(), "");
}

TEST_F(Changes, TablesWithoutPrimaryKey) {
  run("CREATE TABLE t (a INT, b VARCHAR(5), KEY (a))");
  EXPECT_EQ(run("INSERT INTO t VALUES (1,'x'),(1,'x'),(2,'y')"), "");
  EXPECT_EQ(run("UPDATE t SET b = 'z' WHERE a = 1 LIMIT 1"), "");
  EXPECT_EQ(run("SELECT b FROM t WHERE a = 1 ORDER BY b"), "x\nz");
  EXPECT_EQ(run("DELETE FROM t WHERE a = 1"), "");
  EXPECT_EQ(table(), "2|y");
}

TEST_F(Changes, DuplicatesAreRefusedNamedIgnoredOrReplaced) {
  run("CREATE TABLE t (id INT PRIMARY KEY, u VARCHAR(5), n INT DEFAULT 0, UNIQUE (u))");
  run("INSERT INTO t VALUES (1,'a',0),(2,'b',0)");
  EXPECT_EQ(run("INSERT INTO t VALUES (1,'c',0)"), "ERROR 1062: Duplicate entry '1' for key 't.PRIMARY'");
  EXPECT_EQ(run("INSERT INTO t VALUES (3,'c',0),(4,'B',0)"), "ERROR 1062: Duplicate entry 'B' for key 't.u'");
  EXPECT_EQ(run("SELECT COUNT(*) FROM t"), "2") << "the statement as a whole is undone";
  EXPECT_EQ(run("INSERT IGNORE INTO t VALUES (3,'c',0),(4,'b',0)"), "");
  EXPECT_EQ(last().last.affected_rows, 1u);
  EXPECT_EQ(run("SHOW WARNINGS"), "Warning|1062|Duplicate entry 'b' for key 't.u'");
  EXPECT_EQ(run("REPLACE INTO t VALUES (1,'b',9)"), "");
  EXPECT_EQ(last().last.affected_rows, 3u) << "two rows went, one came";
  EXPECT_EQ(table(), "1|b|9\n3|c|0");
  EXPECT_EQ(run("INSERT INTO t VALUES (3,'q',5) ON DUPLICATE KEY UPDATE n = n + VALUES(n), u = 'd'"), "");
  EXPECT_EQ(last().last.affected_rows, 2u);
  EXPECT_EQ(run("INSERT INTO t VALUES (3,'q',5) AS new ON DUPLICATE KEY UPDATE n = new.n"), "");
  EXPECT_EQ(last().last.affected_rows, 0u) << "the row stays as it is";
  EXPECT_EQ(table(), "1|b|9\n3|d|5");
  EXPECT_EQ(run("UPDATE t SET id = id + 2 WHERE id = 1"),
            "ERROR 1062: Duplicate entry '3' for key 't.PRIMARY'");
}

TEST_F(Changes, StrictModeRefusesWhatDoesNotFit) {
  run("CREATE TABLE t (i TINYINT, u INT UNSIGNED, v VARCHAR(3), d DATE, e ENUM('a','b'), dec1 DECIMAL(4,2), "
      "nn INT NOT NULL)");
  auto insert = [&](const std::string& column, const std::string& value) {
    return run("INSERT INTO t (nn, " + column + ") VALUES (1, " + value + ")");
  };
  EXPECT_EQ(insert("i", "128"), "ERROR 1264: Out of range value for column 'i' at row 1");
  EXPECT_EQ(insert("u", "-1"), "ERROR 1264: Out of range value for column 'u' at row 1");
  EXPECT_EQ(insert("i", "'abc'"), "ERROR 1366: Incorrect integer value: 'abc' for column 'i' at row 1");
  EXPECT_EQ(insert("i", "'12x'"), "ERROR 1265: Data truncated for column 'i' at row 1");
  EXPECT_EQ(insert("v", "'abcd'"), "ERROR 1406: Data too long for column 'v' at row 1");
  EXPECT_EQ(insert("v", "'abc  '"), "") << "only spaces are cut";
  EXPECT_EQ(insert("d", "'2026-02-30'"),
            "ERROR 1292: Incorrect date value: '2026-02-30' for column 'd' at row 1");
  EXPECT_EQ(insert("d", "'0000-00-00'"),
            "ERROR 1292: Incorrect date value: '0000-00-00' for column 'd' at row 1");
  EXPECT_EQ(insert("e", "'c'"), "ERROR 1265: Data truncated for column 'e' at row 1");
  EXPECT_EQ(insert("dec1", "123.4"), "ERROR 1264: Out of range value for column 'dec1' at row 1");
  EXPECT_EQ(run("INSERT INTO t (nn) VALUES (NULL)"), "ERROR 1048: Column 'nn' cannot be null");
  EXPECT_EQ(run("INSERT INTO t (i) VALUES (1)"), "ERROR 1364: Field 'nn' doesn't have a default value");
  EXPECT_EQ(run("INSERT INTO t (i, nn) VALUES (1)"),
            "ERROR 1136: Column count doesn't match value count at row 1");
}

TEST_F(Changes, WithoutStrictModeValuesAreAdjustedWithWarnings) {
  run("CREATE TABLE t (i TINYINT, v VARCHAR(3), nn INT NOT NULL)");
  run("SET sql_mode = ''");
  EXPECT_EQ(run("INSERT INTO t (i, v) VALUES (1000, 'abcdef')"), "");
  EXPECT_EQ(last().last.warnings, 3);
  EXPECT_EQ(table(), "127|abc|0");
}

TEST_F(Changes, EveryTypeComesBackAsItWasStored) {
  EXPECT_EQ(run("CREATE TABLE t (id INT PRIMARY KEY, a TINYINT, b SMALLINT UNSIGNED, c MEDIUMINT, d BIGINT "
                "UNSIGNED, e FLOAT, f DOUBLE,"
                " g DECIMAL(10,3), h CHAR(5), i VARCHAR(10), j TEXT, k BINARY(3), l VARBINARY(4), m BLOB, n "
                "DATE, o TIME(3), p DATETIME(6),"
                " q TIMESTAMP NULL, r YEAR, s ENUM('x','y'), t SET('p','q','r'), u BIT(4))"),
            "");
  EXPECT_EQ(run("INSERT INTO t VALUES (1, -5, 65535, -8388608, 18446744073709551615, 1.5, -2.25, -12.3456, "
                "'ab', 'grün', 'text', 'a', 0x0102, 'blob',"
                " '2026-01-02', '-12:34:56.789', '2026-01-02 03:04:05.678901', '2026-01-02 03:04:05', 2026, "
                "'y', 'r,p', b'101')"),
            "");
  EXPECT_EQ(run("SELECT a,b,c,d,e,f,g,h,i,j,HEX(k),HEX(l),m,n,o,p,q,r,s,t,u+0 FROM t"),
            "-5|65535|-8388608|18446744073709551615|1.5|-2.25|-12.346|ab|grün|text|610000|0102|blob|2026-01-"
            "02|-12:34:56.789|"
            "2026-01-02 03:04:05.678901|2026-01-02 03:04:05|2026|y|p,r|5");
  run("SET time_zone = '+05:00'");
  EXPECT_EQ(run("SELECT p, q FROM t"), "2026-01-02 03:04:05.678901|2026-01-02 08:04:05")
      << "only TIMESTAMP moves with the time zone";
}

TEST_F(Changes, TimestampsFillThemselves) {
  run("CREATE TABLE t (id INT PRIMARY KEY, made DATETIME DEFAULT CURRENT_TIMESTAMP, changed TIMESTAMP "
      "DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP, n INT)");
  run("SET time_zone = '+00:00', timestamp = 1000000000; INSERT INTO t (id, n) VALUES (1, 1); SET timestamp "
      "= 1000000060; UPDATE t SET n = 2");
  EXPECT_EQ(table(), "1|2001-09-09 01:46:40|2001-09-09 01:47:40|2");
}

TEST_F(Changes, TransactionsAndSavepoints) {
  run("CREATE TABLE t (id INT PRIMARY KEY)");
  run("BEGIN; INSERT INTO t VALUES (1); SAVEPOINT s; INSERT INTO t VALUES (2); ROLLBACK TO s; INSERT INTO t "
      "VALUES (3)");
  EXPECT_EQ(table(), "1\n3");
  auto other = connect();
  run(*other, "USE test");
  EXPECT_EQ(run(*other, "SELECT * FROM t"), "") << "nothing is visible before COMMIT";
  run("COMMIT");
  EXPECT_EQ(run(*other, "SELECT * FROM t"), "1\n3");
  run("BEGIN; DELETE FROM t; ROLLBACK");
  EXPECT_EQ(table(), "1\n3");
  EXPECT_EQ(run("START TRANSACTION READ ONLY; DELETE FROM t"),
            " ; ERROR 1792: Cannot execute statement in a READ ONLY transaction.");
  run("ROLLBACK; SET autocommit = 0; INSERT INTO t VALUES (4)");
  EXPECT_EQ(run(*other, "SELECT COUNT(*) FROM t"), "2");
  run("CREATE TABLE other_table (a INT)");
  EXPECT_EQ(run(*other, "SELECT COUNT(*) FROM t"), "3") << "DDL commits what is open";
}

TEST_F(Changes, InsertFromSelect) {
  run("CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, n INT); INSERT INTO t (n) VALUES (1), (2)");
  EXPECT_EQ(run("INSERT INTO t (n) SELECT n + 10 FROM t"), "");
  EXPECT_EQ(table(), "1|1\n2|2\n3|11\n4|12");
}

TEST_F(Changes, IndexesOfFilledTables) {
  run("CREATE TABLE t (id INT PRIMARY KEY, n INT, s VARCHAR(5)); INSERT INTO t VALUES "
      "(1,5,'a'),(2,4,'b'),(3,5,'c')");
  EXPECT_EQ(run("CREATE INDEX by_n ON t (n)"), "");
  EXPECT_EQ(run("SELECT id FROM t WHERE n = 5"), "1\n3");
  EXPECT_EQ(run("CREATE UNIQUE INDEX one_n ON t (n)").substr(0, 11), "ERROR 1062:");
  EXPECT_EQ(run("ALTER TABLE t ADD COLUMN extra INT NOT NULL DEFAULT 7, DROP INDEX by_n"), "");
  EXPECT_EQ(table(), "1|5|a|7\n2|4|b|7\n3|5|c|7");
  EXPECT_EQ(run("TRUNCATE t; SELECT COUNT(*) FROM t"), " ; 0");
  EXPECT_EQ(run("DROP TABLE t; SELECT * FROM t"), " ; ERROR 1146: Table 'test.t' doesn't exist");
}

TEST_F(Changes, ValuesMayReadColumnsFurtherLeft) {
  run("CREATE TABLE t (a INT, b INT DEFAULT 7, c INT NOT NULL, d INT)");
  EXPECT_EQ(run("INSERT INTO t (a, d, c) VALUES (2, a * 10 + b, d + c), (3, b, 1)"), "");
  EXPECT_EQ(table(), "2|7|27|27\n3|7|1|7");
  EXPECT_EQ(run("INSERT INTO t SET a = 1, c = a + 1"), "");
  EXPECT_EQ(run("SELECT a, c FROM t WHERE a = 1"), "1|2");
  EXPECT_EQ(run("INSERT INTO t (a, c) VALUES (x, 1)"), "ERROR 1054: Unknown column 'x' in 'field list'");
}

TEST_F(Changes, UnlockTablesLeavesATransactionOpen) {
  run("CREATE TABLE t (a INT)");
  EXPECT_EQ(
      run("BEGIN; INSERT INTO t VALUES (1); SAVEPOINT s; UNLOCK TABLES; ROLLBACK TO SAVEPOINT s; ROLLBACK"),
      " ;  ;  ;  ;  ; ");
  EXPECT_EQ(table(), "");
}

}  // namespace
}  // namespace commitd::sql
