// Syntax trees of SHOW, and of what administrates the server, its log and its replication.
#pragma once

#include <optional>

#include "sql/ast/expression.h"
#include "sql/ast/statement.h"

namespace commitd::sql::ast {

enum class ShowWhat : uint8_t {
  Databases,
  Tables,
  Columns,
  Indexes,
  CreateTable,
  CreateDatabase,
  TableStatus,
  Variables,
  Status,
  Engines,
  EngineStatus,
  Warnings,
  Errors,
  Processlist,
  Grants,
  CharacterSets,
  Collations,
  BinaryLogs,
  BinaryLogStatus,
  ReplicaStatus,
  Replicas,
  BinlogEvents,
  RelaylogEvents,
  Plugins,
  Privileges,
  Triggers,
  OpenTables,
  ProcedureStatus,
  FunctionStatus,
  Events,
  CountWarnings,
};
struct ShowStatement : Statement {
  ShowStatement() : Statement(StatementKind::Show) {}
  ShowWhat what = ShowWhat::Databases;
  VariableScope scope = VariableScope::Unspecified;
  bool full = false;
  bool if_not_exists = false;  // SHOW CREATE DATABASE IF NOT EXISTS: shows a statement that has it, too
  TableName table;
  std::string_view user, host;
  bool has_like = false;
  std::string_view like;
  Expr* where = nullptr;
  std::string_view engine;  // SHOW ENGINE … STATUS; empty = all
  std::string_view log_name;
  uint64_t log_position = 4;
  Expr* limit = nullptr;
  Expr* offset = nullptr;
};
struct ExplainStatement : Statement {
  ExplainStatement() : Statement(StatementKind::Explain) {}
  Statement* statement = nullptr;
};
struct FlushStatement : Statement {
  FlushStatement() : Statement(StatementKind::Flush) {}
  bool binary_logs = false;
  bool relay_logs = false;
  bool engine_logs = false;
  bool slow_logs = false;
  bool tables_with_read_lock = false;
  bool status = false;
};
struct PurgeLogsStatement : Statement {
  PurgeLogsStatement() : Statement(StatementKind::PurgeLogs) {}
  std::string_view to;
  Expr* before = nullptr;  // set: by time, not by name
};
struct LockTablesStatement : Statement {
  explicit LockTablesStatement(std::pmr::memory_resource* memory)
      : Statement(StatementKind::LockTables), tables(memory) {}
  struct Table {
    TableName name;
    bool write = false;
  };
  List<Table> tables;
};
struct BackupStatement : Statement {
  BackupStatement() : Statement(StatementKind::Backup) {}
  std::string_view directory;
};
struct BinlogStatement : Statement {
  BinlogStatement() : Statement(StatementKind::Binlog) {}
  std::string_view events;  // base64
};
struct PluginStatement : Statement {
  PluginStatement() : Statement(StatementKind::Plugin) {}
  bool install = false;  // false: UNINSTALL
  std::string_view name, library;
};
struct KillStatement : Statement {
  KillStatement() : Statement(StatementKind::Kill) {}
  bool query_only = false;
  Expr* id = nullptr;
};
struct ControlInstanceStatement : Statement {
  ControlInstanceStatement() : Statement(StatementKind::ControlInstance) {}
  enum class What : uint8_t {
    Initialize,
    Fence,
    Promote,
    Follow,
    Quorum,
    Handover,
    ReloadTls,
    Clone
  } what = What::Initialize;
  uint64_t epoch = 0, version = 0, wait_count = 0, port = 3306;
  std::optional<uint64_t> timeout, lease;
  std::string_view members, host, uuid, user, password, source_name, on_timeout, wait_point;
};
struct CloneStatement : ControlInstanceStatement {  // of the donor: host, port, user, password
  CloneStatement() { what = What::Clone; }
  bool local = false;
  std::string_view directory;  // empty: this server's own
  enum class Tls : uint8_t { Preferred, Required, Refused } tls = Tls::Preferred;
};
struct SourceOption {
  enum class Kind : uint8_t { Text, TextOrNull, TextOrWord, Number, Decimal };
  std::string_view name;  // as MySQL 8.4 spells it
  std::string_view text;
  uint64_t number = 0;
};
struct ChangeSourceStatement : Statement {
  explicit ChangeSourceStatement(std::pmr::memory_resource* memory)
      : Statement(StatementKind::ChangeSource), options(memory) {}
  List<SourceOption> options;
};
struct ReplicaThreadStatement : Statement {
  ReplicaThreadStatement() : Statement(StatementKind::ReplicaThread) {}
  bool start = false;
  bool receiver = true, applier = true;  // IO_THREAD, SQL_THREAD
  enum class Until : uint8_t { None, BeforeGtids, AfterGtids, SourcePlace, AfterGaps };
  Until until = Until::None;
  std::string_view until_gtids;
  std::string_view until_file;
  uint64_t until_position = 0;  // 0: not named
};
struct ResetReplicaStatement : Statement {
  ResetReplicaStatement() : Statement(StatementKind::ResetReplica) {}
  bool all = false;
};
struct ChangeFilterStatement : Statement {
  explicit ChangeFilterStatement(std::pmr::memory_resource* memory)
      : Statement(StatementKind::ChangeFilter), rules(memory), values(memory) {}
  struct Rule {
    std::string_view name;      // as MySQL spells it
    size_t first = 0, end = 0;  // of its values
  };
  List<Rule> rules;
  List<std::string_view> values;
};

}  // namespace commitd::sql::ast
