#include "observe/metrics.h"
#include "storage/record/key_codec.h"
#include "txn/range_locks.h"
#include "txn/row_writes.h"
#include "txn/transaction_impl.h"

namespace commitd::txn {

namespace {

using Found = std::optional<Transaction::Duplicate>;

observe::Counter& rows_counter(const std::string& what) {
  return observe::counter("commitd_rows_" + what + "_total", "Rows " + what + " by sessions.");
}

// Keys that `after` takes anew in this index, compared with `before` under the same clustered key.
bool takes_new_key(const TableDef& table, const IndexDef& index, const Row& before, const Row& after) {
  if (!enforces_uniqueness(table, index, after)) return false;
  return secondary_key(table, index, before, std::string_view{}) !=
         secondary_key(table, index, after, std::string_view{});
}

}  // namespace

Task<Result<Found>> Transaction::insert(const TablePtr& table, const Row& row) {
  static auto& inserted = rows_counter("inserted");
  for (const IndexDef& index : table->indexes) {
    if (!index.primary && !enforces_uniqueness(*table, index, row)) continue;
    auto duplicate = co_await impl_->check_unique(table, index, row, {});
    if (!duplicate || duplicate->has_value()) co_return duplicate;
  }
  if (const uint64_t next = next_after(*table, row); next != 0) {
    // A value given by hand must not be handed out before this transaction commits.
    const auto raised = impl_->services.engine.next_auto_increment(table->id, 0, next);
    if (!raised) co_return raised.error();
  }
  const uint64_t row_id = table->has_primary_key() ? 0 : impl_->writes.new_provisional_row_id(table->id);
  std::string image;
  encode_row_image(*table, row, image);
  if (impl_->services.locks.ranges().any()) {
    WriteSet change;
    put_row(change, *table, row, image, row_id);
    COMMITD_CO_RETURN_IF_ERROR(co_await impl_->wait_for_ranges(change));
  }
  put_row(impl_->writes, *table, row, image, row_id);
  impl_->events.insert_row(*table, image);
  COMMITD_CO_RETURN_IF_ERROR(impl_->check_size());
  impl_->owner.row_changed();
  inserted.add();
  co_return Found{};
}

Task<Result<Found>> Transaction::update(const TablePtr& table, const FoundRow& old_row, const Row& new_row) {
  static auto& updated = rows_counter("updated");
  std::string image;
  encode_row_image(*table, new_row, image);
  if (image == old_row.image) co_return Found{};
  if (!impl_->lock_now(*table, old_row.clustered_key, LockMode::Exclusive))
    COMMITD_CO_RETURN_IF_ERROR(co_await impl_->lock_row(*table, old_row.clustered_key, LockMode::Exclusive));
  for (const IndexDef& index : table->indexes) {
    const bool moves = index.primary && clustered_key(*table, new_row, 0) != old_row.clustered_key;
    const bool takes = !index.primary && takes_new_key(*table, index, old_row.values, new_row);
    if (!moves && !takes) continue;
    auto duplicate = co_await impl_->check_unique(table, index, new_row, old_row.clustered_key);
    if (!duplicate || duplicate->has_value()) co_return duplicate;
  }
  if (impl_->services.locks.ranges().any()) {
    WriteSet change;
    replace_row(change, *table, old_row.values, new_row, image, old_row.row_id);
    COMMITD_CO_RETURN_IF_ERROR(co_await impl_->wait_for_ranges(change));
  }
  const auto shows_other = impl_->snapshot_shows_other(*table, old_row);
  if (!shows_other) co_return shows_other.error();
  replace_row(impl_->writes, *table, old_row.values, new_row, image, old_row.row_id);
  if (*shows_other) put_row(impl_->writes, *table, new_row, image, old_row.row_id);  // with entries that stay
  impl_->events.update_row(*table, old_row.image, image, old_row.row_id);
  COMMITD_CO_RETURN_IF_ERROR(impl_->check_size());
  impl_->owner.row_changed();
  updated.add();
  co_return Found{};
}

// Then its entries in the indexes may not be in the snapshot either, and are this transaction's own from now
// on.
Result<bool> Transaction::Impl::snapshot_shows_other(const TableDef& table, const FoundRow& row) const {
  const storage::Snapshot* snapshot = snapshot_between_statements();
  const bool sees_it = snapshot != nullptr && options.isolation >= Isolation::RepeatableRead;
  if (!sees_it || table.indexes.size() == 1 || writes.find(row.clustered_key) != nullptr) return false;
  std::string stored, scratch;
  const auto found = services.engine.get(snapshot, row.clustered_key, stored);
  if (!found) return found.error();
  if (!*found) return true;
  const auto image = image_of_stored_row(table, stored, scratch);
  if (!image) return image.error();
  return *image != row.image;
}

Task<Status> Transaction::erase(const TablePtr& table, const FoundRow& row) {
  static auto& deleted = rows_counter("deleted");
  if (!impl_->lock_now(*table, row.clustered_key, LockMode::Exclusive))
    COMMITD_CO_RETURN_IF_ERROR(co_await impl_->lock_row(*table, row.clustered_key, LockMode::Exclusive));
  erase_row(impl_->writes, *table, row.values, row.row_id);
  impl_->events.delete_row(*table, row.image, row.row_id);
  COMMITD_CO_RETURN_IF_ERROR(impl_->check_size());
  impl_->owner.row_changed();
  deleted.add();
  co_return Status{};
}

Result<uint64_t> Transaction::next_auto_increment(const TableDef& table, uint64_t count, uint64_t at_least) {
  return impl_->services.engine.next_auto_increment(table.id, count, at_least);
}

}  // namespace commitd::txn
