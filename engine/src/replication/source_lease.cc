#include "replication/source_lease.h"

namespace commitd::replication {

void SourceLease::begin(std::chrono::milliseconds length) {
  length_ = length;
  until_ = length.count() == 0 ? kAlways : kNotYet;
  changed_.set();
}

void SourceLease::change(std::chrono::milliseconds length, Clock::time_point now) {
  length_ = length;
  if (length.count() == 0) {
    until_ = kAlways;
  } else if (!is_limited()) {
    until_ = (now + length).time_since_epoch().count();
  }
  changed_.set();
}

void SourceLease::heard(Clock::time_point asked) {
  const int64_t until = (asked + length()).time_since_epoch().count();
  int64_t known = until_.load();
  do {
    if (known >= until) return;  // kAlways, too
  } while (!until_.compare_exchange_weak(known, until));
  if (known <= Clock::now().time_since_epoch().count()) changed_.set();
}

Task<void> SourceLease::wait_for_change() {
  const int64_t until = until_.load();
  const bool runs_out = until != kAlways && until > Clock::now().time_since_epoch().count();
  co_await changed_.wait(runs_out ? Clock::time_point(Clock::duration(until)) : kNoDeadline);
}

}  // namespace commitd::replication
