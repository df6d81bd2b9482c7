// How transactions use range locks.
#include <fmt/format.h>

#include "base/error_codes.h"
#include "txn/range_locks.h"
#include "txn/transaction_impl.h"

namespace commitd::txn {

namespace {

// No table has an empty name, and no two owners that live one address.
std::string range_lock_key(const LockOwner& owner) {
  return table_lock_key("", fmt::format("ranges of {}", fmt::ptr(&owner)));
}

}  // namespace

Task<Status> Transaction::Impl::lock_range(std::string lower, std::string upper) {
  RangeLocks& ranges = services.locks.ranges();
  const std::string key = range_lock_key(owner);
  if (!services.locks.try_lock(owner, key, LockMode::Exclusive))
    co_return make_error(er::kLockTableFull, "The total number of locks exceeds the lock table size");
  ranges.add(owner, std::move(lower), std::move(upper), key);
  const bool done = co_await ranges.commits_in_flight_done(Clock::now() + options.lock_wait_timeout);
  if (!done)
    co_return make_error(er::kLockWaitTimeout, "Lock wait timeout exceeded; try restarting transaction");
  co_return Status{};
}

bool Transaction::Impl::is_known(std::string_view key) const {
  std::string value;
  binlog::SeenOrder nobody_is_told;
  if (const auto ordered = services.pipeline.ordered().find(key, value, nobody_is_told)) return *ordered;
  const auto known = services.engine.get(nullptr, key, value);
  return known.ok() && *known;
}

// A key that is there already is no new one: its row's lock guards it.
std::optional<std::string> Transaction::Impl::range_in_the_way(const WriteSet& changes) const {
  const RangeLocks& ranges = services.locks.ranges();
  if (!ranges.any()) return std::nullopt;
  for (const auto& [key, entry] : changes.entries()) {
    if (!entry.value) continue;
    auto lock_key = ranges.in_the_way(owner, key);
    if (!lock_key) continue;
    if (!is_known(key)) return lock_key;
  }
  return std::nullopt;
}

Task<Status> Transaction::Impl::wait_for_ranges(const WriteSet& changes) {
  for (auto key = range_in_the_way(changes); key; key = range_in_the_way(changes)) {
    const Status waited =
        co_await services.locks.lock(owner, *key, LockMode::Shared, Clock::now() + options.lock_wait_timeout);
    if (!waited.ok()) co_return waited;
    services.locks.release(owner, *key);
  }
  co_return Status{};
}

}  // namespace commitd::txn
