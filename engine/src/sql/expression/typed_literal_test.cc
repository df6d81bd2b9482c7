#include "sql/testing/sql_fixture.h"

namespace commitd::sql {
namespace {

class TypedValues : public testing::SqlTest {};

TEST_F(TypedValues, ALiteralThatIsNoDateIsAMistake) {
  for (const char* literal :
       {"DATE'2020-02-30'", "DATE'abc'", "DATE'2020-00-01'", "DATE'0000-00-00'", "TIME'25:61:00'",
        "TIMESTAMP'2020-01-01 25:00:00'", "DATE'2020-01-01 00:00:00'", "DATE'20200101000000'"})
    EXPECT_EQ(value(literal).substr(0, 10), "ERROR 1525") << literal;
  EXPECT_EQ(value("DATE'20200101', TIME'10:11', TIMESTAMP'2020-01-01'"),
            "2020-01-01|10:11:00|2020-01-01 00:00:00");
  run("SET sql_mode = ''");
  EXPECT_EQ(value("DATE'0000-00-00', DATE'2020-00-01'"), "0000-00-00|2020-00-01");
}

TEST_F(TypedValues, ClocksInTextsAndNumbers) {
  EXPECT_EQ(value("HOUR('10:11:12'), MINUTE('10:11:12'), SECOND('10:11:12'), MICROSECOND('10:11:12.5')"),
            "10|11|12|500000");
  EXPECT_EQ(value("HOUR(101112), SECOND(101112.5), HOUR('272:59:59'), HOUR('-10:11:12'), HOUR('2020-01-01 "
                  "10:11:12'), HOUR(20200101101112)"),
            "10|12|272|10|10|10");
  EXPECT_EQ(value("EXTRACT(HOUR FROM '10:11:12'), EXTRACT(MINUTE_SECOND FROM '10:11:12'), EXTRACT(HOUR FROM "
                  "'-10:11:12'), EXTRACT(DAY_MINUTE FROM '2019-07-02 01:02:03')"),
            "10|1112|-10|20102");
  EXPECT_EQ(value("TIME('10:11:12abc'), TIME_TO_SEC('10:11:12'), TIME('garbage'), HOUR('99:99:99')"),
            "10:11:12|36672|NULL|NULL");
}

TEST_F(TypedValues, ATimeIsOneOfTodayWhereADateIsWanted) {
  const std::string time = "TIME'10:11:12'", date = "CURRENT_DATE";
  for (const std::string function : {"TO_DAYS", "DAYOFYEAR", "WEEK", "YEARWEEK", "WEEKDAY", "YEAR", "DAYNAME",
                                     "LAST_DAY", "DATE", "QUARTER"})
    EXPECT_EQ(value(function + "(" + time + ") = " + function + "(" + date + ")"), "1") << function;
  EXPECT_EQ(
      value("TIMESTAMPDIFF(SECOND, CURRENT_DATE, TIME'10:11:12'), DATEDIFF(TIME'10:11:12', CURRENT_DATE), "
            "TIMESTAMP(TIME'10:11:12') = CAST(TIME'10:11:12' AS DATETIME), "
            "TIME(CONVERT_TZ(TIME'10:11:12', '+00:00', '+01:00'))"),
      "36672|0|1|11:11:12");
}

TEST_F(TypedValues, ATextIsTheDateThatItBeginsWithWhereADateIsWanted) {
  const std::string text = "'2001-02-03T10:11:12.5Z'";
  EXPECT_EQ(value("TIMESTAMP(" + text + "), DATE(" + text + "), YEAR(" + text + "), LAST_DAY(" + text +
                  "), DATE_FORMAT(" + text + ", '%H:%i'), CAST(" + text + " AS DATE), CAST(" + text +
                  " AS DATETIME(1)), DATEDIFF(" + text + ", '2001-02-01 and more')"),
            "2001-02-03 10:11:12.5|2001-02-03|2001|2001-02-28|10:11|2001-02-03|2001-02-03 10:11:12.5|2");
  EXPECT_EQ(run("SELECT YEAR('2001-02-03x'), YEAR('x'); SHOW WARNINGS"),
            "2001|NULL ; Warning|1292|Truncated incorrect datetime value: '2001-02-03x'\n"
            "Warning|1292|Incorrect datetime value: 'x'");
  EXPECT_EQ(value("DATE('2001-02-30'), DATE('2001-02-30x'), DATE(''), CAST('x' AS DATE)"),
            "NULL|NULL|NULL|NULL");
  run("CREATE TABLE d (v VARCHAR(40), d DATE); INSERT INTO d (v) VALUES ('2001-02-03 10:11:12')");
  EXPECT_EQ(run("SELECT DATE(v), YEAR(v) FROM d"), "2001-02-03|2001");
  EXPECT_EQ(run("UPDATE d SET d = DATE(CONCAT(v, 'x'))").substr(0, 10), "ERROR 1292") << "it is strict";
  EXPECT_EQ(run("UPDATE d SET d = DATE(v)"), "");
}

TEST_F(TypedValues, DatesThatAreNotKnownInFull) {
  run("SET sql_mode = ''; CREATE TABLE d (d DATE); INSERT INTO d VALUES ('0000-00-00'), ('2001-00-05')");
  EXPECT_EQ(run("SELECT YEAR(d), MONTH(d), DAY(d), QUARTER(d) FROM d"), "0|0|0|0\n2001|0|5|0");
  for (const std::string function :
       {"TO_DAYS(d)", "LAST_DAY(d)", "DAYNAME(d)", "WEEKDAY(d)", "DAYOFYEAR(d)", "DAYOFWEEK(d)", "WEEK(d)",
        "YEARWEEK(d)", "MONTHNAME(d)", "DATEDIFF(d, '2001-01-01')", "TIMESTAMPDIFF(DAY, d, '2001-01-01')",
        "TO_SECONDS(d)", "d + INTERVAL 1 DAY"})
    EXPECT_EQ(run("SELECT " + function + " FROM d"), "NULL\nNULL") << function;
  EXPECT_EQ(value("MONTH('2001-00-05'), DAY('2001-01-00'), DATE('2001-00-05'), CAST('2001-00-05' AS DATE), "
                  "TO_DAYS('2001-00-05'), DATEDIFF('0000-00-00', '2001-01-01')"),
            "0|0|2001-00-05|2001-00-05|NULL|NULL");
  run("SET sql_mode = DEFAULT");
  EXPECT_EQ(value("MONTH('2001-00-05'), CAST('2001-00-05' AS DATE), CAST('0000-00-00' AS DATE)"),
            "0|NULL|NULL");
}

TEST_F(TypedValues, WhatATextDoesNotReachOfAFormatIsZero) {
  EXPECT_EQ(value("STR_TO_DATE('04:05', '%H:%i:%s'), STR_TO_DATE('2001-02-03', '%Y-%m-%d %H:%i:%s'), "
                  "STR_TO_DATE('2001-02-03 10', '%Y-%m-%d %H:%i:%s'), STR_TO_DATE('10', '%H:%i')"),
            "04:05:00|2001-02-03 00:00:00|2001-02-03 10:00:00|10:00:00");
  EXPECT_EQ(value("STR_TO_DATE('10x', '%H:%i'), STR_TO_DATE('2001', '%Y-%m-%d')"), "NULL|NULL");
}

TEST_F(TypedValues, AYearOfTwoDigitsLacksItsCenturyForStrToDate) {
  EXPECT_EQ(
      value("STR_TO_DATE('1-2-3', '%Y-%m-%d'), STR_TO_DATE('70-2-3', '%Y-%m-%d'), STR_TO_DATE('123-2-3', "
            "'%Y-%m-%d'), STR_TO_DATE('0-2-3', '%y-%m-%d')"),
      "2001-02-03|1970-02-03|0123-02-03|2000-02-03");
}

TEST_F(TypedValues, ANumberOfTwoDigitsBesideAYearIsAYear) {
  run("CREATE TABLE y (y YEAR, KEY (y)); INSERT INTO y VALUES (0), (1999), (2010)");
  EXPECT_EQ(run("SELECT y FROM y WHERE y = 10"), "2010");
  EXPECT_EQ(run("SELECT y FROM y WHERE y IN (10, 99)"), "1999\n2010");
  EXPECT_EQ(run("SELECT y FROM y WHERE y BETWEEN 98 AND 9"), "1999");
  EXPECT_EQ(run("SELECT y FROM y WHERE 0 = y"), "0");
  EXPECT_EQ(run("SELECT y + 0 = 10 FROM y WHERE y < 99"), "0");
}

TEST_F(TypedValues, CastsOfTimesAndNumbers) {
  EXPECT_EQ(value("CAST(TIME'10:11:12' AS DATE) = CURRENT_DATE, TIME(CAST(TIME'10:11:12' AS DATETIME)), "
                  "CAST(TIME'10:11:12' AS SIGNED), CAST(TIME'10:11:12' AS YEAR) = YEAR(CURRENT_DATE)"),
            "1|10:11:12|101112|1");
  EXPECT_EQ(value("CAST(20200102 AS DATE), CAST(200102 AS DATE), CAST(20200102030405 AS DATETIME), CAST(101 "
                  "AS DATE), CAST(20201301 AS DATE)"),
            "2020-01-02|2020-01-02|2020-01-02 03:04:05|2000-01-01|NULL");
  EXPECT_EQ(value("CAST(CAST('2020-01-02 03:04:05.678901' AS DATETIME(6)) AS DECIMAL(30,6)), "
                  "CAST('2020-01-02 03:04:05.678901' AS DATETIME(6)) + 0"),
            "20200102030405.678901|20200102030405.678901");
  EXPECT_EQ(value("CAST(1e30 AS SIGNED), CAST(-1e30 AS SIGNED), CAST(99999999999999999999 AS SIGNED), "
                  "CAST('18446744073709551615' AS SIGNED), CAST(18446744073709551615 AS SIGNED)"),
            "9223372036854775807|-9223372036854775808|9223372036854775807|-1|-1");
}

TEST_F(TypedValues, QuotientsKeepTheirDigits) {
  EXPECT_EQ(value("123456789012345678901234567890 / 7, 1 / 3.0000000000000000000000000001"),
            "17636684144620811271604938270.0000|0.3333");
  EXPECT_EQ(value("99999999999999999999999999999999999999 / 0.000000000000000000000000000001").substr(0, 10),
            "ERROR 1690");
}

TEST_F(TypedValues, BytesAreNumbersWhereNumbersAreWanted) {
  EXPECT_EQ(value("CAST(0x41 AS SIGNED), CASE 0x41 WHEN 65 THEN 'n' ELSE 's' END, SUM(0x41), AVG(0x41), "
                  "CHAR(0x41), SUBSTRING('abc', 0x02), LEFT('abc', 0x02), REPEAT('a', 0x03)"),
            "65|n|65|65.0000|A|bc|ab|aaa");
}

TEST_F(TypedValues, NumbersAsCountriesWriteThem) {
  EXPECT_EQ(value("FORMAT(1234567.891, 2, 'de_DE'), FORMAT(1234567.891, 2, 'fr_FR'), FORMAT(12345678.9, 1, "
                  "'en_IN'), FORMAT(12345.6, 0, 'de_CH'), FORMAT(-1234, 0)"),
            "1.234.567,89|1234567,89|1,23,45,678.9|12'346|-1,234");
  EXPECT_EQ(run("SELECT FORMAT(1234.5, 1, 'xx_XX'); SHOW WARNINGS"),
            "1,234.5 ; Warning|1649|Unknown locale: 'xx_XX'");
}

TEST_F(TypedValues, SeededRandomNumbersAreThoseOfMysql) {
  EXPECT_EQ(value("RAND(1), RAND(3), RAND(NULL) = RAND(0)"), "0.40540353712197724|0.9057697559760601|1");
  run("CREATE TABLE t (a INT); INSERT INTO t VALUES (1), (1)");
  EXPECT_EQ(run("SELECT RAND(1) FROM t"), "0.40540353712197724\n0.8716141803857071");
  EXPECT_EQ(run("SELECT RAND(a) FROM t"), "0.40540353712197724\n0.40540353712197724");
}

TEST_F(TypedValues, SpreadsThatNoDoubleHolds) {
  EXPECT_EQ(run("SELECT STDDEV(x) FROM (SELECT 1e308 x UNION ALL SELECT -1e308) t").substr(0, 10),
            "ERROR 1690");
}

TEST_F(TypedValues, WhatIsStoredOfTextsAndReals) {
  run("CREATE TABLE t (u BIGINT UNSIGNED, i BIGINT, f FLOAT(7,3), d DOUBLE(10,2))");
  EXPECT_EQ(run("INSERT INTO t VALUES ('18446744073709551615', '-9223372036854775808', 1.23456, '2.345'), "
                "('9223372036854775808.4', '2.5', 0, 1)"),
            "");
  EXPECT_EQ(run("SELECT * FROM t"),
            "18446744073709551615|-9223372036854775808|1.235|2.35\n9223372036854775808|3|0|1");
  EXPECT_EQ(last().columns[2].decimals, 3) << "which are shown to clients";
  for (const char* values : {"'18446744073709551616', 0, 0, 0", "0, '9223372036854775808', 0, 0",
                             "0, '-9223372036854775809', 0, 0", "0, 0, 12345.6, 0", "'1e20', 0, 0, 0"})
    EXPECT_EQ(run(std::string("INSERT INTO t VALUES (") + values + ")").substr(0, 10), "ERROR 1264")
        << values;
}

}  // namespace
}  // namespace commitd::sql
