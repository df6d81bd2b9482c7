#include "sql/change/row_update.h"

#include <algorithm>

namespace commitd::sql {

bool RowAssignments::has(size_t column) const {
  return std::any_of(all_.begin(), all_.end(),
                     [&](const Assignment& assignment) { return assignment.column == column; });
}

Status RowUpdate::assign(Evaluation& evaluation, size_t source, Row& row) {
  const Value* before = std::exchange(evaluation.rows[source], row.data());
  for (const RowAssignments::Assignment& assignment : assignments_.all()) {
    const ColumnDef& column = assignments_.table()->columns[assignment.column];
    Result<Value> converted = Value();
    if (assignment.value) {
      Value scratch;
      const Value& value = assignment.value->evaluate(evaluation, scratch);
      COMMITD_RETURN_IF_ERROR(evaluation.status());
      converted = convert_for_column(column, value, store_);
    } else {
      converted = default_for_column(column, context_.session, store_);
    }
    if (!converted.ok()) return std::move(converted).error();
    COMMITD_RETURN_IF_ERROR(apply_not_null(column, *converted, !store_.strict, context_.session.diagnostics));
    row[assignment.column] = *std::move(converted);
  }
  evaluation.rows[source] = before;
  return {};
}

Task<Status> RowUpdate::store(const txn::FoundRow& old_row, Row& row) {
  SessionState& session = context_.session;
  const TablePtr& table = assignments_.table();
  std::string image;
  encode_row_image(*table, row, image);
  if (image == old_row.image) co_return Status();
  for (size_t i = 0; i < row.size(); ++i) {
    if (table->columns[i].on_update_current_timestamp && !assignments_.has(i))
      row[i] = current_timestamp_for(table->columns[i], session);
  }
  if (auto allowed = assignments_.checks().verify(row); !allowed.ok()) {
    if (!ignore_) co_return allowed;
    session.diagnostics.warn(std::move(allowed).error());
    co_return Status();
  }
  auto outcome = co_await context_.transaction_for(*table).update(table, old_row, row);
  session.status.add(StatusVariable::HandlerUpdate);
  if (!outcome.ok()) co_return std::move(outcome).error();
  if (outcome->has_value()) {
    Error error = duplicate_error(*table, *(*outcome)->index, row);
    if (!ignore_) co_return error;
    session.diagnostics.warn(std::move(error));
    co_return Status();
  }
  ++changed_;
  co_return Status();
}

}  // namespace commitd::sql
