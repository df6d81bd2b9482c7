#include <algorithm>

#include "base/error_codes.h"
#include "storage/record/definition_record.h"
#include "storage/record/key_codec.h"
#include "txn/definition_gate.h"
#include "txn/row_writes.h"
#include "txn/transaction_impl.h"

namespace commitd::txn {

Status fill_row(const TableDef& table, std::string_view clustered_key, std::string_view stored,
                FoundRow& row) {
  std::string scratch;
  const auto image = image_of_stored_row(table, stored, scratch);
  if (!image) return image.error();
  const auto length = decode_leading_row(table, *image, row.values);
  if (!length) return length.error();
  row.image.assign(*image);
  row.clustered_key.assign(clustered_key);
  row.row_id = table.has_primary_key() ? 0 : row_id_of(clustered_key);
  return {};
}

Result<bool> Transaction::Impl::read(const storage::Snapshot* at, std::string_view key, std::string& value) {
  if (const WriteSet::Entry* own = writes.find(key)) {
    if (!own->value) return false;
    COMMITD_RETURN_IF_ERROR(writes.read_value(*own, value));
    return true;
  }
  // Before the engine: what is not in there any more, the engine has.
  if (at == nullptr) {
    if (const auto ordered = services.pipeline.ordered().find(key, value, seen)) return *ordered;
  }
  return services.engine.get(at, key, value);
}

Result<bool> Transaction::Impl::read_row(const TableDef& table, const storage::Snapshot* at,
                                         std::string_view clustered_key, FoundRow& row) {
  std::string stored;
  auto found = read(at, clustered_key, stored);
  if (!found || !*found) return found;
  COMMITD_RETURN_IF_ERROR(fill_row(table, clustered_key, stored, row));
  return true;
}

Result<bool> Transaction::Impl::read_row_of(const TableDef& table, const IndexDef& index,
                                            const storage::Snapshot* at, std::string_view entry,
                                            std::string_view clustered_key, FoundRow& row) {
  auto found = read_row(table, at, clustered_key, row);
  if (!found || !*found || writes.find(clustered_key) == nullptr) return found;
  return secondary_key(table, index, row.values, clustered_suffix(clustered_key)) == entry;
}

// Whoever holds a table's metadata lock has looked its definition up since, so that only a snapshot from
// before can be of another. On a replica definitions change without that lock: there it may also be the
// snapshot that is newer.
Status Transaction::Impl::check_definition(const TableDef& table) {
  read_view();
  if (view.definitions && view.definitions == definitions_at_statement &&
      definition_gate().was_open_since(*view.definitions))
    return {};
  const std::pair definition(table.id, table.version);
  if (std::find(view.checked_definitions.begin(), view.checked_definitions.end(), definition) !=
      view.checked_definitions.end())
    return {};
  std::string record;
  const auto found = services.engine.get(view.snapshot.get(), definition_key(table.id), record);
  if (!found) return found.error();
  if (!*found || !is_definition_of(record, table))
    return make_error(er::kTableDefChanged, "Table definition has changed, please retry transaction");
  view.checked_definitions.push_back(definition);
  return {};
}

bool Transaction::Impl::lock_now(const TableDef& table, std::string_view clustered_key, LockMode mode) {
  if (!table.has_primary_key() && is_provisional(row_id_of(clustered_key))) return true;
  return services.locks.try_lock(owner, clustered_key, mode);
}

namespace {

Error lock_nowait() {
  return make_error(er::kLockNowait,
                    "Statement aborted because lock(s) could not be acquired immediately and NOWAIT is set.");
}

}  // namespace

Task<Status> Transaction::Impl::lock_key(std::string_view key, LockMode mode) {
  if (services.locks.try_lock(owner, key, mode)) co_return Status{};
  if (locked_rows != LockedRows::Wait) co_return lock_nowait();
  co_return co_await services.locks.lock(owner, key, mode, Clock::now() + options.lock_wait_timeout);
}

Task<Status> Transaction::Impl::lock_name(std::string_view key, LockMode mode) {
  if (services.locks.try_lock(owner, key, mode)) co_return Status{};
  co_return co_await services.locks.lock(owner, key, mode, Clock::now() + options.table_lock_wait_timeout);
}

// Nobody else can write a newer version meanwhile: its lock is held. When this one is lost, there may be an
// older one that is not in the engine either.
Task<Status> Transaction::Impl::wait_for_engine(std::string_view key) {
  using Outcome = binlog::OrderedWrites::Outcome;
  if (locked_rows != LockedRows::Wait) co_return lock_nowait();
  binlog::OrderedWrites& ordered = services.pipeline.ordered();
  const Deadline deadline = Clock::now() + options.lock_wait_timeout;
  Outcome outcome = Outcome::Lost;
  owner.set_wait(LockOwner::Wait::Row);
  while (outcome == Outcome::Lost) {
    const binlog::SeenOrder newest = ordered.newest(key);
    if (newest.order == 0) break;
    outcome = co_await ordered.wait(newest, deadline, &owner.kill_flag());
  }
  owner.set_wait(LockOwner::Wait::None);
  if (outcome == Outcome::Killed)
    co_return make_error(er::kQueryInterrupted, "Query execution was interrupted");
  if (outcome != Outcome::TimedOut) co_return Status{};
  co_return make_error(er::kLockWaitTimeout, "Lock wait timeout exceeded; try restarting transaction");
}

bool Transaction::Impl::skips(const Status& status) const {
  return !status.ok() && locked_rows == LockedRows::Skip && status.error().code == er::kLockNowait;
}

Task<Status> Transaction::Impl::lock_row(const TableDef& table, std::string_view clustered_key,
                                         LockMode mode) {
  if (lock_now(table, clustered_key, mode)) co_return Status{};
  co_return co_await lock_key(clustered_key, mode);
}

Task<Status> Transaction::Impl::lock_row_to_read(const TableDef& table, std::string_view clustered_key,
                                                 LockMode mode) {
  COMMITD_CO_RETURN_IF_ERROR(co_await lock_row(table, clustered_key, mode));
  if (must_wait_for(clustered_key)) co_return co_await wait_for_engine(clustered_key);
  co_return Status{};
}

Task<Status> Transaction::Impl::lock_key_to_read(std::string_view key, LockMode mode) {
  COMMITD_CO_RETURN_IF_ERROR(co_await lock_key(key, mode));
  if (must_wait_for(key)) co_return co_await wait_for_engine(key);
  co_return Status{};
}

Task<Result<bool>> Transaction::Impl::lock_and_read(const TableDef& table, std::string clustered_key,
                                                    LockMode mode, FoundRow& row) {
  // Mostly nobody is in the way, and it takes no more coroutines.
  if (lock_now(table, clustered_key, mode) && !must_wait_for(clustered_key))
    co_return read_row(table, nullptr, clustered_key, row);
  const Status locked = co_await lock_row_to_read(table, clustered_key, mode);
  if (skips(locked)) co_return false;
  if (!locked.ok()) co_return locked.error();
  co_return read_row(table, nullptr, clustered_key, row);
}

Task<Result<bool>> Transaction::get(const TablePtr& table, std::span<const Value> primary_key, ReadMode mode,
                                    FoundRow& row) {
  std::string key = index_key_prefix(*table, table->clustered(), primary_key);
  if (mode == ReadMode::Snapshot) {
    COMMITD_CO_RETURN_IF_ERROR(impl_->check_definition(*table));
    co_return impl_->read_row(*table, impl_->view.snapshot.get(), key, row);
  }
  co_return co_await impl_->lock_and_read(*table, std::move(key), lock_mode(mode), row);
}

// A unique key is locked before it is read, found or not: nobody can then take or give it away. The row
// behind it is locked next; when it has lost the key to a transaction that ended meanwhile, the key's newest
// entry is looked at again.
Task<Result<bool>> Transaction::get_by_unique(const TablePtr& table, const IndexDef& index,
                                              std::span<const Value> values, ReadMode mode, FoundRow& row) {
  if (index.primary) co_return co_await get(table, values, mode, row);
  if (std::any_of(values.begin(), values.end(), [](const Value& value) { return value.is_null(); }))
    co_return false;
  const std::string key = index_key_prefix(*table, index, values);
  const bool locking = mode != ReadMode::Snapshot;
  if (locking) {
    const Status locked = co_await impl_->lock_key_to_read(key, lock_mode(mode));
    if (impl_->skips(locked)) co_return false;
    if (!locked.ok()) co_return locked.error();
  }
  if (!locking) COMMITD_CO_RETURN_IF_ERROR(impl_->check_definition(*table));
  std::string entry, again;
  const storage::Snapshot* at = locking ? nullptr : impl_->view.snapshot.get();
  while (true) {
    const auto found = impl_->read(at, key, entry);
    if (!found || !*found) co_return found;
    std::string clustered = clustered_key_of_entry(*table, key, entry);
    if (clustered.empty())
      co_return make_error(er::kErrorOnRead, "An entry of index '{}' is damaged", index.name);
    if (!locking) co_return impl_->read_row_of(*table, index, at, key, clustered, row);
    const Status locked = co_await impl_->lock_row_to_read(*table, clustered, lock_mode(mode));
    if (impl_->skips(locked)) co_return false;
    if (!locked.ok()) co_return locked.error();
    const auto still = impl_->read(nullptr, key, again);
    if (!still) co_return still;
    if (*still && again == entry) co_return impl_->read_row(*table, nullptr, clustered, row);
  }
}

std::unique_ptr<Cursor> Transaction::scan(const TablePtr& table, const IndexDef& index,
                                          const IndexRange& range, ReadMode mode, bool backwards) {
  return open_cursor(*impl_, table, index, range, mode, backwards);
}

}  // namespace commitd::txn
