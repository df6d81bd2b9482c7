// Row and metadata locks: keyed by bytes, shared or exclusive, granted in arrival order (FIFO), waited for by
// parking. A lock on a key that does not exist yet is what keeps two transactions from inserting the same
// key.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "runtime/parker.h"
#include "runtime/task.h"

namespace commitd::txn {

enum class LockMode : uint8_t { Shared, Exclusive };

// What a transaction holds and waits for. One per session; used by one coroutine at a time.
class LockOwner;

class LockManager {
 public:
  struct Options {
    size_t partitions = 64;
    size_t max_locks = 16'000'000;  // more is error 1206
    bool detect_deadlocks = true;   // false: they end by the lock wait timeout
  };
  LockManager();
  explicit LockManager(Options options);
  ~LockManager();

  // Error 1205 at the deadline, 1213 when this request closes a cycle and this owner is the victim, 1317 when
  // killed meanwhile. Already held in this or a stronger mode: returns at once; a held shared lock is
  // upgraded.
  Task<Status> lock(LockOwner& owner, std::string_view key, LockMode mode, Deadline deadline);
  // Takes it only if that needs no waiting.
  bool try_lock(LockOwner& owner, std::string_view key, LockMode mode);

  void release_all(LockOwner& owner);
  // Everything taken since the mark (savepoint rollback keeps locks in MySQL; READ COMMITTED releases rows
  // that did not match).
  void release(LockOwner& owner, std::string_view key);

  // From any thread: the wait of this owner, if any, ends with error 1317.
  void kill_wait(LockOwner& owner);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace commitd::txn
