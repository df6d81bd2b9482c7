// DDL: from a syntax tree to what it changes. Pure planning: the same code runs when a client executes the
// statement and when it is replayed from the log, so that both give the same catalog and the same index
// entries.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "sql/ast/expression.h"
#include "sql/ast/statement.h"
#include "sql/catalog.h"
#include "sql/diagnostics.h"
#include "storage/record/row_image.h"

namespace commitd::sql::ast {
struct DropTableStatement;
}

namespace commitd::sql::ddl {

struct Context {
  Catalog& catalog;
  storage::Engine& engine;  // rows that a new index must cover: the newest committed ones, under the table's
                            // exclusive lock
  std::string_view default_db;  // of the session, or of the logged statement
  Diagnostics& diagnostics;
  // A literal of a DEFAULT clause as a value of the column; error 1067 when it does not fit.
  std::function<Result<Value>(const ast::Expr&, const ColumnDef&)> column_default = {};
  // A stored value as a value of a changed column (strict: 1264, 1265, 1366, 1406).
  std::function<Result<Value>(const Value&, const ColumnDef&)> convert = {};
  uint64_t sql_mode = 0;
  // For CREATE TABLE without ENGINE=; empty: the first one. What is logged names the engine.
  std::string_view default_engine = {};
  bool needs_primary_key = false;  // sql_require_primary_key, of the session that asks
  bool executed_before = false;    // replay: a definition that an earlier version took is taken
  // Gives a function that says whether a row obeys the CHECK constraints of a table (3819). Empty at replay:
  // what was logged obeyed them.
  using RowCheck = std::function<Status(const Row&)>;
  std::function<Result<RowCheck>(const TableDef&)> row_check = {};
  // Replay of what commitd logged, maybe an earlier version of it: where a column becomes AUTO_INCREMENT it
  // kept 0, and names in ALTER TABLE meant what the actions in front of them had made of the table.
  bool logged_by_commitd = false;
  // Called for every row that is read: whoever runs the statement lets others go first, or ends it.
  std::function<Status()> on_row = [] { return Status(); };
};

// Fills in how values are made: the same for a session and for replay.
void set_value_rules(Context& context, uint64_t sql_mode, int32_t time_zone_offset);

struct Effect {
  WriteSet writes;
  std::function<void()> publish;
  bool nothing = false;        // IF [NOT] EXISTS found nothing to do: neither logged nor committed
  uint64_t affected_rows = 0;  // ALTER: rows that were copied
  TablePtr rewritten;          // ALTER: the new table, when all rows were copied into it
  bool numbered = false;       // ALTER: rows got AUTO_INCREMENT values, from 1
  bool leaves_memory = false;  // ALTER: rows that only memory has go into a table that is durable
};

bool is_ddl(ast::StatementKind kind);

// Which tables the statement takes away from everybody else while it runs ("db\0table" of each, "db\0" for a
// whole database): the caller locks them, in this order, before it plans.
std::vector<std::pair<std::string, std::string>> locked_tables(const ast::Statement& statement,
                                                               const Catalog& catalog,
                                                               std::string_view default_db);

Result<Effect> plan(const ast::Statement& statement, Context& context);

// DROP TEMPORARY TABLE: there are none, so none of these is there (1051).
Status drop_temporary_tables(const ast::DropTableStatement& statement, std::string_view default_db,
                             Diagnostics& diagnostics);

// What SHOW CREATE TABLE prints; executing it makes an equal table.
// `next_auto_increment`: 0 where the table has none.
std::string show_create_table(const TableDef& table, uint64_t next_auto_increment = 0);
// The type as SHOW COLUMNS and information_schema print it: "varchar(40)", "int unsigned".
std::string column_type_text(const ColumnDef& column);
// Its values are texts in a character set, not bytes.
bool has_charset(const ColumnDef& column);
// The default as SHOW COLUMNS prints it; nullopt = NULL or none.
std::optional<std::string> column_default_text(const ColumnDef& column);

}  // namespace commitd::sql::ddl
