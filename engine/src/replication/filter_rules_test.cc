#include "replication/filter_rules.h"

#include <gtest/gtest.h>

#include "sql/variables/system_variables.h"

namespace commitd::replication {
namespace {

bool takes(const FilterRules& rules, std::string db, std::string sql) {
  binlog::QueryEvent query;
  query.db = std::move(db);
  query.sql = std::move(sql);
  return rules.takes_statement(query);
}

TEST(FilterRules, WildPatternsMatchAsMySqlsDo) {
  EXPECT_TRUE(matches_wild("db2.t1", "db2.%"));
  EXPECT_TRUE(matches_wild("db2.", "db2.%"));
  EXPECT_FALSE(matches_wild("db21.t1", "db2.%"));
  EXPECT_TRUE(matches_wild("db21.t1", "db2_.%"));
  EXPECT_TRUE(matches_wild("a_b.t", "a\\_b.t"));
  EXPECT_FALSE(matches_wild("axb.t", "a\\_b.t"));
  EXPECT_TRUE(matches_wild("d.t", "%.t"));
  EXPECT_TRUE(matches_wild("d.long_name_t", "d.%_%t"));
  EXPECT_FALSE(matches_wild("d.t", ""));
  EXPECT_FALSE(matches_wild("D.t", "d.%"));
}

TEST(FilterRules, NamesAreReadInTheSqlModeOfTheStatement) {
  sql::ReplicationFilter filter;
  filter.ignore_table = {"d.t"};
  const FilterRules rules(filter);
  binlog::QueryEvent query;
  query.db = "d";
  query.sql = "CREATE TABLE \"t\" (a INT)";
  query.sql_mode = sql::sql_mode::kAnsiQuotes;
  EXPECT_FALSE(rules.takes_statement(query));
  query.sql = "CREATE TABLE \"u\" (a INT)";
  EXPECT_TRUE(rules.takes_statement(query));
}

TEST(FilterRules, WithoutAnyEverythingIsTaken) {
  const FilterRules none;
  EXPECT_TRUE(none.empty());
  EXPECT_TRUE(none.takes_rows_of("d", "t"));
  EXPECT_TRUE(takes(none, "d", "CREATE TABLE t (id INT)"));
}

// Of databases, DO goes before IGNORE; then those of tables are asked, the exact ones first.
TEST(FilterRules, TheFirstThatSaysSomethingDecides) {
  sql::ReplicationFilter filter;
  filter.do_db = {"d", "e"};
  filter.ignore_db = {"d"};
  EXPECT_TRUE(FilterRules(filter).takes_rows_of("d", "t"));
  EXPECT_FALSE(FilterRules(filter).takes_rows_of("f", "t"));
  filter.ignore_table = {"d.t"};
  filter.wild_do_table = {"d.t%"};
  EXPECT_FALSE(FilterRules(filter).takes_rows_of("d", "t"));
  EXPECT_TRUE(FilterRules(filter).takes_rows_of("d", "t1"));
  EXPECT_FALSE(FilterRules(filter).takes_rows_of("e", "t")) << "there is a list of those to take";
  filter.do_table = {"d.t"};
  EXPECT_TRUE(FilterRules(filter).takes_rows_of("d", "t"));
}

TEST(FilterRules, AStatementIsOfTheDatabaseThatIsInUseAndOfTheTablesThatItNames) {
  sql::ReplicationFilter filter;
  filter.ignore_db = {"d"};
  EXPECT_FALSE(takes(FilterRules(filter), "d", "CREATE TABLE e.t (id INT)"));
  EXPECT_TRUE(takes(FilterRules(filter), "e", "CREATE TABLE d.t (id INT)")) << "MySQL's trap";
  EXPECT_TRUE(takes(FilterRules(filter), "", "CREATE USER u")) << "none is in use";
  filter = {};
  filter.ignore_table = {"d.t"};
  const FilterRules rules(filter);
  for (const char* sql :
       {"CREATE TABLE t (id INT)", "DROP TABLE IF EXISTS t", "TRUNCATE TABLE d.t",
        "ALTER TABLE t ADD COLUMN n INT", "CREATE INDEX i ON t (id)", "RENAME TABLE t TO u"})
    EXPECT_FALSE(takes(rules, "d", sql)) << sql;
  EXPECT_TRUE(takes(rules, "e", "DROP TABLE t"));
  EXPECT_TRUE(takes(rules, "d", "GRANT SELECT ON d.t TO u"));
}

TEST(FilterRules, ADatabaseIsAskedByItsOwnName) {
  sql::ReplicationFilter filter;
  filter.wild_ignore_table = {"db2.%"};
  EXPECT_FALSE(takes(FilterRules(filter), "db1", "CREATE DATABASE db2"));
  EXPECT_TRUE(takes(FilterRules(filter), "db2", "DROP DATABASE db1"));
  filter.ignore_db = {"db3"};
  EXPECT_TRUE(takes(FilterRules(filter), "", "CREATE DATABASE db2"))
      << "rules for databases go before wild ones";
  EXPECT_FALSE(takes(FilterRules(filter), "", "CREATE DATABASE db3"));
}

}  // namespace
}  // namespace commitd::replication
