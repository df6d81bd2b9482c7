// The syntax tree of a SELECT.
#pragma once

#include "sql/ast/expression.h"
#include "sql/ast/statement.h"

namespace commitd::sql::ast {

// RIGHT JOIN is parsed as a LEFT JOIN with its sides exchanged.
enum class JoinKind : uint8_t { Inner, Left, Straight };
struct TableRef {
  TableName name;
  SelectStatement* derived = nullptr;
  std::string_view alias;
  JoinKind join = JoinKind::Inner;  // to everything left of it
  Expr* on = nullptr;
  List<std::string_view>* using_columns = nullptr;
  bool natural = false;
  bool exchanged = false;                    // was the left side of a RIGHT JOIN
  List<std::string_view>* hinted = nullptr;  // the indexes that USE, FORCE and IGNORE INDEX name
  List<TableRef>* nested = nullptr;          // a join in parentheses; `name` and `derived` are then unused
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
  bool straight_join = false;
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

}  // namespace commitd::sql::ast
