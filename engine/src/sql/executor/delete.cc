#include "sql/executor/changed_rows.h"
#include "sql/executor/dml.h"
#include "sql/executor/row_rules.h"
#include "sql/executor/select.h"

namespace commitd::sql {

Task<Result<OkInfo>> execute_delete(StatementContext& context, const ast::DeleteStatement& statement) {
  COMMITD_CO_RETURN_IF_ERROR(check_can_change(context.session));
  auto source = co_await open_table(context, statement.table, privilege::kDelete, "DELETE");
  if (!source.ok()) co_return std::move(source).error();
  Scope scope;
  scope.sources.push_back(*std::move(source));
  const RowSelection selection{&statement.table, statement.where, &statement.order_by, statement.limit};
  auto rows = co_await rows_to_change(context, scope, selection);
  if (!rows.ok()) co_return std::move(rows).error();
  for (const txn::FoundRow& row : *rows) {
    COMMITD_CO_RETURN_IF_ERROR(check_interrupted(context.session));
    COMMITD_CO_RETURN_IF_ERROR(co_await context.transaction().erase(scope.sources[0].definition, row));
    context.session.status.add(StatusVariable::HandlerDelete);
  }
  OkInfo ok;
  ok.affected_rows = rows->size();
  co_return ok;
}

}  // namespace commitd::sql
