#include "commit/commit_throttle.h"

#include "base/error_codes.h"
#include "observe/wait_events.h"

namespace commitd::binlog {

void CommitThrottle::set_rate(std::optional<double> bytes_per_second) {
  MutexLock lock(mutex_);
  if (bytes_per_second) bucket_.set_rate(*bytes_per_second, Clock::now());
  rate_ = bytes_per_second;
  on_ = rate_.has_value();
  if (!rate_) return wake_everybody();
  if (!row_.empty()) row_.front()->parker.wake();  // its turn comes at another time now
}

void CommitThrottle::close() {
  MutexLock lock(mutex_);
  closed_ = true;
  wake_everybody();
}

void CommitThrottle::open() {
  MutexLock lock(mutex_);
  closed_ = false;
}

void CommitThrottle::wake_killed() {
  MutexLock lock(mutex_);
  for (Waiter* waiter : row_) {
    if (waiter->killed.load(std::memory_order_relaxed)) waiter->parker.wake();
  }
}

size_t CommitThrottle::waiting() const {
  MutexLock lock(mutex_);
  return row_.size();
}

void CommitThrottle::wake_everybody() {
  for (Waiter* waiter : row_) waiter->parker.wake();
}

// False: there is nothing to wait for.
bool CommitThrottle::enter(Waiter& waiter, uint64_t bytes) {
  MutexLock lock(mutex_);
  if (!holds_back() || (row_.empty() && bucket_.take(bytes, Clock::now()))) return false;
  row_.push_back(&waiter);
  return true;
}

void CommitThrottle::leave(Waiter& waiter) {
  const bool was_first = row_.front() == &waiter;
  row_.remove(&waiter);
  if (was_first && !row_.empty()) row_.front()->parker.wake();
}

CommitThrottle::Turn CommitThrottle::look(Waiter& waiter, uint64_t bytes, Deadline& wake_at) {
  MutexLock lock(mutex_);
  if (waiter.killed.load(std::memory_order_relaxed)) {
    leave(waiter);
    return Turn::Killed;
  }
  const bool is_first = row_.front() == &waiter;
  const auto now = Clock::now();
  if (!holds_back() || (is_first && bucket_.take(bytes, now))) {
    leave(waiter);
    return Turn::Passes;
  }
  wake_at = is_first ? bucket_.free_at(now) : kNoDeadline;
  waiter.parker.reset();
  return Turn::Waits;
}

Task<Status> CommitThrottle::pass(uint64_t bytes, const std::atomic<bool>& killed) {
  Waiter waiter{{}, killed};
  if (!enter(waiter, bytes)) co_return Status{};
  waits_.fetch_add(1, std::memory_order_relaxed);
  static const observe::WaitEvent event("wait/synch/cond/commitd/replica_lag");
  const observe::WaitTimer timer(event);
  const auto began = Clock::now();
  Deadline wake_at = kNoDeadline;
  Turn turn = look(waiter, bytes, wake_at);
  while (turn == Turn::Waits) {
    co_await waiter.parker.park(wake_at);
    turn = look(waiter, bytes, wake_at);
  }
  const auto waited = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - began);
  waited_ns_.fetch_add(static_cast<uint64_t>(waited.count()), std::memory_order_relaxed);
  if (turn == Turn::Killed) co_return make_error(er::kQueryInterrupted, "Query execution was interrupted");
  co_return Status{};
}

}  // namespace commitd::binlog
