// EXPLAIN: a row per table that a statement reads, with the index it takes.
#pragma once

#include "sql/ast/administration.h"
#include "sql/executor/statement_context.h"
#include "sql/result_sink.h"

namespace commitd::sql {

Task<Status> execute_explain(StatementContext& context, const ast::ExplainStatement& statement,
                             ResultSink& sink);

}  // namespace commitd::sql
