// CREATE, ALTER and DROP DATABASE.
#include "base/error_codes.h"
#include "sql/ast/definitions.h"
#include "sql/ddl/planning.h"

namespace commitd::sql::ddl {
namespace {

constexpr uint16_t kServerCollation = 45;

Result<Effect> create_database(const ast::DatabaseStatement& statement, Context& context) {
  COMMITD_RETURN_IF_ERROR(check_name(statement.name, Named::Database));
  if (context.catalog.has_database(statement.name)) {
    Error exists =
        make_error(er::kDbCreateExists, "Can't create database '{}'; database exists", statement.name);
    if (!statement.if_exists) return exists;
    context.diagnostics.note(std::move(exists));
    return nothing_to_do();
  }
  auto collation = resolve_collation(statement.charset, statement.collation, kServerCollation);
  if (!collation.ok()) return std::move(collation).error();
  CatalogChange change(context.catalog);
  change.put_database({std::string(statement.name), *collation});
  auto effect = finished(change);
  effect.affected_rows = 1;
  return effect;
}

Result<Effect> alter_database(const ast::DatabaseStatement& statement, Context& context) {
  std::string name(statement.name.empty() ? context.default_db : statement.name);
  auto database = context.catalog.find_database(name);
  if (!database) return make_error(er::kBadDb, "Unknown database '{}'", name);
  auto collation = resolve_collation(statement.charset, statement.collation, database->collation);
  if (!collation.ok()) return std::move(collation).error();
  database->collation = *collation;
  CatalogChange change(context.catalog);
  change.put_database(*database);
  return finished(change);
}

Result<Effect> drop_database(const ast::DatabaseStatement& statement, Context& context) {
  if (!context.catalog.has_database(statement.name)) {
    Error missing =
        make_error(er::kDbDropExists, "Can't drop database '{}'; database doesn't exist", statement.name);
    if (!statement.if_exists) return missing;
    context.diagnostics.note(std::move(missing));
    return nothing_to_do();
  }
  if (statement.name == "mysql" || statement.name == "sys") {
    return make_error(er::kDbAccessDenied, "Access to system database '{}' is rejected.", statement.name);
  }
  CatalogChange change(context.catalog);
  auto tables = context.catalog.tables(statement.name);
  for (const auto& table : tables) change.drop_table(*table);
  change.drop_database(statement.name);
  auto effect = finished(change);
  effect.affected_rows = tables.size();
  return effect;
}

}  // namespace

Result<Effect> plan_database(const ast::Statement& statement, Context& context) {
  const auto& database = ast::as<ast::DatabaseStatement>(statement);
  COMMITD_RETURN_IF_ERROR(refuse_system_database(database.name));
  switch (statement.kind) {
    case ast::StatementKind::CreateDatabase:
      return create_database(database, context);
    case ast::StatementKind::AlterDatabase:
      return alter_database(database, context);
    default:
      return drop_database(database, context);
  }
}

}  // namespace commitd::sql::ddl
