// When and how deadlocks are looked for. One interface, three ways: what differs is what a search costs.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace commitd::txn {

class LockOwner;
using LockOwners = std::vector<const LockOwner*>;  // names here, not to be dereferenced

// Who waits for whom, as far as a search needs it. An owner waits for at most one lock at a time.
class WaitGraph {
 public:
  virtual ~WaitGraph() = default;
  // Everybody who waits for a lock waits (directly, or behind others that do) for those who hold it: so these
  // edges suffice to find every cycle, however long the queue is. The other owners that hold the lock
  // `waiter` waits for; none when it does not wait.
  virtual void holders_waited_for(const LockOwner* waiter, LockOwners& holders) const = 0;
  // The edges of the textbook: every owner with a hold or an earlier wait that excludes `waiter`'s, in the
  // order of the queue.
  virtual void all_waited_for(const LockOwner* waiter, LockOwners& others) const = 0;
  virtual void waiters(LockOwners& all) const = 0;
  // Of one that waits: what its rollback would throw away. InnoDB's measure, changed rows and locks.
  virtual uint64_t weight(const LockOwner* waiter) const = 0;
};

// What a search came to.
struct DeadlockSearch {
  const LockOwner* victim = nullptr;  // must give up; null: no deadlock
  LockOwners cycle;                   // each waits for the one before it, the first for the last
  bool gave_up = false;               // no cycle, but the limits of the search were reached
  uint64_t steps = 0;                 // edges looked at
};

class DeadlockPolicy {
 public:
  virtual ~DeadlockPolicy() = default;
  // Called when `requester`'s wait has been entered into the graph and before it parks. No wait begins or
  // ends meanwhile, but locks may be released.
  virtual DeadlockSearch search(const LockOwner* requester, const WaitGraph& graph) = 0;
};

// Breadth first from the new waiter along the holders' own waits: one step per holder met. Cycles appear only
// when a wait begins, so none is missed. The lightest of the cycle gives up, the requester among equals.
std::unique_ptr<DeadlockPolicy> incremental_deadlock_detection();

// InnoDB's before MySQL 8.0.18: depth first over every lock ahead in every queue, so that n waiters for one
// row cost n²/2 steps each time one more arrives. Deeper than kDeepest, or more than kMostVisits owners,
// counts as a deadlock of the requester. Otherwise the lighter of the requester and the one that waits for it
// gives up.
std::unique_ptr<DeadlockPolicy> recursive_deadlock_detection();
inline constexpr size_t kDeepestRecursiveSearch = 200;
inline constexpr size_t kMostRecursiveVisits = 1'000'000;

// MySQL's since 8.0.18, for a thread that looks at all waits at once: at most one edge per waiter (the first
// holder in its way), coloured in linear time. A cycle through another holder shows when the first has let
// go, so a release that leaves waiters must lead to another search.
class WaitColouring {
 public:
  explicit WaitColouring(const WaitGraph& graph);  // copies the edges; no wait begins or ends meanwhile
  // The next cycle, if any, in the copy. Waits may have ended since: see still_stands().
  LockOwners next_cycle();
  uint64_t steps() const { return steps_; }

 private:
  static constexpr size_t kNone = SIZE_MAX;
  LockOwners owners_;
  std::vector<size_t> waits_for_;
  std::vector<size_t> colour_;  // kNone: not visited; else the walk that was there
  size_t next_start_ = 0;
  uint64_t steps_ = 0;
};

// Edges are read one after the other while locks may be released: only a cycle whose edges are all there a
// second time is one.
bool still_stands(const LockOwners& cycle, const WaitGraph& graph);
// The first among equals.
const LockOwner* lightest_of(const LockOwners& cycle, const WaitGraph& graph);

}  // namespace commitd::txn
