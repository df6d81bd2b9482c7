#pragma once

#include <compare>
#include <cstdint>

namespace commitd {

// A place in the binlog: file number (the digits of `binlog.000007`) and byte offset. Orders as the log does;
// comparing numbers, not names, is what keeps 999999 → 1000000 right.
struct LogPosition {
  uint32_t file = 0;
  uint64_t offset = 0;

  auto operator<=>(const LogPosition&) const = default;
};

}  // namespace commitd
