// ANALYZE, CHECK, CHECKSUM, OPTIMIZE and REPAIR TABLE.
#pragma once

#include "sql/ast/definitions.h"
#include "sql/executor/statement_context.h"
#include "sql/result_sink.h"

namespace commitd::sql {

Task<Status> execute_table_maintenance(StatementContext& context, const ast::MaintenanceStatement& statement,
                                       ResultSink& sink);

}  // namespace commitd::sql
