#include "storage/rocks/executed_rows.h"

#include <memory>

#include "observe/metrics.h"
#include "storage/executed_row.h"
#include "storage/record/key_codec.h"
#include "storage/rocks/rocks_status.h"

namespace commitd::storage {
namespace {

observe::Counter& compressions() {
  static auto& counter =
      observe::counter("commitd_gtid_executed_compressions_total",
                       "Times that rows of gtid_executed of single transactions became those of intervals.");
  return counter;
}

observe::Gauge& rows_now() {
  static auto& gauge = observe::gauge("commitd_gtid_executed_rows", "Rows in which gtid_executed is stored.");
  return gauge;
}

void put_row(rocksdb::WriteBatch& batch, const GtidInterval& row) {
  batch.Put(executed_row_key(row), executed_row_value(row));
}

void grow_intervals(rocksdb::WriteBatch& batch, const GtidSet& executed, const GtidSet& added) {
  const GtidSet::Growth growth = executed.growth(added);
  for (const GtidInterval& gone : growth.swallowed) batch.Delete(executed_row_key(gone));
  for (const GtidInterval& made : growth.made) put_row(batch, made);
}

// Only what is not there yet, so that no row has a key that another one has. More GTIDs than transactions
// are of transactions that never were here (gtid_purged): a row for each interval, as in MySQL.
uint64_t put_single(rocksdb::WriteBatch& batch, GtidSet added, const GtidSet& executed, size_t transactions) {
  added.subtract(executed);
  const bool each = added.count() <= transactions;
  uint64_t rows = 0;
  added.for_each_interval([&](const GtidInterval& interval) {
    const uint64_t length = each ? 1 : interval.end - interval.start;
    for (uint64_t start = interval.start; start < interval.end; start += length, ++rows)
      put_row(batch, {interval.sid, start, start + length});
  });
  return rows;
}

}  // namespace

ExecutedRows::ExecutedRows(uint64_t rows_found) : rows_(rows_found) {
  compressions();
  rows_now().set(static_cast<double>(rows_));
}

void ExecutedRows::add(rocksdb::WriteBatch& batch, const GtidSet& executed, const CommitStep& step,
                       size_t transactions) {
  put_beside_.reset();
  compresses_ = false;
  if (step.replaces) return replace_executed(batch, step.added);
  if (settings_->compression_period == 0) {
    put_beside_ = put_single(batch, step.added, executed, transactions);
  } else if (are_compressed(executed)) {
    grow_intervals(batch, executed, step.added);
  } else {
    GtidSet all = executed;
    all.add(step.added);
    replace_executed(batch, all);
    compresses_ = true;
  }
}

void ExecutedRows::written(const GtidSet& executed) {
  rows_ = put_beside_ ? rows_ + *put_beside_ : executed.interval_count();
  if (compresses_) compressions().add();
  rows_now().set(static_cast<double>(rows_));
}

void replace_executed(rocksdb::WriteBatch& batch, const GtidSet& executed) {
  const std::string prefix = executed_rows_prefix();
  batch.DeleteRange(prefix, prefix_end(prefix));
  executed.for_each_interval([&batch](const GtidInterval& interval) { put_row(batch, interval); });
}

Result<FoundExecuted> load_executed(rocksdb::DB& db) {
  FoundExecuted found;
  const std::string prefix = executed_rows_prefix();
  const std::unique_ptr<rocksdb::Iterator> at(db.NewIterator(rocksdb::ReadOptions()));
  for (at->Seek(prefix); at->Valid() && at->key().starts_with(prefix); at->Next()) {
    const auto row = decode_executed_row(at->key().ToStringView(), at->value().ToStringView());
    if (!row) return row.error();
    found.executed.add_interval(row->sid, row->start, row->end);
    ++found.rows;
  }
  if (!at->status().ok()) return read_error(at->status());
  return found;
}

}  // namespace commitd::storage
