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
  EXPECT_EQ(value("HOUR('2001-00-00 10:00:00'), MINUTE('2001-01-00 10:11:12'), TIME('2001-00-00 10:11:12'), "
                  "HOUR('10:00:00.000000'), EXTRACT(HOUR FROM '0000-00-00 10:11:12')"),
            "10|11|10:11:12|10|10");
}

TEST_F(TypedValues, PartsOfADateThatAreNotKnownAreZero) {
  EXPECT_EQ(
      value("EXTRACT(MONTH FROM '2001-00-05'), EXTRACT(DAY FROM '2001-02-00'), EXTRACT(YEAR_MONTH FROM "
            "'2001-00-00'), EXTRACT(QUARTER FROM '0000-00-00'), EXTRACT(DAY FROM '2001-02-03 and more')"),
      "0|0|200100|0|3");
  EXPECT_EQ(value("EXTRACT(DAY FROM TIME'10:11:12') = DAY(CURRENT_DATE), EXTRACT(MONTH FROM 'x'), "
                  "EXTRACT(YEAR FROM 20010203), EXTRACT(MONTH FROM 0)"),
            "1|NULL|2001|0");
}

TEST_F(TypedValues, TimesAreAddedToTimesAndDates) {
  EXPECT_EQ(
      value("ADDTIME('1997-12-31 23:59:59.999999', '1998-01-01 01:01:01.999999'), SUBTIME('02:01:01.999999', "
            "'01:01:01.999999'), ADDTIME('-01:01:01.01', '-23:59:59.1'), TIMEDIFF('2000:01:01 00:00:00', "
            "'2000:01:01 00:00:00.000001'), ADDTIME('10:00', '1 01:00:00')"),
      "NULL|01:00:00|-25:01:00.110000|-00:00:00.000001|35:00:00");
  EXPECT_EQ(value("HOUR('10:11:12.123456'), TIME('10:11:12.123456'), HOUR('2001:02:03 10:11:12')"),
            "10|10:11:12.123456|10");
}

TEST_F(TypedValues, FormatsOfDatesAndTimes) {
  EXPECT_EQ(
      value(
          "STR_TO_DATE('2001-01-15 2:59:58.999', CONCAT('%Y-%m-%d', ' %H:%i:%s.%f')), STR_TO_DATE('2 "
          "10:11:12', "
          "'%d %H:%i:%s'), STR_TO_DATE('31', '%d'), STR_TO_DATE('2003-....01ABCD-02 7', '%Y-%.%m%@-%d %#')"),
      "2001-01-15 02:59:58.999000|58:11:12|NULL|2003-01-02");
}

TEST_F(TypedValues, NumbersOfDatesWithAFraction) {
  EXPECT_EQ(
      value("CAST(CAST(20010203101112.5 AS DOUBLE) AS DATETIME(1)), CAST(010203101112.121314 AS DATETIME), "
            "TIMESTAMP(10203101112.25), CAST(20010203101112.9999999 AS DATETIME(6)), DATE(20010203.9)"),
      "2001-02-03 10:11:12.5|2001-02-03 10:11:12|2001-02-03 10:11:12.25|2001-02-03 10:11:13.000000|"
      "2001-02-03");
}

TEST_F(TypedValues, CastsTakeNoLengthThatTheyWouldNotMind) {
  for (const char* target : {"DOUBLE(5,2)", "DOUBLE(5)", "FLOAT(5,2)", "SIGNED(5)", "DATE(3)", "YEAR(4)"})
    EXPECT_EQ(value(std::string("CAST(1 AS ") + target + ")").substr(0, 10), "ERROR 1064") << target;
  EXPECT_EQ(value("CAST(0.5 AS FLOAT(24)), CAST(0.1 AS FLOAT(25)) = CAST('0.1' AS DOUBLE)"), "0.5|1");
  EXPECT_EQ(value("CAST(1 AS FLOAT(54))").substr(0, 10), "ERROR 1426");
}

TEST_F(TypedValues, GroupsThatAreCutAreTold) {
  run("CREATE TABLE long_group (v VARCHAR(10)); INSERT INTO long_group VALUES ('abc'), ('def'); SET "
      "group_concat_max_len = 5");
  EXPECT_EQ(run("SELECT GROUP_CONCAT(v) FROM long_group; SHOW WARNINGS"),
            "abc,d ; Warning|1260|Row 2 was cut by GROUP_CONCAT()");
  EXPECT_EQ(run("INSERT INTO long_group SELECT GROUP_CONCAT(v) FROM long_group").substr(0, 10), "ERROR 1260");
}

TEST_F(TypedValues, NumbersThatAreTooSmallOrTooLarge) {
  EXPECT_EQ(value("'1e-400' + 0, '-1e-400' + 1, '1e-310' + 0 > 0, '1e400' > 1e300"), "0|1|1|1");
  run("CREATE TABLE small (i INT, d DOUBLE)");
  EXPECT_EQ(run("INSERT INTO small VALUES ('1e-400', '1e-400'); SELECT * FROM small"), " ; 0|0");
  EXPECT_EQ(value("DEGREES(1e307)").substr(0, 10), "ERROR 1690");
  EXPECT_EQ(value("HEX(-29223372036854775809), HEX(29223372036854775809), HEX(-1)"),
            "FFFFFFFFFFFFFFFF|FFFFFFFFFFFFFFFF|FFFFFFFFFFFFFFFF");
}

TEST_F(TypedValues, ATimeAmongDatesIsOneOfToday) {
  const std::string today = "TIMESTAMP(CURRENT_DATE, '10:11:12')";
  for (const std::string result :
       {"IF(1, TIME'10:11:12', DATE'2001-01-01')", "IFNULL(TIME'10:11:12', DATE'2001-01-01')",
        "COALESCE(TIME'10:11:12', TIMESTAMP'2001-01-01 00:00:00')",
        "CASE WHEN 1 THEN TIME'10:11:12' ELSE DATE'2001-01-01' END"})
    EXPECT_EQ(value("CAST(" + result + " AS CHAR) = CAST(" + today + " AS CHAR)"), "1") << result;
}

TEST_F(TypedValues, IntervalsOfManyUnits) {
  EXPECT_EQ(value("'1900-01-01 00:00:00' + INTERVAL 1<<31 MINUTE, '1900-01-01 00:00:00' + INTERVAL "
                  "'1:2147483647' MINUTE_SECOND, '1900-01-01 00:00:00' + INTERVAL '100000000:214748364700' "
                  "MINUTE_SECOND, DATE'2000-01-01' + INTERVAL 20000000 MINUTE"),
            "5983-01-24 02:08:00|1968-01-20 03:15:07|8895-03-27 22:11:40|2038-01-09 21:20:00");
  EXPECT_EQ(
      run("SELECT '1900-01-01' + INTERVAL 1<<33 MINUTE, DATE'2000-01-01' - INTERVAL 9223372036854775807 "
          "HOUR, DATE'2000-01-01' + INTERVAL 9223372036854775807 YEAR, TIME'10:02:03' + INTERVAL 840 HOUR; "
          "SHOW COUNT(*) WARNINGS"),
      "NULL|NULL|NULL|NULL ; 4");
  EXPECT_EQ(value("MAKETIME(-1e50, 0, 0), TIME'10:02:03' - INTERVAL 11 HOUR"), "-838:59:59|-00:57:57");
}

TEST_F(TypedValues, TheNumberZeroIsTheZeroDate) {
  EXPECT_EQ(
      value("TIMESTAMP(0), DATE(0.000), DATE(0e0), YEAR(0), MONTH(0), TO_DAYS(0), LAST_DAY(0), DATE(1)"),
      "0000-00-00 00:00:00|0000-00-00|0000-00-00|0|0|NULL|NULL|NULL");
  EXPECT_EQ(value("DATE(20010203), TIMESTAMP(20010203040506.5), DAYNAME(20010203)"),
            "2001-02-03|2001-02-03 04:05:06.5|Saturday");
  EXPECT_EQ(run("SELECT DATE(13); SHOW WARNINGS"), "NULL ; Warning|1292|Incorrect datetime value: '13'");
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

TEST_F(TypedValues, YearsAndBitsAmongTextsAreTexts) {
  run("CREATE TABLE y (y YEAR, b BIT(8)); INSERT INTO y VALUES (0, b'1000001')");
  EXPECT_EQ(run("SELECT COALESCE(y, 'x'), IFNULL(y, 'x'), IF(1, y, 'x'), CASE WHEN 0 THEN 'x' ELSE y END, "
                "CASE y WHEN 0 THEN y ELSE 'x' END FROM y"),
            "0000|0000|0000|0000|0000");
  EXPECT_EQ(run("SELECT COALESCE(b, 'x'), IF(1, b, 'x'), CASE WHEN 1 THEN b ELSE 'x' END FROM y"), "A|A|A");
  EXPECT_EQ(run("SELECT COALESCE(y, 1), COALESCE(b, 1) + 1, IF(1, y, 2) FROM y"), "0|66|0");
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
