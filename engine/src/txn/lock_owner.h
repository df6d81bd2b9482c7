// The locks of one session's transaction. Used by one coroutine at a time; only the kill flag is touched from
// elsewhere.
#pragma once

#include <atomic>
#include <memory>
#include <string_view>

#include <absl/container/flat_hash_map.h>

#include "txn/lock_manager.h"

namespace commitd::txn {

struct LockRequest;

class LockOwner {
 public:
  LockOwner();
  ~LockOwner();  // release_all() must have been called
  LockOwner(const LockOwner&) = delete;

  size_t lock_count() const { return held_.size(); }
  bool holds(std::string_view key) const { return held_.contains(key); }
  // A kill that found nobody waiting ends the next wait; a new statement starts without it.
  void clear_kill() { killed_.store(false, std::memory_order_relaxed); }

 private:
  friend class LockManager;
  // By key; the key's bytes belong to the lock's queue, which lives as long as the request is in it.
  absl::flat_hash_map<std::string_view, std::unique_ptr<LockRequest>> held_;
  std::atomic<bool> killed_{false};
};

}  // namespace commitd::txn
