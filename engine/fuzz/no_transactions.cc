// A session of a server without an engine has no transaction and no account: these are for the linker, and
// never called but for the empty ones.
#include <cstdlib>

#include "sql/table_locks.h"
#include "txn/lock_manager_impl.h"
#include "txn/lock_owner.h"
#include "txn/transaction.h"

namespace commitd {

class txn::Transaction::Impl {};
txn::Transaction::Transaction(Services&, LockOwner&) {
  std::abort();
}
txn::Transaction::~Transaction() = default;
txn::LockOwner::LockOwner() = default;
txn::LockOwner::~LockOwner() = default;
void sql::TableLocks::release() {}

}  // namespace commitd
