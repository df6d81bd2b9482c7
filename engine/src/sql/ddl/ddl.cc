#include "sql/ddl/ddl.h"

#include "base/error_codes.h"
#include "sql/ast/definitions.h"
#include "sql/ddl/planning.h"

namespace commitd::sql::ddl {

using ast::StatementKind;

bool is_ddl(StatementKind kind) {
  switch (kind) {
    case StatementKind::CreateDatabase:
    case StatementKind::AlterDatabase:
    case StatementKind::DropDatabase:
    case StatementKind::CreateTable:
    case StatementKind::DropTable:
    case StatementKind::TruncateTable:
    case StatementKind::AlterTable:
    case StatementKind::CreateIndex:
    case StatementKind::DropIndex:
    case StatementKind::RenameTable:
    case StatementKind::CreateServer:
    case StatementKind::AlterServer:
    case StatementKind::DropServer:
      return true;
    default:
      return false;
  }
}

std::vector<std::pair<std::string, std::string>> locked_tables(const ast::Statement& statement,
                                                               const Catalog& catalog,
                                                               std::string_view default_db) {
  std::vector<std::pair<std::string, std::string>> tables;
  auto add = [&](const ast::TableName& name) {
    tables.emplace_back(name.db.empty() ? default_db : name.db, name.name);
  };
  switch (statement.kind) {
    case StatementKind::DropDatabase: {
      const auto& database = ast::as<ast::DatabaseStatement>(statement);
      for (const auto& table : catalog.tables(database.name)) tables.emplace_back(table->db, table->name);
      break;
    }
    case StatementKind::CreateTable:
      add(ast::as<ast::CreateTableStatement>(statement).table);
      break;
    case StatementKind::DropTable:
      for (const auto& table : ast::as<ast::DropTableStatement>(statement).tables) add(table);
      break;
    case StatementKind::TruncateTable:
      add(ast::as<ast::TableStatement>(statement).table);
      break;
    case StatementKind::AlterTable:
    case StatementKind::CreateIndex:
    case StatementKind::DropIndex:
      add(ast::as<ast::AlterTableStatement>(statement).table);
      break;
    case StatementKind::RenameTable:
      for (const auto& rename : ast::as<ast::RenameTableStatement>(statement).renames) {
        add(rename.from);
        add(rename.to);
      }
      break;
    default:
      break;
  }
  std::sort(tables.begin(), tables.end());
  tables.erase(std::unique(tables.begin(), tables.end()), tables.end());
  return tables;
}

Result<Effect> plan(const ast::Statement& statement, Context& context) {
  switch (statement.kind) {
    case StatementKind::CreateDatabase:
    case StatementKind::AlterDatabase:
    case StatementKind::DropDatabase:
      return plan_database(statement, context);
    case StatementKind::CreateTable:
      return plan_create_table(ast::as<ast::CreateTableStatement>(statement), context);
    case StatementKind::DropTable:
      return plan_drop_table(ast::as<ast::DropTableStatement>(statement), context);
    case StatementKind::TruncateTable:
      return plan_truncate(ast::as<ast::TableStatement>(statement), context);
    case StatementKind::AlterTable:
    case StatementKind::CreateIndex:
    case StatementKind::DropIndex:
      return plan_alter_table(ast::as<ast::AlterTableStatement>(statement), context);
    case StatementKind::RenameTable:
      return plan_rename(ast::as<ast::RenameTableStatement>(statement), context);
    case StatementKind::CreateServer:
    case StatementKind::AlterServer:
    case StatementKind::DropServer:
      return plan_server(ast::as<ast::ServerStatement>(statement), context);
    default:
      return make_error(er::kUnknownError, "not a DDL statement");
  }
}

}  // namespace commitd::sql::ddl
