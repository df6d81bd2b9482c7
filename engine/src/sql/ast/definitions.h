// Syntax trees of what defines databases, tables and servers.
#pragma once

#include <optional>

#include "base/value.h"
#include "sql/ast/expression.h"
#include "sql/ast/statement.h"

namespace commitd::sql::ast {

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
  std::string_view text;      // as written, without the parentheses around it
  uint8_t open_comments = 0;  // version comments that the text begins in
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
  bool descending = false;
};
struct IndexSpec {
  explicit IndexSpec(std::pmr::memory_resource* memory) : parts(memory) {}
  std::string_view name;
  List<IndexPart> parts;
  bool unique = false;
  bool primary = false;
  std::string_view comment;
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
  bool temporary = false;
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

}  // namespace commitd::sql::ast
