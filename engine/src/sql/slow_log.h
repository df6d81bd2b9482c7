// What a statement that took long leaves behind.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "runtime/task.h"

namespace commitd::sql {

struct SlowStatement {
  std::string_view text, database;
  std::string_view user, host;
  uint32_t connection_id = 0;
  std::chrono::system_clock::time_point end;
  int64_t start_second = 0;  // since 1970; what NOW() gave
  std::chrono::microseconds duration{0}, lock_time{0};
  uint64_t rows_sent = 0, rows_examined = 0;
};

class SlowLog {
 public:
  virtual ~SlowLog() = default;
  bool is_on() const { return on_.load(std::memory_order_relaxed); }
  // Never waits for the file.
  virtual void write(const SlowStatement& statement) = 0;
  // FLUSH SLOW LOGS: what was written is in the file, and the next statement goes to a file of that name that
  // is there, or new, by then.
  virtual Task<Status> reopen() = 0;

 protected:
  std::atomic<bool> on_{false};
};

}  // namespace commitd::sql
