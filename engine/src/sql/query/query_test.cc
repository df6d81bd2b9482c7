#include "sql/testing/sql_fixture.h"

namespace commitd::sql {
namespace {

class Queries : public testing::SqlTest {
 protected:
  Queries() {
    EXPECT_EQ(run("CREATE TABLE people (id INT PRIMARY KEY, name VARCHAR(20), age INT, UNIQUE KEY by_name "
                  "(name), KEY by_age (age))"),
              "");
    EXPECT_EQ(run("INSERT INTO people VALUES (1,'Ann',30),(2,'Bob',25),(3,'Cid',30),(4,'Dan',NULL)"), "");
    EXPECT_EQ(run("CREATE TABLE pets (id INT PRIMARY KEY, owner INT, kind VARCHAR(10), KEY (owner))"), "");
    EXPECT_EQ(run("INSERT INTO pets VALUES (1,1,'cat'),(2,1,'dog'),(3,3,'cat'),(4,NULL,'eel')"), "");
  }
};

TEST_F(Queries, ByKeysAndRanges) {
  EXPECT_EQ(run("SELECT name FROM people WHERE id = 2"), "Bob");
  EXPECT_EQ(run("SELECT id FROM people WHERE name = 'ann'"), "1") << "the collation has no case";
  EXPECT_EQ(run("SELECT id FROM people WHERE age = 30 ORDER BY id"), "1\n3");
  EXPECT_EQ(run("SELECT id FROM people WHERE age IS NULL"), "4");
  EXPECT_EQ(run("SELECT id FROM people WHERE age < 30"), "2");
  EXPECT_EQ(run("SELECT id FROM people WHERE age >= 26 AND age <= 30 ORDER BY id DESC"), "3\n1");
  EXPECT_EQ(run("SELECT id FROM people WHERE id BETWEEN 2 AND 3"), "2\n3");
  EXPECT_EQ(run("SELECT id FROM people WHERE id IN (3, 1, 1, 99)"), "1\n3");
  EXPECT_EQ(run("SELECT id FROM people WHERE id = '2' OR name LIKE 'D%'"), "2\n4");
  EXPECT_EQ(run("SELECT id FROM people WHERE id = 1.5"), "");
  EXPECT_EQ(run("SELECT id FROM people WHERE id > 2.5"), "3\n4");
  EXPECT_EQ(run("SELECT id FROM people WHERE id = NULL"), "");
  EXPECT_EQ(run("SELECT id FROM people WHERE id > 99999999999"), "");
}

// A range may stand for the condition that it was made of, and for that one only.
TEST_F(Queries, RangesLeaveTheOtherConditions) {
  EXPECT_EQ(run("SELECT id FROM people WHERE id BETWEEN 1 AND 3 AND id BETWEEN 2 AND 9"), "2\n3");
  EXPECT_EQ(run("SELECT id FROM people WHERE id BETWEEN 2 AND 9 AND id BETWEEN 1 AND 3"), "2\n3");
  EXPECT_EQ(run("SELECT id FROM people WHERE id BETWEEN 1 AND 3 AND id > 1"), "2\n3");
  EXPECT_EQ(run("SELECT id FROM people WHERE id < 4 AND id BETWEEN 1 AND 9 AND name <> 'Bob'"), "1\n3");
  EXPECT_EQ(run("SELECT id FROM people WHERE id BETWEEN 1.5 AND 3.5"), "2\n3");
  EXPECT_EQ(run("SELECT id FROM people WHERE id BETWEEN -5 AND 99999999999"), "1\n2\n3\n4");
  EXPECT_EQ(run("SELECT id FROM people WHERE id BETWEEN 3 AND 1"), "");
  EXPECT_EQ(run("SELECT id FROM people WHERE id BETWEEN NULL AND 3"), "");
  EXPECT_EQ(run("SELECT id FROM people WHERE id NOT BETWEEN 2 AND 3"), "1\n4");
  EXPECT_EQ(run("SELECT id FROM people WHERE age BETWEEN 0 AND 29"), "2");
  EXPECT_EQ(
      run("SELECT p.id, q.id FROM people p JOIN people q ON q.id BETWEEN p.id AND p.id + 1 AND q.id > 2"),
      "2|3\n3|3\n3|4\n4|4");
}

TEST_F(Queries, SortValuesOfEveryKind) {
  EXPECT_EQ(run("CREATE TABLE words (id INT PRIMARY KEY, w VARCHAR(30), n BIGINT, u BIGINT UNSIGNED, b "
                "VARBINARY(9))"),
            "");
  EXPECT_EQ(
      run("INSERT INTO words VALUES (1,'abcdefghij',-5,18446744073709551615,'b'),(2,'ABCDEFGHIA',7,0,'B'),"
          "(3,NULL,NULL,NULL,NULL),(4,'été',0,9223372036854775808,''),(5,'abcdefgh "
          "',-9223372036854775808,1,'ba'),"
          "(6,'',9223372036854775807,2,'b\\0')"),
      "");
  EXPECT_EQ(run("SELECT id FROM words ORDER BY w"), "3\n6\n5\n2\n1\n4");
  EXPECT_EQ(run("SELECT id FROM words ORDER BY w DESC"), "4\n1\n2\n5\n6\n3");
  EXPECT_EQ(run("SELECT id FROM words ORDER BY n"), "3\n5\n1\n4\n2\n6");
  EXPECT_EQ(run("SELECT id FROM words ORDER BY u DESC"), "1\n4\n6\n5\n2\n3");
  EXPECT_EQ(run("SELECT id FROM words ORDER BY b"), "3\n4\n2\n1\n6\n5");
  EXPECT_EQ(run("SELECT id FROM words ORDER BY w IS NULL, n + 0"), "5\n1\n4\n2\n6\n3");
}

TEST_F(Queries, DistinctGoesByTheCollation) {
  EXPECT_EQ(run("CREATE TABLE words (id INT PRIMARY KEY, w VARCHAR(30), b VARCHAR(30) COLLATE utf8mb4_bin)"),
            "");
  EXPECT_EQ(run("INSERT INTO words VALUES (1,'abc','abc'),(2,'ABC','ABC'),(3,'abc ','abc '),(4,'Ábc','Ábc'),"
                "(5,'abcd','abcd'),(6,NULL,NULL),(7,NULL,NULL),(8,'','')"),
            "");
  EXPECT_EQ(run("SELECT COUNT(DISTINCT w), COUNT(DISTINCT b) FROM words"), "3|5");
  EXPECT_EQ(run("SELECT COUNT(*) FROM (SELECT DISTINCT w FROM words) d"), "4");
  EXPECT_EQ(run("SELECT DISTINCT w FROM words WHERE id < 6 ORDER BY w"), "abc\nabcd");
  EXPECT_EQ(run("SELECT COUNT(*) FROM words GROUP BY b ORDER BY b DESC"), "1\n1\n2\n1\n1\n2");
}

// Few rows are compared with their neighbours behind the sort, many go through a set before it.
TEST_F(Queries, DistinctRowsThatAreSorted) {
  EXPECT_EQ(run("CREATE TABLE d (id INT PRIMARY KEY, n INT, w VARCHAR(9), e ENUM('z', 'y', 'x'))"), "");
  EXPECT_EQ(
      run("INSERT INTO d VALUES (1,2,'b','z'),(2,1,'a','y'),(3,2,'B','x'),(4,NULL,'a','z'),(5,1,'A ','x'),"
          "(6,NULL,'b','y'),(7,2,'c','z'),(8,1,'a','x')"),
      "");
  const auto both_ways = [this](std::string_view select, std::string_view condition, std::string_view order) {
    const std::string few = run(fmt::format("SELECT DISTINCT {} FROM d {} {}", select, condition, order));
    const std::string many = run(fmt::format(
        "SELECT DISTINCT {} FROM (SELECT d.* FROM d, d a, d b, d c) d {} {}", select, condition, order));
    EXPECT_EQ(few, many) << select << " " << order;
    return few;
  };
  EXPECT_EQ(both_ways("w", "WHERE id > 1", "ORDER BY w"), "a\nB\nc");
  EXPECT_EQ(both_ways("w", "", "ORDER BY w DESC LIMIT 1, 2"), "b\na");
  EXPECT_EQ(both_ways("n", "", "ORDER BY n DESC"), "2\n1\nNULL");
  EXPECT_EQ(both_ways("n, w", "", "ORDER BY w, n"), "NULL|a\n1|a\nNULL|b\n2|b\n2|c");
  EXPECT_EQ(both_ways("w, n", "", "ORDER BY n, w DESC"), "b|NULL\na|NULL\na|1\nc|2\nb|2");
  EXPECT_EQ(both_ways("n, w", "WHERE n = 2", "ORDER BY w"), "2|b\n2|c");
  EXPECT_EQ(run("SELECT DISTINCT e FROM d ORDER BY e"), "z\ny\nx");
  EXPECT_EQ(run("SELECT SQL_CALC_FOUND_ROWS DISTINCT w FROM d ORDER BY w LIMIT 1; SELECT FOUND_ROWS()"),
            "a ; 3");
}

TEST_F(Queries, AnAliasMayHaveTheNameOfTheColumnThatItIsMadeOf) {
  EXPECT_EQ(run("SELECT UPPER(name) AS name FROM people ORDER BY name DESC LIMIT 2"), "DAN\nCID");
  EXPECT_EQ(run("SELECT -id AS id FROM people ORDER BY id LIMIT 1"), "-4") << "the alias comes first";
  EXPECT_EQ(run("SELECT -id AS id FROM people ORDER BY id + 0 LIMIT 1"), "-1") << "but in expressions";
  EXPECT_EQ(run("SELECT age + 1 AS age, COUNT(*) FROM people GROUP BY age ORDER BY age"),
            "NULL|1\n26|1\n31|2");
  EXPECT_EQ(run("SELECT id + 10 AS id FROM people HAVING id > 12"), "13\n14");
  EXPECT_EQ(run("SELECT id + 1 AS b, b + 1 AS c FROM people").substr(0, 11), "ERROR 1054:");
  EXPECT_EQ(
      run("SELECT (SELECT MAX(q.id) FROM people q WHERE q.id < people.id) AS id FROM people ORDER BY id"),
      "NULL\n1\n2\n3");
}

TEST_F(Queries, TenThousandAlternatives) {
  std::string any = "id = 3", all = "id <> 3";
  for (int i = 10; i < 10010; ++i) {
    any += fmt::format(" OR id = {}", i);
    all += fmt::format(" AND id <> {}", i);
  }
  EXPECT_EQ(run("SELECT id FROM people WHERE " + any), "3");
  EXPECT_EQ(run("SELECT id FROM people WHERE " + all), "1\n2\n4");
  EXPECT_EQ(run("SELECT 0 OR NULL OR 0, 1 AND NULL AND 1, 0 OR NULL OR 1, 1 AND NULL AND 0, 1 OR 0 AND 0"),
            "NULL|NULL|1|0|1");
}

TEST_F(Queries, SqlSelectLimitCutsAnswersAndNothingElse) {
  run("CREATE TABLE copy (id INT PRIMARY KEY); SET sql_select_limit = 2");
  EXPECT_EQ(run("SELECT id FROM people"), "1\n2");
  EXPECT_EQ(run("SELECT id FROM people UNION ALL SELECT id FROM people ORDER BY 1"), "1\n1");
  EXPECT_EQ(run("SELECT id FROM people LIMIT 3"), "1\n2\n3") << "a LIMIT of its own counts";
  EXPECT_EQ(run("SELECT COUNT(*) FROM (SELECT id FROM people) d"), "4");
  EXPECT_EQ(run("INSERT INTO copy SELECT id FROM people"), "");
  run("SET sql_select_limit = DEFAULT");
  EXPECT_EQ(run("SELECT COUNT(*) FROM copy"), "4");
}

TEST_F(Queries, DatesBesideConstants) {
  run("CREATE TABLE days (id INT PRIMARY KEY, d DATE, dt DATETIME, KEY (dt), KEY (d));"
      "INSERT INTO days VALUES (1, '2002-10-19', '2002-10-19 12:00:00'), (2, '2002-10-21', '2002-10-21 "
      "12:00:00')");
  for (const char* beyond : {"20021020", "'20021020'", "'2002-10-20'", "021020", "20021020000000"}) {
    EXPECT_EQ(run(fmt::format("SELECT id FROM days WHERE dt > {}", beyond)), "2") << beyond;
    EXPECT_EQ(run(fmt::format("SELECT id FROM days WHERE {} > d", beyond)), "1") << beyond;
  }
  EXPECT_EQ(run("SELECT id FROM days WHERE d < '2002-10-19 12:00:00'"), "1");
  EXPECT_EQ(run("SELECT id FROM days WHERE d > '2002-10-19 12:00:00'"), "2");
  EXPECT_EQ(run("SELECT id FROM days WHERE d = '2002-10-19 12:00:00'"), "");
  EXPECT_EQ(run("SELECT id FROM days WHERE dt BETWEEN 20021020 AND 20021022"), "2");
  EXPECT_EQ(run("SELECT id FROM days WHERE d IN (20021019, '2002-10-20')"), "1");
  EXPECT_EQ(run("SELECT id FROM days WHERE dt = 0 OR dt = '0000-00-00' OR d = '2002-10-00' OR d < 5"), "");
  EXPECT_EQ(run("SELECT id FROM days WHERE dt > NULL OR d IN (NULL, 20021021)"), "2");
  EXPECT_EQ(run("SELECT id FROM days WHERE dt > 'yesterday'"),
            "ERROR 1525: Incorrect DATETIME value: 'yesterday'");
  EXPECT_EQ(run("DELETE FROM days WHERE d <> '2002-02-30'"),
            "ERROR 1525: Incorrect DATE value: '2002-02-30'");
  run("PREPARE later FROM 'SELECT id FROM days WHERE dt > ?'");
  for (const char* beyond : {"20021020", "'20021020'", "'2002-10-20 10:00:00'"}) {
    EXPECT_EQ(run(fmt::format("SET @beyond = {}; EXECUTE later USING @beyond", beyond)), " ; 2") << beyond;
  }
  EXPECT_EQ(run("UPDATE days SET d = '2002-10-30' WHERE dt > 20021020"), "");
  EXPECT_EQ(run("DELETE FROM days WHERE dt > 20021020"), "");
  EXPECT_EQ(run("SELECT id, d FROM days"), "1|2002-10-19");
}

TEST_F(Queries, IntegersBesideTextsOfDigitsAreExact) {
  run("CREATE TABLE large (id INT PRIMARY KEY, n BIGINT, u BIGINT UNSIGNED);"
      "INSERT INTO large VALUES (1, 9007199254740992, '18446744073709551614'),"
      "(2, 9007199254740993, '9223372036854775809')");
  EXPECT_EQ(run("SELECT id FROM large WHERE n = '9007199254740993'"), "2");
  EXPECT_EQ(run("SELECT id FROM large WHERE n IN ('9007199254740992')"), "1");
  EXPECT_EQ(run("SELECT id FROM large WHERE n BETWEEN '9007199254740993' AND '9007199254740994'"), "2");
  EXPECT_EQ(run("SELECT u FROM large"), "18446744073709551614\n9223372036854775809");
  EXPECT_EQ(run("SELECT CAST('18446744073709551615' AS UNSIGNED)"), "18446744073709551615");
  EXPECT_EQ(run("SELECT id FROM large WHERE n = '12 monkeys' OR u = ''"), "");
  EXPECT_EQ(run("DELETE FROM large WHERE n = '9007199254740993'; SELECT id FROM large"), " ; 1");
}

TEST_F(Queries, SumsOfIntegersDoNotOverflow) {
  EXPECT_EQ(run("CREATE TABLE numbers (id INT PRIMARY KEY, n BIGINT, u BIGINT UNSIGNED, d DECIMAL(5,2))"),
            "");
  EXPECT_EQ(run("SELECT SUM(n), AVG(n) FROM numbers"), "NULL|NULL");
  EXPECT_EQ(run("INSERT INTO numbers VALUES (1,9223372036854775807,18446744073709551615,1.25),"
                "(2,9223372036854775807,18446744073709551615,2.50),(3,-4,1,NULL),(4,NULL,NULL,3)"),
            "");
  EXPECT_EQ(run("SELECT SUM(n), SUM(u), SUM(d) FROM numbers"),
            "18446744073709551610|36893488147419103231|6.75");
  EXPECT_EQ(
      run("SELECT AVG(d), SUM(id / 2), SUM(DISTINCT id % 2), SUM(id + 0.5), SUM(id * 1e0) FROM numbers"),
      "2.250000|5.0000|1|12.0|10");
}

TEST_F(Queries, UseIndexes) {
  auto access = [&](const std::string& sql) {
    const std::string row = run("EXPLAIN " + sql);
    const size_t type = row.find("NULL|") + 5;
    return row.substr(type, row.find("|NULL|NULL|NULL|NULL", type) - type);
  };
  EXPECT_EQ(access("SELECT * FROM people WHERE id = 1"), "const|NULL|PRIMARY");
  EXPECT_EQ(access("SELECT * FROM people WHERE name = 'x'"), "eq_ref|NULL|by_name");
  EXPECT_EQ(access("SELECT * FROM people WHERE age = 3"), "ref|NULL|by_age");
  EXPECT_EQ(access("SELECT * FROM people WHERE age > 3"), "range|NULL|by_age");
  EXPECT_EQ(access("SELECT * FROM people WHERE age + 1 > 3"), "ALL");
  EXPECT_EQ(access("SELECT * FROM people WHERE name = 3"), "ALL") << "a number does not order as text does";
}

TEST_F(Queries, OrderAndLimit) {
  EXPECT_EQ(run("SELECT id FROM people ORDER BY age, name DESC"), "4\n2\n3\n1");
  EXPECT_EQ(run("SELECT id FROM people ORDER BY id DESC LIMIT 2"), "4\n3");
  EXPECT_EQ(run("SELECT id FROM people ORDER BY id LIMIT 1, 2"), "2\n3");
  EXPECT_EQ(run("SELECT id FROM people ORDER BY id LIMIT 2 OFFSET 3"), "4");
  EXPECT_EQ(run("SELECT name n FROM people ORDER BY n DESC LIMIT 1"), "Dan");
  EXPECT_EQ(run("SELECT name, age FROM people ORDER BY 2 DESC, 1 LIMIT 1"), "Ann|30");
  EXPECT_EQ(run("SELECT age FROM people ORDER BY age DESC LIMIT 3"), "30\n30\n25");
}

TEST_F(Queries, Groups) {
  EXPECT_EQ(run("SELECT COUNT(*), COUNT(age), SUM(age), AVG(age), MIN(age), MAX(name) FROM people"),
            "4|3|85|28.3333|25|Dan");
  EXPECT_EQ(run("SELECT COUNT(*), SUM(age), MAX(age) FROM people WHERE id > 100"), "0|NULL|NULL");
  EXPECT_EQ(run("SELECT age, COUNT(*) c FROM people GROUP BY age HAVING c > 1"), "30|2");
  EXPECT_EQ(run("SELECT age, COUNT(*) FROM people GROUP BY age ORDER BY COUNT(*) DESC, age"),
            "30|2\nNULL|1\n25|1");
  EXPECT_EQ(run("SELECT GROUP_CONCAT(name ORDER BY name DESC SEPARATOR '/'), BIT_XOR(id) FROM people"),
            "Dan/Cid/Bob/Ann|4");
  EXPECT_EQ(run("SELECT COUNT(DISTINCT age) FROM people"), "2");
  EXPECT_EQ(run("SELECT DISTINCT age FROM people ORDER BY age"), "NULL\n25\n30");
  EXPECT_EQ(run("SELECT SUM(DISTINCT 1 / (id + 5)), SUM(1 / (id + 5)) FROM people"), "0.5457|0.5456");
  EXPECT_EQ(run("SELECT COUNT(*) FROM people WHERE COUNT(*) > 1").substr(0, 11), "ERROR 1111:");
}

TEST_F(Queries, Joins) {
  EXPECT_EQ(run("SELECT p.name, q.kind FROM people p JOIN pets q ON q.owner = p.id ORDER BY q.id"),
            "Ann|cat\nAnn|dog\nCid|cat");
  EXPECT_EQ(run("SELECT p.name, q.kind FROM people p LEFT JOIN pets q ON q.owner = p.id AND q.kind = 'cat' "
                "ORDER BY p.id"),
            "Ann|cat\nBob|NULL\nCid|cat\nDan|NULL");
  EXPECT_EQ(
      run("SELECT p.name FROM people p LEFT JOIN pets q ON q.owner = p.id WHERE q.id IS NULL ORDER BY p.id"),
      "Bob\nDan");
  EXPECT_EQ(run("SELECT COUNT(*) FROM people, pets"), "16");
  EXPECT_EQ(run("SELECT id FROM people p JOIN pets q ON p.id = q.owner"),
            "ERROR 1052: Column 'id' in field list is ambiguous");
  EXPECT_EQ(run("SELECT id, name, kind FROM people JOIN pets USING (id) WHERE id = 1"), "1|Ann|cat");
  EXPECT_EQ(run("SELECT * FROM people JOIN pets USING (id) WHERE id = 1"), "1|Ann|30|1|cat");
}

TEST_F(Queries, SubqueriesAndDerivedTables) {
  EXPECT_EQ(run("SELECT name FROM people WHERE id IN (SELECT owner FROM pets) ORDER BY id"), "Ann\nCid");
  EXPECT_EQ(run("SELECT name FROM people WHERE age = (SELECT MIN(age) FROM people)"), "Bob");
  EXPECT_EQ(run("SELECT EXISTS (SELECT 1 FROM pets WHERE kind = 'eel'), (SELECT id FROM pets WHERE id = 99)"),
            "1|NULL");
  EXPECT_EQ(run("SELECT t.c FROM (SELECT age, COUNT(*) c FROM people GROUP BY age) t WHERE t.age = 30"), "2");
  EXPECT_EQ(run("SELECT (SELECT id FROM people)"), "ERROR 1242: Subquery returns more than 1 row");
}

TEST_F(Queries, SubqueriesThatReferToTheRowAroundThem) {
  EXPECT_EQ(run("SELECT name FROM people p WHERE EXISTS (SELECT 1 FROM pets WHERE owner = p.id) ORDER BY id"),
            "Ann\nCid");
  EXPECT_EQ(run("SELECT id, (SELECT COUNT(*) FROM pets q WHERE q.owner = p.id) FROM people p ORDER BY id"),
            "1|2\n2|0\n3|1\n4|0");
  EXPECT_EQ(run("SELECT id FROM people p WHERE 'dog' IN (SELECT kind FROM pets WHERE owner = p.id)"), "1");
  EXPECT_EQ(run("SELECT id FROM people p WHERE age >= ALL (SELECT age FROM people q WHERE q.age IS NOT NULL "
                "AND q.id <> p.id) "
                "ORDER BY id"),
            "1\n3");
  EXPECT_EQ(run("SELECT p.id FROM people p WHERE EXISTS (SELECT 1 FROM pets q WHERE q.owner = p.id AND "
                "EXISTS (SELECT 1 "
                "FROM people r WHERE r.age = p.age AND r.id > q.owner))"),
            "1")
      << "two levels up";
  EXPECT_EQ(run("SELECT (SELECT kind FROM pets q WHERE q.owner = p.id) FROM people p WHERE id = 1"),
            "ERROR 1242: Subquery returns more than 1 row");
  EXPECT_EQ(run("SELECT 1 FROM people WHERE EXISTS (SELECT nope FROM pets)").substr(0, 11), "ERROR 1054:");
  EXPECT_EQ(run("SELECT id FROM people WHERE (id, age) IN (SELECT owner, 30 FROM pets) ORDER BY id"), "1\n3");
  EXPECT_EQ(run("DELETE FROM people WHERE NOT EXISTS (SELECT 1 FROM pets WHERE owner = people.id)"), "");
  EXPECT_EQ(run("SELECT id FROM people ORDER BY id"), "1\n3");
}

TEST_F(Queries, JoinsByNameAndFromTheRight) {
  EXPECT_EQ(run("SELECT q.id, p.name FROM people p RIGHT JOIN pets q ON q.owner = p.id ORDER BY q.id"),
            "1|Ann\n2|Ann\n3|Cid\n4|NULL");
  EXPECT_EQ(run("SELECT * FROM pets NATURAL JOIN people WHERE id = 1"), "1|1|cat|Ann|30");
  EXPECT_EQ(run("SELECT p.id, a.id, b.id FROM people p LEFT JOIN (pets a JOIN pets b ON b.owner = a.owner "
                "AND b.id > a.id) "
                "ON a.owner = p.id ORDER BY p.id"),
            "1|1|2\n2|NULL|NULL\n3|NULL|NULL\n4|NULL|NULL")
      << "the inner side as a whole";
  EXPECT_EQ(run("SELECT p.id FROM people p LEFT JOIN pets a ON a.owner = p.id LEFT JOIN pets b ON b.id = "
                "a.id AND b.kind = "
                "'dog' WHERE b.id IS NULL ORDER BY p.id"),
            "1\n2\n3\n4");
  EXPECT_EQ(run("SELECT * FROM people JOIN pets USING (nope)").substr(0, 11), "ERROR 1054:");
}

TEST_F(Queries, CommonTables) {
  EXPECT_EQ(run("WITH old AS (SELECT id, age FROM people WHERE age > 26), n (k) AS (SELECT COUNT(*) FROM "
                "old) SELECT o.id, n.k "
                "FROM old o, n ORDER BY o.id"),
            "1|2\n3|2");
  EXPECT_EQ(run("WITH RECURSIVE x AS (SELECT 1) SELECT * FROM x").substr(0, 11), "ERROR 1235:");
}

TEST_F(Queries, OnlyFullGroupBy) {
  EXPECT_EQ(run("SELECT age, name FROM people GROUP BY age").substr(0, 11), "ERROR 1055:");
  EXPECT_EQ(run("SELECT name, COUNT(*) FROM people").substr(0, 11), "ERROR 1140:");
  EXPECT_EQ(run("SELECT COUNT(*) FROM people GROUP BY age ORDER BY name").substr(0, 11), "ERROR 1055:");
  EXPECT_EQ(run("SELECT COUNT(*) FROM people GROUP BY age HAVING name > 'a'").substr(0, 11), "ERROR 1054:");
  EXPECT_EQ(run("SELECT id, name, COUNT(*) FROM people WHERE id < 2 GROUP BY id"), "1|Ann|1")
      << "by the primary key";
  EXPECT_EQ(
      run("SELECT p.name, COUNT(*) FROM people p JOIN pets q ON q.owner = p.id GROUP BY q.owner ORDER BY 1"),
      "Ann|2\nCid|1")
      << "through an equality";
  EXPECT_EQ(run("SELECT name, MAX(age) FROM people WHERE name = 'Ann'"), "Ann|30");
  EXPECT_EQ(run("SELECT age + 1, COUNT(*) FROM people WHERE id = 1 GROUP BY age + 1"), "31|1");
  EXPECT_EQ(run("SELECT age + (SELECT COUNT(*) FROM pets WHERE owner = p.id) AS n, COUNT(*) FROM people p "
                "WHERE age > 0 GROUP BY 1 ORDER BY n"),
            "25|1\n31|1\n32|1")
      << "by an item with a subquery";
  run("SET sql_mode = ''");
  EXPECT_EQ(run("SELECT age, name FROM people WHERE id = 1 GROUP BY age"), "30|Ann");
}

TEST_F(Queries, Unions) {
  EXPECT_EQ(run("SELECT 1 UNION SELECT 2 UNION SELECT 1"), "1\n2");
  EXPECT_EQ(run("SELECT 1 UNION ALL SELECT 1"), "1\n1");
  EXPECT_EQ(run("(SELECT id FROM people) UNION (SELECT id FROM pets) ORDER BY id DESC LIMIT 2"), "4\n3");
}

TEST_F(Queries, ErrorsAreMySQLs) {
  EXPECT_EQ(run("SELECT nope FROM people"), "ERROR 1054: Unknown column 'nope' in 'field list'");
  EXPECT_EQ(run("SELECT 1 FROM people WHERE nope = 1"),
            "ERROR 1054: Unknown column 'nope' in 'where clause'");
  EXPECT_EQ(run("SELECT * FROM nope"), "ERROR 1146: Table 'test.nope' doesn't exist");
  EXPECT_EQ(run("SELECT * FROM nope.people"), "ERROR 1049: Unknown database 'nope'");
  EXPECT_EQ(run("SELECT 1 FROM people people2, people people2"),
            "ERROR 1066: Not unique table/alias: 'people2'");
}

TEST_F(Queries, ColumnsAreDescribed) {
  run("SELECT id, name AS n, COUNT(*) FROM people GROUP BY id, name");
  ASSERT_EQ(last().columns.size(), 3u);
  EXPECT_EQ(last().columns[0].type, FieldType::Long);
  EXPECT_EQ(last().columns[0].flags & 3, 3) << "NOT NULL and primary key";
  EXPECT_EQ(last().columns[1].name, "n");
  EXPECT_EQ(last().columns[1].original_name, "name");
  EXPECT_EQ(last().columns[1].type, FieldType::VarString);
  EXPECT_EQ(last().columns[1].length, 80u);
  EXPECT_EQ(last().columns[2].name, "COUNT(*)");
  EXPECT_EQ(last().columns[2].type, FieldType::LongLong);
}

TEST_F(Queries, SortByColumnsThatAreShownOrNot) {
  EXPECT_EQ(run("SELECT age, name FROM people ORDER BY age, id DESC"), "NULL|Dan\n25|Bob\n30|Cid\n30|Ann");
  EXPECT_EQ(run("SELECT name FROM people ORDER BY age DESC, name DESC"), "Cid\nAnn\nBob\nDan");
  EXPECT_EQ(run("SELECT name, age FROM people ORDER BY age + 0 DESC, name"),
            "Ann|30\nCid|30\nBob|25\nDan|NULL");
  EXPECT_EQ(run("SELECT DISTINCT kind FROM pets ORDER BY kind DESC"), "eel\ndog\ncat");
  EXPECT_EQ(run("SELECT p.name, q.kind FROM people p JOIN pets q ON q.owner = p.id ORDER BY q.kind, p.name"),
            "Ann|cat\nCid|cat\nAnn|dog");
  EXPECT_EQ(run("SELECT kind, id FROM pets ORDER BY kind"), "cat|1\ncat|3\ndog|2\neel|4") << "stable";
}

// A scan decodes only the columns that some expression reads: here the others are in front of, between and
// behind them.
TEST_F(Queries, ColumnsThatAreNotShownAreReadWhereTheyMatter) {
  EXPECT_EQ(
      run("CREATE TABLE wide (id INT PRIMARY KEY, a VARCHAR(300), b INT, c TEXT, d INT, e DATE, KEY (d))"),
      "");
  EXPECT_EQ(
      run("INSERT INTO wide VALUES (1,REPEAT('a',300),10,NULL,100,'2020-01-01'),(2,NULL,20,'two',200,NULL),"
          "(3,'x',NULL,'three',100,'2021-01-01')"),
      "");
  EXPECT_EQ(run("SELECT c FROM wide WHERE id > 0 AND b IS NULL"), "three");
  EXPECT_EQ(run("SELECT e FROM wide WHERE d = 100 ORDER BY id"), "2020-01-01\n2021-01-01")
      << "by another index";
  EXPECT_EQ(run("SELECT b FROM wide WHERE id = 2"), "20");
  EXPECT_EQ(run("SELECT c FROM wide ORDER BY LENGTH(a) DESC"), "NULL\nthree\ntwo");
  EXPECT_EQ(run("SELECT d, COUNT(*) n FROM wide GROUP BY d HAVING MAX(b) > 10"), "200|1");
  EXPECT_EQ(run("SELECT SUM(d) FROM wide WHERE e IS NOT NULL"), "200");
  EXPECT_EQ(run("SELECT w.b FROM wide w WHERE EXISTS (SELECT 1 FROM people p WHERE p.age = w.d / 10 * 3)"),
            "10\nNULL")
      << "read by a subquery only";
  EXPECT_EQ(run("SELECT (SELECT name FROM people p WHERE p.id = w.id) FROM wide w WHERE w.d = 200"), "Bob");
  EXPECT_EQ(run("SELECT name FROM people JOIN wide USING (id) WHERE e IS NULL"), "Bob");
  EXPECT_EQ(run("SELECT p.name, w.c FROM people p LEFT JOIN wide w ON w.b = p.id * 10 ORDER BY p.id"),
            "Ann|NULL\nBob|two\nCid|NULL\nDan|NULL");
  EXPECT_EQ(run("SELECT COUNT(*) FROM wide"), "3") << "no column at all";
  EXPECT_EQ(run("BEGIN"), "");
  EXPECT_EQ(run("UPDATE wide SET b = b + 1 WHERE id = 1"), "");
  EXPECT_EQ(run("SELECT b, d FROM wide WHERE id < 3"), "11|100\n20|200") << "own changes";
  EXPECT_EQ(run("SELECT id, LENGTH(a), b, c, d, e FROM wide WHERE id = 1 FOR UPDATE"),
            "1|300|11|NULL|100|2020-01-01");
  EXPECT_EQ(run("ROLLBACK"), "");
}

}  // namespace
}  // namespace commitd::sql
