// Whether the master of an epoch may still answer clients. Another master can only have been elected once so
// many members are fenced that fewer than wait_count are left; a member that is fenced says nothing any more.
// So as long as wait_count members have answered a question that was asked less than a lease ago, and whoever
// elects waits for longer than that, nobody reads here what another master has changed.
#pragma once

#include <atomic>
#include <chrono>

#include "replication/signal.h"

namespace commitd::replication {

class SourceLease {
 public:
  // Of a mastership. A length of 0: it always holds. Otherwise it holds only when enough have been heard: the
  // order to be the master may have come late.
  void begin(std::chrono::milliseconds length);
  // By the next quorum of the same mastership. What holds goes on, for no longer than the new length from
  // now: whoever elects waits for the quorum in force.
  void change(std::chrono::milliseconds length, Clock::time_point now);
  void end() { begin(std::chrono::milliseconds(0)); }

  std::chrono::milliseconds length() const { return length_.load(); }
  // Members are asked this often.
  std::chrono::milliseconds between_questions() const { return length() / 4; }
  // Enough members have answered what they were asked then, or later.
  void heard(Clock::time_point asked);
  // Every command of a client asks.
  bool holds(Clock::time_point now) const {
    const int64_t until = until_.load(std::memory_order_relaxed);
    return until == kAlways || now.time_since_epoch().count() < until;
  }
  bool is_limited() const { return until_.load(std::memory_order_relaxed) != kAlways; }
  // Returns when it may hold again, or no more; one waiter.
  Task<void> wait_for_change();

 private:
  static constexpr int64_t kAlways = INT64_MAX, kNotYet = INT64_MIN;

  void end_by(Clock::time_point latest);

  std::atomic<std::chrono::milliseconds> length_{std::chrono::milliseconds(0)};
  std::atomic<int64_t> until_{kAlways};  // nanoseconds of the monotonic clock
  Event changed_;
};

}  // namespace commitd::replication
