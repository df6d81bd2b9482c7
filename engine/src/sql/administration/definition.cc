// DDL and account statements of clients: check, lock, plan, commit. Only one runs at a time in the whole
// server, so that the catalog's counters and the log agree on the order.
#include "base/error_codes.h"
#include "sql/accounts/account_statements.h"
#include "sql/ast/accounts.h"
#include "sql/ast/definitions.h"
#include "sql/change/row_checks.h"
#include "sql/change/rows_in_memory.h"
#include "sql/ddl/ddl.h"
#include "sql/executor/statements.h"
#include "sql/executor/turn.h"
#include "sql/information_schema/virtual_table.h"
#include "sql/parser/logged_text.h"
#include "storage/engine_router.h"
#include "storage/table_engines.h"

namespace commitd::sql {
namespace {

using ast::StatementKind;

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
    case StatementKind::CreateServer:
    case StatementKind::AlterServer:
    case StatementKind::DropServer:
      return session.require(privilege::kSuper, "SUPER");
    default:
      return {};
  }
}

// Nothing of it is logged: it is this server's own.
Result<OkInfo> truncate_virtual(SessionState& session, const VirtualTable& table) {
  const TableDef& definition = *table.definition;
  if (!table.truncate) {
    return make_error(er::kTableaccessDenied, "DROP command denied to user '{}'@'{}' for table '{}'",
                      session.account.user, session.client_host, definition.name);
  }
  COMMITD_RETURN_IF_ERROR(session.require_on_table(definition.db, definition.name, privilege::kDrop, "DROP"));
  table.truncate();
  return OkInfo{};
}

// Ends whatever is open and takes the locks of a definition change. Tables first: who waits for one must not
// hold up every other definition.
Task<Status> enter_definition(SessionState& session,
                              std::vector<std::pair<std::string, std::string>> tables) {
  COMMITD_CO_RETURN_IF_ERROR(co_await implicit_commit(session));
  COMMITD_CO_RETURN_IF_ERROR(check_may_write(session));
  begin_if_needed(session);
  if (!session.table_locks.tables_locked())
    COMMITD_CO_RETURN_IF_ERROR(co_await stand_beside_global_lock(*session.transaction));
  for (const auto& [db, table] : tables) {
    const bool is_there = session.server.catalog->find_table(db, table) != nullptr;
    if (is_there) COMMITD_CO_RETURN_IF_ERROR(session.table_locks.check(db, table, true));
    if (session.table_locks.covers(db, table)) continue;
    COMMITD_CO_RETURN_IF_ERROR(co_await session.transaction->lock_table(db, table, txn::LockMode::Exclusive));
  }
  co_return co_await lock_definitions(*session.transaction);
}

// What a statement changes is known for certain when definitions stand still: a database may have got another
// table while its tables were waited for.
Task<Status> enter_definition_of(SessionState& session, const ast::Statement& statement) {
  for (;;) {
    auto tables = ddl::locked_tables(statement, *session.server.catalog, session.database);
    if (statement.kind == StatementKind::CreateTable)
      COMMITD_CO_RETURN_IF_ERROR(session.table_locks.check(tables[0].first, tables[0].second, true));
    COMMITD_CO_RETURN_IF_ERROR(co_await enter_definition(session, tables));
    if (ddl::locked_tables(statement, *session.server.catalog, session.database) == tables) break;
    rollback_transaction(session);
  }
  co_return Status();
}

Result<ddl::Context::RowCheck> row_check(SessionState& session, const TableDef& table) {
  auto checks = std::make_shared<RowChecks>();
  COMMITD_RETURN_IF_ERROR(checks->bind(session, std::make_shared<const TableDef>(table)));
  return ddl::Context::RowCheck([checks](const Row& row) { return checks->verify(row); });
}

// default_storage_engine, where it decides: empty when the statement says it, or it is the first engine under
// any of its names.
std::string_view default_engine(const SessionState& session, const ast::Statement& statement) {
  if (statement.kind != StatementKind::CreateTable) return {};
  const auto& create = ast::as<ast::CreateTableStatement>(statement);
  if (!create.options.engine.empty() || !create.like.name.empty()) return {};
  const std::string_view name = session.variables.text(kDefaultStorageEngine);
  return storage::find_table_engine(name) == &storage::table_engines()[0] ? std::string_view() : name;
}

Task<Result<OkInfo>> locked_ddl(SessionState& session, const ast::Statement& statement) {
  COMMITD_CO_RETURN_IF_ERROR(co_await enter_definition_of(session, statement));
  ddl::Context context{.catalog = *session.server.catalog,
                       .engine = *session.server.engine,
                       .default_db = session.database,
                       .diagnostics = session.diagnostics};
  ddl::set_value_rules(context, session.settings.sql_mode, session.settings.time_zone_offset);
  context.row_check = [&session](const TableDef& table) { return row_check(session, table); };
  context.default_engine = default_engine(session, statement);
  context.needs_primary_key = session.variables.boolean(kSqlRequirePrimaryKey);
  Turn turn;
  context.on_row = [&] { return turn.count(session); };
  auto effect = [&] {
    const Turn::PlainCode plain(turn);
    return ddl::plan(statement, context);
  }();
  if (!effect.ok()) co_return std::move(effect).error();
  std::string logged = logged_text(statement, session.settings.sql_mode);
  if (!context.default_engine.empty()) logged.append("\nENGINE=").append(context.default_engine);
  // It changes nothing, but says that rows were numbered: where commitd's statement lacks it, they were not.
  if (effect->numbered) logged += "\n, AUTO_INCREMENT=1";
  OkInfo ok;
  ok.affected_rows = effect->affected_rows;
  auto* memory = storage::tables_in_memory(*session.server.engine);
  if (memory != nullptr && effect->rewritten && storage::engine_of(*effect->rewritten).in_memory) {
    COMMITD_CO_RETURN_IF_ERROR(
        memory->check_room(*effect->rewritten, effect->writes.byte_size(), max_heap_table_size(session)));
  }
  if (effect->leaves_memory && effect->affected_rows != 0) {
    COMMITD_CO_RETURN_IF_ERROR(co_await move_out_of_memory(
        session, ast::as<ast::AlterTableStatement>(statement), logged, *effect, context));
  } else if (!effect->nothing) {
    COMMITD_CO_RETURN_IF_ERROR(co_await session.transaction->commit_statement(
        session.database, logged, std::move(effect->writes), std::move(effect->publish)));
  }
  co_return ok;
}

Task<Result<OkInfo>> locked_account_statement(SessionState& session, const ast::Statement& statement) {
  COMMITD_CO_RETURN_IF_ERROR(co_await enter_definition(session, {}));
  session.refresh_account();
  auto effect = plan_account_statement(statement, *session.server.accounts, session.record.get(),
                                       session.database, session.diagnostics);
  if (!effect.ok()) co_return std::move(effect).error();
  if (!effect->nothing) {
    COMMITD_CO_RETURN_IF_ERROR(co_await session.transaction->commit_statement(
        "mysql", effect->logged, std::move(effect->writes), std::move(effect->publish)));
  }
  co_return OkInfo{};
}

// Who grants must hold what is granted, with GRANT OPTION; a table must be there unless it may be created.
Status check_grant(SessionState& session, const ast::GrantStatement& grant) {
  if (grant.everything) return session.require(privilege::kCreateUser, "CREATE USER");
  const Privileges all = grant.global          ? privilege::kAllGlobal
                         : grant.table.empty() ? privilege::kAllOnDatabase
                                               : privilege::kAllOnTable;
  Privileges wanted = privilege::kGrantOption;
  for (std::string_view name : grant.privileges)
    wanted |= name == "ALL" ? all : privilege::parse(name).value_or(0);
  if (grant.global)
    return session.require(wanted, privilege::to_text(wanted, privilege::kAllGlobal) + ", GRANT OPTION");
  const std::string_view db = database_named(session, grant.db);
  if (db.empty()) return make_error(er::kNoDb, "No database selected");
  if (grant.table.empty()) return session.require_on_database(db, wanted);
  COMMITD_RETURN_IF_ERROR(session.require_on_table(db, grant.table, wanted, "GRANT"));
  if (grant.revoke || (wanted & privilege::kCreate) != 0 ||
      session.server.catalog->find_table(db, grant.table) != nullptr)
    return {};
  return make_error(er::kNoSuchTable, "Table '{}.{}' doesn't exist", db, grant.table);
}

Status check_account_privileges(SessionState& session, const ast::Statement& statement) {
  // REQUIRE and ACCOUNT LOCK are what others demand of an account: its owner does not take them away.
  bool own_password = false;
  if (statement.kind == StatementKind::SetPassword || statement.kind == StatementKind::AlterUser) {
    const auto& change = ast::as<ast::UserStatement>(statement);
    own_password = change.accounts.size() == 1 && change.accounts[0].name.user == "\1current" &&
                   !change.require && !change.locked;
  }
  if (own_password) return {};
  if (statement.kind != StatementKind::Grant) return session.require(privilege::kCreateUser, "CREATE USER");
  return check_grant(session, ast::as<ast::GrantStatement>(statement));
}

// A definition change ends a transaction, but not one that promised to change nothing.
Status check_not_read_only(const SessionState& session) {
  const bool open = session.transaction && session.transaction->active();
  const bool read_only =
      open ? session.transaction_read_only : session.next_read_only.value_or(session.settings.read_only);
  if (!read_only) return {};
  return make_error(er::kCantExecuteInReadOnlyTransaction,
                    "Cannot execute statement in a READ ONLY transaction.");
}

}  // namespace

Task<Status> lock_definitions(txn::Transaction& transaction) {
  constexpr std::string_view kNoName;  // no table has it
  co_return co_await transaction.lock_table(kNoName, kNoName, txn::LockMode::Exclusive);
}

Task<Result<OkInfo>> execute_ddl(SessionState& session, const ast::Statement& statement) {
  if (statement.kind == StatementKind::TruncateTable) {
    const ast::TableName& name = ast::as<ast::TableStatement>(statement).table;
    if (const VirtualTable* table = find_virtual_table(database_named(session, name.db), name.name))
      co_return truncate_virtual(session, *table);
  }
  if (statement.kind == StatementKind::DropTable) {
    const auto& drop = ast::as<ast::DropTableStatement>(statement);
    if (drop.temporary) {  // ends no transaction
      COMMITD_CO_RETURN_IF_ERROR(ddl::drop_temporary_tables(drop, session.database, session.diagnostics));
      co_return OkInfo{};
    }
  }
  COMMITD_CO_RETURN_IF_ERROR(require_data(session));
  COMMITD_CO_RETURN_IF_ERROR(check_not_read_only(session));
  COMMITD_CO_RETURN_IF_ERROR(check_ddl_privileges(session, statement));
  if (statement.kind == StatementKind::AlterTable || statement.kind == StatementKind::CreateIndex ||
      statement.kind == StatementKind::DropIndex) {
    const ast::TableName& altered = ast::as<ast::AlterTableStatement>(statement).table;
    COMMITD_CO_RETURN_IF_ERROR(co_await implicit_commit(session));
    COMMITD_CO_RETURN_IF_ERROR(
        co_await empty_if_rows_are_lost(session, database_named(session, altered.db), altered.name));
  }
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
  COMMITD_CO_RETURN_IF_ERROR(check_not_read_only(session));
  COMMITD_CO_RETURN_IF_ERROR(check_account_privileges(session, statement));
  auto result = co_await locked_account_statement(session, statement);
  rollback_transaction(session);
  co_return result;
}

}  // namespace commitd::sql
