// JSON columns and functions by their answers, which are MySQL 8.4's (its manual has most of these examples).
#include "sql/testing/sql_fixture.h"

namespace commitd::sql {
namespace {

class Json : public testing::SqlTest {};

TEST_F(Json, ColumnsHoldDocumentsInNormalForm) {
  EXPECT_EQ(run("CREATE TABLE t (id INT PRIMARY KEY, j JSON, k JSON NOT NULL)"), "");
  EXPECT_EQ(run("INSERT INTO t VALUES (1, '{\"bb\":1, \"a\" : [1.0,2,\"x\"], \"a\": true}', '[]'), (2, NULL, "
                "'\"text\"')"),
            "");
  EXPECT_EQ(run("SELECT * FROM t"), "1|{\"a\": true, \"bb\": 1}|[]\n2|NULL|\"text\"");
  EXPECT_EQ(run("INSERT INTO t VALUES (3, '{\"a\": }', '1')"),
            "ERROR 3140: Invalid JSON text: \"Invalid value.\" at position 6 in value for column 't.j'.");
  EXPECT_EQ(run("INSERT INTO t VALUES (3, 5, '1')"),
            "ERROR 3140: Invalid JSON text: \"not a JSON text, may need CAST\" at position 0 in value for "
            "column 't.j'.");
  EXPECT_EQ(run("INSERT INTO t VALUES (3, x'5b5d', '1')"),
            "ERROR 3144: Cannot create a JSON value from a string with CHARACTER SET 'binary'.");
  EXPECT_EQ(run("INSERT INTO t (id, j) VALUES (3, '1')"),
            "ERROR 1364: Field 'k' doesn't have a default value");
  EXPECT_EQ(run("INSERT INTO t VALUES (3, JSON_ARRAY(1.50, CAST('2026-11-21' AS DATE)), CAST(7 AS JSON))"),
            "");
  EXPECT_EQ(run("SELECT j, k FROM t WHERE id = 3"), "[1.50, \"2026-11-21\"]|7");
  EXPECT_EQ(run("UPDATE t SET j = JSON_SET(j, '$[0]', TRUE) WHERE id = 3"), "");
  EXPECT_EQ(run("SELECT j->'$[0]', JSON_TYPE(j->'$[1]') FROM t WHERE id = 3"), "true|DATE");
}

TEST_F(Json, DefinitionsAreChecked) {
  EXPECT_EQ(run("CREATE TABLE t (j JSON DEFAULT '{}')"),
            "ERROR 1101: BLOB, TEXT, GEOMETRY or JSON column 'j' can't have a default value");
  EXPECT_EQ(
      run("CREATE TABLE t (j JSON, KEY (j))"),
      "ERROR 3152: JSON column 'j' supports indexing only via generated columns on a specified JSON path.");
  EXPECT_EQ(run("CREATE TABLE t (j JSON DEFAULT NULL)"), "");
  EXPECT_EQ(run("SHOW CREATE TABLE t").find("`j` json DEFAULT NULL") != std::string::npos, true);
  EXPECT_EQ(run("SELECT data_type, column_type, character_set_name, character_maximum_length FROM "
                "information_schema.columns WHERE table_name = 't'"),
            "json|json|NULL|NULL");
}

TEST_F(Json, ResultColumnsAreAnnouncedAsMySqlDoes) {
  run("CREATE TABLE t (j JSON)");
  for (const auto* query : {"SELECT j FROM t", "SELECT JSON_ARRAY(1)", "SELECT j->'$.a' FROM t"}) {
    run(query);
    EXPECT_EQ(last().columns[0].type, FieldType::Json) << query;
    EXPECT_EQ(last().columns[0].collation, 63) << query;
    EXPECT_EQ(last().columns[0].length, UINT32_MAX) << query;
  }
}

TEST_F(Json, ScalarsKeepTheirKinds) {
  EXPECT_EQ(value("JSON_ARRAY(1, 'abc', NULL, TRUE, 1 = 2, 1.5, 1e0, CAST(3 AS UNSIGNED))"),
            "[1, \"abc\", null, true, false, 1.5, 1.0, 3]");
  EXPECT_EQ(value("JSON_TYPE('1'), JSON_TYPE('-1.5'), JSON_TYPE('18446744073709551615'), JSON_TYPE(NULL), "
                  "JSON_TYPE('null')"),
            "INTEGER|DOUBLE|UNSIGNED INTEGER|NULL|NULL");
  EXPECT_EQ(value("JSON_TYPE(CAST(1.5 AS JSON)), JSON_TYPE(CAST(CAST('12:00:01' AS TIME) AS JSON)), "
                  "JSON_TYPE(JSON_ARRAY())"),
            "DECIMAL|TIME|ARRAY");
  EXPECT_EQ(value("CAST(TIMESTAMP'2015-01-15 23:24:25' AS JSON)"), "\"2015-01-15 23:24:25.000000\"");
  EXPECT_EQ(value("JSON_ARRAY(x'00ff')"), "[\"base64:type253:AP8=\"]");
  EXPECT_EQ(value("CAST('[1' AS JSON)"),
            "ERROR 3141: Invalid JSON text in argument 1 to function cast_as_json: \"Missing a comma or ']' "
            "after an "
            "array element.\" at position 2.");
}

TEST_F(Json, Objects) {
  EXPECT_EQ(value("JSON_OBJECT('id', 87, 'name', 'carrot', 'id', 3)"), "{\"id\": 3, \"name\": \"carrot\"}");
  EXPECT_EQ(value("JSON_OBJECT()"), "{}");
  EXPECT_EQ(value("JSON_OBJECT(NULL, 1)"), "ERROR 3158: JSON documents may not contain NULL member names.");
  EXPECT_EQ(value("JSON_OBJECT('a')"),
            "ERROR 1582: Incorrect parameter count in the call to native function 'JSON_OBJECT'");
}

TEST_F(Json, Extracting) {
  EXPECT_EQ(value("JSON_EXTRACT('[10, 20, [30, 40]]', '$[1]')"), "20");
  EXPECT_EQ(value("JSON_EXTRACT('[10, 20, [30, 40]]', '$[1]', '$[0]')"), "[20, 10]");
  EXPECT_EQ(value("JSON_EXTRACT('[10, 20, [30, 40]]', '$[2][*]')"), "[30, 40]");
  EXPECT_EQ(value("JSON_EXTRACT('{\"a\": {\"b\": 1}, \"c\": {\"b\": 2}}', '$**.b')"), "[1, 2]");
  EXPECT_EQ(value("JSON_EXTRACT('[1, 2, 3, 4, 5]', '$[1 to last-1]')"), "[2, 3, 4]");
  EXPECT_EQ(value("JSON_EXTRACT('{}', '$.a'), JSON_EXTRACT(NULL, '$'), JSON_EXTRACT('{}', NULL)"),
            "NULL|NULL|NULL");
  EXPECT_EQ(value("JSON_EXTRACT('{}', 'a')"),
            "ERROR 3143: Invalid JSON path expression. The error is around character position 1.");
  EXPECT_EQ(
      value("JSON_EXTRACT('{', '$')"),
      "ERROR 3141: Invalid JSON text in argument 1 to function json_extract: \"Missing a name for object "
      "member.\" at position 1.");
  EXPECT_EQ(value("JSON_EXTRACT(1, '$')"),
            "ERROR 3146: Invalid data type for JSON data in argument 1 to function json_extract; a JSON "
            "string or JSON "
            "type is required.");
  run("CREATE TABLE t (c JSON)");
  run("INSERT INTO t VALUES ('{\"id\": \"3\", \"name\": \"Barney\"}'), ('{\"id\": 4, \"name\": \"Betty\"}')");
  EXPECT_EQ(run("SELECT c->'$.name', c->>'$.name', t.c->>'$.id' FROM t WHERE c->'$.id' = 4"),
            "\"Betty\"|Betty|4");
  EXPECT_EQ(run("SELECT c->>'$.name' FROM t WHERE c->'$.name' = 'Barney'"), "Barney");
  EXPECT_EQ(run("SELECT c->>'$.id' FROM t ORDER BY c->'$.name' DESC"), "4\n3");
}

TEST_F(Json, Quoting) {
  EXPECT_EQ(value("JSON_QUOTE('null'), JSON_QUOTE('\"null\"'), JSON_QUOTE('[1]')"),
            "\"null\"|\"\\\"null\\\"\"|\"[1]\"");
  EXPECT_EQ(value("JSON_UNQUOTE('\"abc\"'), JSON_UNQUOTE('[1, 2]'), JSON_UNQUOTE('\"\\\\t\\\\u0032\"'), "
                  "JSON_UNQUOTE('abc')"),
            "abc|[1, 2]|\t2|abc");
  EXPECT_EQ(value("JSON_VALID('{\"a\": 1}'), JSON_VALID('hello'), JSON_VALID('\"hello\"'), JSON_VALID(1), "
                  "JSON_VALID(NULL)"),
            "1|0|1|0|NULL");
}

TEST_F(Json, Changing) {
  const std::string document = "'{ \"a\": 1, \"b\": [2, 3]}'";
  EXPECT_EQ(value("JSON_SET(" + document + ", '$.a', 10, '$.c', '[true, false]')"),
            "{\"a\": 10, \"b\": [2, 3], \"c\": \"[true, false]\"}");
  EXPECT_EQ(value("JSON_INSERT(" + document + ", '$.a', 10, '$.c', CAST('[true, false]' AS JSON))"),
            "{\"a\": 1, \"b\": [2, 3], \"c\": [true, false]}");
  EXPECT_EQ(value("JSON_REPLACE(" + document + ", '$.a', 10, '$.c', 3)"), "{\"a\": 10, \"b\": [2, 3]}");
  EXPECT_EQ(value("JSON_SET('[1]', '$[0]', 'x', '$[5]', 2, '$[9]', NULL)"), "[\"x\", 2, null]");
  EXPECT_EQ(value("JSON_SET('1', '$[1]', 2), JSON_SET('1', '$[0]', 2), JSON_SET('{}', '$.a.b', 1)"),
            "[1, 2]|2|{}");
  EXPECT_EQ(value("JSON_REMOVE('[\"a\", [\"b\", \"c\"], \"d\"]', '$[1]', '$[1]')"), "[\"a\"]");
  EXPECT_EQ(value("JSON_REMOVE('{}', '$')"),
            "ERROR 3153: The path expression '$' is not allowed in this context.");
  EXPECT_EQ(value("JSON_SET('{}', '$.*', 1)"),
            "ERROR 3149: In this situation, path expressions may not contain the * and ** tokens or an array "
            "range.");
  EXPECT_EQ(value("JSON_ARRAY_APPEND('[\"a\", [\"b\", \"c\"], \"d\"]', '$[1]', 1, '$[0]', 2)"),
            "[[\"a\", 2], [\"b\", \"c\", 1], \"d\"]");
  EXPECT_EQ(value("JSON_ARRAY_INSERT('[\"a\", {\"b\": [1, 2]}, [3, 4]]', '$[1]', 'x', '$[100]', 'y')"),
            "[\"a\", \"x\", {\"b\": [1, 2]}, [3, 4], \"y\"]");
  EXPECT_EQ(value("JSON_ARRAY_INSERT('[]', '$.a', 1)"),
            "ERROR 3165: A path expression is not a path to a cell in an array.");
  EXPECT_EQ(value("JSON_SET(NULL, '$.a', 1), JSON_SET('{}', NULL, 1), JSON_REMOVE('{}', NULL)"),
            "NULL|NULL|NULL");
}

TEST_F(Json, Merging) {
  EXPECT_EQ(value("JSON_MERGE_PRESERVE('[1, 2]', '[true, false]')"), "[1, 2, true, false]");
  EXPECT_EQ(value("JSON_MERGE_PRESERVE('{\"a\": 1, \"b\": 2}', '{\"a\": 3, \"c\": 4}', '{\"a\": 5}')"),
            "{\"a\": [1, 3, 5], \"b\": 2, \"c\": 4}");
  EXPECT_EQ(value("JSON_MERGE_PRESERVE('1', 'true')"), "[1, true]");
  EXPECT_EQ(value("JSON_MERGE_PATCH('{\"a\": 1, \"b\": 2}', '{\"a\": 3, \"c\": {\"d\": 1, \"e\": null}, "
                  "\"b\": null}')"),
            "{\"a\": 3, \"c\": {\"d\": 1}}");
  EXPECT_EQ(
      value(
          "JSON_MERGE_PATCH('[1, 2]', 'true'), JSON_MERGE_PATCH(NULL, '[1]'), JSON_MERGE_PATCH('[1]', NULL)"),
      "true|[1]|NULL");
}

TEST_F(Json, Looking) {
  const std::string document = "'{\"a\": 1, \"b\": 2, \"c\": {\"d\": 4}}'";
  EXPECT_EQ(value("JSON_CONTAINS(" + document + ", '1', '$.a'), JSON_CONTAINS(" + document +
                  ", '1', '$.b'), JSON_CONTAINS(" + document + ", '{\"d\": 4}', '$.c'), JSON_CONTAINS(" +
                  document + ", '1', '$.x')"),
            "1|0|1|NULL");
  EXPECT_EQ(
      value("JSON_CONTAINS('[1, [2, 3], {\"a\": 1}]', '[1, {\"a\": 1}]'), JSON_CONTAINS('[1, 2]', '[1, 3]'), "
            "JSON_CONTAINS('[1]', '1.0')"),
      "1|0|1");
  EXPECT_EQ(value("JSON_CONTAINS_PATH(" + document + ", 'one', '$.a', '$.e'), JSON_CONTAINS_PATH(" +
                  document + ", 'all', '$.a', '$.e')"),
            "1|0");
  EXPECT_EQ(value("JSON_CONTAINS_PATH('{}', 'some', '$.a')"),
            "ERROR 3154: The oneOrAll argument to json_contains_path may take these values: 'one' or 'all'.");
  EXPECT_EQ(value("JSON_KEYS(" + document + "), JSON_KEYS(" + document + ", '$.c'), JSON_KEYS('[]')"),
            "[\"a\", \"b\", \"c\"]|[\"d\"]|NULL");
  EXPECT_EQ(
      value("JSON_LENGTH('[1, 2, {\"a\": 3}]'), JSON_LENGTH(" + document + ", '$.c'), JSON_LENGTH('5')"),
      "3|1|1");
  EXPECT_EQ(value("JSON_DEPTH('{}'), JSON_DEPTH('[10, {\"a\": 20}]')"), "1|3");
  EXPECT_EQ(value("JSON_OVERLAPS('[1,3,5]', '[2,5]'), JSON_OVERLAPS('{\"a\":1}', '{\"a\":2}'), "
                  "JSON_OVERLAPS('[4]', '4')"),
            "1|0|1");
  EXPECT_EQ(
      value("17 MEMBER OF('[23, \"abc\", 17]'), 'ab' MEMBER OF('[\"abc\"]'), TRUE MEMBER ('[1, true]')"),
      "1|0|1");
  EXPECT_EQ(value("JSON_PRETTY('{\"a\": [1]}')"), "{\n  \"a\": [\n    1\n  ]\n}");
  EXPECT_EQ(value("JSON_STORAGE_SIZE('[1]')"), "8");
}

TEST_F(Json, Searching) {
  const std::string document = R"('["abc", [{"k": "10"}, "def"], {"x":"abc"}, {"y":"bcd"}]')";
  EXPECT_EQ(value("JSON_SEARCH(" + document + ", 'one', 'abc')"), "\"$[0]\"");
  EXPECT_EQ(value("JSON_SEARCH(" + document + ", 'all', 'abc')"), "[\"$[0]\", \"$[2].x\"]");
  EXPECT_EQ(value("JSON_SEARCH(" + document + ", 'all', '%b%', NULL, '$[3]')"), "\"$[3].y\"");
  EXPECT_EQ(value("JSON_SEARCH(" + document + ", 'all', '10', '', '$**.k')"), "\"$[1][0].k\"");
  EXPECT_EQ(value("JSON_SEARCH(" + document + ", 'all', 'ghi'), JSON_SEARCH(" + document + ", 'all', 'ABC')"),
            "NULL|NULL");
}

TEST_F(Json, ComparisonsAreByKindThenValue) {
  EXPECT_EQ(value("CAST('1' AS JSON) = 1, CAST('1' AS JSON) = '1', CAST('true' AS JSON) = TRUE, CAST('1' AS "
                  "JSON) = TRUE"),
            "1|0|1|0");
  EXPECT_EQ(
      value(
          "CAST('[1]' AS JSON) > CAST('{}' AS JSON), CAST('2' AS JSON) < 10.5, CAST('\"b\"' AS JSON) > 'a'"),
      "1|1|1");
  EXPECT_EQ(value("CAST('\"a\"' AS JSON) IN ('x', 'a'), CAST('5' AS JSON) BETWEEN 1 AND 9"), "1|1");
  run("CREATE TABLE t (id INT PRIMARY KEY, j JSON)");
  run("INSERT INTO t VALUES (1, '2'), (2, '\"a\"'), (3, 'null'), (4, '2.0'), (5, '[1]'), (6, 'false'), (7, "
      "NULL), (8, '10')");
  EXPECT_EQ(run("SELECT id FROM t ORDER BY j, id"), "7\n3\n1\n4\n8\n2\n5\n6");
  EXPECT_EQ(run("SELECT COUNT(*), COUNT(DISTINCT j) FROM t"), "8|6");
  EXPECT_EQ(run("SELECT j, COUNT(*) c FROM t GROUP BY j HAVING c > 1"), "2|2");
  EXPECT_EQ(run("SELECT MAX(j), MIN(j) FROM t"), "false|null");
  EXPECT_EQ(run("SELECT id FROM t WHERE id = (SELECT j FROM t WHERE id = 1)"), "2");
}

TEST_F(Json, OtherTypesFromDocuments) {
  EXPECT_EQ(value("JSON_EXTRACT('{\"a\": 5}', '$.a') + 1, CAST(CAST('\"7\"' AS JSON) AS SIGNED), "
                  "CONCAT(CAST('\"a\"' AS JSON), 'b')"),
            "6|7|\"a\"b");
  EXPECT_EQ(value("CAST(CAST('1.25' AS JSON) AS DECIMAL(5,1)), LENGTH(CAST('[1,2]' AS JSON)), "
                  "COALESCE(CAST('[1]' AS JSON), 'x')"),
            "1.3|6|[1]");
  run("CREATE TABLE t (i INT, v VARCHAR(20), d DOUBLE)");
  EXPECT_EQ(run("INSERT INTO t VALUES (CAST('5' AS JSON), CAST('\"x\"' AS JSON), CAST('2.5' AS JSON))"), "");
  EXPECT_EQ(run("SELECT * FROM t"), "5|\"x\"|2.5");
  EXPECT_EQ(run("SET @v = JSON_ARRAY(1); SELECT @v, JSON_TYPE(@v)"), " ; [1]|ARRAY");
}

TEST_F(Json, Aggregates) {
  run("CREATE TABLE t (o_id INT, attribute VARCHAR(20), value VARCHAR(20))");
  run("INSERT INTO t VALUES (2, 'color', 'red'), (2, 'fabric', 'silk'), (3, 'color', NULL)");
  EXPECT_EQ(run("SELECT o_id, JSON_ARRAYAGG(attribute) FROM t GROUP BY o_id"),
            "2|[\"color\", \"fabric\"]\n3|[\"color\"]");
  EXPECT_EQ(run("SELECT o_id, JSON_OBJECTAGG(attribute, value) FROM t GROUP BY o_id"),
            "2|{\"color\": \"red\", \"fabric\": \"silk\"}\n3|{\"color\": null}");
  EXPECT_EQ(run("SELECT JSON_ARRAYAGG(o_id) FROM t WHERE o_id > 9"), "NULL");
  EXPECT_EQ(run("SELECT JSON_OBJECTAGG(value, 1) FROM t"),
            "ERROR 3158: JSON documents may not contain NULL member names.");
}

TEST_F(Json, SurvivesAlterTable) {
  run("CREATE TABLE t (id INT PRIMARY KEY, x TEXT)");
  run("INSERT INTO t VALUES (1, '{\"b\":1}'), (2, NULL)");
  EXPECT_EQ(run("ALTER TABLE t MODIFY x JSON"), "");
  EXPECT_EQ(run("ALTER TABLE t ADD COLUMN added JSON"), "");
  EXPECT_EQ(run("SELECT * FROM t"), "1|{\"b\": 1}|NULL\n2|NULL|NULL");
  EXPECT_EQ(run("ALTER TABLE t MODIFY x TEXT"), "");
  EXPECT_EQ(run("SELECT x FROM t WHERE id = 1"), "{\"b\": 1}");
}

// MEMBER is no reserved word.
TEST_F(Json, MemberIsAnAliasToo) {
  EXPECT_EQ(value("1 member, 2 AS member"), "1|2");
}

}  // namespace
}  // namespace commitd::sql
