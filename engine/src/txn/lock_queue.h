// One lock: who holds it and who waits for it, first come first served. Not thread-safe: its partition's
// mutex guards it.
#pragma once

#include <atomic>
#include <deque>
#include <string_view>
#include <vector>

#include "runtime/parker.h"
#include "txn/lock_manager.h"

namespace commitd::txn {

class LockQueue;

// One owner's hold of, or wait for, one lock.
struct LockRequest {
  LockOwner* owner = nullptr;
  LockMode mode = LockMode::Shared;
  std::string_view key;  // the lock table's copy, valid while the request is in the queue
  LockQueue* queue = nullptr;
  LockRequest* upgrades = nullptr;  // the shared hold that this request wants to make exclusive
  Parker* parker = nullptr;         // while it waits
  bool granted = false;
  std::atomic<bool> killed{false};
  bool withdrawn = false;  // in no queue any more
};

class LockQueue {
 public:
  // Grants at once if nobody is in the way; else the request waits: an upgrade in front of all others (they
  // wait for its hold anyway).
  bool request(LockRequest& request);
  bool could_grant(const LockRequest& request) const;
  // Takes back a hold or a wait, and wakes whoever can go on.
  void remove(LockRequest& request);

  const std::vector<LockRequest*>& holders() const { return granted_; }
  size_t waiters() const { return waiting_.size(); }
  bool idle() const { return granted_.empty() && waiting_.empty(); }

 private:
  bool compatible_with_holders(const LockRequest& request) const;
  void grant(LockRequest& request);
  void grant_from_front();

  std::vector<LockRequest*> granted_;
  std::deque<LockRequest*> waiting_;
};

}  // namespace commitd::txn
