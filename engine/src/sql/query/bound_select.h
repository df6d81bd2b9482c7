// A SELECT with all its names resolved.
#pragma once

#include <memory>
#include <vector>

#include "sql/ast/select.h"
#include "sql/executor/statement_context.h"
#include "sql/query/table_reader.h"

namespace commitd::sql {

struct BoundOrder {
  ExpressionPtr expression;  // null: the select item with number `item`
  size_t item = 0;
  bool descending = false;
};

struct BoundSelect {
  Scope scope;
  std::vector<JoinNest> nests;
  std::vector<BoundCondition> on;
  Expressions items;
  std::vector<ResultColumn> columns;
  ExpressionPtr where, having;
  Expressions group_by;
  std::vector<AggregateCall> aggregates;
  std::vector<BoundOrder> order_by;
  bool grouped = false;  // GROUP BY, or aggregates without it
  bool distinct = false;
  bool calc_found_rows = false;
  bool keeps_order = false;  // of its tables
  uint64_t limit = UINT64_MAX, offset = 0;
  txn::ReadMode mode = txn::ReadMode::Snapshot;
  txn::LockedRows locked_rows = txn::LockedRows::Wait;
};

// `from` is select.from, opened. `outer` (may be null): where names are looked up that are none here.
Result<std::unique_ptr<BoundSelect>> bind_select(StatementContext& context,
                                                 const ast::SelectStatement& select, FromClause from,
                                                 Binder* outer = nullptr);

}  // namespace commitd::sql
