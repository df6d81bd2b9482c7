// Microseconds of the time of day, as transactions and status rows have them.
#pragma once

#include <chrono>
#include <cstdint>

namespace commitd::binlog {

inline uint64_t now_microseconds() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace commitd::binlog
