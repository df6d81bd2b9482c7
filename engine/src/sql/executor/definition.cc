// DDL and account statements of clients: check, lock, plan, commit. Only one runs at a time in the whole
// server, so that the catalog's counters and the log agree on the order.
#include "base/error_codes.h"
#include "sql/accounts/account_statements.h"
#include "sql/ddl/ddl.h"
#include "sql/executor/statements.h"

namespace commitd::sql {
namespace {

using ast::StatementKind;

// The metadata lock that serialises definitions; no table has an empty name.
constexpr std::string_view kDefinitionLock = "";

std::string_view database_named(const SessionState& session, std::string_view db) {
  return db.empty() ? std::string_view(session.database) : db;
}

Status check_ddl_privileges(SessionState& session, const ast::Statement& statement) {
  auto on_table = [&](const ast::TableName& table, Privileges wanted, std::string_view command) -> Status {
    std::string_view db = database_named(session, table.db);
    if (db.empty()) return make_error(er::kNoDb, "No database selected");
    return session.require_on_table(db, table.name, wanted, command);
  };
  switch (statement.kind) {
    case StatementKind::CreateDatabase:
      return session.require_on_database(ast::as<ast::DatabaseStatement>(statement).name, privilege::kCreate);
    case StatementKind::AlterDatabase:
      return session.require_on_database(
          database_named(session, ast::as<ast::DatabaseStatement>(statement).name), privilege::kAlter);
    case StatementKind::DropDatabase:
      return session.require_on_database(ast::as<ast::DatabaseStatement>(statement).name, privilege::kDrop);
    case StatementKind::CreateTable:
      return on_table(ast::as<ast::CreateTableStatement>(statement).table, privilege::kCreate, "CREATE");
    case StatementKind::TruncateTable:
      return on_table(ast::as<ast::TableStatement>(statement).table, privilege::kDrop, "DROP");
    case StatementKind::DropTable:
      for (const auto& table : ast::as<ast::DropTableStatement>(statement).tables)
        COMMITD_RETURN_IF_ERROR(on_table(table, privilege::kDrop, "DROP"));
      return {};
    case StatementKind::CreateIndex:
    case StatementKind::DropIndex:
      return on_table(ast::as<ast::AlterTableStatement>(statement).table, privilege::kIndex, "INDEX");
    case StatementKind::AlterTable:
      return on_table(ast::as<ast::AlterTableStatement>(statement).table, privilege::kAlter, "ALTER");
    case StatementKind::RenameTable:
      for (const auto& rename : ast::as<ast::RenameTableStatement>(statement).renames) {
        COMMITD_RETURN_IF_ERROR(on_table(rename.from, privilege::kAlter | privilege::kDrop, "ALTER"));
        COMMITD_RETURN_IF_ERROR(on_table(rename.to, privilege::kCreate | privilege::kInsert, "CREATE"));
      }
      return {};
    default:
      return {};
  }
}

// Ends whatever is open and takes the locks of a definition change.
Task<Status> enter_definition(SessionState& session,
                              std::vector<std::pair<std::string, std::string>> tables) {
  COMMITD_CO_RETURN_IF_ERROR(co_await implicit_commit(session));
  COMMITD_CO_RETURN_IF_ERROR(check_may_write(session));
  begin_if_needed(session);
  COMMITD_CO_RETURN_IF_ERROR(
      co_await session.transaction->lock_table(kDefinitionLock, kDefinitionLock, txn::LockMode::Exclusive));
  for (const auto& [db, table] : tables) {
    COMMITD_CO_RETURN_IF_ERROR(co_await session.transaction->lock_table(db, table, txn::LockMode::Exclusive));
  }
  co_return Status();
}

Task<Result<OkInfo>> locked_ddl(SessionState& session, const ast::Statement& statement) {
  auto tables = ddl::locked_tables(statement, *session.server.catalog, session.database);
  COMMITD_CO_RETURN_IF_ERROR(co_await enter_definition(session, std::move(tables)));
  ddl::Context context{
      *session.server.catalog, *session.server.engine, session.database, session.diagnostics, {}, {}};
  ddl::set_value_rules(context, session.settings.sql_mode, session.settings.time_zone_offset);
  auto effect = ddl::plan(statement, context);
  if (!effect.ok()) co_return std::move(effect).error();
  OkInfo ok;
  ok.affected_rows = effect->affected_rows;
  if (!effect->nothing) {
    COMMITD_CO_RETURN_IF_ERROR(co_await session.transaction->commit_statement(
        session.database, statement.text, std::move(effect->writes), std::move(effect->publish)));
  }
  co_return ok;
}

Task<Result<OkInfo>> locked_account_statement(SessionState& session, const ast::Statement& statement) {
  COMMITD_CO_RETURN_IF_ERROR(co_await enter_definition(session, {}));
  session.refresh_account();
  auto effect =
      plan_account_statement(statement, *session.server.accounts, session.record.get(), session.diagnostics);
  if (!effect.ok()) co_return std::move(effect).error();
  if (!effect->nothing) {
    COMMITD_CO_RETURN_IF_ERROR(co_await session.transaction->commit_statement(
        "mysql", effect->logged, std::move(effect->writes), std::move(effect->publish)));
  }
  co_return OkInfo{};
}

Status check_account_privileges(SessionState& session, const ast::Statement& statement) {
  bool own_password = false;
  if (statement.kind == StatementKind::SetPassword || statement.kind == StatementKind::AlterUser) {
    const auto& accounts = ast::as<ast::UserStatement>(statement).accounts;
    own_password = accounts.size() == 1 && accounts[0].name.user == "\1current";
  }
  if (own_password) return {};
  if (statement.kind != StatementKind::Grant) return session.require(privilege::kCreateUser, "CREATE USER");
  const auto& grant = ast::as<ast::GrantStatement>(statement);
  return grant.global ? session.require(privilege::kGrantOption, "GRANT OPTION")
                      : session.require_on_database(grant.db, privilege::kGrantOption);
}

}  // namespace

Task<Result<OkInfo>> execute_ddl(SessionState& session, const ast::Statement& statement) {
  COMMITD_CO_RETURN_IF_ERROR(require_data(session));
  COMMITD_CO_RETURN_IF_ERROR(check_ddl_privileges(session, statement));
  auto result = co_await locked_ddl(session, statement);
  rollback_transaction(session);  // gives the locks back where nothing was committed
  if (result.ok() && statement.kind == StatementKind::DropDatabase &&
      session.database == ast::as<ast::DatabaseStatement>(statement).name) {
    session.database.clear();
  }
  co_return result;
}

Task<Result<OkInfo>> execute_account_statement(SessionState& session, const ast::Statement& statement) {
  COMMITD_CO_RETURN_IF_ERROR(require_data(session));
  COMMITD_CO_RETURN_IF_ERROR(check_account_privileges(session, statement));
  auto result = co_await locked_account_statement(session, statement);
  rollback_transaction(session);
  co_return result;
}

}  // namespace commitd::sql
