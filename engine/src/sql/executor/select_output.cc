#include "sql/executor/select_output.h"

#include <algorithm>
#include <utility>

#include "sql/executor/row_memory.h"
#include "sql/expression/conversion.h"

namespace commitd::sql {

namespace {

// The select item that is the table's column an expression refers to; items.size() when there is none.
size_t item_with_column(const Expressions& items, const Expression& expression) {
  const auto* column = dynamic_cast<const ColumnReference*>(&expression);
  if (column == nullptr || column->definition() == nullptr) return items.size();
  const auto found = std::find_if(items.begin(), items.end(), [&](const ExpressionPtr& item) {
    const auto* other = dynamic_cast<const ColumnReference*>(item.get());
    return other != nullptr && other->source() == column->source() && other->column() == column->column();
  });
  return static_cast<size_t>(found - items.begin());
}

}  // namespace

SelectOutput::SelectOutput(const BoundSelect& select, SessionState& session, ResultSink& sink, bool ordered)
    : select_(select),
      session_(session),
      sink_(sink),
      sorting_(!select.order_by.empty() && !ordered),
      projected_(select.items.size()) {
  if (!sorting_) return;
  for (const BoundOrder& order : select.order_by) sort_keys_.push_back(sort_key(order));
}

SelectOutput::SortKey SelectOutput::sort_key(const BoundOrder& order) {
  const Expression& sorted_by = order.expression ? *order.expression : *select_.items[order.item];
  SortKey key{nullptr, order.item, sorted_by.type().collation, order.descending};
  if (!order.expression) return key;
  key.at = item_with_column(select_.items, sorted_by);
  if (key.at < select_.items.size()) return key;
  key.expression = &sorted_by;
  key.at = keys_beside_row_++;
  return key;
}

Result<bool> SelectOutput::consume(Evaluation& evaluation, txn::FoundRow*) {
  if (!select_.grouped) return emit(evaluation);
  auto group = group_of(evaluation);
  if (!group.ok()) return std::move(group).error();
  for (auto& state : (*group)->states) state->add(evaluation);
  COMMITD_RETURN_IF_ERROR(evaluation.status());
  return true;
}

SelectOutput::Group SelectOutput::new_group(Evaluation* evaluation) {
  Group group;
  for (size_t i = 0; i < select_.scope.sources.size(); ++i) {
    const size_t width = select_.scope.sources[i].columns.size();
    const Value* row = evaluation == nullptr ? nullptr : evaluation->rows[i];
    group.absent.push_back(row == nullptr);
    group.rows.push_back(row == nullptr ? Row() : Row(row, row + width));
  }
  for (const AggregateCall& call : select_.aggregates) group.states.push_back(call.start());
  return group;
}

Result<SelectOutput::Group*> SelectOutput::group_of(Evaluation& evaluation) {
  std::string key;
  Value scratch;
  for (const ExpressionPtr& expression : select_.group_by) {
    append_group_key(key, expression->evaluate(evaluation, scratch), expression->type().collation);
  }
  const size_t key_size = key.size();
  const auto [found, added] = group_index_.try_emplace(std::move(key), groups_.size());
  if (added) {
    groups_.push_back(new_group(&evaluation));
    uint64_t size = sizeof(Group) + 2 * key_size;
    for (const Row& row : groups_.back().rows) size += memory_of(row);
    if (!memory_.add(size)) return out_of_row_memory();
  }
  return &groups_[found->second];
}

Result<bool> SelectOutput::emit(Evaluation& evaluation) {
  Value scratch;
  if (select_.having && !is_true(select_.having->evaluate(evaluation, scratch))) {
    COMMITD_RETURN_IF_ERROR(evaluation.status());
    return true;
  }
  for (size_t i = 0; i < select_.items.size(); ++i) {
    const Value& value = select_.items[i]->evaluate(evaluation, scratch);
    projected_[i] = value;
    if (!sink_.wants_all_digits()) conform_digits(projected_[i], select_.items[i]->type());
  }
  COMMITD_RETURN_IF_ERROR(evaluation.status());
  if (select_.distinct) {
    auto fresh = is_new(projected_);
    if (!fresh.ok()) return std::move(fresh).error();
    if (!*fresh) return true;
  }
  if (!sorting_) return deliver(projected_);
  Sorted sorted;
  sorted.keys.reserve(keys_beside_row_);
  for (const SortKey& key : sort_keys_) {
    if (key.expression != nullptr) sorted.keys.push_back(key.expression->evaluate(evaluation, scratch));
  }
  sorted.row = std::exchange(projected_, Row(select_.items.size()));
  if (!memory_.add(sizeof(Sorted) + memory_of(sorted.row) + memory_of(sorted.keys)))
    return out_of_row_memory();
  sorted_.push_back(std::move(sorted));
  return true;
}

Result<bool> SelectOutput::is_new(std::span<const Value> row) {
  distinct_key_.clear();
  for (size_t i = 0; i < row.size(); ++i)
    append_group_key(distinct_key_, row[i], select_.items[i]->type().collation);
  const bool added = distinct_.insert(distinct_key_).second;
  if (added && !memory_.add(2 * distinct_key_.size())) return out_of_row_memory();
  return added;
}

bool SelectOutput::deliver(std::span<const Value> row) {
  const uint64_t limit = std::min(select_.limit, session_.settings.select_limit);
  ++found_;
  if (found_ > select_.offset && delivered_ < limit) {
    sink_.send_row(row);
    ++delivered_;
  }
  return delivered_ < limit || select_.calc_found_rows;
}

bool before(std::span<const Value> left, std::span<const Value> right, std::span<const uint16_t> collations,
            const std::vector<bool>& descending) {
  for (size_t i = 0; i < left.size(); ++i) {
    const auto order = order_values(left[i], right[i], collations[i]);
    if (order != 0) return descending[i] ? order > 0 : order < 0;
  }
  return false;
}

bool SelectOutput::before(const Sorted& left, const Sorted& right) const {
  for (const SortKey& key : sort_keys_) {
    const bool beside = key.expression != nullptr;
    const auto order = order_values((beside ? left.keys : left.row)[key.at],
                                    (beside ? right.keys : right.row)[key.at], key.collation);
    if (order != 0) return key.descending ? order > 0 : order < 0;
  }
  return false;
}

std::vector<const SelectOutput::Sorted*> SelectOutput::in_order() const {
  std::vector<const Sorted*> rows;
  rows.reserve(sorted_.size());
  for (const Sorted& sorted : sorted_) rows.push_back(&sorted);
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const Sorted* left, const Sorted* right) { return before(*left, *right); });
  return rows;
}

Task<Status> SelectOutput::finish(Evaluation& evaluation) {
  // Without GROUP BY there is one group, also of no rows.
  if (select_.grouped && select_.group_by.empty() && groups_.empty()) groups_.push_back(new_group(nullptr));
  std::vector<Value> results(select_.aggregates.size());
  for (Group& group : groups_) {
    for (size_t i = 0; i < results.size(); ++i) results[i] = group.states[i]->result();
    for (size_t i = 0; i < group.rows.size(); ++i)
      evaluation.rows[i] = group.absent[i] ? nullptr : group.rows[i].data();
    evaluation.aggregates = results.data();
    auto more = emit(evaluation);
    if (!more.ok()) co_return std::move(more).error();
    if (!*more) break;
    if (sink_.wants_flush()) COMMITD_CO_RETURN_IF_ERROR(co_await sink_.flush());
  }
  if (!sorting_) co_return Status();
  const std::vector<const Sorted*> rows = in_order();
  for (const Sorted* sorted : rows) {
    if (!deliver(sorted->row)) break;
    if (sink_.wants_flush()) COMMITD_CO_RETURN_IF_ERROR(co_await sink_.flush());
  }
  co_return Status();
}

}  // namespace commitd::sql
