// ENGINE=MEMORY as clients see it: beside transactions, not in them.
#include "sql/testing/sql_fixture.h"

namespace commitd::sql {
namespace {

class MemoryEngine : public testing::SqlTest {
 protected:
  MemoryEngine() {
    run("CREATE TABLE m (id INT PRIMARY KEY, v INT, KEY by_v (v)) ENGINE = MEMORY");
    run("CREATE TABLE r (id INT PRIMARY KEY)");
  }
  std::unique_ptr<Session> other = connect_to_test_database();
};

TEST_F(MemoryEngine, RowsAreFoundByEveryIndexAndInOrder) {
  run("INSERT INTO m VALUES (3, 30), (1, 10), (2, 20), (4, NULL)");
  EXPECT_EQ(run("SELECT id FROM m"), "1\n2\n3\n4");
  EXPECT_EQ(run("SELECT id FROM m WHERE v >= 20 ORDER BY v DESC"), "3\n2");
  EXPECT_EQ(run("SELECT v FROM m WHERE id = 2"), "20");
  run("UPDATE m SET v = v + 5 WHERE v < 25; DELETE FROM m WHERE id = 3");
  EXPECT_EQ(run("SELECT id, v FROM m WHERE v IS NOT NULL ORDER BY v"), "1|15\n2|25");
  EXPECT_EQ(run("SELECT COUNT(*) FROM m"), "3");
}

TEST_F(MemoryEngine, ChangesAreThereForEverybodyAndStayAfterRollback) {
  run("BEGIN; INSERT INTO r VALUES (1); INSERT INTO m VALUES (1, 1)");
  EXPECT_EQ(run(*other, "SELECT id FROM m"), "1");
  EXPECT_EQ(run(*other, "SELECT id FROM r"), "");
  run("ROLLBACK");
  EXPECT_EQ(run("SHOW WARNINGS"),
            "Warning|1196|Some non-transactional changed tables couldn't be rolled back");
  EXPECT_EQ(run("SELECT id FROM m"), "1");
  EXPECT_EQ(run("SELECT id FROM r"), "");
  run("BEGIN; INSERT INTO r VALUES (1); ROLLBACK");
  EXPECT_EQ(run("SHOW WARNINGS"), "");
}

TEST_F(MemoryEngine, ASavepointDoesNotBringItBack) {
  run("BEGIN; SAVEPOINT a; INSERT INTO m VALUES (1, 1); INSERT INTO r VALUES (1); ROLLBACK TO a");
  EXPECT_EQ(run("SHOW WARNINGS"),
            "Warning|1196|Some non-transactional changed tables couldn't be rolled back");
  run("COMMIT");
  EXPECT_EQ(run("SELECT id FROM m"), "1");
  EXPECT_EQ(run("SELECT id FROM r"), "");
}

TEST_F(MemoryEngine, AFailedStatementLeavesWhatItDid) {
  run("INSERT INTO m VALUES (2, 2)");
  EXPECT_EQ(run("INSERT INTO m VALUES (1, 1), (2, 2), (3, 3)").substr(0, 11), "ERROR 1062:");
  EXPECT_EQ(run(*other, "SELECT id FROM m"), "1\n2");
  run("INSERT INTO r VALUES (2)");
  EXPECT_EQ(run("INSERT INTO r VALUES (1), (2), (3)").substr(0, 11), "ERROR 1062:");
  EXPECT_EQ(run("SELECT id FROM r"), "2");
}

// A transaction does not keep others from rows that it has changed already for good.
TEST_F(MemoryEngine, RowLocksEndWithTheStatement) {
  run("INSERT INTO m VALUES (1, 1)");
  run("BEGIN; UPDATE m SET v = 2 WHERE id = 1; INSERT INTO r VALUES (1)");
  run(*other, "SET innodb_lock_wait_timeout = 1");
  EXPECT_EQ(run(*other, "UPDATE m SET v = 3 WHERE id = 1"), "");
  EXPECT_EQ(run(*other, "INSERT INTO r VALUES (1)").substr(0, 11), "ERROR 1205:");
  run("COMMIT");
  EXPECT_EQ(run("SELECT v FROM m"), "3");
}

TEST_F(MemoryEngine, ARepeatableReadSeesWhatOthersChange) {
  run("BEGIN; SELECT * FROM m; SELECT * FROM r");
  run(*other, "INSERT INTO m VALUES (1, 1); INSERT INTO r VALUES (1)");
  EXPECT_EQ(run("SELECT id FROM m"), "1");
  EXPECT_EQ(run("SELECT id FROM r"), "");
  run("COMMIT");
}

TEST_F(MemoryEngine, UniqueKeysAndAutoIncrement) {
  run("CREATE TABLE u (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(20) UNIQUE) ENGINE=HEAP");
  run("INSERT INTO u (name) VALUES ('a'), ('b')");
  EXPECT_EQ(run("INSERT INTO u (name) VALUES ('A')").substr(0, 11), "ERROR 1062:");
  run("INSERT INTO u (name) VALUES ('c'); REPLACE INTO u VALUES (1, 'c')");
  EXPECT_EQ(run("SELECT id, name FROM u ORDER BY id"), "1|c\n2|b");
}

TEST_F(MemoryEngine, WithoutAPrimaryKey) {
  run("CREATE TABLE w (word VARCHAR(10), n INT, KEY (n)) ENGINE=MEMORY");
  run("INSERT INTO w VALUES ('a', 1), ('b', 2), ('a', 1)");
  run("UPDATE w SET n = 5 WHERE word = 'b'; DELETE FROM w WHERE n = 1 LIMIT 1");
  EXPECT_EQ(run("SELECT word, n FROM w ORDER BY n"), "a|1\nb|5");
}

TEST_F(MemoryEngine, AFullTableTakesNoMoreButGivesRowsBack) {
  run("SET GLOBAL max_heap_table_size = 16384");
  run("CREATE TABLE f (id INT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(1000)) ENGINE=MEMORY");
  std::string answer;
  for (int i = 0; i < 100 && answer.empty(); ++i) answer = run("INSERT INTO f (v) VALUES (REPEAT('x', 900))");
  EXPECT_EQ(answer, "ERROR 1114: The table 'f' is full");
  EXPECT_EQ(run("DELETE FROM f WHERE id < 5"), "");
  EXPECT_EQ(run("INSERT INTO f (v) VALUES (REPEAT('x', 900))"), "");
  run("CREATE TABLE g (v VARCHAR(1000)); INSERT INTO g SELECT v FROM f; INSERT INTO g SELECT v FROM f");
  EXPECT_NE(run("SELECT COUNT(*) FROM g"), "0");
  EXPECT_EQ(run("ALTER TABLE g ENGINE=MEMORY"), "ERROR 1114: The table 'g' is full");
}

TEST_F(MemoryEngine, DefinitionsNameTheEngine) {
  EXPECT_NE(run("SHOW CREATE TABLE m").find("ENGINE=MEMORY"), std::string::npos);
  EXPECT_EQ(run("SELECT table_name, engine FROM information_schema.tables WHERE table_schema = 'test' "
                "ORDER BY table_name"),
            "m|MEMORY\nr|ROCKS");
  EXPECT_EQ(run("SELECT engine, support, transactions, savepoints FROM information_schema.engines "
                "WHERE engine = 'MEMORY'"),
            "MEMORY|YES|NO|NO");
  EXPECT_EQ(run("CREATE TABLE b (t TEXT) ENGINE=MEMORY"),
            "ERROR 1163: The used table type doesn't support BLOB/TEXT columns");
  EXPECT_EQ(run("CREATE TABLE b (t INT) ENGINE=MyISAM").substr(0, 11), "ERROR 1286:");
}

TEST_F(MemoryEngine, TheDefaultEngineIsTheSessions) {
  run("SET default_storage_engine = 'memory'; CREATE TABLE c (id INT PRIMARY KEY) COMMENT = 'c' -- last "
      "words");
  EXPECT_NE(run("SHOW CREATE TABLE c").find("ENGINE=MEMORY"), std::string::npos);
  run("CREATE TABLE e (id INT) ENGINE=ROCKS");
  EXPECT_EQ(run("SELECT engine FROM information_schema.tables WHERE table_name = 'e'"), "ROCKS");
  EXPECT_EQ(run("SET default_storage_engine = 'none'"), "ERROR 1286: Unknown storage engine 'none'");
}

TEST_F(MemoryEngine, AlterTakesRowsFromOneEngineToTheOther) {
  run("INSERT INTO m VALUES (1, 10), (2, 20)");
  EXPECT_EQ(run("ALTER TABLE m ENGINE=ROCKS, ADD COLUMN c INT DEFAULT 7"), "");
  EXPECT_EQ(run("SELECT * FROM m WHERE v > 5"), "1|10|7\n2|20|7");
  run("BEGIN; DELETE FROM m; ROLLBACK");
  EXPECT_EQ(run("SELECT COUNT(*) FROM m"), "2");
  EXPECT_EQ(run("ALTER TABLE m ENGINE=MEMORY"), "");
  run("BEGIN; DELETE FROM m WHERE id = 1; ROLLBACK");
  EXPECT_EQ(run("SELECT id FROM m"), "2");
  // Refused before anything is lost.
  run("INSERT INTO m VALUES (5, NULL, NULL)");
  EXPECT_EQ(run("ALTER TABLE m ENGINE=ROCKS, MODIFY v INT NOT NULL").substr(0, 6), "ERROR ");
  EXPECT_EQ(run("SELECT id FROM m"), "2\n5");
}

TEST_F(MemoryEngine, TruncateAndDropLeaveNothing) {
  run("INSERT INTO m VALUES (1, 1); TRUNCATE TABLE m");
  EXPECT_EQ(run("SELECT * FROM m"), "");
  run("INSERT INTO m VALUES (1, 1); DROP TABLE m; CREATE TABLE m (id INT PRIMARY KEY) ENGINE=MEMORY");
  EXPECT_EQ(run("SELECT * FROM m"), "");
}

}  // namespace
}  // namespace commitd::sql
