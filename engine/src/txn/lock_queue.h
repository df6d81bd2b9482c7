// One lock: who holds it and who waits for it, first come first served. Not thread-safe: its partition's
// mutex guards it.
#pragma once

#include <list>
#include <span>
#include <string_view>
#include <vector>

#include <absl/container/inlined_vector.h>

#include "runtime/parker.h"
#include "txn/lock_manager.h"

namespace commitd::txn {

class LockQueue;
struct LockTablePartition;

// One owner's hold of, or wait for, one lock.
struct LockRequest {
  LockOwner* owner = nullptr;
  LockMode mode = LockMode::Shared;
  std::string_view key;  // the lock table's copy, valid while the request is in the queue
  LockQueue* queue = nullptr;
  LockTablePartition* partition = nullptr;  // the one that guards the queue
  LockRequest* upgrades = nullptr;          // the shared hold that this request wants to make exclusive
  Parker* parker = nullptr;                 // while it waits
  bool granted = false;
  // Under the partition's mutex: how the wait was ended by others, and whether it is in no queue any more
  // (then the key and the queue may be gone).
  bool killed = false, deadlocked = false;
  bool withdrawn = false;
  bool closes_definitions = false;  // a metadata lock that is, or is to become, exclusive
};

class LockQueue {
 public:
  // Grants at once if nobody is in the way; else the request waits: an upgrade in front of all others (they
  // wait for its hold anyway).
  bool request(LockRequest& request);
  bool could_grant(const LockRequest& request) const;
  // Takes back a hold or a wait, and wakes whoever can go on.
  void remove(LockRequest& request);

  std::span<LockRequest* const> holders() const { return granted_; }
  // In the queue's order.
  const std::list<LockRequest*>& waiting() const { return waiting_; }
  // What keeps a waiting request from its lock: holds and earlier waits that exclude its mode.
  std::vector<const LockRequest*> in_the_way_of(const LockRequest& request) const;
  size_t waiters() const { return waiting_.size(); }
  bool idle() const { return granted_.empty() && waiting_.empty(); }

 private:
  bool compatible_with_holders(const LockRequest& request) const;
  void grant(LockRequest& request);
  void grant_from_front();

  absl::InlinedVector<LockRequest*, 1> granted_;
  std::list<LockRequest*> waiting_;  // unlike a deque it costs nothing while nobody waits
};

}  // namespace commitd::txn
