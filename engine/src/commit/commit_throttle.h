// Slows local commits to a rate, in bytes of log per second. They wait here before they queue, in the order
// in which they came: nothing of theirs is in the log, and whatever ends the wait, nothing has happened. What
// is received and epoch transactions do not come here.
//
// Writers always go on: the first in the row waits for a second at most.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <optional>

#include "base/result.h"
#include "commit/token_bucket.h"
#include "observe/mutex.h"
#include "runtime/parker.h"
#include "runtime/task.h"

namespace commitd::binlog {

class CommitThrottle {
 public:
  // Without a rate nobody waits; who does goes on at once.
  void set_rate(std::optional<double> bytes_per_second);
  // Local commits are refused where they queue: nobody waits to be told so.
  void close();
  void open();

  // All that a commit costs while there is no rate.
  bool is_on() const { return on_.load(std::memory_order_relaxed); }
  // Waits for its turn. Error 1317 once `killed` is set, of which wake_killed() tells.
  Task<Status> pass(uint64_t bytes, const std::atomic<bool>& killed);
  void wake_killed();

  uint64_t waits() const { return waits_.load(std::memory_order_relaxed); }  // that have begun
  uint64_t waited_ns() const { return waited_ns_.load(std::memory_order_relaxed); }
  size_t waiting() const;

 private:
  // Woken only under the mutex, and only while it is in the row.
  struct Waiter {
    Parker parker;
    const std::atomic<bool>& killed;
  };
  enum class Turn : uint8_t { Passes, Waits, Killed };

  bool holds_back() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return rate_ && !closed_; }
  bool enter(Waiter& waiter, uint64_t bytes);
  Turn look(Waiter& waiter, uint64_t bytes, Deadline& wake_at);
  void leave(Waiter& waiter) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void wake_everybody() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  std::atomic<bool> on_{false};
  std::atomic<uint64_t> waits_{0}, waited_ns_{0};
  mutable observe::Mutex mutex_{"wait/synch/mutex/commitd/commit_throttle"};
  std::optional<double> rate_ ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  TokenBucket bucket_ ABSL_GUARDED_BY(mutex_);
  std::list<Waiter*> row_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace commitd::binlog
