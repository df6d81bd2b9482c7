#include "sql/query/correlated.h"

#include <coroutine>
#include <cstdlib>

#include "base/error_codes.h"
#include "sql/federated/remote_rows.h"
#include "sql/query/from_clause.h"
#include "sql/query/row_buffer.h"
#include "sql/query/select.h"

namespace commitd::sql {
namespace {

Error unsupported(std::string_view what) {
  return make_error(er::kNotSupportedYet, "This version of MySQL doesn't yet support '{}'", what);
}

// Reads a snapshot, which never waits, nor does its turn: so the coroutine ends when it is started, and
// evaluation stays plain code.
Status finish_at_once(Task<Status> task) {
  const bool waits = task.await_suspend(std::noop_coroutine());
  if (waits) std::abort();  // a locking read in a subquery: plan_select was given another mode
  return task.await_resume();
}

class CorrelatedRows : public RowSource {
 public:
  CorrelatedRows(StatementContext& context, PlannedSelect planned)
      : context_(context), planned_(std::move(planned)) {
    for (const ExpressionPtr& item : planned_.bound->items) {
      types.push_back(item->type());
      labels.push_back(item->labels());
    }
  }
  bool read(Evaluation& outer, std::vector<Row>& rows) const override {
    Evaluation evaluation = context_.evaluation();
    evaluation.outer = &outer;
    RowBuffer buffer(true);
    const uint64_t found_rows = context_.session.found_rows;
    const Turn::PlainCode never_suspended(context_.turn);
    const Status status = finish_at_once(run_planned(context_, planned_, evaluation, buffer));
    context_.session.found_rows = found_rows;
    rows = std::move(buffer.rows);
    if (!status.ok()) outer.fail(status.error());
    return status.ok();
  }

 private:
  StatementContext& context_;
  PlannedSelect planned_;
};

class OpenedSelect : public CorrelatedSelect {
 public:
  OpenedSelect(StatementContext& context, const ast::SelectStatement& select, FromClause from)
      : context_(context), select_(select), from_(std::move(from)) {}

  Result<RowSourcePtr> bind(Binder& outer, bool one_row) const override {
    auto bound = bind_select(context_, select_, from_, &outer);
    if (!bound.ok()) return std::move(bound).error();
    if (one_row) (*bound)->limit = std::min<uint64_t>((*bound)->limit, 1);
    PlannedSelect planned = plan_select(context_, *std::move(bound));
    // Nothing can be waited for here: a statement that changes rows reads what was newest when it began.
    const bool changes = context_.changes && context_.entered;
    if (changes && context_.transaction().isolation() != txn::Isolation::Serializable)
      planned.plan.mode = planned.bound->mode;
    if (planned.plan.mode != txn::ReadMode::Snapshot)
      return unsupported("locking reads in a subquery that refers to the outer statement");
    return RowSourcePtr(std::make_unique<CorrelatedRows>(context_, std::move(planned)));
  }

 private:
  StatementContext& context_;
  const ast::SelectStatement& select_;
  FromClause from_;
};

// A table on another server is fetched whole: reading it while the outer row is evaluated would wait.
Task<Status> fetch_remote_tables(StatementContext& context, FromClause& from) {
  for (Source& source : from.scope.sources) {
    if (source.rows || !is_remote(*source.definition)) continue;
    auto rows = co_await all_remote_rows(context, *source.definition);
    if (!rows.ok()) co_return std::move(rows).error();
    source.rows = *std::move(rows);
  }
  co_return Status();
}

}  // namespace

Task<Status> open_correlated(StatementContext& context, const ast::SelectStatement& select) {
  if (select.union_parts != nullptr)
    co_return unsupported("UNION in a subquery that refers to the outer statement");
  if (select.with != nullptr) co_return unsupported("WITH in a subquery that refers to the outer statement");
  COMMITD_CO_RETURN_IF_ERROR(co_await precompute_all(context, select));
  auto from = co_await open_from(context, select.from);
  if (!from.ok()) co_return std::move(from).error();
  if (!context.describe_only) COMMITD_CO_RETURN_IF_ERROR(co_await fetch_remote_tables(context, *from));
  context.precomputed.correlated[&select] = std::make_shared<OpenedSelect>(context, select, *std::move(from));
  co_return Status();
}

}  // namespace commitd::sql
