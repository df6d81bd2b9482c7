#include "base/error_codes.h"
#include "sql/executor/changed_rows.h"
#include "sql/executor/dml.h"
#include "sql/executor/precompute.h"
#include "sql/executor/row_checks.h"
#include "sql/executor/row_rules.h"
#include "sql/executor/select.h"

namespace commitd::sql {
namespace {

class Updater {
 public:
  Updater(StatementContext& context, const ast::UpdateStatement& statement)
      : context_(context),
        session_(context.session),
        statement_(statement),
        store_(store_context(session_, statement.ignore)) {}

  Task<Result<OkInfo>> run() {
    COMMITD_CO_RETURN_IF_ERROR(check_can_change(session_));
    auto source = co_await open_table(context_, statement_.table, privilege::kUpdate, "UPDATE");
    if (!source.ok()) co_return std::move(source).error();
    table_ = source->definition;
    scope_.sources.push_back(*std::move(source));
    COMMITD_CO_RETURN_IF_ERROR(checks_.bind(session_, table_));
    COMMITD_CO_RETURN_IF_ERROR(co_await bind_assignments());
    const RowSelection selection{&statement_.table, statement_.where, &statement_.order_by, statement_.limit};
    auto rows = co_await rows_to_change(context_, scope_, selection);
    if (!rows.ok()) co_return std::move(rows).error();
    for (const txn::FoundRow& row : *rows) {
      COMMITD_CO_RETURN_IF_ERROR(check_interrupted(session_));
      COMMITD_CO_RETURN_IF_ERROR(co_await change(row));
      ++store_.row;
    }
    OkInfo ok;
    ok.affected_rows = session_.found_rows_flag ? rows->size() : changed_;
    ok.info = fmt::format("Rows matched: {}  Changed: {}  Warnings: {}", rows->size(), changed_,
                          session_.diagnostics.count());
    co_return ok;
  }

 private:
  struct Assignment {
    size_t column;
    ExpressionPtr value;  // null: DEFAULT
  };

  Task<Status> bind_assignments() {
    Binder binder = context_.binder(scope_);
    for (const ast::Assignment& assignment : statement_.assignments) {
      COMMITD_CO_RETURN_IF_ERROR(co_await precompute(context_, assignment.value));
      auto column = assigned_column(*table_, assignment.column->text);
      if (!column.ok()) co_return std::move(column).error();
      Assignment bound{*column, nullptr};
      if (assignment.value->kind != ast::ExprKind::Default) {
        auto value = binder.bind(*assignment.value, "field list");
        if (!value.ok()) co_return std::move(value).error();
        bound.value = *std::move(value);
      }
      assignments_.push_back(std::move(bound));
    }
    co_return Status();
  }

  // Assignments see the effect of those before them.
  Status assign(Row& row) {
    Evaluation evaluation(session_);
    evaluation.rows.assign(1, row.data());
    for (const Assignment& assignment : assignments_) {
      const ColumnDef& column = table_->columns[assignment.column];
      Result<Value> converted = Value();
      if (assignment.value) {
        Value scratch;
        const Value& value = assignment.value->evaluate(evaluation, scratch);
        COMMITD_RETURN_IF_ERROR(evaluation.status());
        converted = convert_for_column(column, value, store_);
      } else {
        converted = default_for_column(column, session_, store_);
      }
      if (!converted.ok()) return std::move(converted).error();
      COMMITD_RETURN_IF_ERROR(apply_not_null(column, *converted, !store_.strict, session_.diagnostics));
      row[assignment.column] = *std::move(converted);
    }
    return {};
  }

  bool is_assigned(size_t column) const {
    for (const Assignment& assignment : assignments_) {
      if (assignment.column == column) return true;
    }
    return false;
  }

  Task<Status> change(const txn::FoundRow& old_row) {
    Row row = old_row.values;
    COMMITD_CO_RETURN_IF_ERROR(assign(row));
    std::string image;
    encode_row_image(*table_, row, image);
    if (image == old_row.image) co_return Status();
    for (size_t i = 0; i < row.size(); ++i) {
      if (table_->columns[i].on_update_current_timestamp && !is_assigned(i))
        row[i] = current_timestamp_for(table_->columns[i], session_);
    }
    if (auto allowed = checks_.verify(row); !allowed.ok()) {
      if (!statement_.ignore) co_return allowed;
      session_.diagnostics.warn(std::move(allowed).error());
      co_return Status();
    }
    auto outcome = co_await context_.transaction().update(table_, old_row, row);
    context_.session.status.add(StatusVariable::HandlerUpdate);
    if (!outcome.ok()) co_return std::move(outcome).error();
    if (outcome->has_value()) {
      Error error = duplicate_error(*table_, *(*outcome)->index, row);
      if (!statement_.ignore) co_return error;
      session_.diagnostics.warn(std::move(error));
      co_return Status();
    }
    ++changed_;
    co_return Status();
  }

  StatementContext& context_;
  SessionState& session_;
  const ast::UpdateStatement& statement_;
  StoreContext store_;
  TablePtr table_;
  Scope scope_;
  RowChecks checks_;
  std::vector<Assignment> assignments_;
  uint64_t changed_ = 0;
};

}  // namespace

Task<Result<OkInfo>> execute_update(StatementContext& context, const ast::UpdateStatement& statement) {
  Updater updater(context, statement);
  co_return co_await updater.run();
}

}  // namespace commitd::sql
