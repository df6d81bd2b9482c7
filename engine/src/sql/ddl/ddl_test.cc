// Definitions as clients make them: CHECK constraints, ALTER TABLE, table maintenance.
#include "sql/catalog.h"
#include "sql/testing/sql_fixture.h"
#include "storage/record/key_codec.h"

namespace commitd::sql {
namespace {

using testing::SqlTest;

class Ddl : public SqlTest {
 protected:
  Ddl() { run("CREATE DATABASE d; USE d"); }
};

TEST_F(Ddl, CheckConstraintsHoldForEveryStatementThatWrites) {
  EXPECT_EQ(run("CREATE TABLE t (id INT PRIMARY KEY, a INT CHECK (a > 0), b INT, CONSTRAINT sum CHECK (a + b "
                "< 10), "
                "CHECK (b <> 5) NOT ENFORCED)"),
            "");
  EXPECT_EQ(run("INSERT INTO t VALUES (1, 1, 5)"), "");
  EXPECT_EQ(run("INSERT INTO t VALUES (2, 0, 1)"), "ERROR 3819: Check constraint 't_chk_1' is violated.");
  EXPECT_EQ(run("INSERT INTO t VALUES (2, NULL, 1)"), "");  // unknown is not false
  EXPECT_EQ(run("UPDATE t SET b = 9 WHERE id = 1"), "ERROR 3819: Check constraint 'sum' is violated.");
  EXPECT_EQ(run("INSERT INTO t VALUES (1, 1, 1) ON DUPLICATE KEY UPDATE a = -1"),
            "ERROR 3819: Check constraint 't_chk_1' is violated.");
  EXPECT_EQ(run("REPLACE INTO t VALUES (1, -1, 1)"), "ERROR 3819: Check constraint 't_chk_1' is violated.");
  EXPECT_EQ(run("INSERT IGNORE INTO t VALUES (3, -1, 1), (4, 2, 2)"), "");
  EXPECT_EQ(run("SHOW WARNINGS"), "Warning|3819|Check constraint 't_chk_1' is violated.");
  EXPECT_EQ(run("SELECT * FROM t ORDER BY id"), "1|1|5\n2|NULL|1\n4|2|2");
}

TEST_F(Ddl, RowsGetNumbersWhenTheirColumnBecomesAutoIncrement) {
  run("CREATE TABLE t (id INT PRIMARY KEY, n BIGINT)");
  const std::string rows = "INSERT INTO t VALUES (1, 5), (2, 0), (3, NULL), (4, 20), (5, NULL)";
  const std::string numbered = "1|5\n2|6\n3|7\n4|20\n5|21";
  run(rows);
  EXPECT_EQ(run("ALTER TABLE t MODIFY n BIGINT NOT NULL AUTO_INCREMENT, ADD KEY (n)"), "");
  EXPECT_EQ(run("SELECT * FROM t; INSERT INTO t (id) VALUES (6); SELECT n FROM t WHERE id = 6"),
            numbered + " ;  ; 22");
  run("UPDATE t SET n = 0 WHERE id = 1");  // that it has been AUTO_INCREMENT keeps it
  EXPECT_EQ(run("ALTER TABLE t MODIFY n INT NOT NULL AUTO_INCREMENT; SELECT n FROM t WHERE id = 1"), " ; 0");

  run("DROP TABLE t; CREATE TABLE t (id INT PRIMARY KEY, n BIGINT)");
  run(rows);
  EXPECT_EQ(run("ALTER TABLE t MODIFY n BIGINT AUTO_INCREMENT, ADD UNIQUE (n), AUTO_INCREMENT = 6"), "");
  EXPECT_EQ(run("SELECT * FROM t"), numbered);
  run("DROP TABLE t; CREATE TABLE t (id INT PRIMARY KEY, n BIGINT)");
  run(rows);
  EXPECT_EQ(run("SET sql_mode = 'NO_AUTO_VALUE_ON_ZERO'; ALTER TABLE t MODIFY n BIGINT NOT NULL "
                "AUTO_INCREMENT, ADD UNIQUE (n); SELECT n FROM t ORDER BY id; SET sql_mode = DEFAULT"),
            " ;  ; 5\n0\n6\n20\n21 ; ");
  run("DROP TABLE t; CREATE TABLE t (id INT PRIMARY KEY, n BIGINT)");
  EXPECT_EQ(
      run("INSERT INTO t VALUES (1, 0), (2, 1); ALTER TABLE t MODIFY n BIGINT AUTO_INCREMENT, ADD UNIQUE (n)")
          .substr(0, 14),
      " ; ERROR 1062:");
}

TEST_F(Ddl, AnAddedDateMustNotBeZeroWhereThatIsForbidden) {
  run("CREATE TABLE t (a INT)");
  EXPECT_EQ(run("ALTER TABLE t ADD b DATE NOT NULL"), "");
  run("INSERT INTO t VALUES (1, '2000-01-01')");
  EXPECT_EQ(run("ALTER TABLE t ADD c DATETIME NOT NULL"),
            "ERROR 1292: Incorrect datetime value: '0000-00-00 00:00:00' for column 'c' at row 1");
  EXPECT_EQ(run("ALTER TABLE t ADD c DATE NOT NULL"),
            "ERROR 1292: Incorrect date value: '0000-00-00' for column 'c' at row 1");
  EXPECT_EQ(run("ALTER TABLE t ADD c DATE NOT NULL DEFAULT '2002-02-02'"), "");
  EXPECT_EQ(
      run("SET sql_mode = ''; ALTER TABLE t ADD d DATE NOT NULL; SET sql_mode = DEFAULT; SELECT * FROM t"),
      " ;  ;  ; 1|2000-01-01|2002-02-02|0000-00-00");
}

TEST_F(Ddl, ActionsNameColumnsAndIndexesAsTheyWereInFrontOfThem) {
  run("CREATE TABLE t (a INT, b INT, c INT, KEY x (a), KEY y (b)); INSERT INTO t VALUES (1, 2, 3)");
  const auto shown = [this] {
    return run(
        "SELECT a, b FROM t; SELECT index_name, column_name FROM information_schema.statistics WHERE "
        "table_name = 't' ORDER BY 2");
  };
  EXPECT_EQ(run("ALTER TABLE t RENAME COLUMN a TO b, RENAME COLUMN b TO a"), "");
  EXPECT_EQ(shown(), "2|1 ; y|a\nx|b");
  EXPECT_EQ(run("ALTER TABLE t CHANGE a b BIGINT, CHANGE b a BIGINT"), "");
  EXPECT_EQ(shown(), "1|2 ; x|a\ny|b");
  EXPECT_EQ(run("ALTER TABLE t RENAME INDEX x TO y, RENAME INDEX y TO x"), "");
  EXPECT_EQ(shown(), "1|2 ; y|a\nx|b");
  EXPECT_EQ(run("ALTER TABLE t RENAME COLUMN a TO d, RENAME COLUMN b TO e, RENAME COLUMN c TO a"), "");
  EXPECT_EQ(run("SELECT d, e, a FROM t; ALTER TABLE t RENAME COLUMN a TO c, RENAME COLUMN d TO a, RENAME "
                "COLUMN e TO b"),
            "1|2|3 ; ");
  for (const auto& [actions, error] : std::vector<std::pair<std::string, std::string>>{
           {"RENAME COLUMN a TO d, DROP COLUMN d", "1091"},
           {"ADD COLUMN z INT, RENAME COLUMN z TO w", "1054"},
           {"ADD COLUMN z INT, DROP COLUMN z", "1091"},
           {"RENAME COLUMN a TO z, ALTER COLUMN z SET DEFAULT 1", "1054"},
           {"CHANGE a d INT, CHANGE d e INT", "1054"},
           {"RENAME COLUMN a TO b", "1060"},
           {"CHANGE a b INT", "1060"},
           {"RENAME INDEX x TO y", "1061"},
           {"RENAME INDEX x TO z, DROP INDEX z", "1091"}})
    EXPECT_EQ(run("ALTER TABLE t " + actions).substr(0, 10), "ERROR " + error) << actions;
  EXPECT_EQ(run("ALTER TABLE t ADD COLUMN z INT FIRST, ADD COLUMN w INT AFTER z, RENAME COLUMN c TO d"), "");
  EXPECT_EQ(run("SELECT * FROM t"), "NULL|NULL|1|2|3");
  EXPECT_EQ(run("ALTER TABLE t ADD COLUMN v INT NOT NULL DEFAULT 2, ALTER COLUMN v SET DEFAULT 5"), "");
}

TEST_F(Ddl, WhatIsDroppedGoesFirst) {
  run("CREATE TABLE t (a INT PRIMARY KEY, b INT NOT NULL, c INT, KEY k (b)); INSERT INTO t VALUES (1, 4, 7), "
      "(2, 3, 8)");
  EXPECT_EQ(run("ALTER TABLE t ADD PRIMARY KEY (b), DROP PRIMARY KEY; SELECT * FROM t"), " ; 2|3|8\n1|4|7");
  EXPECT_EQ(
      run("ALTER TABLE t ADD KEY k (c), DROP KEY k, ADD COLUMN c INT DEFAULT 5, DROP COLUMN c; SELECT * FROM "
          "t; CHECK TABLE t"),
      " ; 2|3|5\n1|4|5 ; d.t|check|status|OK");
  EXPECT_NE(run("SHOW CREATE TABLE t").find("KEY `k` (`c`)"), std::string::npos);
  EXPECT_EQ(run("ALTER TABLE t RENAME COLUMN a TO c, DROP COLUMN c; SELECT * FROM t"), " ; 2|3\n1|4");
  EXPECT_EQ(run("ALTER TABLE t ADD COLUMN d INT, DROP COLUMN d").substr(0, 10), "ERROR 1091");
  EXPECT_EQ(run("ALTER TABLE t MODIFY b INT, DROP COLUMN b").substr(0, 10), "ERROR 1054");
}

TEST_F(Ddl, KeysOfColumnsThatBecomeOthers) {
  run("CREATE TABLE t (a VARCHAR(20), b VARCHAR(20) CHARACTER SET latin1, n TEXT, KEY (a), KEY p (b(10)), "
      "KEY q (n(7))); "
      "INSERT INTO t VALUES ('1', '22', '3'), ('2', '11', '4')");
  EXPECT_EQ(run("ALTER TABLE t MODIFY a TEXT").substr(0, 10), "ERROR 1170");
  EXPECT_EQ(run("ALTER TABLE t MODIFY a JSON").substr(0, 10), "ERROR 3152");
  EXPECT_EQ(run("ALTER TABLE t MODIFY a VARCHAR(1000)").substr(0, 10), "ERROR 1071");
  EXPECT_EQ(
      run("ALTER TABLE t MODIFY b INT, MODIFY n VARCHAR(7); SELECT b FROM t WHERE b > 11; CHECK TABLE t"),
      " ; 22 ; d.t|check|status|OK");
  const std::string shown = run("SHOW CREATE TABLE t");
  EXPECT_NE(shown.find("KEY `p` (`b`)"), std::string::npos) << shown;
  EXPECT_NE(shown.find("KEY `q` (`n`)"), std::string::npos) << shown;
  run("CREATE TABLE l (a VARCHAR(1000), KEY (a)) CHARACTER SET latin1");
  EXPECT_EQ(run("ALTER TABLE l CONVERT TO CHARACTER SET utf8mb4").substr(0, 10), "ERROR 1071");
  EXPECT_EQ(run("ALTER TABLE l CONVERT TO CHARACTER SET utf8mb4, DROP KEY a"), "");
}

// Replay would have another day.
TEST_F(Ddl, TimesOfAColumnThatBecomesOneOfDates) {
  run("CREATE TABLE t (a TIME); INSERT INTO t VALUES ('10:00:00')");
  EXPECT_EQ(run("ALTER TABLE t MODIFY a DATETIME").substr(0, 10), "ERROR 1292");
}

TEST_F(Ddl, DefinitionsThatAreTooMuchAreRefused) {
  const std::string text(1024, 'x'), character = "\xc3\xa4";
  const std::pair<std::string, std::string> refused[] = {
      {"s SET('a', 'a')", "1291: Column 's' has duplicated value 'a' in SET"},
      {"s ENUM('a', 'b', 'A') COLLATE utf8mb4_general_ci",
       "1291: Column 's' has duplicated value 'A' in ENUM"},
      {"a INT(256)", "1439: Display width out of range for column 'a' (max = 255)"},
      {"a DECIMAL(0,10)", "1427: For float(M,D), double(M,D) or decimal(M,D), M must be >= D (column 'a')."},
      {"c CHAR(10), KEY (c(0))", "1391: Key part 'c' length cannot be 0"},
      {"a INT COMMENT '" + text + "y'", "1629: Comment for field 'a' is too long (max = 1024)"},
      {"a INT, KEY k (a) COMMENT '" + text + "y'", "1688: Comment for index 'k' is too long (max = 1024)"},
      {"a INT, PRIMARY KEY (a) COMMENT '" + text + "y'",
       "1688: Comment for index 'PRIMARY' is too long (max = 1024)"},
  };
  for (const auto& [columns, error] : refused)
    EXPECT_EQ(run("CREATE TABLE t (" + columns + ")"), "ERROR " + error) << columns.substr(0, 40);
  const std::string too_long = "COMMENT='" + text + text + "y'";
  EXPECT_EQ(run("CREATE TABLE t (a INT) " + too_long),
            "ERROR 1628: Comment for table 't' is too long (max = 2048)");
  EXPECT_EQ(run("CREATE TABLE t (a INT COMMENT '" + text.substr(1) + character +
                "', b INT(255), c DECIMAL(0), e "
                "ENUM('a', 'A') COLLATE utf8mb4_bin)"),
            "");
  EXPECT_EQ(run("ALTER TABLE t " + too_long).substr(0, 10), "ERROR 1628");
  EXPECT_EQ(run("ALTER TABLE t ADD s SET('a', 'a')").substr(0, 10), "ERROR 1291");
  EXPECT_EQ(run("SET sql_mode = ''; ALTER TABLE t ADD s SET('a', 'a'); SHOW WARNINGS"),
            " ;  ; Note|1291|Column 's' has duplicated value 'a' in SET");
  EXPECT_EQ(run("ALTER TABLE t " + too_long +
                "; SHOW WARNINGS; SELECT LENGTH(table_comment) FROM "
                "information_schema.tables WHERE table_name = 't'"),
            " ; Warning|1628|Comment for table 't' is too long (max = 2048) ; 2048");
}

TEST_F(Ddl, CheckConstraintsAreShownAndMadeAgain) {
  run("CREATE TABLE t (a INT, b VARCHAR(10), CONSTRAINT c CHECK (`a` > 0 and b <> 'it''s' /* really */))");
  const std::string shown = run("SHOW CREATE TABLE t");
  EXPECT_NE(shown.find("CONSTRAINT `c` CHECK (`a` > 0 and b <> 'it''s')"), std::string::npos) << shown;
  run("RENAME TABLE t TO old");
  run("CREATE TABLE t LIKE old");
  EXPECT_NE(run("SHOW CREATE TABLE t").find("CONSTRAINT `t_chk_1` CHECK (`a` > 0"), std::string::npos);
  EXPECT_EQ(run("SELECT constraint_name, check_clause FROM information_schema.check_constraints WHERE "
                "constraint_schema = 'd' ORDER BY 1"),
            "c|(`a` > 0 and b <> 'it''s')\nt_chk_1|(`a` > 0 and b <> 'it''s')");
  // Quotes mean what they meant when it was made.
  run("SET sql_mode = 'ANSI_QUOTES'; CREATE TABLE q (\"x y\" INT CHECK (\"x y\" > 1)); SET sql_mode = ''");
  EXPECT_EQ(run("INSERT INTO q VALUES (1)"), "ERROR 3819: Check constraint 'q_chk_1' is violated.");
  EXPECT_EQ(run("INSERT INTO q VALUES (2)"), "");
}

// What operators mean hangs on the sql_mode; what is kept must mean the same in any.
TEST_F(Ddl, CheckConstraintsMeanWhatTheyMeantInTheirMode) {
  run("SET sql_mode = 'PIPES_AS_CONCAT,HIGH_NOT_PRECEDENCE'");
  EXPECT_EQ(run("CREATE TABLE p (a VARCHAR(5), b VARCHAR(5), CHECK ((a || b) || 'c' = 'abc'))"), "");
  EXPECT_EQ(run("CREATE TABLE n (a INT, CHECK (NOT a = 0))"), "");
  run("SET sql_mode = ''");
  EXPECT_NE(run("SHOW CREATE TABLE p").find("CHECK (CONCAT((CONCAT(a , b)) , 'c') = 'abc')"),
            std::string::npos);
  EXPECT_EQ(run("INSERT INTO p VALUES ('a', 'b')"), "");
  EXPECT_EQ(run("INSERT INTO p VALUES ('a', 'x')"), "ERROR 3819: Check constraint 'p_chk_1' is violated.");
  EXPECT_NE(run("SHOW CREATE TABLE n").find("CHECK ((NOT a) = 0)"), std::string::npos);
  EXPECT_EQ(run("INSERT INTO n VALUES (5)"), "");  // NOT 5 is 0
}

TEST_F(Ddl, APrimaryKeyWhereOneIsRequired) {
  run("CREATE TABLE bare (a INT); CREATE TABLE keyed (a INT PRIMARY KEY, b INT NOT NULL UNIQUE)");
  run("SET sql_require_primary_key = ON");
  for (const char* refused : {"CREATE TABLE t (a INT)", "CREATE TABLE t (a INT NOT NULL UNIQUE)",
                              "CREATE TABLE t LIKE bare", "ALTER TABLE keyed DROP PRIMARY KEY"})
    EXPECT_EQ(run(refused).substr(0, 11), "ERROR 3750:") << refused;
  for (const char* allowed :
       {"CREATE TABLE t (a INT PRIMARY KEY)", "ALTER TABLE bare ADD b INT", "ALTER TABLE bare ENGINE=ROCKS",
        "ALTER TABLE keyed ADD c INT", "ALTER TABLE keyed DROP PRIMARY KEY, ADD PRIMARY KEY (b)"})
    EXPECT_EQ(run(allowed), "") << allowed;
}

TEST_F(Ddl, CheckConstraintsThatCannotBe) {
  EXPECT_EQ(run("CREATE TABLE t (a INT, CHECK (b > 0))"),
            "ERROR 3820: Check constraint 't_chk_1' refers to non-existing column 'b'.");
  EXPECT_EQ(run("CREATE TABLE t (a INT CHECK (b > 0), b INT)"),
            "ERROR 3813: Column check constraint 't_chk_1' references other column.");
  EXPECT_EQ(run("CREATE TABLE t (a DATETIME CHECK (a < NOW()))"),
            "ERROR 3814: An expression of a check constraint 't_chk_1' contains disallowed function: now.");
  EXPECT_EQ(
      run("CREATE TABLE t (a INT CHECK (a < @x))"),
      "ERROR 3816: An expression of a check constraint 't_chk_1' cannot refer to a user or system variable.");
  EXPECT_EQ(run("CREATE TABLE t (a INT AUTO_INCREMENT PRIMARY KEY CHECK (a < 5))"),
            "ERROR 3818: Check constraint 't_chk_1' cannot refer to an auto-increment column.");
  EXPECT_EQ(run("CREATE TABLE t (a INT, CONSTRAINT x CHECK (a > 1), CONSTRAINT X CHECK (a > 2))"),
            "ERROR 3822: Duplicate check constraint name 'X'.");
  EXPECT_EQ(run("SHOW TABLES"), "");
}

TEST_F(Ddl, AlterTableAddsOnlyCheckConstraintsThatHold) {
  run("CREATE TABLE t (a INT, b INT); INSERT INTO t VALUES (1, 1), (2, 2)");
  EXPECT_EQ(run("ALTER TABLE t ADD CONSTRAINT small CHECK (a < 2)"),
            "ERROR 3819: Check constraint 'small' is violated.");
  EXPECT_EQ(run("ALTER TABLE t ADD CONSTRAINT small CHECK (a < 2) NOT ENFORCED"), "");
  EXPECT_EQ(run("ALTER TABLE t ALTER CHECK small ENFORCED"),
            "ERROR 3819: Check constraint 'small' is violated.");
  EXPECT_EQ(run("ALTER TABLE t ADD COLUMN c INT NOT NULL DEFAULT 3 CHECK (c > 5)"),
            "ERROR 3819: Check constraint 't_chk_1' is violated.");
  EXPECT_EQ(run("DELETE FROM t WHERE a = 2; ALTER TABLE t ALTER CHECK small ENFORCED"), " ; ");
  EXPECT_EQ(run("INSERT INTO t VALUES (2, 2)"), "ERROR 3819: Check constraint 'small' is violated.");
  EXPECT_EQ(
      run("ALTER TABLE t DROP COLUMN a"),
      "ERROR 3959: Check constraint 'small' uses column 'a', hence column cannot be dropped or renamed.");
  EXPECT_EQ(
      run("ALTER TABLE t RENAME COLUMN a TO z"),
      "ERROR 3959: Check constraint 'small' uses column 'a', hence column cannot be dropped or renamed.");
  EXPECT_EQ(run("ALTER TABLE t DROP CHECK nothing"),
            "ERROR 3821: Check constraint 'nothing' is not found in the table.");
  EXPECT_EQ(run("ALTER TABLE t DROP CONSTRAINT small"), "");
  EXPECT_EQ(run("INSERT INTO t VALUES (2, 2)"), "");
}

TEST_F(Ddl, AddedColumnsOfRowsThatAreThereHaveTheDefault) {
  run("CREATE TABLE t (id INT PRIMARY KEY); INSERT INTO t VALUES (1), (2)");
  EXPECT_EQ(
      run("ALTER TABLE t ADD COLUMN n INT NOT NULL, ADD COLUMN s VARCHAR(5) NOT NULL FIRST, ADD COLUMN x INT "
          "DEFAULT 7"),
      "");
  EXPECT_EQ(run("SELECT s, id, n, x FROM t"), "|1|0|7\n|2|0|7");
  EXPECT_EQ(run("SELECT COUNT(*) FROM t WHERE n IS NULL OR s IS NULL"), "0");
}

TEST_F(Ddl, ColumnsMove) {
  run("CREATE TABLE t (a INT PRIMARY KEY, b INT, c VARCHAR(5), KEY (c, b)); INSERT INTO t VALUES (1, 2, "
      "'x'), (3, 4, 'y')");
  EXPECT_EQ(run("ALTER TABLE t MODIFY c VARCHAR(9) FIRST"), "");
  EXPECT_EQ(run("SELECT * FROM t ORDER BY a"), "x|1|2\ny|3|4");
  EXPECT_EQ(run("ALTER TABLE t CHANGE a id BIGINT AFTER b"), "");
  EXPECT_EQ(run("SELECT * FROM t WHERE c = 'y' AND b = 4"), "y|4|3");
  EXPECT_EQ(run("SELECT b FROM t WHERE id = 1"), "2");
  EXPECT_EQ(run("CHECK TABLE t"), "d.t|check|status|OK");
}

TEST_F(Ddl, ConvertToCharacterSet) {
  run("CREATE TABLE t (a VARCHAR(5) CHARACTER SET latin1, b BLOB) CHARSET latin1; INSERT INTO t VALUES ('ä', "
      "x'ff')");
  EXPECT_EQ(run("ALTER TABLE t CONVERT TO CHARACTER SET utf8mb4"), "");
  EXPECT_EQ(run("SELECT a, HEX(b), COLLATION(a) FROM t"), "ä|FF|utf8mb4_general_ci");
}

TEST_F(Ddl, ChecksumDependsOnTheRowsAlone) {
  run("CREATE TABLE t (a INT PRIMARY KEY, b VARCHAR(5)); INSERT INTO t VALUES (1, 'x'), (2, NULL)");
  run("CREATE TABLE same (a INT PRIMARY KEY, b VARCHAR(5)); INSERT INTO same VALUES (2, NULL), (3, 'y'), (1, "
      "'x'); DELETE "
      "FROM same WHERE a = 3");
  auto sum = [&](const std::string& table) {
    return run("CHECKSUM TABLE " + table).substr(table.size() + 3);
  };
  EXPECT_EQ(sum("t"), sum("same"));
  run("UPDATE same SET b = '' WHERE a = 2");
  EXPECT_NE(sum("t"), sum("same"));
  EXPECT_EQ(run("CHECKSUM TABLE t QUICK"), "d.t|NULL");
  EXPECT_EQ(run("CHECKSUM TABLE nothing"), "d.nothing|NULL");
  EXPECT_EQ(run("SHOW WARNINGS"), "Warning|1146|Table 'd.nothing' doesn't exist");
}

TEST_F(Ddl, MaintenanceAnswersForEveryTable) {
  run("CREATE TABLE a (x INT, KEY (x)); CREATE TABLE b (x INT); INSERT INTO a VALUES (1), (NULL), (1)");
  EXPECT_EQ(run("CHECK TABLE a, nothing, b"),
            "d.a|check|status|OK\nd.nothing|check|Error|Table 'd.nothing' doesn't "
            "exist\nd.nothing|check|status|Operation "
            "failed\nd.b|check|status|OK");
  EXPECT_EQ(run("ANALYZE TABLE a"), "d.a|analyze|status|OK");
}

// The counter goes back to behind the last row, whether the rows stay as they are or are written anew.
TEST_F(Ddl, AlterTableSetsAutoIncrementAnew) {
  run("CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, v INT); INSERT INTO t (v) VALUES (1), (2), (3), "
      "(4)");
  run("DELETE FROM t WHERE id > 2; ALTER TABLE t AUTO_INCREMENT = 1; INSERT INTO t (v) VALUES (5)");
  EXPECT_EQ(run("SELECT * FROM t"), "1|1\n2|2\n3|5");
  run("ALTER TABLE t AUTO_INCREMENT = 10; INSERT INTO t (v) VALUES (6)");
  run("DELETE FROM t WHERE id = 10; ALTER TABLE t AUTO_INCREMENT = 7; INSERT INTO t (v) VALUES (7)");
  EXPECT_EQ(run("SELECT id FROM t WHERE v > 5"), "7");
  run("ALTER TABLE t AUTO_INCREMENT = 100");
  run("ALTER TABLE t MODIFY v BIGINT, AUTO_INCREMENT = 0; INSERT INTO t (v) VALUES (8)");
  EXPECT_EQ(run("SELECT id FROM t WHERE v = 8"), "8");
  run("ALTER TABLE t AUTO_INCREMENT = 50; ALTER TABLE t MODIFY v INT; INSERT INTO t (v) VALUES (9)");
  EXPECT_EQ(run("SELECT id FROM t WHERE v = 9"), "50") << "it is kept where nothing is said of it";
  run("DELETE FROM t; ALTER TABLE t AUTO_INCREMENT = 0; INSERT INTO t (v) VALUES (1)");
  EXPECT_EQ(run("SELECT * FROM t"), "1|1");
}

// More rows than go into the engine at a time.
class DdlOverManyRows : public Ddl {
 protected:
  DdlOverManyRows() {
    run("CREATE TABLE t (a INT, b INT, pad VARCHAR(300))");
    run("INSERT INTO t VALUES (1, 1, REPEAT('x', 300))");
    for (int rows = 1; rows < 8192; rows *= 2)
      run("INSERT INTO t SELECT a + " + std::to_string(rows) + ", b + " + std::to_string(rows) +
          ", pad FROM t");
  }
  size_t unnamed() { return (*server().engine->unnamed_indexes()->all()).size(); }
};

TEST_F(DdlOverManyRows, NewIndexesHaveThemAll) {
  EXPECT_EQ(run("ALTER TABLE t ADD UNIQUE INDEX ua (a), ADD INDEX ib (b, pad)"), "");
  EXPECT_EQ(run("SELECT COUNT(*), SUM(a) FROM t FORCE INDEX (ua) WHERE a > 0"), "8192|33558528");
  EXPECT_EQ(run("SELECT COUNT(*), SUM(b) FROM t FORCE INDEX (ib) WHERE b > 0"), "8192|33558528");
  EXPECT_EQ(run("INSERT INTO t VALUES (8192, 0, '')"), "ERROR 1062: Duplicate entry '8192' for key 't.ua'");
  EXPECT_EQ(run("CHECKSUM TABLE t"), run("CHECKSUM TABLE t"));
  EXPECT_EQ(unnamed(), 0u);
}

TEST_F(DdlOverManyRows, TheLastColumnMayMakeRoomForAnother) {
  EXPECT_EQ(run("CREATE TABLE one (a INT PRIMARY KEY); INSERT INTO one VALUES (7)"), " ; ");
  EXPECT_EQ(run("ALTER TABLE one DROP a").substr(0, 10), "ERROR 1090");
  EXPECT_EQ(run("ALTER TABLE one DROP a, ADD b INT DEFAULT 3; SELECT * FROM one"), " ; 3");
}

TEST_F(DdlOverManyRows, AModificationThatAsksForAKeyIsRefused) {
  for (const char* modification :
       {"MODIFY a INT UNIQUE", "MODIFY a INT PRIMARY KEY", "CHANGE a c INT UNIQUE KEY"})
    EXPECT_EQ(run(std::string("ALTER TABLE t ") + modification).substr(0, 10), "ERROR 1235") << modification;
}

TEST_F(DdlOverManyRows, NamesThatAreWrongAreToldByTheirKind) {
  for (const auto& [statement, number] : {std::pair("CREATE TABLE `a ` (a INT)", "1103"),
                                          {"CREATE DATABASE `a `", "1102"},
                                          {"CREATE TABLE a (`a ` INT)", "1166"},
                                          {"ALTER TABLE t RENAME COLUMN a TO `a `", "1166"},
                                          {"CREATE INDEX `a ` ON t (a)", "1280"}})
    EXPECT_EQ(run(statement).substr(0, 11), std::string("ERROR ") + number + ":") << statement;
  EXPECT_EQ(run("CREATE TABLE s (a SET('a,b', 'c'))").substr(0, 10), "ERROR 1367");
  EXPECT_EQ(run("CREATE TABLE s (a ENUM('a,b', 'c'))"), "");
}

TEST_F(DdlOverManyRows, NamesHave64Characters) {
  std::string name;
  for (int i = 0; i < 64; ++i) name += "и";
  EXPECT_EQ(run("CREATE TABLE " + name + " (" + name + " INT, KEY " + name + " (" + name + "))"), "");
  EXPECT_EQ(run("INSERT INTO " + name + " VALUES (1); SELECT " + name + " FROM " + name), " ; 1");
  EXPECT_EQ(run("CREATE TABLE " + name + "a (a INT)").substr(0, 10), "ERROR 1059");
}

TEST_F(DdlOverManyRows, RowsThatCollideFarApartLeaveNothing) {
  run("UPDATE t SET b = 1 WHERE a = 8192");
  EXPECT_EQ(run("CREATE UNIQUE INDEX ub ON t (b)"), "ERROR 1062: Duplicate entry '1' for key 't.ub'");
  EXPECT_EQ(run("ALTER TABLE t ADD PRIMARY KEY (b)"), "ERROR 1062: Duplicate entry '1' for key 't.PRIMARY'");
  EXPECT_EQ(unnamed(), 0u);
  run("UPDATE t SET b = 0 WHERE a = 8192");
  EXPECT_EQ(run("ALTER TABLE t ADD PRIMARY KEY (b)"), "");
  EXPECT_EQ(run("SELECT COUNT(*), MIN(b), MAX(b) FROM t"), "8192|0|8191");
}

TEST_F(DdlOverManyRows, CopiedRowsWithoutAKeyStayApartFromThoseThatCome) {
  EXPECT_EQ(run("ALTER TABLE t MODIFY a BIGINT, ADD COLUMN c INT FIRST"), "");
  EXPECT_EQ(run("INSERT INTO t VALUES (7, 8193, 1, 'new'), (7, 8194, 1, 'new')"), "");
  EXPECT_EQ(run("SELECT COUNT(*), SUM(a) FROM t"), "8194|33574915");
  EXPECT_EQ(run("ALTER TABLE t ENGINE = MEMORY"), "");
  EXPECT_EQ(run("ALTER TABLE t ENGINE = InnoDB"), "");
  EXPECT_EQ(run("SELECT COUNT(*), SUM(a) FROM t"), "8194|33574915");
  EXPECT_EQ(unnamed(), 0u);
}

// What a crash, or a commit whose outcome nobody knew, has left: its ids are not given to others.
TEST_F(DdlOverManyRows, AnUnnamedIndexIsInNobodysWay) {
  auto& indexes = *server().engine->unnamed_indexes();
  const uint32_t next = CatalogChange(*server().catalog).new_index_id();
  WriteSet left;
  std::string key;
  append_index_id(key, next);
  left.put(key + "left", "nonsense");
  ASSERT_TRUE(indexes.begin(next).ok());
  ASSERT_TRUE(indexes.fill(left).ok());
  EXPECT_EQ(run("CREATE TABLE fresh (a INT PRIMARY KEY)"), "");
  EXPECT_EQ(run("SELECT * FROM fresh"), "");
  EXPECT_EQ(run("CREATE INDEX ib ON t (b)"), "");
  EXPECT_EQ(run("SELECT COUNT(*) FROM t FORCE INDEX (ib) WHERE b > 0"), "8192");
  EXPECT_EQ(unnamed(), 1u);
}

}  // namespace
}  // namespace commitd::sql
