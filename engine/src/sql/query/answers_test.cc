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

// In the rows of a subquery, and where a subquery names a column of the statement around it.
TEST_F(Shapes, LabelsAreNumbersBesideNumbersInSubqueriesToo) {
  run("CREATE TABLE u (b INT, e ENUM('x', 'z', 'y'), s SET('p', 'q')); INSERT INTO u VALUES (1, 'x', 'q'), "
      "(2, "
      "'z', 'p,q'), (5, 'y', '')");
  for (const std::string in : {"IN", "= ANY"}) {
    EXPECT_EQ(run("SELECT a FROM t WHERE a " + in + " (SELECT e FROM u) ORDER BY a"), "1\n2\n3");
    EXPECT_EQ(run("SELECT a FROM t WHERE a " + in + " (SELECT s FROM u) ORDER BY a"), "2\n3");
    EXPECT_EQ(run("SELECT a FROM t WHERE a + 0.0 " + in + " (SELECT e FROM u WHERE u.b <= t.a) ORDER BY a"),
              "1\n2");
    EXPECT_EQ(run("SELECT a FROM t WHERE e " + in + " (SELECT b FROM u) ORDER BY a"), "1\n3");
    EXPECT_EQ(run("SELECT a FROM t WHERE e " + in + " (SELECT b FROM u WHERE u.b <= t.a) ORDER BY a"),
              "1\n3");
    EXPECT_EQ(run("SELECT a FROM t WHERE e " + in + " (SELECT e FROM u WHERE u.b <= t.a) ORDER BY a"),
              "2\n3");
    EXPECT_EQ(run("SELECT a FROM t WHERE a " + in + " (SELECT e FROM (SELECT e FROM u) d) ORDER BY a"),
              "1\n2\n3");
  }
  EXPECT_EQ(run("SELECT 1 > ANY (SELECT e FROM u), 2 > ANY (SELECT e FROM u), 3 >= ALL (SELECT e FROM u)"),
            "0|1|1");
  EXPECT_EQ(run("SELECT (2, 2) IN (SELECT b, e FROM u), (2, 3) IN (SELECT b, s FROM u), (1, 2) IN (SELECT b, "
                "e FROM "
                "u)"),
            "1|1|0");
  EXPECT_EQ(
      run("SELECT a, (SELECT COUNT(*) FROM u WHERE t.e = b), (SELECT t.e + 0), (SELECT COUNT(*) FROM u WHERE "
          "t.e IN (1, 'x')) FROM t ORDER BY a"),
      "1|1|1|3\n2|0|3|0\n3|1|2|3\n4|0|NULL|0");
  EXPECT_EQ(
      run("SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u WHERE CASE t.e WHEN 2 THEN TRUE END) ORDER BY a"),
      "3");
  EXPECT_EQ(run("SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u WHERE NULLIF(t.e, 2) IS NULL) ORDER BY a"),
            "3\n4");
  EXPECT_EQ(run("SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u WHERE t.e BETWEEN 2 AND b) ORDER BY a"),
            "2\n3");
  // A subquery as a value is text only.
  EXPECT_EQ(run("SELECT (SELECT e FROM u WHERE b = 2) = 2, (SELECT e FROM u WHERE b = 2) = 'z'"), "0|1");
}

TEST_F(Shapes, LabelsAreNumbersAsConditionsAndForNumericFunctions) {
  run("CREATE TABLE u (id INT, e ENUM('', 'b', '1'), s SET('x', 'y')); INSERT INTO u VALUES (1, 'b', 'x,y'), "
      "(2, '1', ''), (3, '', 'y'), (4, NULL, NULL)");
  EXPECT_EQ(run("SELECT id FROM u WHERE e ORDER BY id"), "1\n2\n3");
  EXPECT_EQ(run("SELECT id FROM u WHERE NOT s ORDER BY id"), "2");
  EXPECT_EQ(run("SELECT id FROM u WHERE s AND e ORDER BY id"), "1\n3");
  EXPECT_EQ(run("SELECT a.id FROM u a JOIN u b ON b.s WHERE b.id = 3 ORDER BY 1"), "1\n2\n3\n4");
  EXPECT_EQ(run("SELECT id, e AS x FROM u HAVING x ORDER BY id"), "1|b\n2|1\n3|");
  EXPECT_EQ(run("SELECT IF(e, 1, 0), CASE WHEN s THEN 1 ELSE 0 END, e IS TRUE, s XOR 1 FROM u ORDER BY id"),
            "1|1|1|0\n1|0|1|1\n1|1|1|0\n0|0|0|NULL");
  EXPECT_EQ(run("SELECT SUM(e), AVG(e), BIT_OR(s), MAX(e), STD(e) > 0.8 FROM u"), "6|2.0000|3|b|1");
  EXPECT_EQ(run("SELECT ABS(e), ROUND(s), SIGN(e), LEFT('abcdef', e), SEC_TO_TIME(e) FROM u WHERE id = 1"),
            "2|3|1|ab|00:00:02");
  EXPECT_EQ(run("DELETE FROM u WHERE e; SELECT id FROM u"), " ; 4");
  EXPECT_EQ(run("SELECT COUNT(*) FROM t WHERE 0x616263"), "4");
  EXPECT_EQ(run("SELECT COUNT(*) FROM t WHERE 0x00"), "0");
}

TEST_F(Shapes, ALabelIsATextWhereATimeIsWanted) {
  run("CREATE TABLE u (e ENUM('x', '2001-02-03')); INSERT INTO u VALUES ('2001-02-03')");
  EXPECT_EQ(run("SELECT CAST(e AS DATE), DATE(e), e + 0 FROM u"), "2001-02-03|2001-02-03|2");
}

TEST_F(Shapes, NoYearHasFourDigitsAsAText) {
  run("CREATE TABLE u (y YEAR); INSERT INTO u VALUES (0)");
  EXPECT_EQ(run("SELECT CONCAT(y), LENGTH(y), CAST(y AS CHAR), LOCATE(y, '2001-02-03 00:00'), y LIKE '0000', "
                "GROUP_CONCAT(y), y + 1 FROM u GROUP BY y"),
            "0000|4|0000|0|1|0000|1");
}

TEST_F(Shapes, TheRowOfASubqueryIsComparedItemByItem) {
  EXPECT_EQ(run("SELECT (1, 2) = (SELECT 1, 2), (1, 2) = (SELECT 1, 3), (1, NULL) = (SELECT 1, 2), "
                "(SELECT 1, 2, 3) = ROW(1, 2, NULL), (SELECT 1, 2) = (SELECT 1, 2)"),
            "1|0|NULL|NULL|1");
  EXPECT_EQ(run("SELECT (1, 2) <> (SELECT 1, 3), (1, 2) < (SELECT 1, 3), (1, 2) >= (SELECT 1, 2), "
                "(1, NULL) <=> (SELECT 1, NULL), (2, NULL) > (SELECT 1, 1)"),
            "1|1|1|1|1");
  EXPECT_EQ(run("SELECT (1, 2) = (SELECT a, b FROM t WHERE a = 9), (NULL, NULL) <=> (SELECT a, b FROM t "
                "WHERE a = 9)"),
            "NULL|1");
  EXPECT_EQ(run("SELECT (3, 4) IN ((SELECT 1, 2), (3, 4)), (SELECT 1, 2) IN ((1, 2), (3, 4)), "
                "((1, 2), 3) = ((SELECT 1, 2), 3), ((1, 2), 3) < ((1, 2), 4)"),
            "1|1|1|1");
  EXPECT_EQ(run("SELECT a FROM t WHERE (a, b) = (SELECT 4, 2)"), "4");
  EXPECT_EQ(run("SELECT a FROM t o WHERE (a, 2) = (SELECT MAX(a), o.b FROM t WHERE b = o.b) ORDER BY a"),
            "4");
  EXPECT_EQ(run("SELECT a FROM t o WHERE (a, b) >= (SELECT MAX(a), o.b FROM t WHERE b = o.b) ORDER BY a"),
            "3\n4");
  EXPECT_EQ(
      run("SELECT a FROM t o WHERE (SELECT * FROM (SELECT 1 AS p, 1 AS q) d) = (a, (SELECT o.b)) ORDER BY a"),
      "1");
  const auto refused = [this](const std::string& sql) { return run(sql).substr(0, 10); };
  EXPECT_EQ(refused("SELECT (1, 2) = (SELECT a, b FROM t)"), "ERROR 1242");
  EXPECT_EQ(refused("SELECT a FROM t o WHERE (a, b) = (SELECT a, o.b FROM t)"), "ERROR 1242");
  for (const std::string wrong : {"(1, 2) = (SELECT 1)", "(1, 2) = (SELECT 1, 2, 3)", "1 = (SELECT 1, 2)",
                                  "(SELECT 1, 2) = 1", "((1, 2), 3) = (SELECT 1, 3)", "(1, 2) = 1"})
    EXPECT_EQ(refused("SELECT " + wrong), "ERROR 1241") << wrong;
}

TEST_F(Shapes, AggregatesOfTheStatementAroundASubquery) {
  EXPECT_EQ(run("SELECT (SELECT SUM(o.a)) FROM t o"), "10");
  EXPECT_EQ(
      run("SELECT b, (SELECT MAX(o.a) + COUNT(*) FROM t i WHERE i.b = 1) FROM t o GROUP BY b ORDER BY b"),
      "1|5\n2|6");
  EXPECT_EQ(run("SELECT b FROM t o GROUP BY b HAVING (SELECT MAX(o.a)) > 3"), "2");
  EXPECT_EQ(run("SELECT b FROM t o GROUP BY b HAVING EXISTS (SELECT 1 FROM t i WHERE i.a = SUM(o.b))"),
            "1\n2");
  // WHERE and ON have no groups: there it is one of the subquery.
  EXPECT_EQ(run("SELECT a FROM t o WHERE (SELECT SUM(o.a)) > 2 ORDER BY a"), "3\n4");
  EXPECT_EQ(run("SELECT a FROM t o WHERE (SELECT SUM(o.a) FROM t) > 8 ORDER BY a"), "3\n4");
  EXPECT_EQ(run("SELECT o.a FROM t o JOIN t p ON o.a = p.a AND (SELECT MIN(o.a) FROM t) = 2"), "2");
  EXPECT_EQ(run("SELECT a FROM t o WHERE (SELECT a FROM t WHERE MIN(o.a) = 1) > 1"),
            "ERROR 1111: Invalid use of group function");
  EXPECT_EQ(
      run("SELECT a FROM t o WHERE EXISTS (SELECT b FROM t GROUP BY b HAVING SUM(o.a) = b * 2) ORDER BY a"),
      "1\n2");
  EXPECT_EQ(run("UPDATE t SET a = a + 10 WHERE a = (SELECT MAX(a)) AND b = 2; SELECT a FROM t ORDER BY a"),
            " ; 1\n3\n12\n14");
}

TEST_F(Shapes, AggregatesWithoutColumnsAreOfTheFirstStatementThatHasGroups) {
  EXPECT_EQ(
      run("SELECT COUNT(*), b, (SELECT a FROM t WHERE a = COUNT(*) + 1) FROM t o GROUP BY b ORDER BY b"),
      "2|1|3\n2|2|3");
  EXPECT_EQ(run("SELECT b FROM t GROUP BY b HAVING (SELECT MIN(i.a) FROM t i WHERE i.a > COUNT(*)) = 3"),
            "1\n2");
  EXPECT_EQ(run("SELECT (SELECT COUNT(*) FROM t i WHERE i.a = 2) FROM t o WHERE a = 1"), "1");
  EXPECT_EQ(run("SELECT b, (SELECT GROUP_CONCAT(COUNT(o.a)) FROM t i WHERE i.a < 3) FROM t o GROUP BY b "
                "ORDER BY b"),
            "1|2,2\n2|2,2");
  EXPECT_EQ(run("SELECT a FROM t WHERE a = COUNT(*)"), "ERROR 1111: Invalid use of group function");
}

TEST_F(Shapes, ANameOfSeveralColumnsIsTheOneThatIsSelected) {
  for (const std::string end :
       {"ORDER BY a DESC", "GROUP BY a ORDER BY a DESC", "HAVING a > 0 ORDER BY a DESC"}) {
    EXPECT_EQ(run("SELECT x.a FROM t x JOIN t y ON x.a = y.a + 1 " + end), "4\n3\n2");
    EXPECT_EQ(run("SELECT x.a, x.a FROM t x JOIN t y ON x.a = y.a + 1 " + end), "4|4\n3|3\n2|2");
  }
  EXPECT_EQ(run("SELECT x.* FROM t x JOIN t y ON x.a = y.a + 1 ORDER BY a LIMIT 1"), "2|2|z");
  for (const std::string items : {"x.a, y.a", "*", "x.a AS z", "x.*, y.a", "1"})
    EXPECT_EQ(run("SELECT " + items + " FROM t x JOIN t y ON x.a = y.a ORDER BY a").substr(0, 10),
              "ERROR 1052")
        << items;
}

TEST_F(Shapes, AllValuesOfASetAreKnownBeforeTheFirstIsAssigned) {
  EXPECT_EQ(run("SET @a = 1, @b = 2; SET @a = @b, @b = @a; SELECT @a, @b"), " ;  ; 2|1");
  run("SET max_join_size = 1000, sql_select_limit = 500; SET max_join_size = @@sql_select_limit, "
      "sql_select_limit = "
      "@@max_join_size, @c = @@max_join_size");
  EXPECT_EQ(run("SELECT @@max_join_size, @@sql_select_limit, @c"), "500|1000|1000");
  EXPECT_EQ(run("SET @a = 5, nothing = 6").substr(0, 10), "ERROR 1193");
  EXPECT_EQ(run("SET @a = 5, max_join_size = (SELECT a FROM t)").substr(0, 10), "ERROR 1242");
  EXPECT_EQ(run("SELECT @a"), "2");
  for (const std::string variable :
       {"character_set_client", "character_set_connection", "collation_connection"})
    EXPECT_EQ(run("SET " + variable + " = NULL"),
              "ERROR 1231: Variable '" + variable + "' can't be set to the value of 'NULL'");
}

TEST_F(Shapes, NumbersBesideADateAreDates) {
  run("CREATE TABLE u (d DATE, m DATETIME, KEY (m)); INSERT INTO u VALUES ('2023-01-01', '2023-01-01'), "
      "('2023-01-02', "
      "'2023-01-01 12:00:00')");
  for (const std::string number : {"20230101", "20230101e0", "20230101.0", "(SELECT 20230101.0)"}) {
    EXPECT_EQ(run("SELECT d FROM u WHERE m = " + number), "2023-01-01") << number;
    EXPECT_EQ(run("SELECT d FROM u WHERE d = " + number), "2023-01-01") << number;
    EXPECT_EQ(run("SELECT d FROM u WHERE m > " + number), "2023-01-02") << number;
    EXPECT_EQ(run("SELECT d FROM u WHERE m IN (" + number + ", 20230303)"), "2023-01-01") << number;
  }
}

TEST_F(Shapes, NumbersOfDatesAreTimes) {
  run("CREATE TABLE u (c TIME(3)); INSERT INTO u VALUES (20101211010203.456), (20101211030405.789e0), "
      "(10101010101)");
  EXPECT_EQ(run("SELECT c FROM u"), "01:02:03.456\n03:04:05.789\n01:01:01.000");
  EXPECT_EQ(run("SELECT TIME(10101010101), CAST(20101211030405 AS TIME)"), "01:01:01|03:04:05");
  EXPECT_EQ(run("INSERT INTO u VALUES (20101311030405)").substr(0, 10), "ERROR 1292");
}

TEST_F(Shapes, RowsThatAreLockedAreNotWaitedForOrPassedOver) {
  EXPECT_EQ(run("SELECT a FROM t FOR SHARE NOWAIT SKIP LOCKED").substr(0, 10), "ERROR 1064");
}

TEST_F(Shapes, NumbersBeyondTheLargestDoubleAreNone) {
  EXPECT_EQ(run("SELECT 1.7E+309"), "ERROR 1367: Illegal double '1.7E+309' value found during parsing");
  EXPECT_EQ(run("SELECT 1.7E+308, 1E-400"), "1.7e308|0");
}

TEST_F(Shapes, DatesOfOddShapes) {
  run("CREATE TABLE u (m DATETIME(1)); INSERT INTO u VALUES ('2003-003-03'), ('20030102T131415'), "
      "('2003.1.2 3.4'), ('2003#1^2@3'), ('10102'), ('2003010213'), ('200-1-1'), ('1-1-1'), "
      "('030102131415.55')");
  EXPECT_EQ(run("SELECT m FROM u"),
            "2003-03-03 00:00:00.0\n2003-01-02 13:14:15.0\n2003-01-02 03:04:00.0\n2003-01-02 "
            "03:00:00.0\n2010-10-02 00:00:00.0\n2020-03-01 02:13:00.0\n0200-01-01 00:00:00.0\n0001-01-01 "
            "00:00:00.0\n2003-01-02 13:14:15.6");
  EXPECT_EQ(
      run("SELECT CAST('20030102131415123' AS DATETIME), CAST('2003' AS DATE), CAST('20030102 1' AS DATE), "
          "CAST('2003-01 -02' AS DATE), CAST('2003-02-30' AS DATE), CAST('20030102T1' AS DATETIME)"),
      "2003-01-02 13:14:15|NULL|NULL|NULL|NULL|2020-03-01 02:00:00");
  EXPECT_EQ(run("INSERT INTO u VALUES ('20030102131415123')").substr(0, 11), "ERROR 1292:");
}

TEST_F(Shapes, WhatASubqueryReadsMustHaveOneValuePerGroup) {
  EXPECT_EQ(run("SELECT COUNT(*), (SELECT COUNT(*) FROM t i WHERE i.a = o.a) FROM t o"),
            "ERROR 1140: In aggregated query without GROUP BY, expression #2 of SELECT list contains "
            "nonaggregated column 'a'; this is incompatible with sql_mode=only_full_group_by");
  for (const char* item : {"(SELECT COUNT(*) FROM t i WHERE i.a = o.a)", "1 + (SELECT o.a FROM t LIMIT 1)",
                           "(SELECT SUM(i.a) + o.a FROM t i)", "EXISTS (SELECT 1 FROM t i WHERE i.a = o.a)",
                           "(SELECT (SELECT o.a))"})
    EXPECT_EQ(run(std::string("SELECT b, ") + item + " FROM t o GROUP BY b").substr(0, 11), "ERROR 1055:")
        << item;
  EXPECT_EQ(run("SELECT b, (SELECT COUNT(*) FROM t i WHERE i.b = o.b), (SELECT MAX(o.a)) FROM t o GROUP BY b "
                "ORDER BY b"),
            "1|2|3\n2|2|4");
  EXPECT_EQ(run("SELECT COUNT(*), (SELECT COUNT(*) FROM t i WHERE i.a = o.a) FROM t o WHERE a = 3"), "1|1");
  EXPECT_EQ(run("SELECT (SELECT o.a), COUNT(*) FROM t o GROUP BY 1 ORDER BY 1"), "1|1\n2|1\n3|1\n4|1");
  EXPECT_EQ(run("SELECT SUM((SELECT COUNT(*) FROM t i WHERE i.a <= o.a)) FROM t o"), "10");
}

TEST_F(Shapes, SubqueriesOfASelectListSeeTheAliasesInFrontOfThem) {
  EXPECT_EQ(run("SELECT a + 1 AS x, (SELECT x * 10) FROM t ORDER BY a"), "2|20\n3|30\n4|40\n5|50");
  EXPECT_EQ(run("SELECT a AS x, (SELECT x + 1) AS y, (SELECT x + y) FROM t WHERE a < 3 ORDER BY a"),
            "1|2|3\n2|3|5");
  EXPECT_EQ(run("SELECT *, a AS x, (SELECT MAX(i.a) FROM t i WHERE i.a < x) FROM t WHERE a > 2 ORDER BY a"),
            "3|1|x|3|2\n4|2|NULL|4|3");
  EXPECT_EQ(run("SELECT a AS b, (SELECT b) FROM t WHERE a = 3"), "3|1");  // the column first
  EXPECT_EQ(run("SELECT b AS x, (SELECT x), COUNT(*) FROM t GROUP BY b ORDER BY b"), "1|1|2\n2|2|2");
  EXPECT_EQ(run("SELECT (SELECT x), a AS x FROM t"),
            "ERROR 1247: Reference 'x' not supported (forward reference in item list)");
  EXPECT_EQ(run("SELECT (SELECT x) AS x FROM t"),
            "ERROR 1247: Reference 'x' not supported (forward reference in item list)");
  EXPECT_EQ(run("SELECT SUM(a) AS x, (SELECT x) FROM t"),
            "ERROR 1247: Reference 'x' not supported (reference to group function)");
  EXPECT_EQ(run("SELECT a AS x FROM t WHERE (SELECT x) > 0").substr(0, 11), "ERROR 1054:");
  EXPECT_EQ(run("SELECT a AS x, x + 1 FROM t").substr(0, 11), "ERROR 1054:");
}

TEST_F(Shapes, UnionsAreOrderedByExpressionsToo) {
  EXPECT_EQ(run("SELECT a FROM t UNION SELECT 9 ORDER BY -a"), "9\n4\n3\n2\n1");
  EXPECT_EQ(run("SELECT a FROM t UNION SELECT 9 ORDER BY a % 2, (SELECT -a) LIMIT 4"), "4\n2\n9\n3");
  EXPECT_EQ(run("SELECT a, b FROM t UNION ALL SELECT 9, 9 ORDER BY (SELECT COUNT(*) FROM t i WHERE i.a < a + "
                "b), a"),
            "1|1\n2|2\n3|1\n4|2\n9|9");
  EXPECT_EQ(run("SELECT 1 UNION SELECT 2 ORDER BY (SELECT 1)"), "1\n2");
  EXPECT_EQ(run("SELECT a FROM t UNION SELECT 9 ORDER BY t.a"),
            "ERROR 1250: Table 't' from one of the SELECTs cannot be used in order clause");
  EXPECT_EQ(run("SELECT a FROM t UNION SELECT 9 ORDER BY 1 + COUNT(*)"),
            "ERROR 3028: Expression #1 of ORDER BY contains aggregate function and applies to a UNION");
  EXPECT_EQ(run("SELECT a FROM t UNION SELECT 9 ORDER BY nothing + 1").substr(0, 11), "ERROR 1054:");
  EXPECT_EQ(run("SELECT a FROM t UNION SELECT 9 ORDER BY 3").substr(0, 11), "ERROR 1054:");
}

TEST_F(Shapes, FoundRowsAreThoseThatAreShownUnlessAllAreAskedFor) {
  EXPECT_EQ(run("SELECT 1 UNION SELECT 2 LIMIT 1; SELECT FOUND_ROWS()"), "1 ; 1");
  EXPECT_EQ(run("SELECT SQL_CALC_FOUND_ROWS 1 UNION SELECT 2 LIMIT 1; SELECT FOUND_ROWS()"), "1 ; 2");
  EXPECT_EQ(run("SELECT a FROM t LIMIT 0; SELECT FOUND_ROWS()"), " ; 0");
  EXPECT_EQ(run("SELECT a FROM t LIMIT 3; SELECT FOUND_ROWS(), (SELECT 5), (SELECT FOUND_ROWS()) FROM "
                "(SELECT 1) x"),
            "3\n1\n2 ; 3|5|3");
}

TEST_F(Shapes, OdbcsEscapes) {
  EXPECT_EQ(run("SELECT {d '2020-01-02'} + INTERVAL 1 DAY, {t '10:11:12'}, {ts '2020-01-02 03:04:05'}, {fn "
                "UPPER('a')}, {d 'nonsense'}"),
            "2020-01-03|10:11:12|2020-01-02 03:04:05|A|nonsense");
  EXPECT_EQ(run("SELECT t.a, u.a FROM {oj t LEFT OUTER JOIN t u ON u.a = t.a + 2} ORDER BY t.a"),
            "1|3\n2|4\n3|NULL\n4|NULL");
}

TEST_F(Shapes, WhatIsNoLabelOfAnEnumIsNotItsEmptyLabel) {
  run("SET sql_mode = ''; CREATE TABLE u (id INT, e ENUM('a', '', 'b'), KEY (e)); INSERT INTO u VALUES (1, "
      "'no'), (2, ''), "
      "(3, 'b'), (4, 0), (5, 7)");
  EXPECT_EQ(run("SELECT id, e + 0, e = '' FROM u ORDER BY e, id"), "1|0|1\n4|0|1\n5|0|1\n2|2|1\n3|3|0");
  EXPECT_EQ(run("SELECT id FROM u WHERE e = 0 ORDER BY id; SELECT id FROM u WHERE e = '' ORDER BY id; SELECT "
                "LENGTH(e), "
                "CONCAT(e, 'x') FROM u WHERE id = 1"),
            "1\n4\n5 ; 1\n2\n4\n5 ; 0|x");
  run("UPDATE u SET id = id + 10");  // a row that is written again keeps it
  EXPECT_EQ(run("SELECT id, e + 0 FROM u ORDER BY id; CHECK TABLE u"),
            "11|0\n12|2\n13|3\n14|0\n15|0 ; test.u|check|status|OK");
}

TEST_F(Shapes, ColumnsOfARightJoinBehindAComma) {
  run("CREATE TABLE u (c INT); INSERT INTO u VALUES (2), (9)");
  EXPECT_EQ(run("SELECT * FROM u x, u y RIGHT JOIN u z ON y.c = z.c AND y.c = 2 ORDER BY 1, 3"),
            "2|2|2\n2|NULL|9\n9|2|2\n9|NULL|9");
  EXPECT_EQ(run("SELECT * FROM u y RIGHT JOIN u z ON y.c = z.c AND y.c = 2, u x ORDER BY 3, 2"),
            "2|2|2\nNULL|9|2\n2|2|9\nNULL|9|9");
}

TEST_F(Shapes, BitsBesideDatesAreNumbers) {
  run("CREATE TABLE u (b BIT(40), d DATE); INSERT INTO u VALUES (20010203, '2001-02-03')");
  EXPECT_EQ(run("SELECT COUNT(*) FROM u x, u y WHERE x.b = y.d; SELECT b = d, b < d, d IN (b), NULLIF(b, d) "
                "FROM u"),
            "1 ; 1|0|1|NULL");
}

TEST_F(Shapes, BytesBesideAColumnAreComparedAsBytes) {
  run("CREATE TABLE n (v CHAR(10), KEY (v)); INSERT INTO n VALUES ('john'), ('John')");
  for (const char* condition :
       {"v LIKE BINARY 'john'", "v = 'john' AND v LIKE BINARY 'john'", "v REGEXP BINARY 'john'",
        "FIND_IN_SET(BINARY 'john', v)", "v IN (BINARY 'john')", "BINARY 'john' LIKE v",
        "v LIKE CAST('jo%' AS BINARY)", "v BETWEEN BINARY 'john' AND BINARY 'john'"})
    EXPECT_EQ(run(std::string("SELECT v FROM n WHERE ") + condition), "john") << condition;
  EXPECT_EQ(run("SELECT COUNT(*) FROM n WHERE v LIKE 'john'; SELECT v FROM n WHERE v NOT LIKE BINARY 'john'"),
            "2 ; John");
}

TEST_F(Shapes, IndexesThatHintsNameMustBeThere) {
  run("CREATE TABLE k (a INT PRIMARY KEY, b INT, c INT, KEY first_one (b), KEY first_two (c))");
  const auto refused = [](const std::string& key, const std::string& table) {
    return "ERROR 1176: Key '" + key + "' doesn't exist in table '" + table + "'";
  };
  for (const char* hint :
       {"USE INDEX (nothing)", "IGNORE KEY FOR ORDER BY (nothing)", "FORCE INDEX (first_one, nothing)"})
    EXPECT_EQ(run(std::string("SELECT * FROM k ") + hint), refused("nothing", "k")) << hint;
  EXPECT_EQ(run("SELECT * FROM k x JOIN k y USE INDEX (first_)"), refused("first_", "y"));
  EXPECT_EQ(run("SELECT * FROM t USE INDEX (PRIMARY)"), refused("PRIMARY", "t"));
  EXPECT_EQ(run("UPDATE k USE INDEX (nothing) SET b = 1"), refused("nothing", "k"));
  EXPECT_EQ(run("DELETE k FROM k USE INDEX (nothing)"), refused("nothing", "k"));
  EXPECT_EQ(run("SELECT * FROM k USE INDEX (PRIMARY, FIRST_ONE, first_t) IGNORE INDEX (first_two)"), "");
  EXPECT_EQ(run("SELECT * FROM k USE INDEX ()"), "");
  EXPECT_EQ(run("SELECT * FROM k FORCE INDEX ()").substr(0, 11), "ERROR 1064:");
  EXPECT_EQ(run("SELECT * FROM k USE INDEX (first_one) FORCE INDEX (first_two)"),
            "ERROR 1221: Incorrect usage of USE INDEX and FORCE INDEX");
}

TEST_F(Shapes, NumbersAreDatesByTheirDigits) {
  EXPECT_EQ(run("SELECT DATE(10101), YEAR(1111), DATE(1), CAST(1012.5 AS DATE), CAST(10203101112.2 AS "
                "DATETIME(1)), "
                "MONTH(20010203101112), DATE(2001010110)"),
            "2001-01-01|2000|NULL|2000-10-12|2001-02-03 10:11:12.2|2|NULL");
  run("CREATE TABLE u (d DATE, m DATETIME); INSERT INTO u VALUES (11111, 691231), (20010203, 101), (700101, "
      "991231235959)");
  EXPECT_EQ(run("SELECT * FROM u"),
            "2001-11-11|2069-12-31 00:00:00\n2001-02-03|2000-01-01 00:00:00\n1970-01-01|1999-12-31 23:59:59");
  EXPECT_EQ(run("INSERT INTO u VALUES (1, 1)").substr(0, 11), "ERROR 1292:");
}

TEST_F(Shapes, TextsThatBeginWithADateAreThatDate) {
  run("CREATE TABLE u (id INT, d DATE, m DATETIME, t TIME); INSERT INTO u VALUES (1, '2001-01-01', "
      "'2001-01-01 10:11:12', "
      "'10:11:12')");
  EXPECT_EQ(run("SELECT id FROM u WHERE d = '2001-01-01x'; SHOW WARNINGS"),
            "1 ; Warning|1292|Truncated incorrect DATE value: '2001-01-01x'");
  EXPECT_EQ(run("SELECT id FROM u WHERE m = '2001-01-01 10:11:12 and more'"), "1");
  EXPECT_EQ(run("SELECT id FROM u WHERE d = 'x2001-01-01'"),
            "ERROR 1525: Incorrect DATE value: 'x2001-01-01'");
  EXPECT_EQ(run("DELETE FROM u WHERE d = '2001-01-01x'").substr(0, 11), "ERROR 1292:");
  EXPECT_EQ(run("INSERT INTO u VALUES (2, '2001-01-01x', NULL, NULL)"),
            "ERROR 1292: Incorrect date value: '2001-01-01x' for column 'd' at row 1");
  EXPECT_EQ(run("INSERT INTO u VALUES (2, NULL, NULL, '10:11:12x')"),
            "ERROR 1292: Incorrect time value: '10:11:12x' for column 't' at row 1");
  EXPECT_EQ(run("INSERT IGNORE INTO u VALUES (2, '2001-01-02 x', '2001-01-02 10:11:12 x', '10:11:12x'); SHOW "
                "WARNINGS"),
            " ; Warning|1265|Data truncated for column 'd' at row 1\nWarning|1265|Data truncated for column "
            "'m' at row "
            "1\nWarning|1265|Data truncated for column 't' at row 1");
  EXPECT_EQ(run("SELECT d, m, t FROM u WHERE id = 2"), "2001-01-02|2001-01-02 10:11:12|10:11:12");
  EXPECT_EQ(run("INSERT IGNORE INTO u VALUES (3, 'x', 'y', 'z'); SELECT d, m, t FROM u WHERE id = 3"),
            " ; 0000-00-00|0000-00-00 00:00:00|00:00:00");
}

TEST_F(Shapes, NoColumnHoldsADateThatDoesNotExist) {
  run("CREATE TABLE u (d DATE, m DATETIME)");
  EXPECT_EQ(run("INSERT INTO u (d) VALUES (STR_TO_DATE('31.9.2004', '%d.%m.%Y'))"),
            "ERROR 1292: Incorrect date value: '2004-09-31' for column 'd' at row 1");
  EXPECT_EQ(run("INSERT IGNORE INTO u VALUES (STR_TO_DATE('31.9.2004', '%d.%m.%Y'), STR_TO_DATE('31.9.2004 "
                "1', '%d.%m.%Y "
                "%H')); SELECT * FROM u"),
            " ; 0000-00-00|0000-00-00 00:00:00");
}

TEST_F(Shapes, ZerosOfTwoDigitsAreNoYear) {
  run("SET sql_mode = ''; CREATE TABLE u (m DATETIME); INSERT INTO u VALUES ('00-00-00'), ('00-00-00 "
      "00:00:00'), ('00-00-00 "
      "01:00:00'), ('12-00-00')");
  EXPECT_EQ(run("SELECT m FROM u"),
            "0000-00-00 00:00:00\n0000-00-00 00:00:00\n2000-00-00 01:00:00\n2012-00-00 00:00:00");
}

TEST_F(Shapes, BetweenComparesAllThreeInOneWay) {
  run("CREATE TABLE u (id INT, m DATETIME, v VARCHAR(10)); INSERT INTO u VALUES (1, '2001-01-01 01:01:01', "
      "'1'), (2, "
      "'2001-04-30', '-2')");
  EXPECT_EQ(run("SELECT id FROM u WHERE '2001-04-10 12:34:56' BETWEEN m AND '01-05-01'"), "1");
  EXPECT_EQ(run("SELECT id FROM u WHERE '01-3-1' BETWEEN '2000-01-01' AND m ORDER BY id"), "2");
  EXPECT_EQ(run("SELECT id FROM u WHERE '1-3-1' BETWEEN '2000-01-01' AND m"), "");  // the year 1
  EXPECT_EQ(run("SELECT id FROM u WHERE 'a' BETWEEN 0 AND v"), "1");
  EXPECT_EQ(run("SELECT id FROM u WHERE '#' BETWEEN v AND 0"), "2");
  EXPECT_EQ(run("SELECT id FROM u WHERE v BETWEEN '-1' AND '2'; SELECT 'b' BETWEEN 'a' AND 'c', '10' BETWEEN "
                "9 AND '11'"),
            "1\n2 ; 1|1");
}

TEST_F(Shapes, YearsAsTexts) {
  run("CREATE TABLE u (id INT, y YEAR); INSERT INTO u VALUES (1, '0'), (2, 0), (3, '99'), (4, '2001.4')");
  EXPECT_EQ(run("SELECT id, y FROM u ORDER BY id"), "1|2000\n2|0\n3|1999\n4|2001");
  EXPECT_EQ(
      run("SELECT id FROM u WHERE y = '0'; SELECT id FROM u WHERE y = '99'; SELECT id FROM u WHERE y = 0"),
      "1 ; 3 ; 2");
  EXPECT_EQ(run("INSERT INTO u VALUES (5, '2001a')"), "ERROR 1265: Data truncated for column 'y' at row 1");
  EXPECT_EQ(run("INSERT INTO u VALUES (5, 'test')"),
            "ERROR 1366: Incorrect integer value: 'test' for column 'y' at row 1");
  EXPECT_EQ(run("INSERT IGNORE INTO u VALUES (5, '2001a'), (6, 'test'); SELECT y FROM u WHERE id > 4"),
            " ; 2001\n0");
}

TEST_F(Shapes, ADateBesideAYearIsItsYear) {
  run("CREATE TABLE u (y YEAR, k YEAR, KEY (k)); INSERT INTO u VALUES (1999, 1999), (2001, 2001)");
  for (const std::string date : {"DATE'1999-05-05'", "TIMESTAMP'1999-05-05 10:11:12'"}) {
    EXPECT_EQ(run("SELECT y FROM u WHERE y = " + date), "1999") << date;
    EXPECT_EQ(run("SELECT y FROM u WHERE k = " + date), "1999") << date;
    EXPECT_EQ(run("SELECT y FROM u WHERE k > " + date), "2001") << date;
  }
}

TEST_F(Shapes, ADefaultThatSqlModeRefusesMeanwhile) {
  run("SET sql_mode = ''; CREATE TABLE u (id INT, d DATE NOT NULL DEFAULT '0000-00-00'); SET sql_mode = "
      "DEFAULT");
  EXPECT_EQ(run("INSERT INTO u (id) VALUES (1)"),
            "ERROR 1292: Incorrect date value: '0000-00-00' for column 'd' at row 1");
  EXPECT_EQ(run("SET sql_mode = ''; INSERT INTO u (id) VALUES (1); SELECT * FROM u"), " ;  ; 1|0000-00-00");
}

TEST_F(Shapes, LengthsThatAreTooLargeStayTooLarge) {
  EXPECT_EQ(run("CREATE TABLE u (a CHAR(4294967297))").substr(0, 11), "ERROR 1074:");
  EXPECT_EQ(run("CREATE TABLE u (a DECIMAL(10,256))").substr(0, 11), "ERROR 1425:");
  EXPECT_EQ(run("CREATE TABLE u (a TIMESTAMP(4294967296))").substr(0, 11), "ERROR 1426:");
}

TEST_F(Shapes, TheDefaultOfAnotherColumnInInsert) {
  run("SET sql_mode = ''; CREATE TABLE u (a INT NOT NULL, b INT DEFAULT 5, c VARCHAR(5) DEFAULT 'x')");
  EXPECT_EQ(run("INSERT INTO u VALUES (DEFAULT(b), DEFAULT, DEFAULT(b)), (1, DEFAULT(b), DEFAULT(c)); SELECT "
                "* FROM u"),
            " ; 5|5|5\n1|5|x");
  EXPECT_EQ(run("INSERT INTO u VALUES (DEFAULT(a), 1, '')"),
            "ERROR 1364: Field 'a' doesn't have a default value");
  EXPECT_EQ(run("INSERT INTO u VALUES (DEFAULT(z), 1, '')").substr(0, 11), "ERROR 1054:");
}

TEST_F(Shapes, AnEmptyListOfColumnsIsAllOfThem) {
  run("CREATE TABLE u (a INT DEFAULT 7)");
  EXPECT_EQ(run("INSERT INTO u () VALUES (1), (2); INSERT INTO u () VALUES (); INSERT INTO u () SELECT 3; "
                "SELECT a FROM u"),
            " ;  ;  ; 1\n2\n7\n3");
  EXPECT_EQ(run("INSERT INTO u () VALUES (1, 2)").substr(0, 11), "ERROR 1136:");
}

TEST_F(Shapes, TheRowOfASubqueryIsSoughtInAnother) {
  EXPECT_EQ(
      run("SELECT (SELECT 1, 2) IN (SELECT 3, 4), (SELECT 2, 1) IN (SELECT a, b FROM t), (SELECT 3, 1) IN "
          "(SELECT a, b "
          "FROM t), (SELECT 3, NULL) IN (SELECT a, b FROM t), (SELECT 9, NULL) NOT IN (SELECT a, b FROM t)"),
      "0|0|1|NULL|1");
  EXPECT_EQ(
      run("SELECT a FROM t o WHERE (SELECT o.a, o.b) IN (SELECT MAX(a), b FROM t GROUP BY b) ORDER BY a"),
      "3\n4");
  EXPECT_EQ(run("SELECT (SELECT 1, 2) IN (SELECT 1)").substr(0, 11), "ERROR 1241:");
  EXPECT_EQ(run("SELECT 1 IN (SELECT 1, 2)").substr(0, 11), "ERROR 1241:");
}

TEST_F(Shapes, AnAliasOfTheStatementAroundIsOneValueForAnAggregate) {
  EXPECT_EQ(run("SELECT a AS x, (SELECT MAX(x)), ROW(3, 22) = (SELECT MAX(x), 22) FROM t ORDER BY a"),
            "1|1|0\n2|2|0\n3|3|1\n4|4|0");
}

TEST_F(Shapes, NegativePlacesAsManyAsADecimalHas) {
  EXPECT_EQ(run("SELECT TRUNCATE(99999999999999999999999999999999999999, -31), "
                "ROUND(15555555555555555555555555555555555555, "
                "-36), TRUNCATE(123, -50)"),
            "99999990000000000000000000000000000000|16000000000000000000000000000000000000|0");
}

TEST_F(Shapes, ASubqueryIsAnySelect) {
  EXPECT_EQ(run("SELECT a FROM t WHERE a IN ((SELECT 1) UNION (SELECT 3)) ORDER BY a"), "1\n3");
  EXPECT_EQ(run("SELECT a FROM t WHERE a IN (WITH w AS (SELECT 2 AS x) SELECT x FROM w)"), "2");
  EXPECT_EQ(run("SELECT ((SELECT a FROM t ORDER BY a LIMIT 1) UNION (SELECT 1)), ((SELECT a FROM t WHERE b = "
                "1) ORDER BY a "
                "DESC LIMIT 1), (WITH w AS (SELECT 7) SELECT * FROM w)"),
            "1|3|7");
  EXPECT_EQ(run("SELECT a FROM t WHERE a = ((SELECT 1) UNION (SELECT 3))").substr(0, 11), "ERROR 1242:");
  EXPECT_EQ(run("SELECT 1 = (1 UNION 2)").substr(0, 11), "ERROR 1064:");
}

TEST_F(Shapes, ADerivedTableHasEachColumnOnce) {
  EXPECT_EQ(run("SELECT * FROM (SELECT a, b AS A FROM t) x"), "ERROR 1060: Duplicate column name 'A'");
  EXPECT_EQ(run("SELECT 1 FROM (SELECT * FROM t x, t y) z"), "ERROR 1060: Duplicate column name 'a'");
  EXPECT_EQ(run("WITH w AS (SELECT a, a FROM t) SELECT 1 FROM w"), "ERROR 1060: Duplicate column name 'a'");
  EXPECT_EQ(run("WITH w (p, q) AS (SELECT a, a FROM t) SELECT p, q FROM w WHERE p = 1"), "1|1");
  EXPECT_EQ(run("SELECT a, a FROM t WHERE a = 1 UNION SELECT 2, 3 ORDER BY 1"), "1|1\n2|3");
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

TEST_F(Shapes, AGroupedColumnComesBeforeAnAliasInHaving) {
  EXPECT_EQ(run("SELECT a * 0 AS a FROM t GROUP BY a HAVING a > 2"), "0\n0");
  EXPECT_EQ(run("SELECT a * 0 AS x FROM t GROUP BY a HAVING x = 0 AND a > 3"), "0");
  EXPECT_EQ(run("SELECT b * 10 AS c FROM t GROUP BY c HAVING c > 10"), "20");
}

TEST_F(Shapes, MinusZeroIsZero) {
  run("CREATE TABLE z (d DOUBLE, KEY (d)); INSERT INTO z VALUES (0), (-1 * 0e0), (1)");
  EXPECT_EQ(run("SELECT COUNT(DISTINCT d), COUNT(*) FROM z"), "2|3");
  EXPECT_EQ(run("SELECT ABS(d), COUNT(*) FROM z GROUP BY d ORDER BY 1"), "0|2\n1|1");
  EXPECT_EQ(run("SELECT COUNT(*) FROM z WHERE d = 0; SELECT COUNT(*) FROM z WHERE d IN (0, 5)"), "2 ; 2");
}

TEST_F(Shapes, DigitsOfNumbersInLikeAreThoseShown) {
  EXPECT_EQ(run("SELECT 1 LIKE 1/1, 1.0000 LIKE 1/1, 0.5000 LIKE 1/2, 1/2 LIKE '0.5000', 2/3 LIKE '0.6667'"),
            "0|1|1|1|1");
}

TEST_F(Shapes, SeparatorsAreCountedFromTheEndWithoutOverlap) {
  EXPECT_EQ(
      run("SELECT SUBSTRING_INDEX('aaaaaaaaa1', 'aa', -2), SUBSTRING_INDEX('aaaaaaaaa1', 'aaa', -3), "
          "SUBSTRING_INDEX('a.b.c', '.', -1), SUBSTRING_INDEX('a.b.c', '.', -3), SUBSTRING_INDEX('.a', '.', "
          "-1), SUBSTRING_INDEX('x', 'xyz', -1), SUBSTRING_INDEX('.a', '.', -2)"),
      "aa1|aaaaaa1|c|a.b.c|a|x|.a");
}

TEST_F(Shapes, ATimeInAListIsOfTodayBesideDatesOnly) {
  EXPECT_EQ(run("SELECT TIME'10:20:30' IN (102030, TIMESTAMP'2001-01-01 10:20:32'), TIME'10:20:30' IN "
                "(TIME'10:20:30', "
                "TIMESTAMP'2001-01-01 10:20:32'), TIME'10:20:30' NOT IN (TIMESTAMP'2001-01-01 10:20:30', 1)"),
            "1|1|1");
}

TEST_F(Shapes, ZeroDatesThatMustNotBeNullAreFoundAsNull) {
  run("SET sql_mode = ''; CREATE TABLE z (id INT, d DATE NOT NULL, m DATETIME NOT NULL, n DATE);"
      "INSERT INTO z VALUES (1, 0, 0, 0), (2, '2020-01-01', '2020-01-01', NULL)");
  EXPECT_EQ(run("SELECT id FROM z WHERE d IS NULL; SELECT id FROM z WHERE m IS NULL; SELECT id FROM z WHERE "
                "n IS NULL"),
            "1 ; 1 ; 2");
  EXPECT_EQ(run("SELECT d IS NULL FROM z; SELECT id FROM z WHERE d IS NOT NULL"), "0\n0 ; 1\n2");
  EXPECT_EQ(
      run("SELECT id FROM (SELECT * FROM z) x WHERE d IS NULL; SELECT id FROM (SELECT * FROM z) x WHERE m IS "
          "NULL; SELECT id FROM (SELECT * FROM z) x WHERE n IS NULL"),
      "1 ; 1 ; 2");
  EXPECT_EQ(run("SELECT id, d IS NULL FROM (SELECT id, d FROM z) x"), "1|0\n2|0");
}

TEST_F(Shapes, HavingSeesWhatIsGroupedByAndThenTheStatementAround) {
  EXPECT_EQ(run("SELECT a, b FROM t WHERE b = (SELECT MIN(a) FROM t GROUP BY b HAVING b = a) ORDER BY a"),
            "1|1\n2|2");
  EXPECT_EQ(run("SELECT a, b FROM t o WHERE 1 = (SELECT 1 FROM t GROUP BY a HAVING b = a) ORDER BY a"),
            "1|1\n2|2\n3|1\n4|2");
  EXPECT_EQ(run("SELECT a, (SELECT COUNT(*) FROM t GROUP BY b HAVING a = b) FROM t o ORDER BY a"),
            "1|2\n2|2\n3|NULL\n4|NULL");
  EXPECT_EQ(run("SELECT 1 FROM t HAVING a > 1").substr(0, 11), "ERROR 1054:");
  EXPECT_EQ(run("SELECT (SELECT 1 FROM t GROUP BY a HAVING b = a)").substr(0, 11), "ERROR 1054:");
}

TEST_F(Shapes, TheLeastOfTextsAndNumbersIsThatOfTexts) {
  EXPECT_EQ(
      run("SELECT LEAST('11', 3), GREATEST('11', 3), LEAST(11, 3), LEAST('b', 1.50), GREATEST('1.6', 1.50), "
          "LEAST('a', NULL, 1)"),
      "11|3|3|1.50|1.6|NULL");
  EXPECT_EQ(run("SELECT a, LEAST(e, 1), GREATEST(e, 1), GREATEST(e, 'xx') FROM t ORDER BY a"),
            "1|1|y|y\n2|1|z|z\n3|1|x|xx\n4|NULL|NULL|NULL");
  EXPECT_EQ(run("SELECT GREATEST('2001-01-10', DATE'2001-01-09')"), "2001-01-10");
}

TEST_F(Shapes, TheCollationOfWhatIsNoTextIsThatOfBytesEvenOfNull) {
  EXPECT_EQ(run("SELECT COLLATION(b), CHARSET(b), COLLATION(NULL), COLLATION(1.5), COLLATION(e) FROM t WHERE "
                "a = 4; "
                "SELECT DISTINCT COLLATION(i.b), CHARSET(i.a + 1) FROM t o LEFT JOIN t i ON i.a = 9"),
            "binary|binary|binary|binary|utf8mb4_general_ci ; binary|binary");
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
