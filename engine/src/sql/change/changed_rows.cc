#include "sql/change/changed_rows.h"

#include <algorithm>

#include "base/error_codes.h"
#include "sql/expression/conversion.h"
#include "sql/federated/remote_rows.h"
#include "sql/query/precompute.h"
#include "sql/query/select.h"
#include "sql/query/select_output.h"
#include "sql/row_memory.h"

namespace commitd::sql {
namespace {

class Collector : public RowConsumer {
 public:
  struct Order {
    ExpressionPtr expression;
    bool descending;
  };
  explicit Collector(MemoryReservation& memory) : memory_(memory) {}

  std::vector<Order> order;
  uint64_t limit = UINT64_MAX;

  Result<bool> consume(Evaluation& evaluation, txn::FoundRow* last) override {
    Found found;
    for (const Order& item : order) {
      Value scratch;
      found.keys.push_back(item.expression->evaluate(evaluation, scratch));
    }
    COMMITD_RETURN_IF_ERROR(evaluation.status());
    found.row = std::move(*last);
    if (!memory_.add(sizeof(Found) + memory_of(found.row.values) + memory_of(found.keys) +
                     found.row.image.size() + found.row.clustered_key.size()))
      return out_of_row_memory();
    rows_.push_back(std::move(found));
    return !order.empty() || rows_.size() < limit;
  }

  Task<Result<std::vector<txn::FoundRow>>> take(StatementContext& context) {
    std::vector<uint16_t> collations;
    std::vector<bool> descending;
    for (const Order& item : order) {
      collations.push_back(item.expression->type().collation);
      descending.push_back(item.descending);
    }
    if (!order.empty()) {
      const auto comes_first = [&](const Found& l, const Found& r) {
        return before(l.keys, r.keys, collations, descending);
      };
      COMMITD_CO_RETURN_IF_ERROR(co_await sort_in_turns(context.turn, context.session, rows_, comes_first));
    }
    std::vector<txn::FoundRow> result;
    for (Found& found : rows_) {
      if (result.size() >= limit) break;
      result.push_back(std::move(found.row));
    }
    co_return result;
  }

 private:
  struct Found {
    txn::FoundRow row;
    std::vector<Value> keys;
  };
  MemoryReservation& memory_;
  std::vector<Found> rows_;
};

// One row at most, by its primary key.
bool finds_one_row(const RowSelection& selection, const JoinPlan& plan) {
  const JoinLevel& level = plan.levels[0];
  if (level.source->rows || is_remote(*level.source->definition)) return false;
  if (!level.path.unique || !level.path.index->primary || !selection.order_by->empty()) return false;
  return is_silent_point(level.path, *level.source->definition);
}

// As read_rows() does, without what a join needs.
Task<Result<std::vector<txn::FoundRow>>> row_with_key(StatementContext& context, const JoinPlan& plan,
                                                      Evaluation& evaluation, std::span<const Value> key) {
  const JoinLevel& level = plan.levels[0];
  const TablePtr& table = level.source->definition;
  txn::Transaction& transaction = context.transaction_for(*table);
  transaction.set_locked_rows(plan.locked_rows);
  context.session.status.add(StatusVariable::HandlerReadKey);
  std::vector<txn::FoundRow> rows(1);
  auto found = co_await transaction.get(table, key, plan.mode, rows[0]);
  if (!found.ok()) co_return std::move(found).error();
  bool matches = *found;
  if (matches) {
    ++context.session.rows_examined;
    evaluation.rows[0] = rows[0].values.data();
    Value scratch;
    for (const Expression* condition : level.match)
      matches = matches && is_true(condition->evaluate(evaluation, scratch));
  }
  COMMITD_CO_RETURN_IF_ERROR(evaluation.status());
  if (!matches) rows.clear();
  co_return rows;
}

}  // namespace

Task<Result<PlannedChange>> plan_change(StatementContext& context, const Scope& scope,
                                        const RowSelection& selection) {
  COMMITD_CO_RETURN_IF_ERROR(co_await precompute(context, selection.where));
  PlannedChange planned;
  if (selection.where != nullptr) {
    auto bound = context.binder(scope).bind(*selection.where, "where clause");
    if (!bound.ok()) co_return std::move(bound).error();
    planned.where = *std::move(bound);
  }
  planned.plan = plan_join(scope, {}, {}, planned.where.get(), txn::ReadMode::LockExclusive);
  planned.plan.reads_past_locks = selection.reads_past_locks;
  co_return std::move(planned);
}

Task<Result<std::vector<txn::FoundRow>>> rows_to_change(StatementContext& context, const Scope& scope,
                                                        const RowSelection& selection,
                                                        const PlannedChange& planned) {
  const JoinPlan& plan = planned.plan;
  auto limit = limit_value(context, selection.limit, UINT64_MAX);
  if (finds_one_row(selection, plan) && limit.ok() && *limit > 0) {
    Evaluation evaluation = context.evaluation();
    evaluation.rows.assign(1, nullptr);
    std::vector<Value> key;
    const PointKey exact =
        point_key(plan.levels[0].path, *plan.levels[0].source->definition, evaluation, key);
    if (exact == PointKey::NoRow) co_return std::vector<txn::FoundRow>();
    if (exact == PointKey::Found) co_return co_await row_with_key(context, plan, evaluation, key);
  }
  Collector collector(context.memory);
  Binder binder = context.binder(scope);
  for (const ast::OrderItem& item : *selection.order_by) {
    auto bound = binder.bind(*item.expression, "order clause");
    if (!bound.ok()) co_return std::move(bound).error();
    collector.order.push_back({*std::move(bound), item.descending});
  }
  if (!limit.ok()) co_return std::move(limit).error();
  collector.limit = *limit;
  if (*limit == 0) co_return std::vector<txn::FoundRow>();
  if (selection.limit == nullptr) COMMITD_CO_RETURN_IF_ERROR(check_safe_update(context.session, plan));
  Evaluation evaluation = context.evaluation();
  COMMITD_CO_RETURN_IF_ERROR(co_await read_rows(context, plan, evaluation, collector));
  co_return co_await collector.take(context);
}

Status check_safe_update(const SessionState& session, const JoinPlan& plan) {
  if (!session.variables.boolean(kSqlSafeUpdates) || !plan.levels[0].path.bounds.empty()) return {};
  return make_error(er::kUpdateWithoutKeyInSafeMode,
                    "You are using safe update mode and you tried to update a table without a WHERE "
                    "that uses a KEY column.");
}

}  // namespace commitd::sql
