#include "sql/expression/regular_expression.h"

#include "sql/testing/sql_fixture.h"

namespace commitd::sql {
namespace {

class RegularExpressions : public testing::SqlTest {};

TEST_F(RegularExpressions, AreIcus) {
  EXPECT_EQ(
      value(
          R"('abc' REGEXP '^a\\w+\\b', 'a1' REGEXP '^\\p{L}\\d$', 'ab' REGEXP 'a(?=c)', 'aa' RLIKE '(a)\\1')"),
      "1|1|0|1");
  EXPECT_EQ(value("'a\nb' REGEXP '^b', REGEXP_LIKE('a\nb', '^b', 'm'), REGEXP_LIKE('a\nb', 'a.b'), "
                  "REGEXP_LIKE('a\nb', 'a.b', 'n'), REGEXP_LIKE('a\rb', 'a.b', 'u')"),
            "0|1|0|1|1");
  EXPECT_EQ(value("NULL REGEXP 'a', 'a' REGEXP NULL, 'a' NOT REGEXP 'b', 12 REGEXP '^1'"), "NULL|NULL|1|1");
}

TEST_F(RegularExpressions, CaseIsTheCollations) {
  EXPECT_EQ(value("'ÄB' REGEXP 'äb$', 'ÄB' COLLATE utf8mb4_bin REGEXP 'äb$', REGEXP_LIKE('AB', 'b', 'c'), "
                  "REGEXP_LIKE('AB' COLLATE utf8mb4_bin, 'b', 'i'), REGEXP_LIKE('AB', 'b', 'ci')"),
            "1|0|0|1|1");
  EXPECT_EQ(value("x'FF00' REGEXP x'FF', HEX(REGEXP_SUBSTR(x'00FF80', x'FF2E')), BINARY 'A' REGEXP 'a'"),
            "1|FF80|0");
}

TEST_F(RegularExpressions, PositionsAreCharacters) {
  EXPECT_EQ(value("REGEXP_INSTR('😀ab😀ab', 'a'), REGEXP_INSTR('😀ab😀ab', 'a', 3), REGEXP_INSTR('😀ab😀ab', 'a', "
                  "1, 2, 1), "
                  "REGEXP_INSTR('abc', 'x')"),
            "2|5|6|0");
  EXPECT_EQ(value("REGEXP_SUBSTR('abc def ghi', '[a-z]+', 1, 3), REGEXP_SUBSTR('abc', 'x'), "
                  "REGEXP_SUBSTR('ab', '', 3)")
                .substr(0, 10),
            "ERROR 3685");
  EXPECT_EQ(value("REGEXP_SUBSTR('abc def ghi', '[a-z]+', 1, 3), REGEXP_SUBSTR('abc', 'x'), "
                  "REGEXP_SUBSTR('ab', '$', 3)"),
            "ghi|NULL|");
  for (const char* beyond : {"REGEXP_INSTR('abc', 'b', 5)", "REGEXP_INSTR('abc', 'b', 0)",
                             "REGEXP_SUBSTR('abc', 'b', -1)", "REGEXP_REPLACE('abc', 'b', 'x', 5)"})
    EXPECT_EQ(value(beyond), "ERROR 3686: Index out of bounds in regular expression search.") << beyond;
}

TEST_F(RegularExpressions, ReplacementsNameGroups) {
  EXPECT_EQ(value("REGEXP_REPLACE('a b c', 'b', 'X'), REGEXP_REPLACE('abc def ghi', '[a-z]+', 'X', 1, 3), "
                  "REGEXP_REPLACE('aaa', 'a', 'b', 2), REGEXP_REPLACE('aaa', 'x', 'b')"),
            "a X c|abc def X|abb|aaa");
  EXPECT_EQ(
      value(
          R"(REGEXP_REPLACE('John Smith', '(\\w+) (\\w+)', '$2, $1'), REGEXP_REPLACE('ab', '(?<one>a)', '${one}$10'))"),
      "Smith, John|aa0b");
  EXPECT_EQ(value(R"(REGEXP_REPLACE('ab', 'a', '\\$1\\\\'))"), R"($1\b)");
}

TEST_F(RegularExpressions, BadOnesSayWhatMySqlSays) {
  EXPECT_EQ(value("'a' REGEXP 'a)'"), "ERROR 3691: Mismatched parenthesis in regular expression.");
  EXPECT_EQ(value("'a' REGEXP '[a'"),
            "ERROR 3696: The regular expression contains an unclosed bracket expression.");
  EXPECT_EQ(value("'a' REGEXP 'a**'"),
            "ERROR 3688: Syntax error in regular expression on line 1, character 3.");
  EXPECT_EQ(value("'a' REGEXP ''"), "ERROR 3685: Illegal argument to a regular expression.");
  EXPECT_EQ(value("'a' REGEXP 'a{3,1}'"),
            "ERROR 3693: The maximum is less than the minumum in a {min,max} interval.");
  EXPECT_EQ(value("'a' REGEXP '[b-a]'"),
            "ERROR 3697: The regular expression contains an [x-y] character range where x comes after y.");
  EXPECT_EQ(value("REGEXP_LIKE('a', 'a', 'x')"), "ERROR 1210: Incorrect arguments to regexp_like");
  EXPECT_EQ(value("REGEXP_REPLACE('a', 'a', '$1')"),
            "ERROR 3686: Index out of bounds in regular expression search.");
}

TEST_F(RegularExpressions, AreBounded) {
  EXPECT_EQ(value("REPEAT('a', 40) REGEXP '^(a+)+$b'").substr(0, 10), "ERROR 3699");
  EXPECT_EQ(value("'a' REGEXP REPEAT('(', 5000)").substr(0, 10), "ERROR 3687");
  EXPECT_EQ(value("'a' REGEXP REPEAT('a', 100000)").substr(0, 10), "ERROR 3700");
  run("SET GLOBAL regexp_time_limit = 0");
  EXPECT_EQ(value("REPEAT('a', 1000000) REGEXP '^(a|b)*c$'").substr(0, 10), "ERROR 3698");
  run("SET GLOBAL regexp_time_limit = 100000, regexp_stack_limit = 0");
  EXPECT_EQ(value("REPEAT('a', 100000) REGEXP '^(a|b)*c$'"), "0");
  run("SET GLOBAL regexp_time_limit = DEFAULT, regexp_stack_limit = DEFAULT");
}

TEST_F(RegularExpressions, BytesThatAreNoCharactersStay) {
  EXPECT_EQ(value("HEX(REGEXP_REPLACE('a\xFF"
                  "b', 'b', 'c'))"),
            "61FF63");
}

}  // namespace
}  // namespace commitd::sql
