// Integers of 1 to 8 bytes appended to strings, as row images (little-endian), MySQL's DECIMAL and temporal
// formats and index keys (big-endian) have them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/bytes.h"

namespace commitd {

inline void append_big_endian(std::string& out, uint64_t value, size_t bytes) {
  char buffer[8];
  store_be(buffer, value, bytes);
  out.append(buffer, bytes);
}

inline void append_little_endian(std::string& out, uint64_t value, size_t bytes) {
  char buffer[8];
  store_le(buffer, value, bytes);
  out.append(buffer, bytes);
}

// The two's complement number in the low `bytes` of `value`.
inline int64_t sign_extend(uint64_t value, size_t bytes) {
  const int shift = static_cast<int>(64 - 8 * bytes);
  return static_cast<int64_t>(value << shift) >> shift;
}

}  // namespace commitd
