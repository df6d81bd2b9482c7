// INSERT, REPLACE, UPDATE, DELETE, LOAD DATA.
#pragma once

#include "sql/ast/administration.h"
#include "sql/ast/changes.h"
#include "sql/executor/statement_context.h"
#include "sql/result_sink.h"

namespace commitd::sql {

Task<Result<OkInfo>> execute_insert(StatementContext& context, const ast::InsertStatement& statement);
Task<Result<OkInfo>> execute_update(StatementContext& context, const ast::UpdateStatement& statement);
Task<Result<OkInfo>> execute_delete(StatementContext& context, const ast::DeleteStatement& statement);
Task<Result<OkInfo>> execute_load_data(StatementContext& context, const ast::LoadDataStatement& statement,
                                       ResultSink& sink);
// Row events as mysqlbinlog prints them.
Task<Result<OkInfo>> execute_binlog(StatementContext& context, const ast::BinlogStatement& statement);

}  // namespace commitd::sql
