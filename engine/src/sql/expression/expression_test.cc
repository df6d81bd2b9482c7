// Expressions as a client sees them: SELECT without tables.
#include "sql/expression/operators.h"
#include "sql/testing/sql_fixture.h"

namespace commitd::sql {
namespace {

class Expressions : public testing::SqlTest {};

TEST_F(Expressions, LogicHasThreeValues) {
  EXPECT_EQ(value("NULL AND 0, NULL AND 1, NULL OR 1, NULL OR 0, NOT NULL, NULL XOR 1"),
            "0|NULL|1|NULL|NULL|NULL");
  EXPECT_EQ(value("NULL = NULL, NULL <=> NULL, 1 <=> NULL, NULL IS NULL, 0 IS NOT NULL"), "NULL|1|0|1|1");
  EXPECT_EQ(value("1 IN (2, NULL), 1 IN (1, NULL), 1 NOT IN (2, NULL), NULL IN (1)"), "NULL|1|NULL|NULL");
  EXPECT_EQ(value("NULL BETWEEN 1 AND 2, 3 BETWEEN 1 AND NULL, 0 BETWEEN 1 AND NULL"), "NULL|NULL|0");
  EXPECT_EQ(value("NULL IS TRUE, NULL IS NOT TRUE, 2 IS TRUE, 0 IS FALSE"), "0|1|1|1");
}

TEST_F(Expressions, ArithmeticIsExactWhereMySQLsIs) {
  EXPECT_EQ(value("1/3, 2/4, 10/2, 7 DIV 2, -7 DIV 2, 7 % 3, -7 % 3"), "0.3333|0.5000|5.0000|3|-3|1|-1");
  EXPECT_EQ(value("0.1 + 0.2, 1.10 * 1.10, 5.00 - 1, 1e0 + 1"), "0.3|1.2100|4.00|2");
  EXPECT_EQ(value("'3' + 4, '1.5abc' * 2, 2 + '1e2'"), "7|3|102");
  EXPECT_EQ(value("9223372036854775807 + 0, 18446744073709551615, -9223372036854775808"),
            "9223372036854775807|18446744073709551615|-9223372036854775808");
  EXPECT_EQ(value("1 / 0, 1 % 0, 1 DIV 0"), "NULL|NULL|NULL");
  EXPECT_EQ(value("5 & 3, 5 | 3, 5 ^ 3, 1 << 3, 8 >> 1, ~0"), "1|7|6|8|4|18446744073709551615");
}

TEST_F(Expressions, OverflowIsAnErrorAndNeverAWrongNumber) {
  EXPECT_EQ(value("9223372036854775807 + 1"),
            "ERROR 1690: BIGINT value is out of range in '(9223372036854775807 + 1)'");
  EXPECT_EQ(value("18446744073709551615 + 1").substr(0, 11), "ERROR 1690:");
  EXPECT_EQ(value("CAST(1 AS UNSIGNED) - 2").substr(0, 11), "ERROR 1690:");
}

TEST_F(Expressions, RoundingGoesAwayFromZero) {
  EXPECT_EQ(
      value("ROUND(2.5), ROUND(-2.5), ROUND(1.005, 2), ROUND(1234, -2), ROUND(1250, -2), TRUNCATE(1.999, 1)"),
      "3|-3|1.01|1200|1300|1.9");
  EXPECT_EQ(value("FLOOR(-1.5), CEIL(-1.5), FLOOR(1.5), CEIL(1.2), ABS(-3.5), MOD(10, 4)"),
            "-2|-1|1|2|3.5|2");
}

TEST_F(Expressions, ComparisonsFollowTheKindsOfTheirSides) {
  EXPECT_EQ(
      value("'10' = 10, '10' < '9', 10 < 9, 'abc' = 0, 1.0 = 1, 'A' = 'a', BINARY 'A' = 'a', 'a ' = 'a'"),
      "1|1|0|1|1|1|0|1");
  EXPECT_EQ(value("DATE'2026-01-02' > '2026-01-01', DATE'2026-01-02' = 20260102, (1, 2) = (1, 2), (1, 2) IN "
                  "((1, 3), (1, 2))"),
            "1|1|1|1");
  EXPECT_EQ(value("-1 < 18446744073709551615"), "1");
}

TEST_F(Expressions, LikePatterns) {
  EXPECT_EQ(value("'abc' LIKE 'A%', 'abc' LIKE '_b_', 'abc' LIKE '%d', '50%' LIKE '50\\%', '505' LIKE "
                  "'50\\%', 'a' LIKE NULL"),
            "1|1|0|1|0|NULL");
  EXPECT_TRUE(like_matches("mississippi", "%iss%ip%", U'\\', 45));
  EXPECT_FALSE(like_matches("mississippi", "%iss%iz%", U'\\', 45));
  EXPECT_TRUE(like_matches("", "%", U'\\', 45));
  EXPECT_FALSE(like_matches("", "_", U'\\', 45));
  EXPECT_TRUE(like_matches("größe", "gr__e", U'\\', 45));
}

TEST_F(Expressions, Conditionals) {
  EXPECT_EQ(
      value("IF(1 > 2, 'a', 'b'), IFNULL(NULL, 3), COALESCE(NULL, NULL, 'x'), NULLIF(1, 1), NULLIF(1, 2)"),
      "b|3|x|NULL|1");
  EXPECT_EQ(value("CASE 2 WHEN 1 THEN 'one' WHEN 2 THEN 'two' END, CASE WHEN NULL THEN 1 ELSE 2 END, CASE 1 "
                  "WHEN 2 THEN 3 END"),
            "two|2|NULL");
}

TEST_F(Expressions, StringFunctions) {
  EXPECT_EQ(value("CONCAT('a', 1, NULL), CONCAT('a', 1), CONCAT_WS('-', 'a', NULL, 'b'), LENGTH('größe'), "
                  "CHAR_LENGTH('größe')"),
            "NULL|a1|a-b|7|5");
  EXPECT_EQ(value("SUBSTRING('hello', 2, 3), SUBSTRING('hello', -3), SUBSTRING('hello' FROM 2), "
                  "LEFT('hello', 2), RIGHT('hello', 2)"),
            "ell|llo|ello|he|lo");
  EXPECT_EQ(value("UPPER('größe'), LOWER('ÄB'), REPLACE('aXbX', 'X', '--'), TRIM('  a '), LPAD('5', 3, '0'), "
                  "REPEAT('ab', 2)"),
            "GRÖßE|äb|a--b--|a|005|abab");
  EXPECT_EQ(value("HEX('az'), HEX(255), UNHEX('617A'), LOCATE('l', 'hello'), INSTR('hello', 'z'), "
                  "SUBSTRING_INDEX('a.b.c', '.', -2)"),
            "617A|FF|az|3|0|b.c");
  EXPECT_EQ(value("MD5('a'), SHA1(''), CRC32('MySQL')"),
            "0cc175b9c0f1b6a831c399e269772661|da39a3ee5e6b4b0d3255bfef95601890afd80709|3259397556");
  EXPECT_EQ(value("SHA2('abc', 256)"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_F(Expressions, Times) {
  run("SET timestamp = 1767225600, time_zone = '+00:00'");
  EXPECT_EQ(value("NOW(), CURRENT_DATE, UNIX_TIMESTAMP(), UNIX_TIMESTAMP('2026-01-01 00:00:10')"),
            "2026-01-01 00:00:00|2026-01-01|1767225600|1767225610");
  EXPECT_EQ(value("DATE_ADD('2026-01-31', INTERVAL 1 MONTH), '2026-01-01' - INTERVAL 1 DAY, "
                  "DATEDIFF('2026-03-01', '2026-02-01')"),
            "2026-02-28|2025-12-31|28");
  EXPECT_EQ(value("DATE_FORMAT('2026-01-02 03:04:05', '%Y/%m/%d %H:%i:%s %W'), YEAR('2026-05-06'), "
                  "DAYOFWEEK('2026-01-04')"),
            "2026/01/02 03:04:05 Friday|2026|1");
  run("SET time_zone = '+02:00'");
  EXPECT_EQ(value("NOW(), UNIX_TIMESTAMP('2026-01-01 02:00:00'), FROM_UNIXTIME(0)"),
            "2026-01-01 02:00:00|1767225600|1970-01-01 02:00:00");
}

TEST_F(Expressions, TimesThatAreTooLongAreTheLongestOne) {
  run("SET sql_mode = ''");
  EXPECT_EQ(value("TIME_TO_SEC('916:40:00'), TIME('-916:40:00'), HOUR('9999:00:00'), MINUTE('839:00:00'), "
                  "CAST('916:40:00' AS TIME), TIME('40 00:00:00'), TIME('9164000'), TIME('838:59:59.5'), "
                  "TIME_FORMAT('916:40:00', '%H:%i'), SECOND('1000:70:00')"),
            "3020399|-838:59:59|838|59|838:59:59|838:59:59|838:59:59|838:59:59.0|838:59|NULL");
  EXPECT_EQ(value("TIME('2011-02-32 8:46:06.5'), HOUR('2011-02-28 8:46:06.5'), TIME('2011-02-32')"),
            "NULL|8|00:20:11");
  EXPECT_EQ(run("SELECT TIME_TO_SEC('916:40:00'); SHOW WARNINGS"),
            "3020399 ; Warning|1292|Truncated incorrect time value: '916:40:00'");
  run("CREATE TABLE x (t TIME)");
  EXPECT_EQ(run("INSERT INTO x VALUES ('838:59:59.5'), ('9164000'), ('-916:00:00 a'); SELECT t FROM x"),
            " ; 838:59:59\n838:59:59\n-838:59:59");
  run("SET sql_mode = DEFAULT");
  for (const char* wrong : {"'838:59:59.5'", "TIME('916:40:00')", "CAST('916:40:00' AS TIME)"})
    EXPECT_EQ(run(std::string("INSERT INTO x VALUES (") + wrong + ")").substr(0, 11), "ERROR 1292:") << wrong;
}

TEST_F(Expressions, HalvesOfADayGoWithHoursOfTwelve) {
  EXPECT_EQ(
      value("STR_TO_DATE('2003-01-02 10:11 PM', '%Y-%m-%d %H:%i %p'), STR_TO_DATE('10:11 PM', '%h:%i %p'), "
            "STR_TO_DATE('10:11:12 PM', '%r')"),
      "NULL|22:11:00|22:11:12");
}

TEST_F(Expressions, TextsOfRealsHaveTheDigitsThatTheirTypeAnnounces) {
  EXPECT_EQ(
      value("CONCAT(PI()), LENGTH(PI()), CONCAT(ROUND(1.5e0, 3)), CONCAT(1e0 / 3), PI() LIKE '3.141593'"),
      "3.141593|8|1.500|0.3333333333333333|1");
  run("CREATE TABLE x (f FLOAT(7,3), d DOUBLE(10,4), e DOUBLE); INSERT INTO x VALUES (1.5, 1.5, 1.5)");
  EXPECT_EQ(
      run("SELECT CONCAT(f), CONCAT(d), CONCAT(e), LENGTH(f), CAST(d AS CHAR), GROUP_CONCAT(f) FROM x GROUP "
          "BY f, d, e"),
      "1.500|1.5000|1.5|5|1.5000|1.500");
}

TEST_F(Expressions, TheYear0IsNoLeapYear) {
  EXPECT_EQ(value("TO_DAYS('0000-01-01'), TO_DAYS('0000-02-28'), TO_DAYS('0000-03-01'), "
                  "WEEKDAY('0000-01-01'), DAYNAME('0000-02-28'), DAYOFYEAR('0000-03-01'), "
                  "LAST_DAY('0000-02-01'), DATE('0000-02-29'), DATEDIFF('0000-03-01', '0000-02-28')"),
            "1|59|60|6|Tuesday|60|0000-02-28|NULL|1");
  EXPECT_EQ(value("DATE_ADD('0000-01-31', INTERVAL 1 MONTH), DATE_ADD('0000-01-15', INTERVAL 1 DAY), "
                  "DATE_SUB('0001-01-01', INTERVAL 1 DAY), DATE_FORMAT('0000-01-01', '%j %W %U'), "
                  "TO_SECONDS('0000-01-01')"),
            "0000-02-28|0000-00-00|0000-00-00|001 Sunday 01|86400");
}

TEST_F(Expressions, Casts) {
  EXPECT_EQ(value("CAST('12abc' AS SIGNED), CAST(-1 AS UNSIGNED), CAST(1.5 AS SIGNED), CAST('1.456' AS "
                  "DECIMAL(5,2)), CAST(12 AS CHAR)"),
            "12|18446744073709551615|2|1.46|12");
  EXPECT_EQ(value("CAST('2026-01-02 03:04:05' AS DATE), CAST('abc' AS CHAR(2)), CONVERT('5', UNSIGNED) + 1"),
            "2026-01-02|ab|6");
}

TEST_F(Expressions, VariablesAndSession) {
  EXPECT_EQ(value("@a, @a := 5, @a + 1"), "NULL|5|6");
  run("SET @b = 'x', @c = 1 + 1");
  EXPECT_EQ(value("@b, @c, @@autocommit, @@session.sql_mode LIKE '%STRICT%', DATABASE(), USER(), VERSION()"),
            "x|2|1|1|test|root@localhost|8.4.0-commitd");
  EXPECT_EQ(value("@@nonsense"), "ERROR 1193: Unknown system variable 'nonsense'");
  EXPECT_EQ(value("nonsense(1)").substr(0, 11), "ERROR 1305:");
}

TEST_F(Expressions, GtidSets) {
  const std::string uuid = "3e11fa47-71ca-11e1-9e33-c80aa9429562";
  EXPECT_EQ(value("GTID_SUBSET('" + uuid + ":5', '" + uuid + ":1-10'), GTID_SUBTRACT('" + uuid + ":1-10', '" +
                  uuid + ":3-4')"),
            "1|" + uuid + ":1-2:5-10");
}

TEST_F(Expressions, DigitsAreThoseOfTheType) {
  EXPECT_EQ(value("COALESCE(1.5, 0.001), IF(1, 2, 0.50), -COALESCE(1.5, 0.001), GREATEST(1, 0.50)"),
            "1.500|2.00|-1.500|1.00");
  EXPECT_EQ(value("1/3, 1/3*3, CONCAT(1/3), ROUND(2.5, 2), TRUNCATE(2.567, 1), SQRT(1/9)"),
            "0.3333|1.0000|0.3333|2.50|2.5|0.3333333331666667");
  EXPECT_EQ(value("CAST(1e100 AS DECIMAL(5,2)), CAST(1/3 AS CHAR)"), "999.99|0.3333");
}

TEST_F(Expressions, DatesByFormatAndInterval) {
  EXPECT_EQ(value("STR_TO_DATE('5,3,2024 1:02 PM', '%d,%m,%Y %h:%i %p'), DATE_FORMAT('2024-12-30', '%x-%v "
                  "%X-%V %u'), WEEK('2024-01-01', 3)"),
            "2024-03-05 13:02:00|2025-01 2024-52 53|1");
  EXPECT_EQ(value("TIMESTAMP '2024-02-29 10:00:00' + INTERVAL '1 2:3:4' DAY_SECOND, DATE '2024-01-31' - "
                  "INTERVAL '1-2' YEAR_MONTH"),
            "2024-03-01 12:03:04|2022-11-30");
  // Amounts beyond every calendar.
  EXPECT_EQ(
      value("DATE '2024-01-31' + INTERVAL '9223372036854775807 2' DAY_HOUR, DATE '2024-01-31' - INTERVAL "
            "-9223372036854775808 MICROSECOND, DATE '2024-01-31' + INTERVAL '-9223372036854775807:1' "
            "YEAR_MONTH"),
      "NULL|NULL|NULL");
  EXPECT_EQ(value("DATE '2024-01-01' + INTERVAL 1 HOUR, ADDTIME('10:00:00', '0:30'), TIMEDIFF('10:00:00', "
                  "'11:00:00'), MAKEDATE(2024, 60)"),
            "2024-01-01 01:00:00|10:30:00|-01:00:00|2024-02-29");
  EXPECT_EQ(
      value("EXTRACT(DAY_MINUTE FROM '2024-02-29 10:11:12'), TO_SECONDS('2024-02-29'), SEC_TO_TIME(-3723)"),
      "291011|63876384000|-01:02:03");
}

TEST_F(Expressions, ComparisonsOfRows) {
  EXPECT_EQ(value("(1, 2) < (1, 3), (1, NULL) < (2, 0), (1, NULL) = (2, 0), (1, NULL) = (1, 0), (2, 1) >= "
                  "(2, 1), (1, NULL) <=> (1, NULL)"),
            "1|1|0|NULL|1|1");
}

TEST_F(Expressions, FieldComparesNumbersWhereThereIsOne) {
  EXPECT_EQ(value("FIELD('a', 'b', 'A'), FIELD('1.0', '1', '1.0'), FIELD('1.0', '2', 1), FIELD(1, '1x', 1)"),
            "2|2|2|1");
  EXPECT_EQ(run("SHOW WARNINGS"), "Warning|1292|Truncated incorrect DOUBLE value: '1x'");
  EXPECT_EQ(value("FIELD('1.0', NULL, '1'), FIELD(NULL, NULL), FIELD(2, 1.5, 2.0), FIELD(1, NULL, 1)"),
            "0|0|2|2");
  EXPECT_EQ(
      value("FIELD(DATE '2024-01-02', '2024-1-2', '2024-01-02'), FIELD(DATE '2024-01-02', '20240102', 3)"),
      "2|1");
}

TEST_F(Expressions, BytesAreNoLetters) {
  EXPECT_EQ(value("SOUNDEX(CAST('é' AS BINARY)), SOUNDEX('é'), HEX(REVERSE(UNHEX('C384')))"), "|é000|84C3");
  EXPECT_EQ(value("REPLACE('ABC', 'B', CAST('x' AS BINARY)) LIKE 'a%', REPLACE('ABC', 'B', 'x') LIKE 'a%'"),
            "0|1");
  EXPECT_EQ(value("HEX(LPAD('é', 3, CAST('ab' AS BINARY))), LPAD('é', 3, 'ab')"), "61C3A9|abé");
  EXPECT_EQ(value("INSTR('a b', 'ä'), INSTR('xAy', 'a')"), "0|2")
      << "a window of as many bytes, without padding";
}

TEST_F(Expressions, ReplaceByNull) {
  EXPECT_EQ(value("REPLACE('a', 'b', NULL), REPLACE(CAST('a' AS BINARY), 'b', NULL), REPLACE('a', '', NULL), "
                  "REPLACE(CAST('a' AS BINARY), 'a', NULL), REPLACE(NULL, 'a', 'b')"),
            "NULL|a|a|NULL|NULL");
  EXPECT_EQ(value("REPLACE('a' COLLATE utf8mb4_bin, 'b', NULL), REPLACE('ABC', 'x', 'x' COLLATE utf8mb4_bin) "
                  "LIKE 'a%'"),
            "a|0");
}

TEST_F(Expressions, DoublesKeepTheDigitsThatAreKnown) {
  EXPECT_EQ(value("CAST(PI() AS CHAR), CAST(PI() AS CHAR(10)), GROUP_CONCAT(ROUND(3e0, 2))"),
            "3.141593|3.141593|3.00");
  EXPECT_EQ(run("SHOW WARNINGS"), "");
}

TEST_F(Expressions, TypesOfResults) {
  testing::TextSink sink;
  run_blocking(session().query(
      "SELECT FLOOR(CAST(1 AS DECIMAL(10,3)) % CAST(2 AS DECIMAL(20,0))), -CRC32('x')", sink));
  for (const ResultColumn& column : sink.columns) EXPECT_EQ(column.type, FieldType::LongLong) << column.name;
  run_blocking(session().query(
      "SELECT ROUND(1e0, 2), SUM(PI()), AVG(PI()), IF(1, TRUNCATE(NULL, 3), PI()), AVG(1e0)", sink));
  std::vector<int> decimals;
  for (const ResultColumn& column : sink.columns) decimals.push_back(column.decimals);
  EXPECT_EQ(decimals, (std::vector<int>{2, 6, 10, 6, 31}));
}

TEST_F(Expressions, NothingIsToldOfWhatIsNotCompared) {
  EXPECT_EQ(value("(SELECT NULL) = 'x' + 0"), "NULL");
  EXPECT_EQ(run("SHOW WARNINGS"), "");
  EXPECT_EQ(value("(SELECT NULL) BETWEEN 1 / 0 AND 2 / 0"), "NULL");
  EXPECT_EQ(run("SHOW WARNINGS"), "");
  EXPECT_EQ(value("'x' BETWEEN 1 AND NULL"), "0");
  EXPECT_EQ(run("SHOW WARNINGS"), "Warning|1292|Truncated incorrect DOUBLE value: 'x'");
  EXPECT_EQ(value("NULLIF('1999-12-31', 1)"), "1999-12-31");
  EXPECT_EQ(run("SHOW WARNINGS"), "Warning|1292|Truncated incorrect DOUBLE value: '1999-12-31'");
}

TEST_F(Expressions, TextsGrowNoLongerThanAPacket) {
  const std::string longest = "REPEAT('a', 67108864)";
  EXPECT_EQ(value("LENGTH(" + longest + "), LENGTH(REPEAT('ab', 67108864)), SPACE(67108865)"),
            "67108864|NULL|NULL");
  EXPECT_EQ(run("SHOW WARNINGS"),
            "Warning|1301|Result of repeat() was larger than max_allowed_packet (67108864) - truncated\n"
            "Warning|1301|Result of space() was larger than max_allowed_packet (67108864) - truncated");
  EXPECT_EQ(value("LENGTH(REPLACE(" + longest + ", 'a', REPEAT('b', 1000000)))"), "NULL");
  EXPECT_EQ(value("LENGTH(EXPORT_SET(1, 'a', 'b', " + longest + "))"), "NULL");
  EXPECT_EQ(value("CAST('a' AS BINARY(4000000000))"), "NULL");
  EXPECT_EQ(value("LENGTH(HEX(" + longest + "))"), "NULL");
  EXPECT_EQ(value("LENGTH(UPPER(" + longest + "))"), "67108864");
  EXPECT_EQ(value("LENGTH(REVERSE(REPEAT('ä', 30000000)))"), "60000000");
}

TEST_F(Expressions, CastsToMoreDigitsThanThereAreHoldWhatThereIs) {
  EXPECT_EQ(
      value(
          "CAST(1.5 AS DECIMAL(40,6)), CAST(-12 AS DECIMAL(65,2)), CAST(-ROUND(-2e-2, 1) AS DECIMAL(40,6))"),
      "1.500000|-12.00|0.000000");
  EXPECT_EQ(run("SHOW WARNINGS"), "");
}

TEST_F(Expressions, WrittenBytesAreNumbersWhereNumbersAreWanted) {
  EXPECT_EQ(value("0x41, b'1000001', x'41' = 'A', CONCAT(b'1000001', 'x'), LENGTH(0x0041)"), "A|A|1|Ax|2");
  EXPECT_EQ(value("x'41' + 0, b'100000000001' * 2, -0x01, 0x41 DIV 2, x'41' * 1.5, ABS(x'41')"),
            "65|4098|-1|32|97.5|65");
  EXPECT_EQ(value("x'41' | 0, b'11' & 1, b'1' << 2, ~b'0', 0xff ^ b'1'"), "65|1|4|18446744073709551615|254");
  EXPECT_EQ(value("x'41' = 65, x'41' > 5, x'41' BETWEEN 60 AND 70, x'41' IN (65, 66), x'41' IN ('A')"),
            "1|1|1|1|1");
  EXPECT_EQ(value("NOT b'0', b'1' AND 1, x'41' IS TRUE, b'0' OR 0"), "1|1|1|0");
  EXPECT_EQ(value("CAST(x'41' AS UNSIGNED), CAST(x'41' AS DECIMAL(5,1)), CAST(x'41' AS CHAR)"), "65|65.0|A");
  EXPECT_EQ(value("x'ffffffffffffffff' + 0, x'01ffffffffffffffff' + 0, x'' + 0"),
            "18446744073709551615|18446744073709551615|0");
  EXPECT_EQ(run("SHOW WARNINGS"), "");
  EXPECT_EQ(value("CONCAT(x'41') + 0"), "0") << "bytes from elsewhere are a text";
}

TEST_F(Expressions, BitsAreTheirBytesWhereTextsAreWanted) {
  run("CREATE TABLE t (b BIT(12), s BIT(8)); INSERT INTO t VALUES (b'100000101', 65)");
  const auto of = [this](std::string_view expressions) {
    return run(fmt::format("SELECT {} FROM t", expressions));
  };
  EXPECT_EQ(of("LENGTH(b), CHAR_LENGTH(s), HEX(CONCAT(b, 'x')), CONCAT(s, 1)"), "2|1|010578|A1");
  EXPECT_EQ(of("s LIKE 'A', CAST(s AS CHAR)"), "1|A");
  EXPECT_EQ(of("GROUP_CONCAT(s), CONCAT(MAX(s))"), "A|A");
  EXPECT_EQ(of("HEX(b), b + 1, s = 65, LEFT('abc', s - 63), CAST(s AS SIGNED)"), "105|262|1|ab|65");
}

TEST_F(Expressions, SizesThatACastMayNotHave) {
  EXPECT_EQ(value("CAST('a' AS CHAR(4294967297))"),
            "ERROR 1439: Display width out of range for column 'cast as char' (max = 4294967295)");
  EXPECT_EQ(value("CONVERT('a', BINARY(4294967296))").substr(0, 10), "ERROR 1439");
  EXPECT_EQ(value("CAST(1 AS DECIMAL(66,0))"),
            "ERROR 1426: Too-big precision 66 specified for '1'. Maximum is 65.");
  EXPECT_EQ(value("CAST(1 AS DECIMAL(4294967306))").substr(0, 10), "ERROR 1426");
  EXPECT_EQ(value("CAST(1 AS DECIMAL(40,31))").substr(0, 10), "ERROR 1425");
  EXPECT_EQ(value("CAST(1 AS DECIMAL(3,5))").substr(0, 10), "ERROR 1427");
  EXPECT_EQ(value("CAST('10:00' AS TIME(4294967297))").substr(0, 10), "ERROR 1426");
}

TEST_F(Expressions, ATimeBesideADateIsOneOfToday) {
  run("SET timestamp = 1069840800, time_zone = '+00:00'");  // 2003-11-26 10:00:00
  run("CREATE TABLE t (d DATETIME, t TIME); INSERT INTO t VALUES ('2003-11-26 11:00:00', '11:00:00')");
  const auto of = [this](std::string_view expressions) {
    return run(fmt::format("SELECT {} FROM t", expressions));
  };
  EXPECT_EQ(of("d > TIME('-23:00:06'), d > TIME('23:00:06'), d = t, t = d, t <=> d"), "1|0|1|1|1");
  EXPECT_EQ(of("d BETWEEN TIME('10:59:59') AND t, t BETWEEN d AND d, d IN (NULL, t), t IN (d)"), "1|1|1|1");
  EXPECT_EQ(of("t > DATE '2003-11-26', t > DATE '2003-11-27', t < TIME '12:00:00'"), "1|0|1");
  EXPECT_EQ(run("SET time_zone = '+14:00'; SELECT d = t FROM t"), " ; 0");
}

TEST_F(Expressions, LongNumbersAreDatesToAddTimesTo) {
  EXPECT_EQ(value("ADDTIME(20010101000000, 10)"), "2001-01-01 00:00:10");
  EXPECT_EQ(value("SUBTIME(20010101000000.5, 1)"), "2000-12-31 23:59:59.5");
  EXPECT_EQ(value("TIMEDIFF(20010101000000, 20010101000001)"), "-00:00:01");
  EXPECT_EQ(value("ADDTIME(100000, 10)"), "10:00:10");
  EXPECT_EQ(value("ADDTIME(20010101000000, 8395959)"), "NULL");  // no TIME of MySQL's is that long
}

TEST_F(Expressions, ClocksOfGreenwich) {
  run("SET timestamp = 1069840800, time_zone = '+14:00'");
  EXPECT_EQ(value("UTC_DATE, UTC_TIME, UTC_TIMESTAMP"), "2003-11-26|10:00:00|2003-11-26 10:00:00");
  EXPECT_EQ(value("UTC_DATE(), UTC_TIME(3), CURTIME()"), "2003-11-26|10:00:00.000|00:00:00");
  EXPECT_EQ(value("UTC_TIME(7)"), "ERROR 1426: Too-big precision 7 specified for 'utc_time'. Maximum is 6.");
  EXPECT_EQ(value("NOW(12)").substr(0, 11), "ERROR 1426:");
}

TEST_F(Expressions, FormatsByTheNamesOfStandards) {
  EXPECT_EQ(value("GET_FORMAT(DATE, 'usa'), GET_FORMAT(TIME, 'EUR'), GET_FORMAT(DATETIME, 'ISO')"),
            "%m.%d.%Y|%H.%i.%s|%Y-%m-%d %H:%i:%s");
  EXPECT_EQ(value("GET_FORMAT(TIMESTAMP, 'INTERNAL'), GET_FORMAT(DATE, 'x'), GET_FORMAT(DATE, NULL)"),
            "%Y%m%d%H%i%s|NULL|NULL");
  EXPECT_EQ(value("GET_FORMAT('DATE', 'ISO')").substr(0, 11), "ERROR 1064:");
}

TEST_F(Expressions, TheLeastIntegerHasANegation) {
  EXPECT_EQ(value("-9223372036854775808, - -9223372036854775808, - - -9223372036854775808"),
            "-9223372036854775808|9223372036854775808|-9223372036854775808");
}

TEST_F(Expressions, IntervalPassesOverNulls) {
  EXPECT_EQ(
      value("INTERVAL(0.0, NULL), INTERVAL(9, 1, NULL, 9, 8), INTERVAL(3, 1, NULL, 4, 9), INTERVAL(NULL, 1)"),
      "1|4|2|-1");
}

TEST_F(Expressions, RowsMayBeCalledSo) {
  EXPECT_EQ(value("ROW(1, 2) = ROW(1, 2), ROW(1, 2) < (1, 3), ROW(1, ROW(2, 3)) = ROW(1, ROW(2, 3))"),
            "1|1|1");
  EXPECT_EQ(value("ROW(1, 2) IN (ROW(1, 2), (3, 4)), ROW(1, 1) IN (SELECT 1, 1)"), "1|1");
  EXPECT_EQ(value("ROW(1)").substr(0, 11), "ERROR 1064:");
  EXPECT_EQ(value("ROW(1, 2)"), "ERROR 1241: Operand should contain 1 column(s)");
}

}  // namespace
}  // namespace commitd::sql
