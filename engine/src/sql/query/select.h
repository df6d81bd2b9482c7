// SELECT and UNION.
#pragma once

#include "sql/ast/select.h"
#include "sql/executor/statement_context.h"
#include "sql/query/bound_select.h"
#include "sql/result_sink.h"

namespace commitd::sql {

// Sends the whole result but for the final OK (end_rows). With context.describe_only: only begin_rows.
Task<Status> run_select(StatementContext& context, const ast::SelectStatement& select, ResultSink& sink);

struct PlannedSelect {
  std::unique_ptr<BoundSelect> bound;
  JoinPlan plan;
  bool ordered = false;  // rows come in the order of ORDER BY
};
PlannedSelect plan_select(const StatementContext& context, std::unique_ptr<BoundSelect> bound);
// The rows, without the columns in front of them.
Task<Status> run_planned(StatementContext& context, const PlannedSelect& select, Evaluation& evaluation,
                         ResultSink& sink);

// Subqueries and waiting functions of a SELECT's own expressions.
Task<Status> precompute_all(StatementContext& context, const ast::SelectStatement& select);

// A column of a finished result as the column of another statement (derived tables, subqueries).
ValueType type_of_result(const ResultColumn& column);

// The table with this name, virtual ones included, with its metadata lock; 1046 without a database, 1146 when
// there is none.
Task<Result<Source>> open_table(StatementContext& context, const ast::TableRef& ref, Privileges needed,
                                std::string_view command);

// Before a table is used: the transaction is begun, the table's metadata lock taken unless LOCK TABLES did.
Task<Status> enter_table(StatementContext& context, std::string_view db, std::string_view name,
                         Privileges needed);

// How many rows a SELECT gives: its LIMIT; without one sql_select_limit, where its rows are the answer.
Result<uint64_t> row_limit(StatementContext& context, const ast::SelectStatement& select);
// LIMIT and OFFSET: literals or parameters.
Result<uint64_t> limit_value(StatementContext& context, const ast::Expr* tree, uint64_t otherwise);

}  // namespace commitd::sql
