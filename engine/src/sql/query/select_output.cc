#include "sql/query/select_output.h"

#include <algorithm>
#include <utility>

#include "base/charset/collation.h"
#include "sql/expression/conversion.h"
#include "sql/row_memory.h"

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

// The first of items that are columns which lie beside each other in a row and are shown as they are.
const ColumnReference* adjacent_columns(const Expressions& items) {
  const ColumnReference* first = nullptr;
  for (size_t i = 0; i < items.size(); ++i) {
    const auto* column = dynamic_cast<const ColumnReference*>(items[i].get());
    if (column == nullptr || column->type().is_temporal() || column->type().type == FieldType::NewDecimal)
      return nullptr;
    if (first == nullptr) first = column;
    if (column->source() != first->source() || column->column() != first->column() + i) return nullptr;
  }
  return first;
}

}  // namespace

SelectOutput::SelectOutput(StatementContext& context, const BoundSelect& select, ResultSink& sink,
                           bool ordered)
    : select_(select),
      context_(context),
      sink_(sink),
      sorting_(!select.order_by.empty() && !ordered),
      in_place_(adjacent_columns(select.items)),
      projected_(select.items.size()) {
  kept_width_ = select.items.size();
  if (!sorting_) return;
  for (const BoundOrder& order : select.order_by) sort_keys_.push_back(sort_key(order));
  neighbours_tell_ = select.distinct && sorts_by_every_item();
}

// Of columns only whose order and whose DISTINCT call the same values equal.
bool SelectOutput::sorts_by_every_item() const {
  const auto is_sorted_by = [&](size_t item) {
    return std::any_of(sort_keys_.begin(), sort_keys_.end(),
                       [&](const SortKey& key) { return key.at == item; });
  };
  for (size_t i = 0; i < select_.items.size(); ++i) {
    const ValueType& type = select_.items[i]->type();
    const bool has_text = type.is_string() && !has_labels(type.type) && type.type != FieldType::Json;
    const bool is_plain = dynamic_cast<const ColumnReference*>(select_.items[i].get()) != nullptr &&
                          (has_text || type.is_integer());
    if (!is_plain || !is_sorted_by(i)) return false;
  }
  return std::all_of(sort_keys_.begin(), sort_keys_.end(),
                     [](const SortKey& key) { return key.expression == nullptr; });
}

SelectOutput::SortKey SelectOutput::sort_key(const BoundOrder& order) {
  const Expression& sorted_by = order.expression ? *order.expression : *select_.items[order.item];
  SortKey key{nullptr, order.item, sorted_by.type().collation, order.descending};
  if (!order.expression) return key;
  key.at = item_with_column(select_.items, sorted_by);
  if (key.at < select_.items.size()) return key;
  key.expression = &sorted_by;
  key.at = kept_width_++;
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
  if (select_.group_by.empty() && !groups_.empty()) return &groups_.front();
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

// The select items; valid until the next row.
std::span<const Value> SelectOutput::project(Evaluation& evaluation) {
  if (in_place_ != nullptr && evaluation.rows[in_place_->source()] != nullptr)
    return {evaluation.rows[in_place_->source()] + in_place_->column(), select_.items.size()};
  Value scratch;
  for (size_t i = 0; i < select_.items.size(); ++i) {
    projected_[i] = select_.items[i]->evaluate(evaluation, scratch);
    if (!sink_.wants_all_digits()) conform_digits(projected_[i], select_.items[i]->type());
  }
  return projected_;
}

Result<bool> SelectOutput::emit(Evaluation& evaluation) {
  Value scratch;
  if (select_.having && !is_true(select_.having->evaluate(evaluation, scratch))) {
    COMMITD_RETURN_IF_ERROR(evaluation.status());
    return true;
  }
  const std::span<const Value> row = project(evaluation);
  COMMITD_RETURN_IF_ERROR(evaluation.status());
  if (select_.distinct && !neighbours_tell_) {
    auto fresh = is_new(row);
    if (!fresh.ok()) return std::move(fresh).error();
    if (!*fresh) return true;
  }
  if (!sorting_) return deliver(row);
  return keep(row, evaluation);
}

Result<bool> SelectOutput::keep(std::span<const Value> row, Evaluation& evaluation) {
  for (const Value& value : row) kept_.append(value);
  Value scratch;
  for (const SortKey& key : sort_keys_) {
    if (key.expression != nullptr) kept_.append(key.expression->evaluate(evaluation, scratch));
  }
  if (!memory_.add(memory_of(kept_.last(kept_width_)))) return out_of_row_memory();
  constexpr size_t kMostWithDuplicates = 1024;
  if (neighbours_tell_ && kept_.size() >= kMostWithDuplicates * kept_width_) return drop_kept_duplicates();
  return true;
}

// Rows may be many and the distinct ones few: from now on only those are kept.
Result<bool> SelectOutput::drop_kept_duplicates() {
  neighbours_tell_ = false;
  size_t end = 0;
  for (size_t at = 0; at < kept_.size(); at += kept_width_) {
    auto fresh = is_new(kept_.at(at, select_.items.size()));
    if (!fresh.ok()) return std::move(fresh).error();
    if (!*fresh) continue;
    kept_.move_down(at, end, kept_width_);
    end += kept_width_;
  }
  kept_.shrink_to(end);
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
  const uint64_t limit = select_.limit;
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

bool SelectOutput::before(const Value* left, const Value* right) const {
  for (const SortKey& key : sort_keys_) {
    const auto order = order_values(left[key.at], right[key.at], key.collation);
    if (order != 0) return key.descending ? order > 0 : order < 0;
  }
  return false;
}

namespace {

// What decides most comparisons of values that are all of one kind, without looking at them again: the one
// with the smaller number comes first, of equal ones nothing is known.
uint64_t prefix_of(const Value& value, uint16_t collation) {
  constexpr uint64_t kSign = uint64_t{1} << 63;
  switch (value.kind()) {
    case Value::Kind::Int:
      return static_cast<uint64_t>(value.as_int()) ^ kSign;
    case Value::Kind::UInt:
      return value.as_uint();
    case Value::Kind::String:
      return sort_prefix(collation_or_binary(value.is_binary() ? kBinaryCollation : collation),
                         value.as_string());
    default:  // NULL comes first; of the other kinds nothing is known
      return 0;
  }
}

bool same_kind(const Value& left, const Value& right) {
  return left.kind() == right.kind() && left.is_binary() == right.is_binary();
}

}  // namespace

Task<Result<std::vector<const Value*>>> SelectOutput::in_order() const {
  struct Entry {
    uint64_t prefix;
    const Value* row;
  };
  const SortKey& first = sort_keys_.front();
  std::vector<Entry> entries;
  entries.reserve(kept_.size() / kept_width_);
  bool comparable = true;
  for (size_t at = 0; at < kept_.size(); at += kept_width_) {
    const Value& value = kept_[at + first.at];
    const uint64_t prefix = prefix_of(value, first.collation);
    comparable = comparable && (value.is_null() || same_kind(value, kept_[first.at]));
    entries.push_back({first.descending ? ~prefix : prefix, &kept_[at]});
  }
  const auto comes_first = [&](const Entry& left, const Entry& right) {
    if (comparable && left.prefix != right.prefix) return left.prefix < right.prefix;
    return before(left.row, right.row);
  };
  COMMITD_CO_RETURN_IF_ERROR(co_await sort_in_turns(context_.turn, context_.session, entries, comes_first));
  std::vector<const Value*> rows;
  rows.reserve(entries.size());
  for (const Entry& entry : entries) rows.push_back(entry.row);
  co_return rows;
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
    COMMITD_CO_RETURN_IF_ERROR(co_await context_.turn.take(context_.session));
    if (sink_.wants_flush()) COMMITD_CO_RETURN_IF_ERROR(co_await sink_.flush());
  }
  if (!sorting_) co_return Status();
  auto sorted = co_await in_order();
  if (!sorted.ok()) co_return std::move(sorted).error();
  const Value* previous = nullptr;
  for (const Value* row : *sorted) {
    if (neighbours_tell_ && previous != nullptr && !before(previous, row)) continue;
    previous = row;
    if (!deliver({row, select_.items.size()})) break;
    COMMITD_CO_RETURN_IF_ERROR(co_await context_.turn.take(context_.session));
    if (sink_.wants_flush()) COMMITD_CO_RETURN_IF_ERROR(co_await sink_.flush());
  }
  co_return Status();
}

}  // namespace commitd::sql
