#include "sql/plan_cache/cached_select.h"

#include <algorithm>

#include "sql/plan_cache/cached_shapes.h"

namespace commitd::sql {
namespace {

using ast::ExprKind;

bool is_aggregate_of_column(const ast::Expr& tree) {
  constexpr std::string_view kKnown[] = {"AVG", "COUNT", "MAX", "MIN", "SUM"};
  return tree.kind == ExprKind::Function && tree.order == nullptr &&
         std::find(std::begin(kKnown), std::end(kKnown), tree.text) != std::end(kKnown) &&
         std::all_of(tree.arguments.begin(), tree.arguments.end(), [](const ast::Expr* argument) {
           return argument->kind == ExprKind::Column || argument->kind == ExprKind::Star;
         });
}

bool is_item(const ast::SelectItem& item) {
  const ast::Expr& tree = *item.expression;
  return tree.kind == ExprKind::Column || tree.kind == ExprKind::Star || is_literal(tree) ||
         is_aggregate_of_column(tree);
}

bool is_column_or_number(const ast::Expr* tree) {
  return tree->kind == ExprKind::Column || tree->kind == ExprKind::Integer;
}

bool is_worth_keeping(const ast::SelectStatement& select) {
  return select.union_parts == nullptr && select.with == nullptr && is_one_table(select.from) &&
         std::all_of(select.items.begin(), select.items.end(), is_item) &&
         (select.where == nullptr || is_condition(*select.where)) &&
         std::all_of(select.group_by.begin(), select.group_by.end(), is_column_or_number) &&
         select.having == nullptr &&
         std::all_of(select.order_by.begin(), select.order_by.end(),
                     [](const ast::OrderItem& item) { return is_column_or_number(item.expression); });
}

bool reads_one_row(const ast::SelectStatement& select, const PlannedSelect& planned) {
  const AccessPath& path = planned.plan.levels[0].path;
  return path.unique && path.index->primary && select.limit == nullptr && select.offset == nullptr &&
         !planned.bound->grouped && planned.bound->mode == txn::ReadMode::Snapshot;
}

}  // namespace

std::unique_ptr<CachedSelect> CachedSelect::of(const ast::Statement& statement) {
  const auto& select = ast::as<ast::SelectStatement>(statement);
  return is_worth_keeping(select) ? std::make_unique<CachedSelect>(select) : nullptr;
}

void CachedSelect::keep(const SessionState& session, PlannedSelect planned) {
  wanted_columns_.reset();
  planned_ = std::move(planned);
  columns_ = {planned_.bound->columns, {}, 0, 0};
  keep_basis(session, planned_.bound->scope.sources[0]);
  is_point_ = lasts() && reads_one_row(select_, planned_);
  if (is_point_) {
    if (const auto& columns = planned_.plan.levels[0].read_columns)
      wanted_columns_.emplace(table(), *columns);
  }
  buffers_ = {};
}

void CachedSelect::shrink() {
  if (!lasts()) planned_ = {};
  constexpr size_t kMost = 4096;
  size_t size = buffers_.stored.capacity() + 2 * buffers_.found.image.capacity() + size_of_parameters();
  for (const Value& value : buffers_.output) size += 2 * value.as_string().capacity();  // once more in `row`
  if (size <= kMost) return;
  buffers_ = {};
  clear_texts();
}

}  // namespace commitd::sql
