#include "sql/executor/select_output.h"

#include <algorithm>

#include "sql/executor/row_memory.h"
#include "sql/expression/conversion.h"

namespace commitd::sql {

SelectOutput::SelectOutput(const BoundSelect& select, SessionState& session, ResultSink& sink, bool ordered)
    : select_(select),
      session_(session),
      sink_(sink),
      sorting_(!select.order_by.empty() && !ordered),
      projected_(select.items.size()) {}

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
  Sorted sorted{projected_, {}};
  for (const BoundOrder& order : select_.order_by) {
    sorted.keys.push_back(order.expression ? order.expression->evaluate(evaluation, scratch)
                                           : projected_[order.item]);
  }
  if (!memory_.add(sizeof(Sorted) + memory_of(sorted.row) + memory_of(sorted.keys)))
    return out_of_row_memory();
  sorted_.push_back(std::move(sorted));
  return true;
}

Result<bool> SelectOutput::is_new(std::span<const Value> row) {
  std::string key;
  for (size_t i = 0; i < row.size(); ++i) append_group_key(key, row[i], select_.items[i]->type().collation);
  const size_t size = 2 * key.size();
  const bool added = distinct_.insert(std::move(key)).second;
  if (added && !memory_.add(size)) return out_of_row_memory();
  return added;
}

bool SelectOutput::deliver(std::span<const Value> row) {
  const uint64_t limit = std::min(select_.limit, session_.settings.select_limit);
  ++found_;
  if (found_ > select_.offset && delivered_ < limit) {
    sink_.row(row);
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

void SelectOutput::sort() {
  std::vector<uint16_t> collations;
  std::vector<bool> descending;
  for (const BoundOrder& order : select_.order_by) {
    collations.push_back(
        (order.expression ? *order.expression : *select_.items[order.item]).type().collation);
    descending.push_back(order.descending);
  }
  std::stable_sort(sorted_.begin(), sorted_.end(), [&](const Sorted& l, const Sorted& r) {
    return before(l.keys, r.keys, collations, descending);
  });
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
  sort();
  for (const Sorted& sorted : sorted_) {
    if (!deliver(sorted.row)) break;
    if (sink_.wants_flush()) COMMITD_CO_RETURN_IF_ERROR(co_await sink_.flush());
  }
  co_return Status();
}

}  // namespace commitd::sql
