#include "sql/administration/show_statement.h"

#include "base/error_codes.h"
#include "sql/expression/conversion.h"
#include "sql/expression/operators.h"
#include "sql/query/precompute.h"
#include "sql/query/select.h"
#include "sql/show/show.h"

namespace commitd::sql {
std::vector<ResultColumn> describe_columns(const TablePtr& definition) {
  Scope scope;
  scope.sources.push_back(Source::of_table(definition, {}));
  std::vector<ResultColumn> columns;
  for (size_t i = 0; i < scope.sources[0].columns.size(); ++i) {
    const SourceColumn& column = scope.sources[0].columns[i];
    columns.push_back(
        describe_column(ColumnReference(0, i, column.type, column.definition), scope, column.name));
  }
  return columns;
}

Task<Status> execute_show(StatementContext& context, const ast::ShowStatement& statement, ResultSink& sink) {
  auto made = show(statement, context.session);
  if (!made.ok()) co_return std::move(made).error();
  Scope scope;
  scope.sources.push_back(Source::of_table(made->definition, {}));
  ExpressionPtr where;
  if (statement.where != nullptr) {
    COMMITD_CO_RETURN_IF_ERROR(co_await precompute(context, statement.where));
    Binder binder = context.binder(scope);
    auto bound = binder.bind(*statement.where, "where clause");
    if (!bound.ok()) co_return std::move(bound).error();
    where = *std::move(bound);
  }
  auto limit = limit_value(context, statement.limit, UINT64_MAX);
  if (!limit.ok()) co_return std::move(limit).error();
  auto offset = limit_value(context, statement.offset, 0);
  if (!offset.ok()) co_return std::move(offset).error();
  sink.begin_rows(describe_columns(made->definition));
  if (context.describe_only) co_return Status();
  Evaluation evaluation(context.session);
  uint64_t matched = 0, sent = 0;
  for (const Row& row : made->rows) {
    evaluation.rows.assign(1, row.data());
    Value scratch;
    if (statement.has_like && !like_matches(to_text(row[made->like_column]), statement.like, U'\\', 45))
      continue;
    if (where && !is_true(where->evaluate(evaluation, scratch))) continue;
    COMMITD_CO_RETURN_IF_ERROR(evaluation.status());
    if (++matched <= *offset) continue;
    if (sent++ >= *limit) break;
    sink.send_row(row);
    if (sink.wants_flush()) COMMITD_CO_RETURN_IF_ERROR(co_await sink.flush());
  }
  co_return Status();
}

}  // namespace commitd::sql
