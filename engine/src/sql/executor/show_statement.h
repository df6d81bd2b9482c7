// SHOW as a SELECT over the small table that sql/show makes: LIKE, WHERE and LIMIT.
#pragma once

#include "sql/executor/statement_context.h"
#include "sql/result_sink.h"

namespace commitd::sql {

Task<Status> execute_show(StatementContext& context, const ast::ShowStatement& statement, ResultSink& sink);
// ANALYZE, CHECK, OPTIMIZE, REPAIR TABLE: there is nothing to do, which is what they answer.
Task<Status> execute_table_maintenance(StatementContext& context, const ast::TableStatement& statement,
                                       ResultSink& sink);

}  // namespace commitd::sql
