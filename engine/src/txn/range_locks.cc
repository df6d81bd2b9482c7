#include "txn/range_locks.h"

#include <algorithm>

namespace commitd::txn {

// One reader's wait.
class RangeLocks::Drain {
 public:
  explicit Drain(RangeLocks& ranges) : ranges_(ranges) {
    std::lock_guard lock(ranges_.mutex_);
    ranges_.drains_.push_back(this);
    ranges_.draining_.fetch_add(1);
  }
  ~Drain() {
    std::lock_guard lock(ranges_.mutex_);
    std::erase(ranges_.drains_, this);
    ranges_.draining_.fetch_sub(1);
  }
  Drain(const Drain&) = delete;

  // Before it looks whether it must wait: a wake-up that comes after that look is not lost.
  void arm() {
    std::lock_guard lock(ranges_.mutex_);
    parker.emplace();
  }

  std::optional<Parker> parker;  // under the mutex, but for its owner's park()

 private:
  RangeLocks& ranges_;
};

RangeLocks::InFlight::InFlight(RangeLocks& ranges) : ranges_(ranges), slot_(ranges.epoch_.load() % kEpochs) {
  ranges_.in_flight_[slot_].fetch_add(1);
}

void RangeLocks::InFlight::leave() {
  if (!inside_) return;
  inside_ = false;
  if (ranges_.in_flight_[slot_].fetch_sub(1) == 1 && ranges_.draining_.load() != 0) ranges_.wake_drains();
}

void RangeLocks::InFlight::enter_again() {
  slot_ = ranges_.epoch_.load() % kEpochs;
  ranges_.in_flight_[slot_].fetch_add(1);
  inside_ = true;
}

void RangeLocks::add(const LockOwner& owner, std::string lower, std::string upper, std::string lock_key) {
  std::lock_guard lock(mutex_);
  ranges_.push_back({&owner, std::move(lower), std::move(upper), std::move(lock_key)});
  count_.store(ranges_.size());
}

void RangeLocks::remove_all(const LockOwner& owner) {
  if (!any()) return;
  std::lock_guard lock(mutex_);
  std::erase_if(ranges_, [&](const Range& range) { return range.owner == &owner; });
  count_.store(ranges_.size());
}

std::optional<std::string> RangeLocks::in_the_way(const LockOwner& owner, std::string_view key) const {
  std::lock_guard lock(mutex_);
  for (const Range& range : ranges_) {
    if (range.owner != &owner && key >= range.lower && (range.upper.empty() || key < range.upper))
      return range.lock_key;
  }
  return std::nullopt;
}

uint64_t RangeLocks::begin_epoch() {
  std::lock_guard lock(mutex_);
  const uint64_t next = epoch_.load() + 1;
  if (in_flight_[next % kEpochs].load() != 0) return kNoEpoch;
  epoch_.store(next);
  return next;
}

bool RangeLocks::older_commits(uint64_t than) const {
  const uint64_t now = epoch_.load();
  std::array<bool, kEpochs> newer{};
  for (uint64_t epoch = than; epoch <= now; ++epoch) newer[epoch % kEpochs] = true;
  for (size_t slot = 0; slot < kEpochs; ++slot) {
    if (!newer[slot] && in_flight_[slot].load() != 0) return true;
  }
  return false;
}

void RangeLocks::wake_drains() {
  std::lock_guard lock(mutex_);
  for (Drain* drain : drains_) {
    if (drain->parker) drain->parker->wake();
  }
}

Task<bool> RangeLocks::commits_in_flight_done(Deadline deadline) {
  uint64_t mine = begin_epoch();
  if (!older_commits(mine)) co_return true;
  Drain drain(*this);
  while (true) {
    drain.arm();
    if (mine == kNoEpoch) mine = begin_epoch();
    if (!older_commits(mine)) co_return true;
    const Wake how = co_await drain.parker->park(deadline);
    if (how == Wake::TimedOut) co_return !older_commits(mine);
  }
}

}  // namespace commitd::txn
