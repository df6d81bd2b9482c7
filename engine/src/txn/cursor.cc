#include "base/error_codes.h"
#include "observe/metrics.h"
#include "storage/record/key_codec.h"
#include "storage/record/wanted_columns.h"
#include "txn/column_choice.h"
#include "txn/merged_iterator.h"
#include "txn/row_writes.h"
#include "txn/transaction_impl.h"

namespace commitd::txn {

namespace {

struct KeyRange {
  std::string lower, upper;
};

KeyRange key_range(const TableDef& table, const IndexDef& index, const IndexRange& range) {
  std::string all;
  append_index_id(all, index.id);
  KeyRange keys{all, prefix_end(all)};
  if (range.lower) {
    const std::string prefix = index_key_prefix(table, index, range.lower->values);
    keys.lower = range.lower->inclusive ? prefix : prefix_end(prefix);
  }
  if (range.upper) {
    const std::string prefix = index_key_prefix(table, index, range.upper->values);
    keys.upper = range.upper->inclusive ? prefix_end(prefix) : prefix;
  }
  return keys;
}

// Of one scan; all sessions share the counter, so it is told once.
class RowsRead {
 public:
  ~RowsRead() {
    static auto& counter = observe::counter("commitd_rows_read_total", "Rows read by scans of sessions.");
    if (count_ > 0) counter.add(count_);
  }
  void add() { ++count_; }

 private:
  uint64_t count_ = 0;
};

class IndexCursor final : public Cursor {
 public:
  IndexCursor(Transaction::Impl& transaction, TablePtr table, const IndexDef& index, const IndexRange& range,
              ReadMode mode, bool backwards)
      : transaction_(transaction),
        table_(std::move(table)),
        index_(index),
        mode_(mode),
        definition_(mode == ReadMode::Snapshot ? transaction.check_definition(*table_) : Status()),
        snapshot_(mode == ReadMode::Snapshot ? transaction.read_view() : nullptr),
        keys_(key_range(*table_, index, range)),
        backwards_(backwards) {
    if (!locks_range() && definition_.ok()) start();
  }

  Result<bool> next(FoundRow& row) override {
    if (!entries_) return definition_.error();
    while (true) {
      auto more = entries_->next();
      if (!more || !*more) return more;
      auto found = read_entry(row);
      if (!found) return found;
      if (!*found) continue;
      rows_read_.add();
      return true;
    }
  }

  Task<Result<bool>> next_locked(FoundRow& row) override {
    if (!entries_) {
      COMMITD_CO_RETURN_IF_ERROR(co_await transaction_.lock_range(keys_.lower, keys_.upper));
      start();
    }
    while (true) {
      const auto more = entries_->next();
      if (!more || !*more) co_return more;
      last_locked_ = clustered_key_here();
      if (last_locked_.empty()) co_return damaged();
      locked_by_this_scan_ = !transaction_.owner.holds(last_locked_);
      const bool held = lock_now();
      is_unlocked_ = !held && reads_past_locks_;
      Result<bool> found = false;
      if (is_unlocked_) {
        locked_by_this_scan_ = false;
        found = read_committed(row);
      } else if (held && !transaction_.must_wait_for(last_locked_)) {  // mostly, and without a coroutine more
        found = read_locked(row);
      } else {
        found = co_await lock_and_read(row);
      }
      if (!found) co_return found;
      if (*found) co_return count(found);
    }
  }

  void read_past_locks() override { reads_past_locks_ = true; }
  bool is_unlocked() const override { return is_unlocked_; }
  Task<Result<bool>> lock_last(FoundRow& row) override {
    is_unlocked_ = false;
    locked_by_this_scan_ = true;
    co_return co_await lock_and_read(row);
  }

  void decode_only(const std::vector<bool>& columns) { wanted_.emplace(*table_, columns); }

  void unlock_last() override {
    if (locked_by_this_scan_) transaction_.services.locks.release(transaction_.owner, last_locked_);
    locked_by_this_scan_ = false;
  }

 private:
  // Its keys must not be read before the range is locked.
  bool locks_range() const {
    return mode_ != ReadMode::Snapshot && transaction_.options.isolation == Isolation::Serializable;
  }
  void start() {
    WriteSet::Map ordered;
    if (mode_ != ReadMode::Snapshot)
      ordered = transaction_.services.pipeline.ordered().collect(keys_.lower, keys_.upper);
    entries_.emplace(transaction_.services.engine, snapshot_, std::move(ordered), transaction_.writes,
                     keys_.lower, keys_.upper, backwards_);
  }

  bool lock_now() { return transaction_.lock_now(*table_, last_locked_, lock_mode(mode_)); }

  // False when it is left out: it has no such entry any more, or is another's and those are skipped.
  Task<Result<bool>> lock_and_read(FoundRow& row) {
    if (!lock_now()) {
      const Status locked = co_await transaction_.lock_key(last_locked_, lock_mode(mode_));
      if (transaction_.skips(locked)) co_return false;
      if (!locked.ok()) co_return locked.error();
    }
    if (transaction_.must_wait_for(last_locked_)) {
      const Status arrived = co_await transaction_.wait_for_engine(last_locked_);
      if (!arrived.ok() && !transaction_.skips(arrived)) co_return arrived.error();
      if (!arrived.ok()) {
        unlock_last();
        co_return false;
      }
    }
    co_return read_locked(row);
  }

  Result<bool> read_locked(FoundRow& row) {
    auto found = transaction_.read_row(*table_, nullptr, last_locked_, row);
    if (!found || (*found && still_has_entry(row))) return found;
    unlock_last();
    return false;
  }

  // What another has changed is left out as soon as it is committed, and not met where it went.
  Result<bool> read_committed(FoundRow& row) {
    std::string stored;
    auto found = transaction_.services.engine.get(nullptr, last_locked_, stored);
    if (!found || !*found) return found;
    COMMITD_RETURN_IF_ERROR(fill_row(*table_, last_locked_, stored, row));
    return still_has_entry(row);
  }

  bool clustered_scan() const { return index_.id == table_->clustered().id; }

  std::string clustered_key_here() const {
    return clustered_scan() ? std::string(entries_->key())
                            : clustered_key_of_entry(*table_, entries_->key(), entries_->value());
  }

  Result<bool> read_entry(FoundRow& row) {
    if (clustered_scan()) {
      if (wanted_) return fill_wanted(row);
      COMMITD_RETURN_IF_ERROR(fill_row(*table_, entries_->key(), entries_->value(), row));
      return true;
    }
    const std::string clustered = clustered_key_here();
    if (clustered.empty()) return damaged();
    return transaction_.read_row_of(*table_, index_, snapshot_.get(), entries_->key(), clustered, row);
  }

  Result<bool> fill_wanted(FoundRow& row) {
    COMMITD_RETURN_IF_ERROR(wanted_->decode_stored(entries_->value(), widened_, row.values));
    return true;
  }

  // The row may have left the range while its lock was waited for; its new place, if behind, is met when the
  // scan gets there.
  bool still_has_entry(const FoundRow& row) const {
    if (clustered_scan()) return true;
    return secondary_key(*table_, index_, row.values, clustered_suffix(row.clustered_key)) == entries_->key();
  }

  Error damaged() const {
    return make_error(er::kErrorOnRead, "An entry of index '{}' of '{}.{}' is damaged", index_.name,
                      table_->db, table_->name);
  }

  Result<bool> count(Result<bool> found) {
    if (found) rows_read_.add();
    return found;
  }

  Transaction::Impl& transaction_;
  const TablePtr table_;
  const IndexDef& index_;
  const ReadMode mode_;
  const Status definition_;  // whether the snapshot holds it
  const storage::SnapshotPtr snapshot_;
  const KeyRange keys_;
  const bool backwards_;
  std::optional<MergedIterator> entries_;
  std::string last_locked_;
  bool locked_by_this_scan_ = false, reads_past_locks_ = false, is_unlocked_ = false;
  RowsRead rows_read_;
  std::optional<WantedColumns> wanted_;  // nullopt: all
  std::string widened_;                  // a row of an earlier version of the table
};

}  // namespace

void decode_only(Cursor& cursor, const std::vector<bool>& columns) {
  if (auto* scan = dynamic_cast<IndexCursor*>(&cursor)) scan->decode_only(columns);
}

std::unique_ptr<Cursor> open_cursor(Transaction::Impl& transaction, const TablePtr& table,
                                    const IndexDef& index, const IndexRange& range, ReadMode mode,
                                    bool backwards) {
  return std::make_unique<IndexCursor>(transaction, table, index, range, mode, backwards);
}

}  // namespace commitd::txn
