// Status variables that a session counts: SHOW SESSION STATUS shows its own, SHOW GLOBAL STATUS the sum over
// all sessions, past and present. A session counts without locked instructions: only it writes.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

#include "sql/ast/statement.h"

namespace commitd::sql {

enum class StatusVariable : uint8_t {
  Questions,
  HandlerCommit,
  HandlerDelete,
  HandlerReadFirst,
  HandlerReadKey,
  HandlerReadLast,
  HandlerReadNext,
  HandlerReadPrev,
  HandlerRollback,
  HandlerSavepoint,
  HandlerSavepointRollback,
  HandlerUpdate,
  HandlerWrite,
  SelectFullJoin,
  SelectRange,
  SelectScan,
  SlowQueries,
  ComFirst,  // the commands, in the order of command_names
};

inline constexpr size_t kFirstCommand = static_cast<size_t>(StatusVariable::ComFirst);
inline constexpr auto command_names = std::to_array<std::string_view>({"alter_db",
                                                                       "alter_instance",
                                                                       "alter_server",
                                                                       "alter_table",
                                                                       "alter_user",
                                                                       "analyze",
                                                                       "begin",
                                                                       "change_db",
                                                                       "change_repl_filter",
                                                                       "change_replication_source",
                                                                       "check",
                                                                       "commit",
                                                                       "create_db",
                                                                       "create_index",
                                                                       "create_server",
                                                                       "create_table",
                                                                       "create_user",
                                                                       "dealloc_sql",
                                                                       "delete",
                                                                       "do",
                                                                       "drop_db",
                                                                       "drop_index",
                                                                       "drop_server",
                                                                       "drop_table",
                                                                       "drop_user",
                                                                       "empty_query",
                                                                       "execute_sql",
                                                                       "explain",
                                                                       "flush",
                                                                       "grant",
                                                                       "insert",
                                                                       "install_plugin",
                                                                       "kill",
                                                                       "load",
                                                                       "lock_tables",
                                                                       "optimize",
                                                                       "prepare_sql",
                                                                       "purge",
                                                                       "release_savepoint",
                                                                       "rename_table",
                                                                       "repair",
                                                                       "replace",
                                                                       "replica_start",
                                                                       "replica_stop",
                                                                       "reset",
                                                                       "revoke",
                                                                       "rollback",
                                                                       "rollback_to_savepoint",
                                                                       "savepoint",
                                                                       "select",
                                                                       "set_option",
                                                                       "set_password",
                                                                       "show_binary_log_status",
                                                                       "show_binlog_events",
                                                                       "show_binlogs",
                                                                       "show_charsets",
                                                                       "show_collations",
                                                                       "show_create_db",
                                                                       "show_create_table",
                                                                       "show_databases",
                                                                       "show_engine_status",
                                                                       "show_errors",
                                                                       "show_fields",
                                                                       "show_function_status",
                                                                       "show_grants",
                                                                       "show_keys",
                                                                       "show_open_tables",
                                                                       "show_plugins",
                                                                       "show_privileges",
                                                                       "show_procedure_status",
                                                                       "show_processlist",
                                                                       "show_replica_status",
                                                                       "show_replicas",
                                                                       "show_status",
                                                                       "show_storage_engines",
                                                                       "show_table_status",
                                                                       "show_tables",
                                                                       "show_triggers",
                                                                       "show_variables",
                                                                       "show_warnings",
                                                                       "shutdown",
                                                                       "stmt_close",
                                                                       "stmt_execute",
                                                                       "stmt_prepare",
                                                                       "truncate",
                                                                       "uninstall_plugin",
                                                                       "unlock_tables",
                                                                       "update",
                                                                       "other"});
inline constexpr size_t kStatusVariables = kFirstCommand + command_names.size();

constexpr StatusVariable command_variable(std::string_view name) {
  size_t i = 0;
  while (command_names[i] != name) ++i;  // does not compile for a name that is not there
  return static_cast<StatusVariable>(kFirstCommand + i);
}
StatusVariable command_of(const ast::Statement& statement);
// "Com_select", "Handler_write" …
std::string_view status_variable_name(size_t ordinal);

class StatusCounters {
 public:
  using Values = std::array<uint64_t, kStatusVariables>;

  void add(StatusVariable variable, uint64_t count = 1) {
    auto& value = values_[static_cast<size_t>(variable)];
    value.store(value.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
  }
  // From any thread.
  void add_to(Values& sum) const;
  // By the session itself.
  void clear();

 private:
  std::array<std::atomic<uint64_t>, kStatusVariables> values_{};
};

}  // namespace commitd::sql
