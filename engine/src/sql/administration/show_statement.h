// SHOW as a SELECT over the small table that sql/show makes: LIKE, WHERE and LIMIT.
#pragma once

#include "sql/ast/administration.h"
#include "sql/executor/statement_context.h"
#include "sql/result_sink.h"

namespace commitd::sql {

Task<Status> execute_show(StatementContext& context, const ast::ShowStatement& statement, ResultSink& sink);
// A made-up table's columns as those of a result.
std::vector<ResultColumn> describe_columns(const TablePtr& definition);

}  // namespace commitd::sql
