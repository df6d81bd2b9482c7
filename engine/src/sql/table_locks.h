// What a session has locked outside of transactions: LOCK TABLES, and FLUSH TABLES WITH READ LOCK. Given back
// by UNLOCK TABLES and when the session ends.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "runtime/task.h"
#include "txn/lock_owner.h"
#include "txn/transaction.h"

namespace commitd::sql {

class TableLocks {
 public:
  TableLocks() = default;
  ~TableLocks() { release(); }
  TableLocks(const TableLocks&) = delete;

  struct Wanted {
    std::string db, table;
    bool write = false;
  };
  // LOCK TABLES; what was locked before must have been released.
  Task<Status> lock(txn::Services& services, std::vector<Wanted> tables, Deadline deadline);
  // FLUSH TABLES WITH READ LOCK: returns when no commit and no definition is under way any more.
  // `interrupted` is asked while it waits.
  Task<Status> lock_globally(txn::Services& services, Deadline deadline, std::function<bool()> interrupted);
  void release();

  bool tables_locked() const { return !tables_.empty(); }
  bool globally_locked() const { return frozen_; }
  // Under LOCK TABLES only those tables may be used, as they were locked: errors 1100, 1099.
  Status check(std::string_view db, std::string_view table, bool write) const;
  bool covers(std::string_view db, std::string_view table) const {
    return tables_.contains({std::string(db), std::string(table)});
  }
  txn::LockOwner& owner() { return owner_; }

 private:
  Task<Status> take(std::string_view db, std::string_view table, txn::LockMode mode, Deadline deadline);

  txn::Services* services_ = nullptr;
  txn::LockOwner owner_;
  std::map<std::pair<std::string, std::string>, bool> tables_;  // for writing?
  bool frozen_ = false;
};

// Waits for a FLUSH TABLES WITH READ LOCK to be over; a later one waits for the transaction. Before it locks
// tables exclusively: whoever holds the global lock must be able to read them.
Task<Status> stand_beside_global_lock(txn::Transaction& transaction);

}  // namespace commitd::sql
