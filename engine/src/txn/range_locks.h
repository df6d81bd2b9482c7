// Ranges of index keys that SERIALIZABLE transactions have read: nobody else's new key appears in them before
// the reader has ended. Point operations take no part; a transaction that writes looks at two atomics when it
// commits.
//
// A new key is checked twice: when it is written, where the writer waits as it does for any lock, and when
// the transaction commits, for ranges that have been read since. A reader, having entered its range, waits
// for the commits that were already past that check, and reads then: what it does not see cannot appear any
// more.
#pragma once

#include <array>
#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/parker.h"
#include "runtime/task.h"

namespace commitd::txn {

class LockOwner;

class RangeLocks {
 public:
  // Held by a commit from its last check until its changes are visible.
  class InFlight {
   public:
    explicit InFlight(RangeLocks& ranges);
    ~InFlight() { leave(); }
    InFlight(const InFlight&) = delete;
    void leave();
    void enter_again();

   private:
    RangeLocks& ranges_;
    size_t slot_;
    bool inside_ = true;
  };

  bool any() const { return count_.load(std::memory_order_seq_cst) != 0; }
  // Keys in [lower, upper); an empty `upper` is no bound. `lock_key` is an exclusive lock of the owner's,
  // released when it ends: what others wait for.
  void add(const LockOwner& owner, std::string lower, std::string upper, std::string lock_key);
  void remove_all(const LockOwner& owner);
  // The lock key of somebody else's range that has this key.
  std::optional<std::string> in_the_way(const LockOwner& owner, std::string_view key) const;

  // Returns when every commit that was in flight is visible; false at the deadline.
  Task<bool> commits_in_flight_done(Deadline deadline);

 private:
  struct Range {
    const LockOwner* owner;
    std::string lower, upper, lock_key;
  };
  class Drain;
  static constexpr uint64_t kNoEpoch = UINT64_MAX;
  uint64_t begin_epoch();
  bool older_commits(uint64_t than) const;
  void wake_drains();

  mutable std::mutex mutex_;
  std::vector<Range> ranges_;
  std::atomic<size_t> count_{0};

  // Commits in flight, by the epoch they began in. A reader begins a new epoch and waits for the older ones,
  // so that a steady stream of commits does not keep it waiting. Epochs use the counters in turns; one begins
  // only when its counter stands at 0, so whatever is counted there later has begun later.
  static constexpr size_t kEpochs = 64;
  std::atomic<uint64_t> epoch_{0};
  std::array<std::atomic<uint64_t>, kEpochs> in_flight_{};
  std::atomic<size_t> draining_{0};
  std::vector<Drain*> drains_;  // under mutex_
};

}  // namespace commitd::txn
