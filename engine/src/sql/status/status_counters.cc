#include "sql/status/status_counters.h"

#include <string>
#include <vector>

#include "sql/ast/administration.h"
#include "sql/ast/changes.h"
#include "sql/ast/definitions.h"

namespace commitd::sql {
namespace {

using ast::ShowWhat;
using ast::StatementKind;

bool same_word(std::string_view word, std::string_view lower) {
  if (word.size() != lower.size()) return false;
  for (size_t i = 0; i < word.size(); ++i) {
    if ((word[i] | 0x20) != lower[i]) return false;
  }
  return true;
}

StatusVariable show_command(ShowWhat what) {
  switch (what) {
    case ShowWhat::Databases:
      return command_variable("show_databases");
    case ShowWhat::Tables:
      return command_variable("show_tables");
    case ShowWhat::Columns:
      return command_variable("show_fields");
    case ShowWhat::Indexes:
      return command_variable("show_keys");
    case ShowWhat::CreateTable:
      return command_variable("show_create_table");
    case ShowWhat::CreateDatabase:
      return command_variable("show_create_db");
    case ShowWhat::TableStatus:
      return command_variable("show_table_status");
    case ShowWhat::Variables:
      return command_variable("show_variables");
    case ShowWhat::Status:
      return command_variable("show_status");
    case ShowWhat::Engines:
      return command_variable("show_storage_engines");
    case ShowWhat::EngineStatus:
      return command_variable("show_engine_status");
    case ShowWhat::Warnings:
      return command_variable("show_warnings");
    case ShowWhat::Errors:
      return command_variable("show_errors");
    case ShowWhat::Processlist:
      return command_variable("show_processlist");
    case ShowWhat::Grants:
      return command_variable("show_grants");
    case ShowWhat::CharacterSets:
      return command_variable("show_charsets");
    case ShowWhat::Collations:
      return command_variable("show_collations");
    case ShowWhat::BinaryLogs:
      return command_variable("show_binlogs");
    case ShowWhat::BinaryLogStatus:
      return command_variable("show_binary_log_status");
    case ShowWhat::ReplicaStatus:
      return command_variable("show_replica_status");
    case ShowWhat::Replicas:
      return command_variable("show_replicas");
    case ShowWhat::BinlogEvents:
      return command_variable("show_binlog_events");
    case ShowWhat::Plugins:
      return command_variable("show_plugins");
    case ShowWhat::Privileges:
      return command_variable("show_privileges");
    case ShowWhat::Triggers:
      return command_variable("show_triggers");
    case ShowWhat::OpenTables:
      return command_variable("show_open_tables");
    case ShowWhat::ProcedureStatus:
      return command_variable("show_procedure_status");
    case ShowWhat::FunctionStatus:
      return command_variable("show_function_status");
    default:
      return command_variable("other");
  }
}

StatusVariable maintenance_command(ast::Maintenance what) {
  if (what == ast::Maintenance::Analyze) return command_variable("analyze");
  if (what == ast::Maintenance::Check) return command_variable("check");
  if (what == ast::Maintenance::Repair) return command_variable("repair");
  if (what == ast::Maintenance::Optimize) return command_variable("optimize");
  return command_variable("other");
}

StatusVariable account_or_session_command(const ast::Statement& statement) {
  switch (statement.kind) {
    case StatementKind::CreateUser:
      return command_variable("create_user");
    case StatementKind::AlterUser:
      return command_variable("alter_user");
    case StatementKind::DropUser:
      return command_variable("drop_user");
    case StatementKind::Grant:
      return same_word(statement.text.substr(0, 6), "revoke") ? command_variable("revoke")
                                                              : command_variable("grant");
    case StatementKind::SetPassword:
      return command_variable("set_password");
    case StatementKind::Set:
    case StatementKind::SetTransaction:
      return command_variable("set_option");
    case StatementKind::Use:
      return command_variable("change_db");
    case StatementKind::LoadData:
      return command_variable("load");
    case StatementKind::Do:
      return command_variable("do");
    case StatementKind::LockTables:
      return command_variable("lock_tables");
    case StatementKind::UnlockTables:
      return command_variable("unlock_tables");
    case StatementKind::Prepare:
      return command_variable("prepare_sql");
    case StatementKind::Execute:
      return command_variable("execute_sql");
    case StatementKind::Deallocate:
      return command_variable("dealloc_sql");
    case StatementKind::Empty:
      return command_variable("empty_query");
    case StatementKind::Explain:
      return command_variable("explain");
    case StatementKind::Describe:
      return command_variable("show_fields");
    default:
      return command_variable("other");
  }
}

StatusVariable administration_command(const ast::Statement& statement) {
  switch (statement.kind) {
    case StatementKind::Flush:
      return command_variable("flush");
    case StatementKind::PurgeLogs:
      return command_variable("purge");
    case StatementKind::ResetLogs:
      return command_variable("reset");
    case StatementKind::Kill:
      return command_variable("kill");
    case StatementKind::Shutdown:
      return command_variable("shutdown");
    case StatementKind::ControlInstance:
      return command_variable("alter_instance");
    case StatementKind::ChangeSource:
      return command_variable("change_replication_source");
    case StatementKind::ReplicaThread:
      return ast::as<ast::ReplicaThreadStatement>(statement).start ? command_variable("replica_start")
                                                                   : command_variable("replica_stop");
    case StatementKind::ResetReplica:
      return command_variable("reset");
    case StatementKind::ChangeFilter:
      return command_variable("change_repl_filter");
    case StatementKind::TableMaintenance:
      return maintenance_command(ast::as<ast::MaintenanceStatement>(statement).what);
    case StatementKind::Plugin:
      return command_variable(ast::as<ast::PluginStatement>(statement).install ? "install_plugin"
                                                                               : "uninstall_plugin");
    default:
      return account_or_session_command(statement);
  }
}

StatusVariable definition_command(const ast::Statement& statement) {
  switch (statement.kind) {
    case StatementKind::CreateDatabase:
      return command_variable("create_db");
    case StatementKind::AlterDatabase:
      return command_variable("alter_db");
    case StatementKind::DropDatabase:
      return command_variable("drop_db");
    case StatementKind::CreateTable:
      return command_variable("create_table");
    case StatementKind::DropTable:
      return command_variable("drop_table");
    case StatementKind::TruncateTable:
      return command_variable("truncate");
    case StatementKind::AlterTable:
      return command_variable("alter_table");
    case StatementKind::RenameTable:
      return command_variable("rename_table");
    case StatementKind::CreateIndex:
      return command_variable("create_index");
    case StatementKind::DropIndex:
      return command_variable("drop_index");
    case StatementKind::CreateServer:
      return command_variable("create_server");
    case StatementKind::AlterServer:
      return command_variable("alter_server");
    case StatementKind::DropServer:
      return command_variable("drop_server");
    default:
      return administration_command(statement);
  }
}

}  // namespace

StatusVariable command_of(const ast::Statement& statement) {
  // As constants, so that no name is looked for at run time.
  constexpr StatusVariable kSelect = command_variable("select"), kReplace = command_variable("replace"),
                           kInsert = command_variable("insert"), kUpdate = command_variable("update"),
                           kDelete = command_variable("delete"), kBegin = command_variable("begin"),
                           kCommit = command_variable("commit"), kRollback = command_variable("rollback");
  switch (statement.kind) {
    case StatementKind::Select:
      return kSelect;
    case StatementKind::Insert:
      return ast::as<ast::InsertStatement>(statement).mode == ast::InsertMode::Replace ? kReplace : kInsert;
    case StatementKind::Update:
      return kUpdate;
    case StatementKind::Delete:
      return kDelete;
    case StatementKind::Begin:
      return kBegin;
    case StatementKind::Commit:
      return kCommit;
    case StatementKind::Rollback:
      return kRollback;
    case StatementKind::Savepoint:
      return command_variable("savepoint");
    case StatementKind::RollbackToSavepoint:
      return command_variable("rollback_to_savepoint");
    case StatementKind::ReleaseSavepoint:
      return command_variable("release_savepoint");
    case StatementKind::Show:
      return show_command(ast::as<ast::ShowStatement>(statement).what);
    default:
      return definition_command(statement);
  }
}

std::string_view status_variable_name(size_t ordinal) {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all{"Questions",
                                 "Handler_commit",
                                 "Handler_delete",
                                 "Handler_read_first",
                                 "Handler_read_key",
                                 "Handler_read_last",
                                 "Handler_read_next",
                                 "Handler_read_prev",
                                 "Handler_rollback",
                                 "Handler_savepoint",
                                 "Handler_savepoint_rollback",
                                 "Handler_update",
                                 "Handler_write",
                                 "Select_full_join",
                                 "Select_range",
                                 "Select_scan",
                                 "Slow_queries"};
    for (const std::string_view command : command_names) all.push_back("Com_" + std::string(command));
    return all;
  }();
  return names[ordinal];
}

void StatusCounters::add_to(Values& sum) const {
  for (size_t i = 0; i < values_.size(); ++i) sum[i] += values_[i].load(std::memory_order_relaxed);
}

void StatusCounters::clear() {
  for (auto& value : values_) value.store(0, std::memory_order_relaxed);
}

}  // namespace commitd::sql
