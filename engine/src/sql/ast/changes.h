// Syntax trees of what changes rows: INSERT, REPLACE, UPDATE, DELETE, LOAD DATA.
#pragma once

#include "sql/ast/select.h"

namespace commitd::sql::ast {

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

}  // namespace commitd::sql::ast
