#include "replication/source_lease.h"

namespace commitd::replication {

void SourceLease::begin(std::chrono::milliseconds length) {
  length_ = length;
  until_ = length.count() == 0 ? kAlways : kNotYet;
  changed_.set();
}

void SourceLease::change(std::chrono::milliseconds length, Clock::time_point now) {
  length_ = length;
  if (length.count() == 0)
    until_ = kAlways;
  else
    end_by(now + length);
  changed_.set();
}

void SourceLease::end_by(Clock::time_point latest) {
  const int64_t until = latest.time_since_epoch().count();
  int64_t known = until_.load();
  while (known > until && !until_.compare_exchange_weak(known, until)) {
  }
}

void SourceLease::heard(Clock::time_point asked) {
  const std::chrono::milliseconds renewed_by = length();
  const int64_t until = (asked + renewed_by).time_since_epoch().count();
  int64_t known = until_.load();
  do {
    if (known >= until) return;  // kAlways, too
  } while (!until_.compare_exchange_weak(known, until));
  // change() may have come in between, and not have seen this.
  if (const auto now_in_force = length(); now_in_force < renewed_by && is_limited())
    end_by(asked + now_in_force);
  if (known <= Clock::now().time_since_epoch().count()) changed_.set();
}

Task<void> SourceLease::wait_for_change() {
  const int64_t until = until_.load();
  const bool runs_out = until != kAlways && until > Clock::now().time_since_epoch().count();
  co_await changed_.wait(runs_out ? Clock::time_point(Clock::duration(until)) : kNoDeadline);
}

}  // namespace commitd::replication
