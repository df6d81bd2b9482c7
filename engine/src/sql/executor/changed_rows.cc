#include "sql/executor/changed_rows.h"

#include <algorithm>

#include "base/error_codes.h"
#include "sql/executor/precompute.h"
#include "sql/executor/row_memory.h"
#include "sql/executor/select.h"
#include "sql/executor/select_output.h"

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

  std::vector<txn::FoundRow> take() {
    std::vector<uint16_t> collations;
    std::vector<bool> descending;
    for (const Order& item : order) {
      collations.push_back(item.expression->type().collation);
      descending.push_back(item.descending);
    }
    if (!order.empty()) {
      std::stable_sort(rows_.begin(), rows_.end(), [&](const Found& l, const Found& r) {
        return before(l.keys, r.keys, collations, descending);
      });
    }
    std::vector<txn::FoundRow> result;
    for (Found& found : rows_) {
      if (result.size() >= limit) break;
      result.push_back(std::move(found.row));
    }
    return result;
  }

 private:
  struct Found {
    txn::FoundRow row;
    std::vector<Value> keys;
  };
  MemoryReservation& memory_;
  std::vector<Found> rows_;
};

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
  co_return std::move(planned);
}

Task<Result<std::vector<txn::FoundRow>>> rows_to_change(StatementContext& context, const Scope& scope,
                                                        const RowSelection& selection) {
  auto planned = co_await plan_change(context, scope, selection);
  if (!planned.ok()) co_return std::move(planned).error();
  Binder binder = context.binder(scope);
  Collector collector(context.memory);
  for (const ast::OrderItem& item : *selection.order_by) {
    auto bound = binder.bind(*item.expression, "order clause");
    if (!bound.ok()) co_return std::move(bound).error();
    collector.order.push_back({*std::move(bound), item.descending});
  }
  auto limit = limit_value(context, selection.limit, UINT64_MAX);
  if (!limit.ok()) co_return std::move(limit).error();
  collector.limit = *limit;
  if (*limit == 0) co_return std::vector<txn::FoundRow>();
  const JoinPlan& plan = planned->plan;
  if (selection.limit == nullptr) COMMITD_CO_RETURN_IF_ERROR(check_safe_update(context.session, plan));
  Evaluation evaluation = context.evaluation();
  COMMITD_CO_RETURN_IF_ERROR(co_await read_rows(context, plan, evaluation, collector));
  co_return collector.take();
}

Status check_safe_update(const SessionState& session, const JoinPlan& plan) {
  if (!session.variables.boolean(kSqlSafeUpdates) || !plan.levels[0].path.bounds.empty()) return {};
  constexpr uint16_t kUpdateWithoutKey = 1175;
  return make_error(kUpdateWithoutKey,
                    "You are using safe update mode and you tried to update a table without a WHERE "
                    "that uses a KEY column.");
}

}  // namespace commitd::sql
