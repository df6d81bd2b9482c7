// CREATE, DROP, TRUNCATE and RENAME TABLE.
#include "base/error_codes.h"
#include "sql/ast/definitions.h"
#include "sql/ddl/planning.h"
#include "sql/federated/remote_address.h"

namespace commitd::sql::ddl {
namespace {

Error table_exists(std::string_view table) {
  return make_error(er::kTableExists, "Table '{}' already exists", table);
}

// Fresh ids for a definition that was copied from another table.
void renumber(TableDef& table, CatalogChange& change) {
  table.id = change.new_table_id();
  table.version = 1;
  for (auto& index : table.indexes) index.id = new_index_id(table, change);
  forget_instant_columns(table);
}

// CHECK constraints are copied under new names, which are one of their own in the database.
Result<TableDef> copy_definition(const ast::CreateTableStatement& statement, const DatabaseDef& database,
                                 CatalogChange& change, Context& context) {
  auto original = existing_table(context, statement.like);
  if (!original.ok()) return std::move(original).error();
  TableDef table = **original;
  renumber(table, change);
  table.db = database.name;
  table.name = statement.table.name;
  for (size_t i = 0; i < table.checks.size(); ++i)
    table.checks[i].name = fmt::format("{}_chk_{}", table.name, i + 1);
  return table;
}

// Index definitions that stand with their columns come before those that stand alone, as in MySQL.
Status add_indexes(TableDef& table, const ast::CreateTableStatement& statement, CatalogChange& change,
                   const Context& context) {
  auto with_column = [&](const ast::ColumnSpec& column, bool primary) -> Status {
    ast::IndexSpec spec(std::pmr::get_default_resource());
    spec.primary = primary;
    spec.unique = true;
    spec.parts.push_back({column.name, 0});
    return add_index(table, spec, new_index_id(table, change), context);
  };
  for (const auto& column : statement.columns) {
    if (column.primary) COMMITD_RETURN_IF_ERROR(with_column(column, true));
  }
  for (const auto& index : statement.indexes) {
    if (index.primary) COMMITD_RETURN_IF_ERROR(add_index(table, index, new_index_id(table, change), context));
  }
  for (const auto& column : statement.columns) {
    if (column.unique && !column.primary) COMMITD_RETURN_IF_ERROR(with_column(column, false));
  }
  for (bool unique : {true, false}) {
    for (const auto& index : statement.indexes) {
      if (!index.primary && index.unique == unique)
        COMMITD_RETURN_IF_ERROR(add_index(table, index, new_index_id(table, change), context));
    }
  }
  return {};
}

Status add_checks(TableDef& table, const ast::CreateTableStatement& statement, const Context& context) {
  for (const auto& column : statement.columns) {
    if (column.checks == nullptr) continue;
    for (const auto& check : *column.checks)
      COMMITD_RETURN_IF_ERROR(add_check(table, check, column.name, context));
  }
  for (const auto& check : statement.checks) COMMITD_RETURN_IF_ERROR(add_check(table, check, "", context));
  return {};
}

// Where the rows of a table on another server are.
Status set_connection(TableDef& table, const ast::TableOptions& options, const Context& context) {
  table.connection = options.connection.value_or("");
  if (!storage::find_table_engine(table.engine)->remote) return {};
  auto address = remote_address(context.catalog, table, er::kForeignDataStringInvalidCantCreate);
  if (!address.ok()) return std::move(address).error();
  return {};
}

Result<TableDef> new_definition(const ast::CreateTableStatement& statement, const DatabaseDef& database,
                                CatalogChange& change, Context& context) {
  TableDef table;
  table.id = change.new_table_id();
  table.db = database.name;
  table.name = statement.table.name;
  const std::string_view named = statement.options.engine;
  auto engine = resolve_engine(named.empty() ? context.default_engine : named, statement.table.name,
                               context.diagnostics);
  if (!engine.ok()) return std::move(engine).error();
  table.engine = std::move(*engine);
  COMMITD_RETURN_IF_ERROR(set_connection(table, statement.options, context));
  auto collation =
      resolve_collation(statement.options.charset, statement.options.collation, database.collation);
  if (!collation.ok()) return std::move(collation).error();
  table.default_collation = *collation;
  auto comment =
      comment_within(Commented::Table, table.name, statement.options.comment.value_or(""), context);
  if (!comment.ok()) return std::move(comment).error();
  table.comment = *std::move(comment);
  for (const auto& spec : statement.columns) {
    auto column = make_column(spec, table.default_collation, context);
    if (!column.ok()) return std::move(column).error();
    table.columns.push_back(std::move(*column));
  }
  COMMITD_RETURN_IF_ERROR(add_indexes(table, statement, change, context));
  COMMITD_RETURN_IF_ERROR(add_checks(table, statement, context));
  return table;
}

}  // namespace

Result<Effect> plan_create_table(const ast::CreateTableStatement& statement, Context& context) {
  auto db = database_of(statement.table, context.default_db);
  if (!db.ok()) return std::move(db).error();
  COMMITD_RETURN_IF_ERROR(refuse_system_database(*db));
  auto database = context.catalog.find_database(*db);
  if (!database) return make_error(er::kBadDb, "Unknown database '{}'", *db);
  COMMITD_RETURN_IF_ERROR(check_name(statement.table.name, Named::Table));
  if (context.catalog.find_table(*db, statement.table.name)) {
    if (!statement.if_not_exists) return table_exists(statement.table.name);
    context.diagnostics.note(table_exists(statement.table.name));
    return nothing_to_do();
  }
  CatalogChange change(context.catalog);
  auto table = statement.like.name.empty() ? new_definition(statement, *database, change, context)
                                           : copy_definition(statement, *database, change, context);
  if (!table.ok()) return std::move(table).error();
  ensure_clustered_index(*table, change);
  COMMITD_RETURN_IF_ERROR(check_table(*table));
  COMMITD_RETURN_IF_ERROR(check_primary_key(*table, context));
  if (statement.options.auto_increment)
    change.writes().raise_auto_increment(table->id, *statement.options.auto_increment);
  change.put_table(std::move(*table));
  return finished(change);
}

Status drop_temporary_tables(const ast::DropTableStatement& statement, std::string_view default_db,
                             Diagnostics& diagnostics) {
  std::string missing;
  for (const auto& name : statement.tables) {
    auto db = database_of(name, default_db);
    if (!db.ok()) return std::move(db).error();
    missing += fmt::format("{}{}.{}", missing.empty() ? "" : ",", *db, name.name);
  }
  Error unknown = make_error(er::kBadTable, "Unknown table '{}'", missing);
  if (!statement.if_exists) return unknown;
  diagnostics.note(std::move(unknown));
  return {};
}

Result<Effect> plan_drop_table(const ast::DropTableStatement& statement, Context& context) {
  CatalogChange change(context.catalog);
  std::string missing;
  std::vector<TablePtr> found;
  for (const auto& name : statement.tables) {
    auto db = database_of(name, context.default_db);
    if (!db.ok()) return std::move(db).error();
    COMMITD_RETURN_IF_ERROR(refuse_system_database(*db));
    if (auto table = context.catalog.find_table(*db, name.name)) {
      found.push_back(std::move(table));
    } else {
      missing += fmt::format("{}{}.{}", missing.empty() ? "" : ",", *db, name.name);
    }
  }
  if (!missing.empty()) {
    Error unknown = make_error(er::kBadTable, "Unknown table '{}'", missing);
    if (!statement.if_exists) return unknown;
    context.diagnostics.note(std::move(unknown));
  }
  if (found.empty()) return nothing_to_do();
  for (const auto& table : found) change.drop_table(*table);
  return finished(change);
}

// TRUNCATE is a drop and a create in one: the new table has new index ids, so no row of it can meet one of
// the old.
Result<Effect> plan_truncate(const ast::TableStatement& statement, Context& context) {
  auto table = existing_table(context, statement.table);
  if (!table.ok()) return std::move(table).error();
  if (storage::engine_of(**table).remote) return read_only_table((*table)->name);
  CatalogChange change(context.catalog);
  TableDef emptied = **table;
  change.drop_table(**table);
  renumber(emptied, change);
  change.put_table(std::move(emptied));
  return finished(change);
}

Result<Effect> plan_rename(const ast::RenameTableStatement& statement, Context& context) {
  if (statement.renames.size() > 1)
    return make_error(er::kNotSupportedYet,
                      "This version of commitd doesn't yet support 'RENAME of several tables at once'");
  const auto& rename = statement.renames[0];
  auto table = existing_table(context, rename.from);
  if (!table.ok()) return std::move(table).error();
  auto db = database_of(rename.to, context.default_db);
  if (!db.ok()) return std::move(db).error();
  if (!context.catalog.has_database(*db)) return make_error(er::kBadDb, "Unknown database '{}'", *db);
  COMMITD_RETURN_IF_ERROR(check_name(rename.to.name, Named::Table));
  if (context.catalog.find_table(*db, rename.to.name)) return table_exists(rename.to.name);
  CatalogChange change(context.catalog);
  TableDef renamed = **table;
  renamed.db = *db;
  renamed.name = rename.to.name;
  change.put_table(std::move(renamed));
  return finished(change);
}

}  // namespace commitd::sql::ddl
