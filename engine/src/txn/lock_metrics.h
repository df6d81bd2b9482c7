// The row lock figures of engine/CONTROL.md.
#pragma once

#include <chrono>
#include <cstdint>

namespace commitd::txn::lock_metrics {

void wait_began();
void wait_ended(std::chrono::nanoseconds waited);
void timeout();

// One search for deadlocks, and the edges it looked at.
void searched(uint64_t steps);
// A victim was chosen; `gave_up` when only because the search went too far.
void deadlock(bool gave_up);
void global_lock_taken();

// Adds the thread's CPU time from here to the end of the scope to the time spent searching.
class SearchTimer {
 public:
  SearchTimer();
  ~SearchTimer();
  SearchTimer(const SearchTimer&) = delete;

 private:
  uint64_t began_ns_;
};

}  // namespace commitd::txn::lock_metrics
