#include "sql/table_locks.h"

#include <algorithm>

#include "base/error_codes.h"
#include "runtime/reactor.h"

namespace commitd::sql {
namespace {

// Held shared by sessions with tables locked for writing and by definition changes, exclusively by the global
// read lock. No table has an empty name; no database this one.
constexpr std::string_view kWriteLockers = "\1";
constexpr auto kPollInterval = std::chrono::milliseconds(1);

}  // namespace

Task<Status> TableLocks::take(std::string_view db, std::string_view table, txn::LockMode mode,
                              Deadline deadline) {
  const std::string key = txn::table_lock_key(db, table);
  co_return co_await services_->locks.lock(owner_, key, mode, deadline);
}

Task<Status> stand_beside_global_lock(txn::Transaction& transaction) {
  co_return co_await transaction.lock_table(kWriteLockers, "", txn::LockMode::Shared);
}

// All in one order, so that two sessions that lock the same tables do not wait for each other.
Task<Status> TableLocks::lock(txn::Services& services, std::vector<Wanted> tables, Deadline deadline) {
  services_ = &services;
  owner_.clear_kill();
  std::sort(tables.begin(), tables.end(), [](const Wanted& a, const Wanted& b) {
    return std::tie(a.db, a.table, b.write) < std::tie(b.db, b.table, a.write);
  });
  Status status;
  const bool writes = std::any_of(tables.begin(), tables.end(), [](const Wanted& w) { return w.write; });
  if (writes) status = co_await take(kWriteLockers, "", txn::LockMode::Shared, deadline);
  for (const Wanted& wanted : tables) {
    if (!status.ok()) break;
    bool& for_writing = tables_[{wanted.db, wanted.table}];
    for_writing = for_writing || wanted.write;
    const auto mode = wanted.write ? txn::LockMode::Exclusive : txn::LockMode::Shared;
    status = co_await take(wanted.db, wanted.table, mode, deadline);
  }
  if (!status.ok()) release();
  co_return status;
}

// Sessions with tables locked for writing and definitions first: they hold locks that readers would wait for,
// and could not end once commits wait.
Task<Status> TableLocks::lock_globally(txn::Services& services, Deadline deadline,
                                       std::function<bool()> interrupted) {
  if (frozen_) co_return Status{};
  services_ = &services;
  owner_.clear_kill();
  Status status = co_await take(kWriteLockers, "", txn::LockMode::Exclusive, deadline);
  if (status.ok()) status = co_await take("", "", txn::LockMode::Shared, deadline);
  if (status.ok()) {
    services.pipeline.freeze();
    frozen_ = true;
    while (status.ok() && !services.pipeline.frozen()) {
      if (interrupted()) status = make_error(er::kQueryInterrupted, "Query execution was interrupted");
      if (Clock::now() >= deadline)
        status = make_error(er::kLockWaitTimeout, "Lock wait timeout exceeded; try restarting transaction");
      co_await sleep_until(Clock::now() + kPollInterval);
    }
  }
  if (!status.ok()) release();
  co_return status;
}

void TableLocks::release() {
  if (services_ == nullptr) return;
  if (frozen_) services_->pipeline.thaw();
  frozen_ = false;
  tables_.clear();
  services_->locks.release_all(owner_);
  services_ = nullptr;
}

Status TableLocks::check(std::string_view db, std::string_view table, bool write) const {
  if (tables_.empty()) return {};
  const auto found = tables_.find({std::string(db), std::string(table)});
  if (found == tables_.end())
    return make_error(er::kTableNotLocked, "Table '{}' was not locked with LOCK TABLES", table);
  if (write && !found->second) {
    return make_error(er::kTableNotLockedForWrite,
                      "Table '{}' was locked with a READ lock and can't be updated", table);
  }
  return {};
}

}  // namespace commitd::sql
