// Shared by the files of this folder.
#pragma once

#include <string>
#include <string_view>

#include "base/error_codes.h"
#include "sql/ast/definitions.h"
#include "sql/ddl/ddl.h"
#include "sql/ddl/new_entries.h"
#include "storage/record/row_image.h"
#include "storage/table_engines.h"

namespace commitd::sql::ddl {

// Names are at most 64 characters (1059), and do not end with a blank: 1103, 1102, 1166, 1280.
enum class Named : uint8_t { Table, Database, Column, Index };
Status check_name(std::string_view name, Named what);
// The database of a table name, or the session's (1046).
Result<std::string> database_of(const ast::TableName& name, std::string_view default_db);
// The table itself (1146), with the database resolved.
Result<TablePtr> existing_table(const Context& context, const ast::TableName& name);
Status refuse_system_database(std::string_view db);

bool is_strict(const Context& context);  // STRICT_TRANS_TABLES or STRICT_ALL_TABLES

// A comment, as long as one may be: 1628, 1629, 1688, or cut with a warning outside of strict mode.
enum class Commented : uint8_t { Table, Column, Index };
Result<std::string> comment_within(Commented what, std::string_view name, std::string_view comment,
                                   const Context& context);

// The collation that CHARACTER SET and COLLATE name together; `inherited` when neither is given. Errors 1115,
// 1273, 1253.
Result<uint16_t> resolve_collation(std::string_view charset, std::string_view collation, uint16_t inherited);
// ENGINE=…: InnoDB is the default engine under its own name; 1286 for what does not exist.
Result<std::string> resolve_engine(std::string_view engine, std::string_view table, Diagnostics& diagnostics);

// Of a table whose rows are on another server.
inline Error read_only_table(std::string_view table) {
  return make_error(er::kOpenAsReadonly, "Table '{}' is read only", table);
}

// What the rows that are there get in a column that is added.
Result<Value> added_column_value(const ColumnDef& column);

Result<ColumnDef> make_column(const ast::ColumnSpec& spec, uint16_t table_collation, Context& context);
// Adds an index to the definition; its columns must exist (1072), its name must be new (1061). Without a name
// it is named after its first column.
Status add_index(TableDef& table, const ast::IndexSpec& spec, uint32_t id, const Context& context);
// The keys of columns that have become others: a prefix that is none any more goes (1170, 1071).
Status fit_keys(TableDef& table, const Context& context);
// Adds a CHECK constraint; `own_column` is the column it stands with, if it does (3813, 3814 … 3822).
Status add_check(TableDef& table, const ast::CheckSpec& spec, std::string_view own_column,
                 const Context& context);
CheckDef* find_check(TableDef& table, std::string_view name);  // nullptr when there is none
Error check_not_found(std::string_view name);                  // 3821
// 3959 when a CHECK constraint needs the column.
Status check_free_of_checks(const TableDef& table, std::string_view column);
// The first index of a table: the primary key, or the hidden row id.
void ensure_clustered_index(TableDef& table, CatalogChange& change);
// Rules that hold for every table: one AUTO_INCREMENT column, which is a key; at least one column; no name
// twice.
Status check_table(const TableDef& table);
// 3750 where one is wanted.
Status check_primary_key(const TableDef& table, const Context& context);
int column_ordinal(const TableDef& table,
                   std::string_view name);  // -1 when there is none; names have no case
// As a column of the primary key: without a value of its own there is no default either.
inline void require_value(ColumnDef& column) {
  column.nullable = false;
  if (column.default_value && column.default_value->is_null()) column.default_value.reset();
}

// Calls `each` with every committed row of a table: its key and values.
Status for_each_row(const TableDef& table, const Context& context,
                    const std::function<Status(std::string_view key, Row& row)>& each);
// A row of the altered table from one of the old.
using RowMaker = std::function<Result<Row>(const Row& old_row)>;

// Makes an entry of `index` (of `table`) for every committed row of `old_table`; 1062 when rows collide in a
// unique index.
Status fill_index(const TableDef& old_table, const TableDef& table, const IndexDef& index,
                  const Context& context, NewEntries& entries);
// Writes every row of `old_table` anew as a row of `new_table` (which has other index ids).
Result<uint64_t> copy_rows(const TableDef& old_table, const TableDef& new_table, const RowMaker& make_row,
                           const Context& context, NewEntries& entries);

Result<Effect> plan_database(const ast::Statement& statement, Context& context);
Result<Effect> plan_server(const ast::ServerStatement& statement, Context& context);
Result<Effect> plan_create_table(const ast::CreateTableStatement& statement, Context& context);
Result<Effect> plan_drop_table(const ast::DropTableStatement& statement, Context& context);
Result<Effect> plan_truncate(const ast::TableStatement& statement, Context& context);
Result<Effect> plan_rename(const ast::RenameTableStatement& statement, Context& context);
Result<Effect> plan_alter_table(const ast::AlterTableStatement& statement, Context& context);

// A table whose rows are all written in its present version has no columns that older rows lack.
inline void forget_instant_columns(TableDef& table) {
  for (ColumnDef& column : table.columns) {
    column.added_in_version = 1;
    column.fill_value = Value::null();
  }
}

// Of an index of a table in the engine that its definition names.
inline uint32_t new_index_id(const TableDef& table, CatalogChange& change) {
  return storage::index_id_in(*storage::find_table_engine(table.engine), change.new_index_id());
}

inline Effect finished(CatalogChange& change) {
  Effect effect;
  effect.publish = change.finish();
  effect.writes = std::move(change.writes());
  return effect;
}

inline Effect nothing_to_do() {
  Effect effect;
  effect.nothing = true;
  return effect;
}

}  // namespace commitd::sql::ddl
