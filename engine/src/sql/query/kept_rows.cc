#include "sql/query/kept_rows.h"

#include <algorithm>
#include <utility>

namespace commitd::sql {

namespace {

// What a thread holds on to at most.
constexpr size_t kMostValues = 128;
constexpr size_t kLongestText = 160;

thread_local std::vector<Value> of_last_statement;

}  // namespace

KeptRows::KeptRows() : values_(std::exchange(of_last_statement, {})) {}

KeptRows::~KeptRows() {
  if (values_.capacity() > kMostValues || values_.size() < of_last_statement.size()) return;
  const bool small = std::all_of(values_.begin(), values_.end(), [](const Value& value) {
    return value.as_string().capacity() <= kLongestText;
  });
  if (small) of_last_statement = std::move(values_);
}

void KeptRows::append(const Value& value) {
  if (used_ == values_.size()) {
    if (values_.size() == values_.capacity()) values_.reserve(std::max(kMostValues, 2 * values_.size()));
    values_.emplace_back();
  }
  values_[used_++] = value;
}

void KeptRows::move_down(size_t from, size_t to, size_t count) {
  if (from == to) return;
  for (size_t i = 0; i < count; ++i) std::swap(values_[to + i], values_[from + i]);
}

}  // namespace commitd::sql
