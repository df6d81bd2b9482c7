// Rows that are kept until all are there to be sorted, one behind the other in equal widths. The memory of
// small sets goes from one statement of a thread to the next: what a hundred texts cost is not their bytes
// but the hundred allocations.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/value.h"

namespace commitd::sql {

class KeptRows {
 public:
  KeptRows();
  ~KeptRows();
  KeptRows(const KeptRows&) = delete;
  KeptRows& operator=(const KeptRows&) = delete;

  bool empty() const { return used_ == 0; }
  size_t size() const { return used_; }  // values, not rows
  const Value& operator[](size_t i) const { return values_[i]; }
  std::span<const Value> last(size_t count) const { return {&values_[used_ - count], count}; }
  std::span<const Value> at(size_t first, size_t count) const { return {&values_[first], count}; }

  void append(const Value& value);
  // The values from `from` on take the place of those from `to` on.
  void move_down(size_t from, size_t to, size_t count);
  void shrink_to(size_t size) { used_ = size; }

 private:
  std::vector<Value> values_;  // behind `used_`: whatever is left of other statements
  size_t used_ = 0;
};

}  // namespace commitd::sql
