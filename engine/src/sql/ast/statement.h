// Syntax trees of statements, by kind.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/value.h"
#include "sql/account.h"
#include "sql/ast/expression.h"

namespace commitd::sql::ast {

enum class StatementKind : uint8_t {
  Empty,
  Select,
  Insert,
  Update,
  Delete,
  Use,
  CreateDatabase,
  AlterDatabase,
  DropDatabase,
  CreateTable,
  DropTable,
  TruncateTable,
  AlterTable,
  RenameTable,
  CreateIndex,
  DropIndex,
  CreateServer,
  AlterServer,
  DropServer,
  Begin,
  Commit,
  Rollback,
  Savepoint,
  RollbackToSavepoint,
  ReleaseSavepoint,
  Set,
  SetTransaction,
  SetPassword,
  Show,
  Explain,
  Describe,
  Flush,
  PurgeLogs,
  ResetLogs,
  Kill,
  Shutdown,
  ControlInstance,
  ChangeSource,
  ReplicaThread,
  LockTables,
  UnlockTables,
  Backup,
  CreateUser,
  AlterUser,
  DropUser,
  Grant,
  Prepare,
  Execute,
  Deallocate,
  TableMaintenance,
  LoadData,
  ResetPersist,
  Do,
  Plugin,
  Binlog,
  Comment,  // nothing else
};

struct Statement {
  Statement(StatementKind kind_of) : kind(kind_of) {}
  StatementKind kind;
  std::string_view text;         // the statement as written, without the semicolon
  uint32_t parameter_count = 0;  // placeholders
};

struct TableName {
  std::string_view db, name;
};

// --- SELECT ---
// RIGHT JOIN is parsed as a LEFT JOIN with its sides exchanged.
enum class JoinKind : uint8_t { Inner, Left };
struct TableRef {
  TableName name;
  SelectStatement* derived = nullptr;
  std::string_view alias;
  JoinKind join = JoinKind::Inner;  // to everything left of it
  Expr* on = nullptr;
  List<std::string_view>* using_columns = nullptr;
  bool natural = false;
  bool exchanged = false;            // was the left side of a RIGHT JOIN
  List<TableRef>* nested = nullptr;  // a join in parentheses; `name` and `derived` are then unused
};
struct CommonTable {  // WITH name (columns) AS (select)
  std::string_view name;
  List<std::string_view>* columns = nullptr;
  SelectStatement* select = nullptr;
};
struct SelectItem {
  Expr* expression = nullptr;
  std::string_view alias;
};
enum class RowLock : uint8_t { None, Share, Update };
enum class LockedRows : uint8_t { Wait, NoWait, Skip };
struct SelectStatement : Statement {
  explicit SelectStatement(std::pmr::memory_resource* memory)
      : Statement(StatementKind::Select), items(memory), from(memory), group_by(memory), order_by(memory) {}
  bool distinct = false;
  bool calc_found_rows = false;
  List<SelectItem> items;
  List<TableRef> from;
  Expr* where = nullptr;
  List<Expr*> group_by;
  Expr* having = nullptr;
  List<OrderItem> order_by;
  Expr* limit = nullptr;
  Expr* offset = nullptr;
  RowLock lock = RowLock::None;
  LockedRows locked_rows = LockedRows::Wait;
  // UNION: the parts in order; `items` … `having` of this node are then unused, ORDER BY and LIMIT apply to
  // the whole.
  struct UnionPart {
    SelectStatement* select = nullptr;
    bool all = false;
  };
  List<UnionPart>* union_parts = nullptr;
  List<CommonTable>* with = nullptr;
};

// --- DML ---
struct Assignment {
  Expr* column = nullptr;
  Expr* value = nullptr;
};
enum class InsertMode : uint8_t { Insert, Replace };
struct InsertStatement : Statement {
  explicit InsertStatement(std::pmr::memory_resource* memory)
      : Statement(StatementKind::Insert), columns(memory), rows(memory), on_duplicate(memory) {}
  InsertMode mode = InsertMode::Insert;
  bool ignore = false;
  TableName table;
  List<std::string_view> columns;
  bool has_columns = false;
  List<List<Expr*>*> rows;
  SelectStatement* select = nullptr;
  List<Assignment> on_duplicate;
  std::string_view row_alias;
  uint64_t first_row = 1;  // how messages number the first one: LOAD DATA inserts in several steps
};
struct UpdateStatement : Statement {
  explicit UpdateStatement(std::pmr::memory_resource* memory)
      : Statement(StatementKind::Update), from(memory), assignments(memory), order_by(memory) {}
  bool ignore = false;
  List<TableRef> from;  // one table, or a join
  List<Assignment> assignments;
  Expr* where = nullptr;
  List<OrderItem> order_by;
  Expr* limit = nullptr;
};
struct DeleteStatement : Statement {
  explicit DeleteStatement(std::pmr::memory_resource* memory)
      : Statement(StatementKind::Delete), targets(memory), from(memory), order_by(memory) {}
  bool ignore = false;
  List<TableName> targets;  // of a join: what is deleted from, by name or alias; empty: DELETE FROM table
  List<TableRef> from;
  Expr* where = nullptr;
  List<OrderItem> order_by;
  Expr* limit = nullptr;
};

struct LoadDataStatement : Statement {
  explicit LoadDataStatement(std::pmr::memory_resource* memory)
      : Statement(StatementKind::LoadData), targets(memory), assignments(memory) {}
  bool local = false;
  std::string_view file;
  InsertMode mode = InsertMode::Insert;
  bool ignore = false;
  TableName table;
  std::string_view charset;
  std::string_view fields_terminated = "\t", enclosed, escaped = "\\";
  bool optionally_enclosed = false;
  std::string_view lines_starting, lines_terminated = "\n";
  uint64_t ignored_lines = 0;
  List<Expr*> targets;  // columns and user variables; empty = all columns in order
  List<Assignment> assignments;
};

// --- DDL ---
struct ColumnType {
  FieldType type = FieldType::Long;
  std::optional<uint32_t> length;
  std::optional<uint8_t> decimals;
  bool is_unsigned = false;
  bool binary_attribute = false;
  bool national = false;
  std::string_view charset, collation;
  List<std::string_view>* labels = nullptr;
};
struct CheckSpec {
  std::string_view name;  // empty: is given one
  Expr* expression = nullptr;
  std::string_view text;  // as written, without the parentheses around it
  bool enforced = true;
};
struct ColumnSpec {
  std::string_view name;
  ColumnType type;
  std::optional<bool> nullable;
  Expr* default_value = nullptr;  // a literal; null pointer = none given
  bool default_current_timestamp = false;
  bool on_update_current_timestamp = false;
  bool auto_increment = false;
  bool unique = false;
  bool primary = false;
  std::string_view comment;
  List<CheckSpec>* checks = nullptr;  // null pointer = none
};
struct IndexPart {
  std::string_view column;
  uint32_t prefix_length = 0;
};
struct IndexSpec {
  explicit IndexSpec(std::pmr::memory_resource* memory) : parts(memory) {}
  std::string_view name;
  List<IndexPart> parts;
  bool unique = false;
  bool primary = false;
};
struct TableOptions {
  std::string_view engine, charset, collation;
  std::optional<std::string_view> comment, connection;
  std::optional<uint64_t> auto_increment;
};
struct DatabaseStatement : Statement {  // USE, CREATE, ALTER, DROP DATABASE
  using Statement::Statement;
  std::string_view name;
  bool if_exists = false;  // IF [NOT] EXISTS
  std::string_view charset, collation;
};
struct ServerStatement : Statement {  // CREATE, ALTER, DROP SERVER
  using Statement::Statement;
  std::string_view name, wrapper;
  bool if_exists = false;
  std::optional<std::string_view> host, db, user, password, socket, owner;
  std::optional<uint32_t> port;
};
struct CreateTableStatement : Statement {
  explicit CreateTableStatement(std::pmr::memory_resource* memory)
      : Statement(StatementKind::CreateTable), columns(memory), indexes(memory), checks(memory) {}
  TableName table;
  bool if_not_exists = false;
  TableName like;
  List<ColumnSpec> columns;
  List<IndexSpec> indexes;
  List<CheckSpec> checks;  // of the table; those of columns stand with them
  TableOptions options;
};
struct DropTableStatement : Statement {
  explicit DropTableStatement(std::pmr::memory_resource* memory)
      : Statement(StatementKind::DropTable), tables(memory) {}
  bool if_exists = false;
  List<TableName> tables;
};
struct TableStatement : Statement {  // TRUNCATE
  using Statement::Statement;
  TableName table;
};
enum class Maintenance : uint8_t { Analyze, Check, Optimize, Repair, Checksum };
struct MaintenanceStatement : Statement {
  explicit MaintenanceStatement(std::pmr::memory_resource* memory)
      : Statement(StatementKind::TableMaintenance), tables(memory) {}
  Maintenance what = Maintenance::Analyze;
  bool quick = false;
  List<TableName> tables;
};
struct RenameTableStatement : Statement {
  explicit RenameTableStatement(std::pmr::memory_resource* memory)
      : Statement(StatementKind::RenameTable), renames(memory) {}
  struct Rename {
    TableName from, to;
  };
  List<Rename> renames;
};
struct AlterAction {
  explicit AlterAction(std::pmr::memory_resource* memory) : index(memory) {}
  enum class What : uint8_t {
    AddColumn,
    DropColumn,
    ModifyColumn,
    RenameColumn,
    SetDefault,
    DropDefault,
    AddIndex,
    DropIndex,
    RenameIndex,
    RenameTable,
    AddCheck,
    DropCheck,
    DropConstraint,
    EnforceCheck,
    ConvertCharset,
    Options,
    Nothing
  } what = What::Nothing;
  ColumnSpec column;  // AddColumn, ModifyColumn
  std::string_view name, new_name;
  bool first = false;
  std::string_view after;
  IndexSpec index;
  TableOptions options;
  TableName new_table;
  Expr* default_value = nullptr;
  CheckSpec check;  // AddCheck; EnforceCheck: only `enforced`
};
struct AlterTableStatement : Statement {  // also CREATE INDEX and DROP INDEX
  explicit AlterTableStatement(std::pmr::memory_resource* memory)
      : Statement(StatementKind::AlterTable), actions(memory) {}
  TableName table;
  List<AlterAction> actions;
};

// --- transactions, variables ---
struct BeginStatement : Statement {
  BeginStatement() : Statement(StatementKind::Begin) {}
  bool read_only = false;
  bool consistent_snapshot = false;
};
struct NameStatement
    : Statement {  // SAVEPOINT and what belongs to it, DEALLOCATE PREPARE, (UN)INSTALL PLUGIN
  using Statement::Statement;
  std::string_view name;
};
struct SetItem {
  enum class What : uint8_t { SystemVariable, UserVariable, Names, CharacterSet } what = What::SystemVariable;
  VariableScope scope = VariableScope::Unspecified;
  std::string_view name;
  Expr* value = nullptr;       // null pointer = DEFAULT
  std::string_view collation;  // SET NAMES … COLLATE
};
struct SetStatement : Statement {
  explicit SetStatement(std::pmr::memory_resource* memory) : Statement(StatementKind::Set), items(memory) {}
  List<SetItem> items;
};
struct ResetPersistStatement : Statement {
  ResetPersistStatement() : Statement(StatementKind::ResetPersist) {}
  std::string_view name;  // empty = all
  bool if_exists = false;
};
struct SetTransactionStatement : Statement {
  SetTransactionStatement() : Statement(StatementKind::SetTransaction) {}
  VariableScope scope = VariableScope::Unspecified;
  std::string_view isolation;  // as the variable spells it (READ-COMMITTED …), empty = not given
  std::optional<bool> read_only;
};

// --- administration ---
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
struct KillStatement : Statement {
  KillStatement() : Statement(StatementKind::Kill) {}
  bool query_only = false;
  Expr* id = nullptr;
};
struct ControlInstanceStatement : Statement {
  ControlInstanceStatement() : Statement(StatementKind::ControlInstance) {}
  enum class What : uint8_t { Initialize, Fence, Promote, Follow, Quorum, ReloadTls } what = What::Initialize;
  uint64_t epoch = 0, version = 0, wait_count = 0, port = 3306;
  std::string_view members, host, uuid, user, password;
};
struct ChangeSourceStatement : Statement {
  ChangeSourceStatement() : Statement(StatementKind::ChangeSource) {}
  std::string_view host, user, password;
  uint64_t port = 3306;
  bool auto_position = false;
};
struct ReplicaThreadStatement : Statement {
  ReplicaThreadStatement() : Statement(StatementKind::ReplicaThread) {}
  bool start = false;
};

// --- accounts ---
struct AccountName {
  std::string_view user, host = "%";
};
struct AccountSpec {
  AccountName name;
  bool has_authentication = false;
  std::string_view plugin;
  std::string_view password;  // clear text
  std::string_view hash;      // IDENTIFIED WITH plugin AS 'hash'
  bool has_password = false, has_hash = false;
};
struct UserStatement : Statement {  // CREATE, ALTER, DROP USER, SET PASSWORD
  UserStatement(StatementKind kind_of, std::pmr::memory_resource* memory)
      : Statement(kind_of), accounts(memory) {}
  bool if_exists = false;  // IF [NOT] EXISTS
  List<AccountSpec> accounts;
  std::optional<bool> locked;
  std::optional<TlsRequirement> require;
};
struct GrantStatement : Statement {  // GRANT and REVOKE
  explicit GrantStatement(std::pmr::memory_resource* memory)
      : Statement(StatementKind::Grant), privileges(memory), accounts(memory) {}
  bool revoke = false;
  bool with_grant_option = false;
  bool global = false;      // ON *.*
  bool everything = false;  // REVOKE ALL PRIVILEGES, GRANT OPTION FROM …
  std::string_view db;      // ON db.* or db.table
  std::string_view table;
  List<std::string_view> privileges;  // upper case: "SELECT", "ALL" …
  List<AccountName> accounts;
};

// --- prepared statements in SQL ---
struct PrepareStatement : Statement {
  PrepareStatement() : Statement(StatementKind::Prepare) {}
  std::string_view name;
  std::string_view source;
  std::string_view source_variable;
};
struct ExecuteStatement : Statement {
  explicit ExecuteStatement(std::pmr::memory_resource* memory)
      : Statement(StatementKind::Execute), variables(memory) {}
  std::string_view name;
  List<std::string_view> variables;
};
struct DoStatement : Statement {
  explicit DoStatement(std::pmr::memory_resource* memory)
      : Statement(StatementKind::Do), expressions(memory) {}
  List<Expr*> expressions;
};

template <class T>
const T& as(const Statement& statement) {
  return static_cast<const T&>(statement);
}

}  // namespace commitd::sql::ast
