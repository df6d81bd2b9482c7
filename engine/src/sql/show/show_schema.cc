// SHOW DATABASES, TABLES, COLUMNS, INDEX, CREATE, TABLE STATUS and GRANTS.
#include <algorithm>

#include "base/charset/collation.h"
#include "base/error_codes.h"
#include "sql/ast/administration.h"
#include "sql/ddl/ddl.h"
#include "sql/show/show.h"
#include "storage/engine.h"

namespace commitd::sql {
namespace {

using namespace virtual_column;

// The rows of an information_schema table about one database (and table): column 1 is always TABLE_SCHEMA,
// column 2 TABLE_NAME.
std::vector<Row> rows_about(std::string_view source, std::string_view db, std::string_view table,
                            SessionState& session) {
  std::vector<Row> rows = find_virtual_table("information_schema", source)->rows(session);
  std::erase_if(rows, [&](const Row& row) {
    return row[1].as_string() != db || (!table.empty() && row[2].as_string() != table);
  });
  return rows;
}

std::vector<Row> pick(const std::vector<Row>& rows, std::initializer_list<size_t> ordinals) {
  std::vector<Row> out;
  for (const auto& row : rows) {
    Row picked;
    for (size_t ordinal : ordinals) picked.push_back(row[ordinal]);
    out.push_back(std::move(picked));
  }
  return out;
}

Result<std::string> shown_database(std::string_view named, SessionState& session) {
  std::string db(named.empty() ? std::string_view(session.database) : named);
  if (db.empty()) return make_error(er::kNoDb, "No database selected");
  if (!is_virtual_database(db) && !session.server.catalog->has_database(db))
    return make_error(er::kBadDb, "Unknown database '{}'", db);
  return db;
}

std::string backticked(std::string_view name) {
  return "`" + std::string(name) + "`";
}

// What to put behind TO in a GRANT.
std::string account_text(const AccountRecord& account) {
  return backticked(account.user) + "@" + backticked(account.host);
}

}  // namespace

Result<TablePtr> shown_table(const ast::TableName& name, SessionState& session) {
  auto db = shown_database(name.db, session);
  if (!db.ok()) return std::move(db).error();
  if (const auto* table = find_virtual_table(*db, name.name)) return table->definition;
  TablePtr table = session.server.catalog ? session.server.catalog->find_table(*db, name.name) : nullptr;
  if (!table) return make_error(er::kNoSuchTable, "Table '{}.{}' doesn't exist", *db, name.name);
  return table;
}

Result<ShowResult> show_databases(const ast::ShowStatement& statement, SessionState& session) {
  std::string heading = statement.has_like ? fmt::format("Database ({})", statement.like) : "Database";
  auto rows = find_virtual_table("information_schema", "schemata")->rows(session);
  return shown({text(heading)}, pick(rows, {1}));
}

Result<ShowResult> show_tables(const ast::ShowStatement& statement, SessionState& session) {
  auto db = shown_database(statement.table.db, session);
  if (!db.ok()) return std::move(db).error();
  auto rows = rows_about("tables", *db, "", session);
  std::string heading = "Tables_in_" + *db + (statement.has_like ? fmt::format(" ({})", statement.like) : "");
  if (statement.full) return shown({text(heading), text("Table_type")}, pick(rows, {2, 3}));
  return shown({text(heading)}, pick(rows, {2}));
}

Result<ShowResult> show_table_status(const ast::ShowStatement& statement, SessionState& session) {
  auto db = shown_database(statement.table.db, session);
  if (!db.ok()) return std::move(db).error();
  auto rows = rows_about("tables", *db, "", session);
  return shown({text("Name"), text("Engine"), number("Version"), text("Row_format"), number("Rows"),
                number("Avg_row_length"), number("Data_length"), number("Max_data_length"),
                number("Index_length"), number("Data_free"), number("Auto_increment"),
                datetime("Create_time"), datetime("Update_time"), datetime("Check_time"), text("Collation"),
                number("Checksum"), text("Create_options", 256), text("Comment", 2048)},
               pick(rows, {2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20}));
}

Result<ShowResult> show_columns(const ast::ShowStatement& statement, SessionState& session) {
  auto table = shown_table(statement.table, session);
  if (!table.ok()) return std::move(table).error();
  const TableDef& definition = **table;
  // mysql.user …: information_schema does not list them.
  const bool is_unlisted =
      !is_virtual_database(definition.db) && find_virtual_table(definition.db, definition.name) != nullptr;
  if (is_unlisted)
    COMMITD_RETURN_IF_ERROR(
        session.require_on_table(definition.db, definition.name, privilege::kSelect, "SELECT"));
  const auto rows = is_unlisted ? columns_rows_of(definition)
                                : rows_about("columns", definition.db, definition.name, session);
  if (statement.full) {
    return shown({text("Field"), long_text("Type"), text("Collation"), text("Null", 3), text("Key", 3),
                  long_text("Default"), text("Extra", 256), text("Privileges", 154), text("Comment", 1024)},
                 pick(rows, {3, 15, 14, 6, 16, 5, 17, 18, 19}));
  }
  return shown({text("Field"), long_text("Type"), text("Null", 3), text("Key", 3), long_text("Default"),
                text("Extra", 256)},
               pick(rows, {3, 15, 6, 16, 5, 17}));
}

Result<ShowResult> show_indexes(const ast::ShowStatement& statement, SessionState& session) {
  auto table = shown_table(statement.table, session);
  if (!table.ok()) return std::move(table).error();
  auto rows = rows_about("statistics", (*table)->db, (*table)->name, session);
  return shown({text("Table"), signed_number("Non_unique"), text("Key_name"), number("Seq_in_index"),
                text("Column_name"), text("Collation", 1), signed_number("Cardinality"),
                signed_number("Sub_part"), text("Packed"), text("Null", 3), text("Index_type", 11),
                text("Comment", 8), text("Index_comment", 2048), text("Visible", 3), long_text("Expression")},
               pick(rows, {2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17}));
}

uint64_t next_auto_increment(const SessionState& session, const TableDef& table) {
  const bool counts = std::any_of(table.columns.begin(), table.columns.end(),
                                  [](const ColumnDef& column) { return column.auto_increment; });
  return counts && session.server.engine != nullptr ? session.server.engine->peek_auto_increment(table.id)
                                                    : 0;
}

Result<ShowResult> show_create_table_statement(const ast::ShowStatement& statement, SessionState& session) {
  auto table = shown_table(statement.table, session);
  if (!table.ok()) return std::move(table).error();
  return shown({text("Table"), text("Create Table", 65535)},
               {{text_value((*table)->name),
                 text_value(ddl::show_create_table(**table, next_auto_increment(session, **table)))}});
}

Result<ShowResult> show_create_database(const ast::ShowStatement& statement, SessionState& session) {
  auto db = shown_database(statement.table.db.empty() ? statement.table.name : statement.table.db, session);
  if (!db.ok()) return std::move(db).error();
  auto database = session.server.catalog->find_database(*db);
  const auto& collation = collation_or_binary(database ? database->collation : 33);
  std::string create = fmt::format("CREATE DATABASE {}{} /*!40100 DEFAULT CHARACTER SET {} COLLATE {} */",
                                   statement.if_not_exists ? "/*!32312 IF NOT EXISTS*/ " : "",
                                   backticked(*db), charset_info(collation.charset).name, collation.name);
  return shown({text("Database"), text("Create Database", 1024)}, {{text_value(*db), text_value(create)}});
}

Result<ShowResult> show_grants(const ast::ShowStatement& statement, SessionState& session) {
  bool own = statement.user.empty() || statement.user == "\1current";
  AccountPtr account =
      own ? session.record
          : session.server.accounts->record(statement.user, statement.host.empty() ? "%" : statement.host);
  if (!account)
    return make_error(er::kNonexistingGrant, "There is no such grant defined for user '{}' on host '{}'",
                      statement.user, statement.host);
  if (!own)
    COMMITD_RETURN_IF_ERROR(session.require(privilege::kSelect | privilege::kCreateUser, "CREATE USER"));
  auto result = shown({text(fmt::format("Grants for {}@{}", account->user, account->host), 1024)});
  auto grant = [&](Privileges privileges, Privileges all, std::string_view on) {
    std::string line =
        fmt::format("GRANT {} ON {} TO {}", privilege::to_text(privileges, all), on, account_text(*account));
    if (privileges & privilege::kGrantOption) line += " WITH GRANT OPTION";
    result.rows.push_back({text_value(line)});
  };
  grant(account->global, privilege::kAllGlobal, "*.*");
  for (const auto& [db, privileges] : account->databases)
    grant(privileges, privilege::kAllOnDatabase, backticked(db) + ".*");
  for (const auto& [name, privileges] : account->tables)
    grant(privileges, privilege::kAllOnTable, backticked(name.first) + "." + backticked(name.second));
  return result;
}

}  // namespace commitd::sql
