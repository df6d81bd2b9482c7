// When and how deadlocks are looked for. A policy sees waits begin; it answers whether the owner whose wait
// begins must give up.
#pragma once

#include <memory>
#include <vector>

namespace commitd::txn {

class LockOwner;

// Who waits for whom, as far as a search needs it. An owner waits for at most one lock at a time, and
// everybody who waits for a lock waits (directly, or behind others that do) for those who hold it: so the
// edges of a waiter are the lock's holders, however long its queue is.
class WaitGraph {
 public:
  virtual ~WaitGraph() = default;
  // The other owners that hold the lock `waiter` waits for; none when it does not wait. Owners are names
  // here, not to be dereferenced.
  virtual void holders_waited_for(const LockOwner* waiter, std::vector<const LockOwner*>& holders) const = 0;
};

class DeadlockPolicy {
 public:
  virtual ~DeadlockPolicy() = default;
  // Called once per wait, when it has been entered into the graph and before the owner parks. True: the wait
  // closes a cycle and `requester` is the victim. No wait begins or ends meanwhile, but locks may be
  // released.
  virtual bool must_give_up(const LockOwner* requester, const WaitGraph& graph) = 0;
};

// Searches from the new waiter along the holders' own waits. Cycles appear only when a wait begins, so none
// is missed.
std::unique_ptr<DeadlockPolicy> incremental_deadlock_detection();
// Leaves deadlocks to the lock wait timeout.
std::unique_ptr<DeadlockPolicy> no_deadlock_detection();

}  // namespace commitd::txn
