// What rows kept by a statement cost, for the memory budget.
#pragma once

#include <span>

#include "base/error_codes.h"
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

inline Error out_of_row_memory() {
  return Error{
      er::kOutOfSortMemory,
      "Out of sort memory: the rows that the statement keeps do not fit into what the server has left "
      "of its 'commitd_memory_budget'"};
}

}  // namespace commitd::sql
