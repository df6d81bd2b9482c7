// What rows kept by a statement cost, for the memory budget.
#pragma once

#include <span>

#include "base/result.h"
#include "base/value.h"

namespace commitd::sql {

// Arrays of rows grow by doubling; what is allocated for a text is rounded up.
inline uint64_t memory_of(std::span<const Value> row) {
  constexpr uint64_t kArrays = 2, kRounding = 16;
  uint64_t bytes = kArrays * row.size_bytes() + sizeof(void*) * 4;
  for (const Value& value : row) {
    if (value.kind() == Value::Kind::String || value.kind() == Value::Kind::Json)
      bytes += value.as_string().size() + kRounding;
  }
  return bytes;
}

Error out_of_row_memory();

}  // namespace commitd::sql
