// What a statement changes in tables that are not transactional: a transaction of its own beside the
// session's. It is committed when the statement ends, failed or not, so it stands in the log in front of the
// session's and no ROLLBACK undoes it; its row locks end with it. Its lock owner is not the session's: a
// deadlock of the two with others ends by the lock wait timeout.
#pragma once

#include <optional>

#include "runtime/task.h"
#include "sql/session_state.h"
#include "txn/lock_owner.h"
#include "txn/transaction.h"

namespace commitd::sql {

// Of the tables that one statement is to change.
class OneKindOfTable {
 public:
  Status add(const TableDef& table);  // 1785 when some are transactional and some are not

 private:
  std::optional<bool> transactional_;
};

class ChangesBeside {
 public:
  explicit ChangesBeside(SessionState& session);

  txn::Transaction& transaction() { return transaction_; }
  // 1114 when the table has no room for the row and what was made room for since the last commit.
  Status make_room(const TableDef& table, const Row& row);
  Task<Status> commit();

 private:
  void take_next_gtid();

  SessionState& session_;
  txn::LockOwner owner_;
  txn::Transaction transaction_;
  uint64_t growth_ = 0;
};

}  // namespace commitd::sql
