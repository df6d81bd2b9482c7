// Deadlock detection as it runs: which policy is in force, who must give up, what it cost and what the last
// deadlock looked like.
#pragma once

#include <atomic>
#include <optional>
#include <thread>

#include "observe/mutex.h"
#include "txn/deadlock_policy.h"
#include "txn/lock_manager.h"

namespace commitd::txn {

// The waits of a lock manager as the detector acts on them.
class LockWaits : public WaitGraph {
 public:
  // Ends the wait with a deadlock; false when it has got its lock meanwhile.
  virtual bool give_up(const LockOwner* victim) = 0;
  // Of one that waits.
  virtual DeadlockReport::Member describe(const LockOwner* waiter) const = 0;
};

class DeadlockDetector {
 public:
  // `graph_mutex` is held whenever a wait begins or ends.
  DeadlockDetector(LockWaits& waits, observe::Mutex& graph_mutex);
  ~DeadlockDetector();

  // Deadlocks that nobody looked for are looked for at once.
  void set_policy(DeadlockPolicyName name);
  void set_enabled(bool enabled);
  // The policy that keeps all others out while it searches, as InnoDB's kernel mutex did.
  bool takes_global_lock() const { return recursive_.load(std::memory_order_relaxed); }

  // Under the graph's mutex, when `requester`'s wait is in the graph. It may have been made to give up when
  // this returns, and so may others.
  void wait_began(const LockOwner* requester);
  // A lock was let go and others still wait for it: their edges have changed.
  void edges_changed();

  std::optional<DeadlockReport> last_deadlock() const;

 private:
  void search_from(const LockOwner* requester, DeadlockPolicy& policy);
  void end(const DeadlockSearch& found);
  DeadlockReport describe(const DeadlockSearch& found) const;
  void run_background();
  void sweep();
  void ask_background();

  LockWaits& waits_;
  observe::Mutex& graph_mutex_;
  const std::unique_ptr<DeadlockPolicy> incremental_, recursive_search_;
  // Written under the graph's mutex.
  std::atomic<DeadlockPolicyName> policy_{DeadlockPolicyName::Incremental};
  std::atomic<bool> enabled_{true}, recursive_{false};
  std::optional<DeadlockReport> last_;  // under the graph's mutex

  // The thread lives from the first time it is needed.
  observe::Mutex background_mutex_{"wait/synch/mutex/commitd/deadlock_background"};
  observe::Condition background_work_{"wait/synch/cond/commitd/deadlock_background"};
  bool asked_ = false, stopping_ = false;
  std::thread background_;
};

}  // namespace commitd::txn
