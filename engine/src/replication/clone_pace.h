// When the next piece of a clone may pass, so that on average no more than so many bytes pass in a second.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/timer.h"

namespace commitd::replication {

class ClonePace {
 public:
  // 0: as fast as it goes. May change at any time.
  explicit ClonePace(const std::atomic<uint64_t>& bytes_per_second) : rate_(bytes_per_second) {}

  // After `bytes` have passed. What was not used up in time is not made up for.
  Deadline after(uint64_t bytes, Clock::time_point now) {
    const uint64_t rate = rate_.load(std::memory_order_relaxed);
    if (rate == 0) return now;
    if (next_ < now) next_ = now;
    next_ += std::chrono::duration_cast<Clock::duration>(
        std::chrono::duration<double>(static_cast<double>(bytes) / static_cast<double>(rate)));
    return next_;
  }

 private:
  const std::atomic<uint64_t>& rate_;
  Clock::time_point next_;
};

}  // namespace commitd::replication
