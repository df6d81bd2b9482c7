// The rows that an UPDATE or DELETE is about: found and locked before the first one is changed, so that a
// statement never meets its own changes.
#pragma once

#include <vector>

#include "sql/ast/select.h"
#include "sql/executor/statement_context.h"
#include "sql/query/table_reader.h"

namespace commitd::sql {

struct RowSelection {
  const ast::TableRef* table = nullptr;
  const ast::Expr* where = nullptr;
  const ast::List<ast::OrderItem>* order_by = nullptr;
  const ast::Expr* limit = nullptr;
  bool reads_past_locks = false;  // at READ COMMITTED: rows that another has locked and that do not match
};

// How the rows are found. The plan refers to the condition.
struct PlannedChange {
  ExpressionPtr where;
  JoinPlan plan;
};
Task<Result<PlannedChange>> plan_change(StatementContext& context, const Scope& scope,
                                        const RowSelection& selection);

Task<Result<std::vector<txn::FoundRow>>> rows_to_change(StatementContext& context, const Scope& scope,
                                                        const RowSelection& selection,
                                                        const PlannedChange& planned);

// 1175: with sql_safe_updates rows are found by a key.
Status check_safe_update(const SessionState& session, const JoinPlan& plan);

}  // namespace commitd::sql
