// A SELECT with all its names resolved.
#pragma once

#include <memory>
#include <vector>

#include "sql/executor/statement_context.h"
#include "sql/executor/table_reader.h"

namespace commitd::sql {

struct BoundOrder {
  ExpressionPtr expression;  // null: the select item with number `item`
  size_t item = 0;
  bool descending = false;
};

struct BoundSelect {
  Scope scope;
  std::vector<bool> outer;        // per source: LEFT JOIN
  std::vector<ExpressionPtr> on;  // per source, may be null
  Expressions items;
  std::vector<ResultColumn> columns;
  ExpressionPtr where, having;
  Expressions group_by;
  std::vector<AggregateCall> aggregates;
  std::vector<BoundOrder> order_by;
  bool grouped = false;  // GROUP BY, or aggregates without it
  bool distinct = false;
  bool calc_found_rows = false;
  uint64_t limit = UINT64_MAX, offset = 0;
  txn::ReadMode mode = txn::ReadMode::Snapshot;
};

// `scope` has the opened tables of select.from.
Result<std::unique_ptr<BoundSelect>> bind_select(StatementContext& context,
                                                 const ast::SelectStatement& select, Scope scope);

}  // namespace commitd::sql
