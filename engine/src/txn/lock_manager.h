// Row and metadata locks: keyed by bytes, shared or exclusive, granted in arrival order (FIFO), waited for by
// parking. A lock on a key that does not exist yet is what keeps two transactions from inserting the same
// key.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "runtime/parker.h"
#include "runtime/task.h"

namespace commitd::txn {

enum class LockMode : uint8_t { Shared, Exclusive };

// How deadlocks are looked for (deadlock_policy.h).
enum class DeadlockPolicyName : uint8_t { Incremental, Background, Recursive };

// What a transaction holds and waits for. One per session; used by one coroutine at a time.
class LockOwner;
class RangeLocks;  // txn/range_locks.h

// One hold of, or wait for, a lock, as it was when it was looked at.
struct LockView {
  uint64_t id = 0;  // of the hold or wait, while it lasts
  uint64_t transaction_id = 0;
  uint32_t connection_id = 0;
  std::string key;
  LockMode mode = LockMode::Shared;
  bool granted = false;
  std::vector<uint64_t> blocked_by;  // ids
};

struct DeadlockReport {
  struct Member {
    uint64_t transaction_id = 0;
    uint32_t connection_id = 0;
    std::string statement;
    std::string waits_for;  // a key
    LockMode mode = LockMode::Shared;
    size_t locks = 0;
    uint64_t rows_changed = 0;
    bool victim = false;
  };
  std::chrono::system_clock::time_point at;
  std::vector<Member> members;  // each waits for the one before it, the first for the last
  bool search_gave_up = false;  // no cycle was found, the search went too far
};

class LockManager {
 public:
  struct Options {
    size_t partitions = 64;
    size_t max_locks = 16'000'000;  // more is error 1206
    bool detect_deadlocks = true;   // false: they end by the lock wait timeout
    DeadlockPolicyName deadlock_policy = DeadlockPolicyName::Incremental;
  };
  LockManager();
  explicit LockManager(Options options);
  ~LockManager();

  // Error 1205 at the deadline, 1213 when this owner has to give up so that a deadlock ends, 1317 when
  // killed meanwhile. Already held in this or a stronger mode: returns at once; a held shared lock is
  // upgraded.
  Task<Status> lock(LockOwner& owner, std::string_view key, LockMode mode, Deadline deadline);
  // Takes it only if that needs no waiting.
  bool try_lock(LockOwner& owner, std::string_view key, LockMode mode);

  void release_all(LockOwner& owner);
  // All but the locks of tables.
  void release_rows(LockOwner& owner);
  // Everything taken since the mark (savepoint rollback keeps locks in MySQL; READ COMMITTED releases rows
  // that did not match).
  void release(LockOwner& owner, std::string_view key);

  // What SERIALIZABLE transactions have read; an owner's go with release_all().
  RangeLocks& ranges();

  // From any thread: the wait of this owner, if any, ends with error 1317.
  void kill_wait(LockOwner& owner);

  // At any time. A deadlock that nobody looked for until then is looked for at once.
  void set_deadlock_policy(DeadlockPolicyName name);
  void set_deadlock_detect(bool on);

  // A look at one partition after the other: consistent for each lock, not for all together.
  std::vector<LockView> locks() const;
  std::optional<DeadlockReport> last_deadlock() const;

 private:
  class Impl;  // txn/lock_manager_impl.h
  class Attempt;
  std::unique_ptr<Impl> impl_;
};

// Metadata locks and row locks share the manager; table locks have keys of their own.
std::string table_lock_key(std::string_view db, std::string_view table);
struct LockedTable {
  std::string_view db, table;
};
// nullopt when the key is not a table lock's.
std::optional<LockedTable> table_of_lock_key(std::string_view key);

}  // namespace commitd::txn
