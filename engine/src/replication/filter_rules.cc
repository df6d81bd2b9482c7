#include "replication/filter_rules.h"

#include <algorithm>
#include <string>
#include <vector>

#include "sql/ast/definitions.h"
#include "sql/parser/parser.h"

namespace commitd::replication {
namespace {

using sql::ast::StatementKind;
using Names = std::vector<std::pair<std::string_view, std::string_view>>;

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool any_matches(const std::vector<std::string>& patterns, std::string_view name) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [name](const std::string& pattern) { return matches_wild(name, pattern); });
}

// The tables that it changes.
Names tables_of(const sql::ast::Statement& statement, std::string_view db) {
  Names names;
  const auto add = [&](const sql::ast::TableName& table) {
    names.emplace_back(table.db.empty() ? db : table.db, table.name);
  };
  switch (statement.kind) {
    case StatementKind::CreateTable:
      add(sql::ast::as<sql::ast::CreateTableStatement>(statement).table);
      break;
    case StatementKind::DropTable:
      for (const auto& table : sql::ast::as<sql::ast::DropTableStatement>(statement).tables) add(table);
      break;
    case StatementKind::TruncateTable:
      add(sql::ast::as<sql::ast::TableStatement>(statement).table);
      break;
    case StatementKind::AlterTable:
    case StatementKind::CreateIndex:
    case StatementKind::DropIndex:
      add(sql::ast::as<sql::ast::AlterTableStatement>(statement).table);
      break;
    case StatementKind::RenameTable:
      for (const auto& one : sql::ast::as<sql::ast::RenameTableStatement>(statement).renames) {
        add(one.from);
        add(one.to);
      }
      break;
    default:
      break;
  }
  return names;
}

bool is_of_database(const sql::ast::Statement& statement) {
  return statement.kind == StatementKind::CreateDatabase || statement.kind == StatementKind::AlterDatabase ||
         statement.kind == StatementKind::DropDatabase;
}

}  // namespace

bool matches_wild(std::string_view text, std::string_view pattern) {
  while (!pattern.empty()) {
    if (pattern.front() == '%') {
      pattern.remove_prefix(1);
      for (size_t i = 0; i <= text.size(); ++i) {
        if (matches_wild(text.substr(i), pattern)) return true;
      }
      return false;
    }
    if (text.empty()) return false;
    const bool any = pattern.front() == '_';
    if (pattern.front() == '\\' && pattern.size() > 1) pattern.remove_prefix(1);
    if (!any && pattern.front() != text.front()) return false;
    pattern.remove_prefix(1);
    text.remove_prefix(1);
  }
  return text.empty();
}

bool FilterRules::met(FilterKind kind) const {
  if (record_ != nullptr) record_->met(kind);
  return true;
}

std::optional<std::string_view> FilterRules::rewritten(std::string_view db) const {
  for (const auto& [from, to] : filter_.rewrite_db) {
    if (from == db && met(FilterKind::RewriteDb)) return to;
  }
  return std::nullopt;
}

// Where no database is in use, it is replicated.
bool FilterRules::takes_use_of(std::string_view db) const {
  if (db.empty()) return true;
  if (!filter_.do_db.empty()) return contains(filter_.do_db, db) && met(FilterKind::DoDb);
  return !(contains(filter_.ignore_db, db) && met(FilterKind::IgnoreDb));
}

// The first rule about the first table that has one decides.
bool FilterRules::takes_tables(std::span<const Name> tables) const {
  for (const auto& [db, table] : tables) {
    const std::string name = std::string(db) + '.' + std::string(table);
    if (contains(filter_.do_table, name)) return met(FilterKind::DoTable);
    if (contains(filter_.ignore_table, name)) return !met(FilterKind::IgnoreTable);
    if (any_matches(filter_.wild_do_table, name)) return met(FilterKind::WildDoTable);
    if (any_matches(filter_.wild_ignore_table, name)) return !met(FilterKind::WildIgnoreTable);
  }
  return tables.empty() || (filter_.do_table.empty() && filter_.wild_do_table.empty());
}

// By the rules for databases where there are some, else by the wild ones.
bool FilterRules::takes_database_itself(std::string_view db) const {
  if (!filter_.do_db.empty() || !filter_.ignore_db.empty()) return takes_use_of(db);
  const std::string name = std::string(db) + '.';
  if (any_matches(filter_.wild_do_table, name)) return met(FilterKind::WildDoTable);
  if (any_matches(filter_.wild_ignore_table, name)) return !met(FilterKind::WildIgnoreTable);
  return filter_.wild_do_table.empty();
}

bool FilterRules::takes_rows_of(std::string_view db, std::string_view table) const {
  const Name name(db, table);
  return takes_use_of(db) && takes_tables({&name, 1});
}

bool FilterRules::takes_statement(const binlog::QueryEvent& query) const {
  sql::Arena arena;
  const auto parsed = sql::parse_logged_statement(query.sql, query.sql_mode, arena);
  if (parsed.ok() && is_of_database(*parsed->statement))
    return takes_database_itself(sql::ast::as<sql::ast::DatabaseStatement>(*parsed->statement).name);
  if (!takes_use_of(query.db)) return false;
  return !parsed.ok() || takes_tables(tables_of(*parsed->statement, query.db));
}

}  // namespace commitd::replication
