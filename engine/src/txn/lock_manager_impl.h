// The inside of the lock manager. Order of mutexes: the global one of the recursive detector, the graph's,
// then one partition's. Only waits touch the graph; a lock that is free costs one partition mutex.
#pragma once

#include <absl/container/flat_hash_map.h>

#include "txn/deadlock_detector.h"
#include "txn/lock_owner.h"
#include "txn/lock_queue.h"
#include "txn/lock_table.h"
#include "txn/range_locks.h"

namespace commitd::txn {

class LockManager::Impl final : public LockWaits {
 public:
  using Partition = LockTable::Partition;

  explicit Impl(const Options& options);

  bool full() const { return locks_.load(std::memory_order_relaxed) >= max_locks_; }
  static bool holds(const LockOwner& owner, std::string_view key, LockMode mode);
  bool try_lock(LockOwner& owner, std::string_view key, LockMode mode);
  void release(LockOwner& owner, std::string_view key);
  void release_all(LockOwner& owner);
  void release_rows(LockOwner& owner);
  void kill_wait(LockOwner& owner);

  RangeLocks& ranges() { return ranges_; }
  DeadlockDetector& detector() { return detector_; }
  const DeadlockDetector& detector() const { return detector_; }
  std::vector<LockView> views() const;

  // LockWaits: called under the graph's mutex, so whoever is in waiting_ cannot leave meanwhile.
  void holders_waited_for(const LockOwner* waiter, LockOwners& holders) const override;
  void all_waited_for(const LockOwner* waiter, LockOwners& others) const override;
  void waiters(LockOwners& all) const override;
  uint64_t weight(const LockOwner* waiter) const override;
  bool give_up(const LockOwner* victim) override;
  DeadlockReport::Member describe(const LockOwner* waiter) const override;

 private:
  friend class LockManager::Attempt;

  static std::unique_ptr<LockRequest> make_request(LockOwner& owner, std::string_view key, LockMode mode);
  // Under the partition's mutex.
  static bool enqueue(Partition& partition, std::string_view key, LockRequest& request);
  void keep(LockOwner& owner, std::unique_ptr<LockRequest> request);
  void take_back(LockRequest& request);
  // Under the partition's mutex; true when others still wait for the lock.
  static bool take_back_locked(LockRequest& request);
  const LockRequest* waiting_request(const LockOwner* waiter) const;
  static LockView view_of(const LockRequest& request);

  // Held around everything but a wait while the recursive detector is in force.
  std::unique_lock<observe::Mutex> global_lock();

  mutable LockTable table_;
  RangeLocks ranges_;
  const size_t max_locks_;
  std::atomic<size_t> locks_{0};
  observe::Mutex global_mutex_{"wait/synch/mutex/commitd/deadlock_global_lock"};
  mutable observe::Mutex graph_mutex_{"wait/synch/mutex/commitd/lock_wait_graph"};
  absl::flat_hash_map<const LockOwner*, LockRequest*> waiting_;
  DeadlockDetector detector_;  // last: its thread ends before the rest goes
};

}  // namespace commitd::txn
