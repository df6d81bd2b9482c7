#include "sql/testing/sql_fixture.h"

namespace commitd::sql {
namespace {

class CharacterSets : public testing::SqlTest {};

TEST_F(CharacterSets, ConvertConverts) {
  EXPECT_EQ(value("HEX(CONVERT('é' USING latin1)), LENGTH(CONVERT('é€' USING latin1)), CONVERT('a日' USING "
                  "latin1), CONVERT('é' USING ascii)"),
            "E9|2|a?|?");
  EXPECT_EQ(value("CONVERT('a😀' USING utf8mb3), CHARSET(CONVERT('a' USING latin1)), COLLATION(CONVERT('a' "
                  "USING latin1))"),
            "a?|latin1|latin1_swedish_ci");
  EXPECT_EQ(value("HEX(CAST('é' AS CHAR CHARACTER SET latin1)), CHARSET(CAST('é' AS CHAR(1) CHARACTER SET "
                  "latin1)), HEX(CAST('é' AS CHAR))"),
            "E9|latin1|C3A9");
  EXPECT_EQ(value("CONVERT(0xE9 USING latin1), HEX(CONVERT(0xE9 USING latin1)), CONVERT(0xE9 USING utf8mb4)"),
            "é|E9|NULL");
  EXPECT_EQ(run("SHOW WARNINGS"), "Warning|1300|Invalid utf8mb4 character string: 'E9'");
  EXPECT_EQ(value("CONVERT('a' USING koi8r)"), "ERROR 1115: Unknown character set: 'koi8r'");
}

TEST_F(CharacterSets, Introducers) {
  EXPECT_EQ(value("_utf8mb4 0x41, CHARSET(_utf8mb4 0x41), _utf8mb4 X'C3A9' = 'é', _utf8mb4 b'1000001', "
                  "_latin1 0xE9, HEX(_latin1 0xE9), CHARSET(_binary 'a')"),
            "A|utf8mb4|1|A|é|E9|binary");
  EXPECT_EQ(value("_utf8mb4 0xE9"), "ERROR 1300: Invalid utf8mb4 character string: 'E9'");
  EXPECT_EQ(value("_koi8r 'a'"), "ERROR 1115: Unknown character set: 'koi8r'");
}

TEST_F(CharacterSets, ColumnsShowTheBytesOfTheirSet) {
  run("CREATE TABLE t (a VARCHAR(5) CHARACTER SET latin1, b VARCHAR(5)); INSERT INTO t VALUES ('é€', 'é€')");
  EXPECT_EQ(run("SELECT a, LENGTH(a), CHAR_LENGTH(a), HEX(a), a = b, MD5(a) = MD5(0xE980), HEX(CAST(a AS "
                "BINARY)), LENGTH(b), CHARSET(a) FROM t"),
            "é€|2|2|E980|1|1|E980|5|latin1");
}

TEST_F(CharacterSets, WhatAColumnsSetDoesNotHaveIsNotLostInSilence) {
  run("CREATE TABLE t (a VARCHAR(5) CHARACTER SET latin1, b VARCHAR(5) CHARACTER SET ascii)");
  EXPECT_EQ(run("INSERT INTO t (a) VALUES ('a日')").substr(0, 10), "ERROR 1366");
  EXPECT_EQ(run("INSERT INTO t (b) VALUES ('é')").substr(0, 10), "ERROR 1366");
  run("SET sql_mode = ''");
  EXPECT_EQ(run("INSERT INTO t VALUES ('a日', 'é'); SHOW COUNT(*) WARNINGS; SELECT * FROM t"), " ; 2 ; a?|?");
}

}  // namespace
}  // namespace commitd::sql
