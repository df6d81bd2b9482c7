#include "sql/parser/parser.h"
#include "sql/ast/administration.h"
#include "sql/ast/definitions.h"
#include "sql/ast/select.h"

#include <map>

#include <gtest/gtest.h>

namespace commitd::sql {
namespace {

struct Parsed {
  std::unique_ptr<Arena> arena = std::make_unique<Arena>();
  std::unique_ptr<std::string> text;
  const ast::Statement* statement = nullptr;
  std::string rest, error;
};

Parsed parse(std::string sql, LexerOptions options = {}) {
  Parsed result;
  result.text = std::make_unique<std::string>(std::move(sql));
  auto parsed = parse_statement(*result.text, *result.arena, options);
  if (parsed.ok()) {
    result.statement = parsed->statement;
    result.rest = std::string(parsed->rest);
  } else {
    result.error = std::to_string(parsed.error().code) + ": " + parsed.error().message;
  }
  return result;
}

template <class T>
const T& as(const Parsed& parsed) {
  return static_cast<const T&>(*parsed.statement);
}

// Fully parenthesised, so that precedence shows.
std::string shape(const ast::Expr& e) {
  using ast::ExprKind;
  using ast::Op;
  if (e.kind == ExprKind::Binary) {
    static const std::map<Op, const char*> kSigns = {
        {Op::Or, "or"},   {Op::And, "and"},  {Op::Xor, "xor"},    {Op::Equal, "="},
        {Op::Less, "<"},  {Op::Add, "+"},    {Op::Multiply, "*"}, {Op::Subtract, "-"},
        {Op::BitOr, "|"}, {Op::BitXor, "^"}, {Op::Divide, "/"},   {Op::Concat, "||"}};
    return "(" + shape(*e.arguments[0]) + kSigns.at(e.op) + shape(*e.arguments[1]) + ")";
  }
  if (e.kind == ExprKind::Unary)
    return (e.op == Op::Not ? "not" : "-") + ("(" + shape(*e.arguments[0]) + ")");
  if (e.kind == ExprKind::Between)
    return "between(" + shape(*e.arguments[0]) + "," + shape(*e.arguments[1]) + "," + shape(*e.arguments[2]) +
           ")";
  return std::string(e.text);
}

std::string shape_of(const std::string& expression, LexerOptions options = {}) {
  const Parsed parsed = parse("SELECT " + expression, options);
  return parsed.statement == nullptr ? parsed.error
                                     : shape(*as<ast::SelectStatement>(parsed).items[0].expression);
}

TEST(Parser, OperatorsBindAsInMySQL) {
  EXPECT_EQ(shape_of("a or b and c"), "(aor(bandc))");
  EXPECT_EQ(shape_of("not a = b"), "not((a=b))");
  EXPECT_EQ(shape_of("a + b * c - d"), "((a+(b*c))-d)");
  EXPECT_EQ(shape_of("a | b ^ c * d"), "(a|((b^c)*d))");
  EXPECT_EQ(shape_of("a between 1 and 2 and b"), "(between(a,1,2)andb)");
  EXPECT_EQ(shape_of("a xor b or c"), "((axorb)orc)");
  EXPECT_EQ(shape_of("-a * b"), "(-(a)*b)");
}

TEST(Parser, PipesBindMoreTightlyAsConcatThanAsOr) {
  EXPECT_EQ(shape_of("a || b = c and d"), "(aor((b=c)andd))");
  const auto concat = [](const std::string& expression) {
    return shape_of(expression, {.pipes_as_concat = true});
  };
  EXPECT_EQ(concat("a || b || c"), "((a||b)||c)");
  EXPECT_EQ(concat("a || b = c"), "((a||b)=c)");
  EXPECT_EQ(concat("a + b || c * d"), "(a+((b||c)*d))");
  EXPECT_EQ(concat("a ^ b || c"), "(a^(b||c))");
  EXPECT_EQ(concat("a || not b").substr(0, 5), "1064:");
  EXPECT_EQ(concat("-a || -b"), "(-(a)||-(b))");
  EXPECT_EQ(concat("not a || b"), "not((a||b))");
  EXPECT_EQ(concat("a or b || c"), "(aor(b||c))");
}

TEST(Parser, NotBindsAsTightlyAsTheModeSays) {
  const auto high = [](const std::string& expression) {
    return shape_of(expression, {.high_not_precedence = true});
  };
  EXPECT_EQ(high("not a = b"), "(not(a)=b)");
  EXPECT_EQ(high("not a between 1 and 2"), "between(not(a),1,2)");
  EXPECT_EQ(high("a * not b"), "(a*not(b))");
  EXPECT_EQ(high("not not a"), "not(not(a))");
  EXPECT_EQ(shape_of("a * not b").substr(0, 5), "1064:");
  for (const char* infix : {"a is not null", "a not in (1)", "a not like b", "a not between 1 and 2"})
    EXPECT_EQ(parse("SELECT " + std::string(infix), {.high_not_precedence = true}).error, "") << infix;
}

TEST(Parser, WhatIsAboutTheWholeStatementStandsInItsFirstSelect) {
  for (const std::string word : {"SQL_CALC_FOUND_ROWS", "HIGH_PRIORITY", "SQL_BUFFER_RESULT"}) {
    const std::string inner = "SELECT " + word + " 1";
    for (const std::string& allowed :
         {inner, "(" + inner + ") UNION SELECT 2", "WITH x AS (SELECT 1) " + inner, "INSERT INTO t " + inner,
          "INSERT INTO t (" + inner + ")"})
      EXPECT_EQ(parse(allowed).error, "") << allowed;
    for (const std::string& refused :
         {"SELECT (" + inner + ")", "SELECT 1 UNION " + inner, "SELECT 1 FROM (" + inner + ") x",
          "WITH x AS (" + inner + ") SELECT 1", "SELECT 1 IN (" + inner + ")", "DO (" + inner + ")",
          "UPDATE t SET a = (" + inner + ")", "INSERT INTO t VALUES ((" + inner + "))"})
      EXPECT_EQ(parse(refused).error, "1234: Incorrect usage/placement of '" + word + "'") << refused;
  }
  EXPECT_EQ(parse("SELECT (SELECT SQL_NO_CACHE SQL_SMALL_RESULT STRAIGHT_JOIN DISTINCT 1)").error, "");
  EXPECT_EQ(parse("SELECT ALL DISTINCT 1").error, "1221: Incorrect usage of ALL and DISTINCT");
}

TEST(Parser, OdbcsEscapes) {
  const Parsed parsed = parse("SELECT {d '2020-01-02'}, { ts '2020-01-02 03:04:05.5' }, {fn NOW()}, {d 5}");
  const auto& items = as<ast::SelectStatement>(parsed).items;
  EXPECT_EQ(items[0].expression->cast, ast::CastType::Date);
  EXPECT_EQ(items[1].expression->cast, ast::CastType::DateTime);
  EXPECT_EQ(items[1].expression->cast_decimals, 1);
  EXPECT_EQ(items[2].expression->text, "NOW");
  EXPECT_EQ(items[3].expression->kind, ast::ExprKind::Integer);
  const Parsed join = parse("SELECT * FROM {oj a LEFT OUTER JOIN b ON a.x = b.x}, c");
  EXPECT_EQ(as<ast::SelectStatement>(join).from.size(), 2u);
  for (const char* wrong : {"SELECT {d '2020-01-02'", "SELECT {'x'}", "SELECT {}", "SELECT * FROM {x a}"})
    EXPECT_EQ(parse(wrong).error.substr(0, 5), "1064:") << wrong;
  EXPECT_EQ(parse("SELECT " + std::string(100000, '{')).error.substr(0, 5), "1064:");
}

TEST(Parser, StringsLoseTheirEscapes) {
  const Parsed parsed = parse(R"(SELECT 'it''s', 'a\nb', "q", 'x' 'y', '50\%')");
  const auto& items = as<ast::SelectStatement>(parsed).items;
  EXPECT_EQ(items[0].expression->text, "it's");
  EXPECT_EQ(items[1].expression->text, "a\nb");
  EXPECT_EQ(items[2].expression->text, "q");
  EXPECT_EQ(items[3].expression->text, "xy");
  EXPECT_EQ(items[4].expression->text, "50\\%");
}

TEST(Parser, ModesChangeWhatQuotesMean) {
  const Parsed ansi = parse(R"(SELECT "a")", {.ansi_quotes = true});
  EXPECT_EQ(as<ast::SelectStatement>(ansi).items[0].expression->kind, ast::ExprKind::Column);
  const Parsed plain = parse(R"(SELECT 'a\')", {.no_backslash_escapes = true});
  EXPECT_EQ(as<ast::SelectStatement>(plain).items[0].expression->text, "a\\");
}

TEST(Parser, StatementsOfATextComeOneByOne) {
  const Parsed first = parse("SELECT 1; SELECT 2 -- end");
  EXPECT_EQ(first.statement->text, "SELECT 1");
  const Parsed second = parse(first.rest);
  EXPECT_EQ(second.statement->text, "SELECT 2");
  EXPECT_EQ(second.rest, "");
  EXPECT_EQ(parse("SELECT 1;  /* nothing */ ").rest, "");
}

TEST(Parser, ATerminatingNulIsNotPartOfTheStatement) {
  EXPECT_EQ(parse(std::string("SELECT 1\0", 9)).error, "");
  EXPECT_NE(parse(std::string("SELECT\0 1", 9)).error, "");
}

TEST(Parser, VersionCommentsCountUpToOurVersion) {
  const Parsed old = parse("CREATE TABLE t (a INT) /*!50100 ENGINE=InnoDB */");
  EXPECT_EQ(as<ast::CreateTableStatement>(old).options.engine, "InnoDB");
  const Parsed future = parse("CREATE TABLE t (a INT) /*!99999 ENGINE=Nonsense */");
  EXPECT_EQ(as<ast::CreateTableStatement>(future).options.engine, "");
}

TEST(Parser, CommentsHaveAnEnd) {
  for (const char* open : {"SELECT 1 /* no end", "SELECT 1 /*!99999 + 1", "/* nothing", "SELECT 1 /*/"})
    EXPECT_EQ(parse(open).error.substr(0, 5), "1064:") << open;
  for (const char* closed : {"SELECT 1 /**/", "SELECT 1 /*! + 1 */", "/* nothing */", "SELECT 1 /***/ -- /*"})
    EXPECT_EQ(parse(closed).error, "") << closed;
}

// It is what is logged, and what a restart parses again.
TEST(Parser, AStatementsTextIsTheStatement) {
  for (const char* sql :
       {"CREATE TABLE t (a INT) /*! ENGINE = innodb */", "CREATE TABLE t (a INT) /*!50100 ENGINE=InnoDB */ ;",
        "DROP TABLE /*! IF EXISTS */ t /* all of it */", "SELECT 1 /*! + 1 */ -- and so on"}) {
    const std::string text(parse(sql).statement->text);
    const Parsed again = parse(text);
    EXPECT_EQ(again.error, "") << text;
    EXPECT_EQ(again.statement->text, text);
  }
}

TEST(Parser, IndexHints) {
  for (const char* hint : {"USE INDEX (PRIMARY)", "IGNORE KEY FOR ORDER BY (a, b)", "USE INDEX ()",
                           "FORCE INDEX (`x y`) IGNORE INDEX (b)"})
    EXPECT_EQ(parse("SELECT * FROM t " + std::string(hint) + " WHERE a = 1").error, "") << hint;
  for (const char* wrong : {"USE INDEX (a", "USE INDEX (", "USE INDEX (1)", "USE INDEX (a b)", "FORCE INDEX"})
    EXPECT_EQ(parse("SELECT * FROM t " + std::string(wrong)).error.substr(0, 5), "1064:") << wrong;
}

// A text may end anywhere: nobody waits there for a word that never comes.
TEST(Parser, EveryBeginningOfAStatementHasAnEnd) {
  for (const std::string statement :
       {"SELECT DISTINCT a.b, COUNT(*) c FROM d.t AS a USE INDEX (x, PRIMARY) LEFT JOIN (u, {oj v}) USING "
        "(b) WHERE "
        "a IN (1, 2) AND b LIKE 'x' ESCAPE '!' GROUP BY a HAVING c > 1 ORDER BY 1 DESC LIMIT 1, 2 FOR UPDATE",
        "WITH w (a) AS (SELECT 1 UNION ALL SELECT CASE a WHEN 1 THEN {d '2020-01-01'} ELSE @x := 2 END) "
        "SELECT * FROM w",
        "INSERT IGNORE INTO t (a, b) VALUES (1, DEFAULT), ROW(2, -x'00') AS n ON DUPLICATE KEY UPDATE a = "
        "VALUES(a)",
        "CREATE TABLE IF NOT EXISTS t (a INT UNSIGNED NOT NULL DEFAULT 1 COMMENT 'c', b ENUM('x', 'y') "
        "CHARACTER SET "
        "latin1, c DECIMAL(5,2) CHECK (c > 1) NOT ENFORCED, UNIQUE KEY k USING BTREE (a DESC, b(2))) "
        "ENGINE=ROCKS",
        "ALTER TABLE t ADD COLUMN (a INT, b TEXT), DROP PRIMARY KEY, MODIFY a BIGINT FIRST, "
        "ALGORITHM=INPLACE",
        "GRANT SELECT, INSERT ON d.* TO 'u'@'h' WITH GRANT OPTION",
        "CREATE USER u IDENTIFIED BY 'p' ACCOUNT LOCK",
        "LOAD DATA LOCAL INFILE 'f' INTO TABLE t FIELDS TERMINATED BY ',' LINES STARTING BY 'x' IGNORE 1 "
        "LINES (a, @b)",
        "CHANGE REPLICATION SOURCE TO SOURCE_HOST = 'h', SOURCE_PORT = 1",
        "LOCK TABLES t AS x READ LOCAL, u WRITE",
        "SET @a = 1, SESSION sql_mode = 'x', GLOBAL TRANSACTION ISOLATION LEVEL READ COMMITTED",
        "CREATE DEFINER = 'u'@'h' TRIGGER t",
        "EXPLAIN FORMAT=TRADITIONAL DELETE FROM t USING t, u WHERE t.a = u.a",
        "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY", "KILL QUERY 1",
        "SHOW FULL COLUMNS FROM t IN d LIKE 'x'"}) {
    for (size_t length = 0; length < statement.size(); ++length) (void)parse(statement.substr(0, length));
  }
}

TEST(Parser, ErrorsNameTheirPlace) {
  EXPECT_EQ(parse("SELECT 1\nFROM t WHERE WHERE").error,
            "1064: You have an error in your SQL syntax; check the manual that corresponds to your MySQL "
            "server version for the right "
            "syntax to use near 'WHERE' at line 2");
  EXPECT_EQ(parse("SELECT 'open").error.substr(0, 5), "1064:");
  EXPECT_EQ(parse("SELECT a FROM t WHERE MATCH (a) AGAINST ('b')").error.substr(0, 5), "1235:");
}

std::string repeated(const std::string& text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

TEST(Parser, DeepNestingIsAnErrorAndNotACrash) {
  EXPECT_EQ(parse("SELECT " + std::string(100000, '(') + "1" + std::string(100000, ')')).error.substr(0, 5),
            "1436:");
  EXPECT_EQ(parse("SELECT " + std::string(100000, '-') + "1").error.substr(0, 5), "1436:");
  EXPECT_EQ(parse("SELECT " + std::string(100000, '~') + "1").error.substr(0, 5), "1436:");
  EXPECT_EQ(parse(std::string(100000, '(')).error.substr(0, 5), "1436:");
  EXPECT_EQ(parse("SELECT " + repeated("BINARY ", 50000) + "1").error.substr(0, 5), "1436:");
  EXPECT_EQ(parse("SELECT * FROM " + repeated("(SELECT * FROM ", 50000)).error.substr(0, 5), "1436:");
  EXPECT_EQ(parse("SELECT " + std::string(100000, '+') + "1").error, "");
}

// Chains are parsed in a loop, but whoever walks the tree afterwards recurses.
TEST(Parser, ALongChainOfOperatorsIsAnErrorAndNotACrash) {
  for (const std::string link : {"+1", " XOR 1", "=1", " IS NULL", " COLLATE utf8mb4_bin"}) {
    EXPECT_EQ(parse("SELECT 1" + repeated(link, 100000)).error.substr(0, 5), "1436:") << link;
    EXPECT_EQ(parse("SELECT 1" + repeated(link, 1000)).error, "") << link;
  }
  for (const std::string link : {" AND 1", " OR 1"})
    EXPECT_EQ(parse("SELECT 1" + repeated(link, 100000)).error, "") << link;
  // Neither parentheses nor functions nor subqueries make a chain short.
  std::string in_parentheses = "1", in_functions = "1", in_subqueries = "1";
  for (int i = 0; i < 20; ++i) {
    in_parentheses = "(" + in_parentheses + repeated("+1", 200) + ")";
    in_functions = "ABS(" + in_functions + repeated("+1", 200) + ")";
    in_subqueries = "(SELECT " + in_subqueries + repeated("+1", 200) + ")";
  }
  for (const std::string& chain : {in_parentheses, in_functions, in_subqueries})
    EXPECT_EQ(parse("SELECT " + chain).error.substr(0, 5), "1436:") << chain.substr(0, 20);
}

TEST(Parser, ReservedWordsNeedQuotesAsNames) {
  EXPECT_FALSE(parse("SELECT select FROM t").error.empty());
  EXPECT_TRUE(parse("SELECT `select` FROM `from`").error.empty());
  EXPECT_TRUE(parse("SELECT status, value, t.key FROM t").error.empty());
}

TEST(Parser, MysqlslapsTable) {
  const Parsed parsed = parse("CREATE TABLE `t1` (intcol1 INT(32) ,charcol1 VARCHAR(128))");
  const auto& create = as<ast::CreateTableStatement>(parsed);
  ASSERT_EQ(create.columns.size(), 2u);
  EXPECT_EQ(create.columns[0].type.length, 32u);
  EXPECT_EQ(create.columns[1].type.type, FieldType::VarChar);
}

TEST(Parser, ControlStatements) {
  const Parsed parsed = parse("ALTER INSTANCE PROMOTE EPOCH 7 WAIT_COUNT 1 MEMBERS 'a,b'");
  const auto& control = as<ast::ControlInstanceStatement>(parsed);
  EXPECT_EQ(control.what, ast::ControlInstanceStatement::What::Promote);
  EXPECT_EQ(control.epoch, 7u);
  EXPECT_EQ(control.wait_count, 1u);
  EXPECT_EQ(control.members, "a,b");
  const Parsed with_terms = parse(
      "ALTER INSTANCE QUORUM EPOCH 7 VERSION 2 WAIT_COUNT 1 MEMBERS 'a' TIMEOUT 500 ON_TIMEOUT 'error' "
      "WAIT_POINT 'AFTER_SYNC' SOURCE_LEASE 3000");
  const auto& terms = as<ast::ControlInstanceStatement>(with_terms);
  EXPECT_EQ(terms.timeout, 500u);
  EXPECT_EQ(terms.on_timeout, "error");
  EXPECT_EQ(terms.wait_point, "AFTER_SYNC");
  EXPECT_EQ(terms.lease, 3000u);
  const Parsed handover = parse("ALTER INSTANCE HANDOVER EPOCH 7 TIMEOUT 100");
  EXPECT_EQ(as<ast::ControlInstanceStatement>(handover).what, ast::ControlInstanceStatement::What::Handover);
  const Parsed follow = parse(
      "ALTER INSTANCE FOLLOW EPOCH 8 SOURCE_HOST 'h' SOURCE_PORT 3307 SOURCE_UUID 'u' SOURCE_USER 'r' "
      "SOURCE_PASSWORD 's'");
  EXPECT_EQ(as<ast::ControlInstanceStatement>(follow).port, 3307u);
  EXPECT_EQ(parse("ALTER INSTANCE PROMOTE WAIT_COUNT 1").error.substr(0, 5), "1064:");
}

TEST(Parser, PlaceholdersAreCounted) {
  EXPECT_EQ(parse("INSERT INTO t VALUES (?, ?), (?, ?)").statement->parameter_count, 4u);
}

// The text is the client's, the stack is not.
TEST(Parser, DeepNestingIsAnError) {
  constexpr size_t kDeep = 1 << 17;  // thousands of levels of the longest opener
  auto repeated = [](std::string_view text) {
    std::string all;
    while (all.size() < kDeep) all += text;
    return all;
  };
  for (const char* opener : {"(", "-", "NOT ", "!", "{x ", "~", "BINARY ", "CASE ", "f(", "(SELECT ",
                             "1 IN (", "EXISTS (SELECT "}) {
    EXPECT_EQ(parse("SELECT " + repeated(opener)).error.substr(0, 5), "1436:") << opener;
  }
  EXPECT_EQ(parse(repeated("(")).error.substr(0, 5), "1436:");
  EXPECT_EQ(parse(repeated("WITH x AS (")).error.substr(0, 5), "1436:");
  EXPECT_EQ(parse("SELECT 1 FROM " + repeated("(")).error.substr(0, 5), "1436:");
  EXPECT_EQ(parse("SELECT 1 FROM " + repeated("(SELECT 1 FROM ")).error.substr(0, 5), "1436:");
}

}  // namespace
}  // namespace commitd::sql
