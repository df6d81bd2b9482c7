// INSERT, REPLACE, UPDATE, DELETE and definitions.
#include "sql/testing/sql_fixture.h"

namespace commitd::sql {
namespace {

class Changes : public testing::SqlTest {
 protected:
  std::string table(const std::string& name = "t") { return run("SELECT * FROM " + name); }
};

TEST_F(Changes, GeneratedNumbersFollowGivenOnes) {
  run("CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, n INT)");
  EXPECT_EQ(run("INSERT INTO t VALUES (0, 1), (2, 2), (NULL, 3), (100, 4), (0, 5), (-7, 6), (0, 7)"), "");
  EXPECT_EQ(table(), "-7|6\n1|1\n2|2\n3|3\n100|4\n101|5\n102|7");
}

TEST_F(Changes, IgnoreTakesASubqueryOfSeveralRowsForNull) {
  run("CREATE TABLE t (id INT, n INT); INSERT INTO t VALUES (1, 1), (2, 3);"
      "CREATE TABLE u (id INT, n INT NOT NULL)");
  const std::string warning = "Warning|1242|Subquery returns more than 1 row";
  EXPECT_EQ(run("DELETE FROM t WHERE n <> (SELECT id FROM t)"),
            "ERROR 1242: Subquery returns more than 1 row");
  EXPECT_EQ(run("DELETE IGNORE FROM t WHERE n <> (SELECT id FROM t); SHOW WARNINGS"), " ; " + warning);
  EXPECT_EQ(run("DELETE IGNORE FROM t WHERE (n, 1) = (SELECT id, n FROM t); SHOW WARNINGS"), " ; " + warning);
  EXPECT_EQ(run("DELETE IGNORE FROM t WHERE n <> (SELECT id FROM u WHERE u.id = t.id)"), "");
  EXPECT_EQ(table(), "1|1\n2|3");
  EXPECT_EQ(run("INSERT IGNORE INTO u VALUES ((SELECT n FROM t), 4); SHOW WARNINGS"), " ; " + warning);
  EXPECT_EQ(run("INSERT IGNORE INTO u SELECT id, (SELECT n FROM t) FROM t"), "");
  EXPECT_EQ(table("u"), "NULL|4\n1|0\n2|0");
  EXPECT_EQ(run("UPDATE IGNORE t SET n = (SELECT u.n FROM u WHERE u.id > t.id - 1); SHOW WARNINGS"),
            " ; " + warning);
  EXPECT_EQ(table(), "1|NULL\n2|0");
}

TEST_F(Changes, WhatIsDeletedFromIsNamedAsItStandsInFrom) {
  run("CREATE TABLE t (id INT); INSERT INTO t VALUES (1); CREATE DATABASE d2; CREATE TABLE d2.t (id INT); "
      "INSERT INTO d2.t VALUES (1)");
  const auto unknown = [](const std::string& name) {
    return "ERROR 1109: Unknown table '" + name + "' in MULTI DELETE";
  };
  EXPECT_EQ(run("DELETE FROM d2.a USING d2.t a"), unknown("a"));
  EXPECT_EQ(run("DELETE FROM test.a USING d2.t a"), unknown("a"));
  EXPECT_EQ(run("DELETE FROM d2.t USING d2.t a"), unknown("t"));
  EXPECT_EQ(run("DELETE t FROM d2.t"), unknown("t"));
  EXPECT_EQ(run("DELETE t FROM t JOIN d2.t x ON x.id = t.id; SELECT COUNT(*) FROM t"), " ; 0");
  EXPECT_EQ(run("DELETE FROM a USING d2.t a; SELECT COUNT(*) FROM d2.t"), " ; 0");
  EXPECT_EQ(run("DELETE d2.t, t FROM d2.t, t"), "");
}

TEST_F(Changes, WhatASelectReadsIsNotSeenInOnDuplicateKeyUpdate) {
  run("CREATE TABLE t (id INT PRIMARY KEY, n INT); CREATE TABLE u (id INT, m INT)");
  EXPECT_EQ(
      run("INSERT INTO t (id) SELECT id FROM u ON DUPLICATE KEY UPDATE n = u.m"),
      "ERROR 1235: This version of MySQL doesn't yet support 'columns of the SELECT in ON DUPLICATE KEY "
      "UPDATE' (Unknown column 'u.m' in 'field list')");
  EXPECT_EQ(run("INSERT INTO t VALUES (1, 1) ON DUPLICATE KEY UPDATE n = u.m").substr(0, 11), "ERROR 1054:");
}

TEST_F(Changes, NumbersInColumnsOfFewCharactersKeepTheDigitsThatFit) {
  run("CREATE TABLE t (a CHAR(7), b CHAR(5))");
  EXPECT_EQ(run("INSERT IGNORE INTO t VALUES (1.225e-4, 1.225e-4), (1.225877e-1, 1.225877e-1), (123456789e0, "
                "123456789e0), (-1.87e-2, -1.87e-2), (1.25e-175, 1.5e300)"),
            "");
  EXPECT_EQ(table(), "1.22e-4|1e-4\n0.12259|0.123\n1.235e8|1.2e8\n-0.0187|-0.02\n1e-175|2e300");
}

TEST_F(Changes, WhatIsBelowZeroIsZeroInUnsignedReals) {
  run("CREATE TABLE t (f FLOAT UNSIGNED, d DOUBLE UNSIGNED, n DOUBLE(5,1) UNSIGNED, m FLOAT(3,1) UNSIGNED)");
  EXPECT_EQ(run("INSERT INTO t (f) VALUES (-1e111)").substr(0, 11), "ERROR 1264:");
  EXPECT_EQ(
      run("INSERT IGNORE INTO t VALUES (-1e111, -1e111, -1e111, -1e111), (-1, -1, -1, -1); SELECT * FROM t"),
      " ; 0|0|0|0\n0|0|0|0");
}

TEST_F(Changes, NumbersDoNotBeginAgainAtTheirEnd) {
  run("CREATE TABLE t (id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY); INSERT INTO t VALUES "
      "(18446744073709551601); SET auto_increment_increment = 10");
  EXPECT_EQ(run("INSERT INTO t VALUES (NULL), (NULL), (NULL)").substr(0, 11), "ERROR 1264:");
  EXPECT_EQ(run("SET auto_increment_increment = DEFAULT; SELECT * FROM t"), " ; 18446744073709551601");
}

TEST_F(Changes, RowsOfNothingButDefaults) {
  run("CREATE TABLE t (a INT DEFAULT 7, b VARCHAR(3))");
  EXPECT_EQ(run("INSERT INTO t VALUES (), ()"), "");
  EXPECT_EQ(run("INSERT INTO t () VALUES (), ()"), "");
  EXPECT_EQ(table(), "7|NULL\n7|NULL\n7|NULL\n7|NULL");
  EXPECT_EQ(run("INSERT INTO t VALUES (), (1, 'x')"),
            "ERROR 1136: Column count doesn't match value count at row 2");
  EXPECT_EQ(run("INSERT INTO t VALUES (1, 'x'), ()"),
            "ERROR 1136: Column count doesn't match value count at row 2");
}

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
  auto other = connect_to_test_database();
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

TEST_F(Changes, UpdateOfAJoinChangesEachRowOnceWithTheFirstThatMatches) {
  run("CREATE TABLE t (id INT PRIMARY KEY, n INT, v VARCHAR(5) DEFAULT 'd')");
  run("CREATE TABLE u (k INT PRIMARY KEY, t INT, m INT)");
  run("INSERT INTO t VALUES (1,0,'a'),(2,0,'b'),(3,0,'c')");
  run("INSERT INTO u VALUES (10,1,5),(11,1,6),(12,2,7),(13,9,8)");
  EXPECT_EQ(run("UPDATE t JOIN u ON u.t = t.id SET t.n = t.n + m, v = DEFAULT WHERE k > 10"), "");
  EXPECT_EQ(last().last.info, "Rows matched: 2  Changed: 2  Warnings: 0");
  EXPECT_EQ(table(), "1|6|d\n2|7|d\n3|0|c");
  EXPECT_EQ(run("UPDATE t, u SET n = n + 1 WHERE u.t = t.id"), "");
  EXPECT_EQ(table(), "1|7|d\n2|8|d\n3|0|c") << "row 1 joins twice";
  EXPECT_EQ(run("UPDATE u LEFT JOIN t a ON a.id = u.t SET a.n = 9, u.m = IFNULL(a.n, -1)"), "");
  EXPECT_EQ(last().last.affected_rows, 6u);
  EXPECT_EQ(table(), "1|9|d\n2|9|d\n3|0|c");
  EXPECT_EQ(table("u"), "10|1|7\n11|1|7\n12|2|8\n13|9|-1") << "values of before the statement";
  EXPECT_EQ(run("UPDATE t JOIN u ON t.id = u.t SET t.id = 3"),
            "ERROR 1062: Duplicate entry '3' for key 't.PRIMARY'");
  EXPECT_EQ(table(), "1|9|d\n2|9|d\n3|0|c");
  EXPECT_EQ(run("UPDATE IGNORE t JOIN u ON t.id = u.t SET t.id = t.id + 1"), "");
  EXPECT_EQ(table(), "1|9|d\n2|9|d\n3|0|c") << "each row's place is taken";
}

TEST_F(Changes, ARowThatIsUpdatedUnderTwoNamesKeepsBothChanges) {
  run("CREATE TABLE t (id INT PRIMARY KEY, n INT, v VARCHAR(5))");
  run("INSERT INTO t VALUES (1,10,'a'),(2,20,'b'),(3,30,'c')");
  EXPECT_EQ(run("UPDATE t a JOIN t b ON b.id = a.id + 1 SET a.n = 0, b.v = 'x'"), "");
  EXPECT_EQ(table(), "1|0|a\n2|0|x\n3|30|x");
  EXPECT_EQ(run("UPDATE t a JOIN t b ON b.id = a.id SET a.n = a.n + 1, b.n = b.n + 5"), "");
  EXPECT_EQ(table(), "1|5|a\n2|5|x\n3|35|x") << "the last assignment, of values of before the statement";
  EXPECT_EQ(run("UPDATE t a JOIN t b ON b.id = a.id SET a.id = 9, b.n = 1"),
            "ERROR 1706: Primary key/partition key update is not allowed since the table is updated both as "
            "'a' and 'b'.");
  EXPECT_EQ(run("DELETE a, b FROM t a JOIN t b ON b.id = a.id + 1"), "");
  EXPECT_EQ(last().last.affected_rows, 3u);
  EXPECT_EQ(table(), "");
}

TEST_F(Changes, UpdateOfAJoinRefusesWhatCannotBeChanged) {
  run("CREATE TABLE t (id INT PRIMARY KEY, n INT)");
  run("CREATE TABLE u (id INT PRIMARY KEY, m INT)");
  EXPECT_EQ(run("UPDATE t JOIN u USING (id) SET nope = 1"),
            "ERROR 1054: Unknown column 'nope' in 'field list'");
  EXPECT_EQ(run("UPDATE t, u SET id = 1"), "ERROR 1052: Column 'id' in field list is ambiguous");
  EXPECT_EQ(run("UPDATE t SET u.n = 1"), "ERROR 1054: Unknown column 'u.n' in 'field list'");
  EXPECT_EQ(run("UPDATE t JOIN (SELECT 1 AS x) y SET y.x = 2"),
            "ERROR 1288: The target table y of the UPDATE is not updatable");
  EXPECT_EQ(run("UPDATE t, u SET n = 1 ORDER BY n"), "ERROR 1221: Incorrect usage of UPDATE and ORDER BY");
  EXPECT_EQ(run("UPDATE t, u SET n = 1 LIMIT 1"), "ERROR 1221: Incorrect usage of UPDATE and LIMIT");
  EXPECT_EQ(run("UPDATE t, u SET n = SUM(m)"), "ERROR 1111: Invalid use of group function");
}

TEST_F(Changes, DeleteFromAJoin) {
  run("CREATE TABLE t (id INT PRIMARY KEY, n INT)");
  run("CREATE TABLE u (k INT, t INT)");
  const auto fill = [&] {
    run("TRUNCATE t; TRUNCATE u");
    run("INSERT INTO t VALUES (1,0),(2,0),(3,0)");
    run("INSERT INTO u VALUES (10,1),(11,1),(12,2),(13,9)");
  };
  fill();
  EXPECT_EQ(run("DELETE t FROM t JOIN u ON u.t = t.id WHERE k < 12"), "");
  EXPECT_EQ(last().last.affected_rows, 1u) << "row 1 joins twice";
  EXPECT_EQ(table(), "2|0\n3|0");
  EXPECT_EQ(table("u"), "10|1\n11|1\n12|2\n13|9");
  fill();
  EXPECT_EQ(run("DELETE a, test.u.* FROM u LEFT JOIN t AS a ON a.id = u.t"), "");
  EXPECT_EQ(last().last.affected_rows, 6u);
  EXPECT_EQ(table() + "; " + table("u"), "3|0; ");
  fill();
  EXPECT_EQ(run("DELETE FROM u USING t JOIN u ON u.t = t.id"), "");
  EXPECT_EQ(table("u"), "13|9");
  EXPECT_EQ(run("DELETE x FROM t JOIN u ON u.t = t.id"), "ERROR 1109: Unknown table 'x' in MULTI DELETE");
  EXPECT_EQ(run("DELETE t FROM t AS a"), "ERROR 1109: Unknown table 't' in MULTI DELETE");
  EXPECT_EQ(run("DELETE t, t FROM t JOIN u ON u.t = t.id"), "ERROR 1066: Not unique table/alias: 't'");
}

TEST_F(Changes, WhatIsWrongWithTheValuesComesBeforeAColumnWithoutOne) {
  run("CREATE TABLE t (id INT PRIMARY KEY, n INT NOT NULL)");
  EXPECT_EQ(run("INSERT INTO t (id) VALUES (1), (nope)"),
            "ERROR 1054: Unknown column 'nope' in 'field list'");
  EXPECT_EQ(run("INSERT INTO t (id) VALUES (1), (2, 3)"),
            "ERROR 1136: Column count doesn't match value count at row 2");
  EXPECT_EQ(run("INSERT INTO t (id) SELECT nope FROM t"),
            "ERROR 1054: Unknown column 'nope' in 'field list'");
  EXPECT_EQ(run("INSERT INTO t (id) SELECT 1, 2"),
            "ERROR 1136: Column count doesn't match value count at row 1");
  EXPECT_EQ(run("INSERT INTO t (id) VALUES (1)"), "ERROR 1364: Field 'n' doesn't have a default value");
}

TEST_F(Changes, SerialIsANumberOfItsOwn) {
  EXPECT_EQ(run("CREATE TABLE t (id SERIAL, n INT)"), "");
  run("INSERT INTO t (n) VALUES (7), (8)");
  EXPECT_EQ(table(), "1|7\n2|8");
  EXPECT_EQ(run("INSERT INTO t VALUES (1, 9)"), "ERROR 1062: Duplicate entry '1' for key 't.id'");
  EXPECT_NE(run("SHOW CREATE TABLE t").find("`id` bigint unsigned NOT NULL AUTO_INCREMENT"),
            std::string::npos);
}

TEST_F(Changes, WrittenBytesBecomeWhatTheColumnHolds) {
  run("CREATE TABLE t (id INT PRIMARY KEY, n BIGINT DEFAULT x'10', d DECIMAL(6,2), s VARCHAR(5), b BIT(12), "
      "KEY (n), KEY (b))");
  EXPECT_EQ(run("INSERT INTO t VALUES (b'1', 0x41, x'42', x'43', b'100000000001')"), "");
  EXPECT_EQ(run("INSERT INTO t (id, b) VALUES (2, 5)"), "");
  EXPECT_EQ(run("SELECT id, n, d, s, b + 0 FROM t ORDER BY id"), "1|65|66.00|C|2049\n2|16|NULL|NULL|5");
  EXPECT_EQ(run("SELECT id FROM t WHERE b = b'100000000001'"), "1");
  EXPECT_EQ(run("SELECT id FROM t WHERE b IN (x'05', 7)"), "2");
  EXPECT_EQ(run("SELECT id FROM t WHERE b > b'110'"), "1");
  EXPECT_EQ(run("SELECT id FROM t WHERE n = x'41' AND d = 0x42 AND s = x'43'"), "1");
  EXPECT_EQ(run("UPDATE t SET n = b'111', s = b'1000001', b = x'07' WHERE id = 0x02"), "");
  EXPECT_EQ(run("INSERT INTO t (id) VALUES (1) ON DUPLICATE KEY UPDATE n = 0x44"), "");
  EXPECT_EQ(run("SELECT id, n, s, b + 0 FROM t ORDER BY id"), "1|68|C|2049\n2|7|A|7");
}

TEST_F(Changes, SelectedLiteralsOfBytesAreNumbersForColumnsOfNumbers) {
  run("CREATE TABLE t (i INT, d DECIMAL(10,2), f DOUBLE, v VARCHAR(5), b BIT(8)); CREATE TABLE two (n INT); "
      "INSERT INTO two VALUES (1), (2)");
  EXPECT_EQ(run("INSERT INTO t SELECT x'41', 0x42, b'1000011', x'44', x'45'"), "");
  EXPECT_EQ(table(), "65|66.00|67|D|69");
  EXPECT_EQ(run("REPLACE INTO t (i, f) SELECT x'41', n FROM two ORDER BY n DESC LIMIT 1"), "");
  EXPECT_EQ(run("SELECT i, f FROM t WHERE v IS NULL"), "65|2");
  // Bytes that are no literal of this SELECT stay bytes.
  for (const char* select : {"SELECT x'41' UNION SELECT x'42'", "SELECT c FROM (SELECT x'41' c) d",
                             "SELECT NULLIF(x'41', '')", "SELECT DISTINCT x'41' FROM two"})
    EXPECT_EQ(run(std::string("INSERT INTO t (i) ") + select).substr(0, 10), "ERROR 1366") << select;
}

TEST_F(Changes, TheDefaultOfAnotherColumnIsAValue) {
  run("CREATE TABLE t (id INT PRIMARY KEY, a INT DEFAULT 7, b INT DEFAULT 9, e ENUM('x', 'y') DEFAULT 'y', n "
      "INT NOT NULL, m INT NULL); INSERT INTO t VALUES (1, 1, 2, 'x', 3, 4)");
  EXPECT_EQ(run("UPDATE t SET a = DEFAULT(b); SELECT a, b FROM t"), " ; 9|2");
  EXPECT_EQ(run("UPDATE t SET a = DEFAULT(t.b) + 1, b = DEFAULT, m = DEFAULT(m); SELECT a, b, m FROM t"),
            " ; 10|9|NULL");
  EXPECT_EQ(run("UPDATE t x JOIN t y ON x.n = y.n SET x.a = DEFAULT(y.b) * 2; SELECT a FROM t"), " ; 18");
  EXPECT_EQ(
      run("INSERT INTO t (id, a, n) VALUES (1, 1, 1) ON DUPLICATE KEY UPDATE a = DEFAULT, b = DEFAULT(a) "
          "+ a; SELECT a, b FROM t"),
      " ; 7|14");
  EXPECT_EQ(run("INSERT INTO t (id, a, n) VALUES (2, DEFAULT(b) + 1, 1); SELECT a FROM t WHERE id = 2"),
            " ; 10");
  EXPECT_EQ(run("SELECT DEFAULT(a), DEFAULT(t.e), DEFAULT(e) + 0, DEFAULT(test.t.m) FROM t WHERE b = 2 * "
                "DEFAULT(a)"),
            "7|y|2|NULL");
  EXPECT_EQ(run("SELECT (SELECT DEFAULT(o.a) + i.id FROM t i WHERE i.id = o.id) FROM t o ORDER BY 1"),
            "8\n9");
  for (const std::string wrong : {"UPDATE t SET a = DEFAULT(n)", "SELECT DEFAULT(n) FROM t",
                                  "INSERT INTO t (id, n) "
                                  "VALUES (3, DEFAULT(n))",
                                  "SELECT DEFAULT(c) FROM (SELECT 1 c) d"})
    EXPECT_EQ(run(wrong).substr(0, 10), "ERROR 1364") << wrong;
  EXPECT_EQ(run("UPDATE t SET a = DEFAULT(nothing)").substr(0, 10), "ERROR 1054");
}

TEST_F(Changes, TheDefaultOfATimestampIsOfTheSessionsZone) {
  run("SET time_zone = '+02:00'; CREATE TABLE t (s TIMESTAMP NULL DEFAULT '2001-01-01 02:00:00', d "
      "DATETIME); INSERT "
      "INTO t () VALUES (); UPDATE t SET d = DEFAULT(s); INSERT INTO t VALUES (NULL, DEFAULT(s)); SET "
      "time_zone = "
      "'+00:00'");
  EXPECT_EQ(table(), "2001-01-01 00:00:00|2001-01-01 02:00:00\nNULL|2001-01-01 02:00:00");
}

TEST_F(Changes, ATimeInAColumnOfDatesIsOneOfToday) {
  run("CREATE TABLE t (id INT, d DATE, m DATETIME(1)); SET timestamp = 982243385");  // 2001-02-15 13:23:05
  EXPECT_EQ(run("INSERT INTO t VALUES (1, TIME('800:20:30'), TIME('800:20:30.5')), (2, TIME('-00:00:01'), "
                "TIME('-48:00:00')); UPDATE t SET d = TIME('24:00:00') WHERE id = 1"),
            " ; ");
  EXPECT_EQ(run("SELECT d, m FROM t ORDER BY id"),
            "2001-02-16|2001-03-20 08:20:30.5\n2001-02-14|2001-02-13 00:00:00.0");
}

TEST_F(Changes, LabelsHaveNoBlanksAtTheirEnd) {
  run("CREATE TABLE t (e ENUM('a ', 'b  ') DEFAULT 'b', s SET('x ', 'y')); INSERT INTO t VALUES ('a  ', 'y,x "
      "'), "
      "(DEFAULT, 'x')");
  EXPECT_EQ(run("SELECT CONCAT(e, s, '|') FROM t ORDER BY e"), "ax,y|\nbx|");
  EXPECT_NE(run("SHOW CREATE TABLE t").find("enum('a','b')"), std::string::npos);
}

}  // namespace
}  // namespace commitd::sql
