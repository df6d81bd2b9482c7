// INSERT, REPLACE, UPDATE, DELETE.
#pragma once

#include "sql/executor/statement_context.h"
#include "sql/result_sink.h"

namespace commitd::sql {

Task<Result<OkInfo>> execute_insert(StatementContext& context, const ast::InsertStatement& statement);
Task<Result<OkInfo>> execute_update(StatementContext& context, const ast::UpdateStatement& statement);
Task<Result<OkInfo>> execute_delete(StatementContext& context, const ast::DeleteStatement& statement);

}  // namespace commitd::sql
