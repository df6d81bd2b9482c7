#include "storage/rocks/rocks_engine.h"

#include <map>

#include <rocksdb/utilities/checkpoint.h>
#include <rocksdb/write_batch.h>

#include "base/check.h"
#include "base/packed_int.h"
#include "observe/metrics.h"
#include "storage/final_entries.h"
#include "storage/rocks/cached_cursor.h"
#include "storage/rocks/commit_point_codec.h"
#include "storage/rocks/executed_rows.h"
#include "storage/rocks/rocks_cursor.h"
#include "storage/rocks/rocks_status.h"
#include "storage/write_set_codec.h"

namespace commitd::storage {

namespace {

rocksdb::Slice slice(std::string_view bytes) {
  return {bytes.data(), bytes.size()};
}

Result<uint64_t> load_counter(rocksdb::DB& db, const std::string& key) {
  std::string bytes;
  const rocksdb::Status status = db.Get(rocksdb::ReadOptions(), key, &bytes);
  if (status.IsNotFound()) return uint64_t{1};
  if (!status.ok()) return read_error(status);
  return load_be(bytes.data(), 8);
}

observe::Counter& written_bytes() {
  static auto& counter = observe::counter("commitd_engine_written_bytes_total",
                                          "Bytes of the batches that commits gave to the storage engine.");
  return counter;
}

// Turns write sets into one batch: final row ids in log order, then the counters those and AUTO_INCREMENT
// have reached.
class BatchBuilder {
 public:
  // `write_part`: called behind every entry, takes what the batch has if that is enough; empty: everything
  // stays in one.
  using WritePart = std::function<Status()>;
  BatchBuilder(rocksdb::WriteBatch& batch, BatchHistory& history, Counters& counters, WritePart write_part)
      : batch_(batch), history_(history), counters_(counters), write_part_(std::move(write_part)) {}

  Status add(const WriteSet& writes) {
    for (const auto& [table_id, count] : writes.provisional_counts())
      COMMITD_RETURN_IF_ERROR(load_row_id(table_id));
    for (const auto& [begin, end] : writes.erased_ranges()) batch_.DeleteRange(slice(begin), slice(end));
    for (const auto& [key, entry] : writes.entries()) {
      COMMITD_RETURN_IF_ERROR(add_entry(writes, key, entry));
      if (write_part_) COMMITD_RETURN_IF_ERROR(write_part_());
    }
    for (const auto& [table_id, count] : writes.provisional_counts()) row_ids_[table_id] += count;
    for (const auto& [table_id, next] : writes.restarted_auto_increments())
      auto_increments_[table_id] = {next, true};
    for (const auto& [table_id, next] : writes.auto_increments()) {
      uint64_t& highest = auto_increments_[table_id].next;
      highest = std::max(highest, next);
    }
    return {};
  }

  Status add_counters() {
    for (const auto& [table_id, next] : row_ids_) batch_.Put(row_id_key(table_id), encode_counter(next));
    for (const auto& [table_id, counter] : auto_increments_)
      COMMITD_RETURN_IF_ERROR(add_auto_increment(table_id, counter));
    return {};
  }

  void publish_counters() {
    for (const auto& [table_id, next] : row_ids_) counters_.set_next_row_id(table_id, next);
    for (const auto& [table_id, counter] : auto_increments_) {
      if (counter.restarted) {
        counters_.restart_durable_auto_increment(table_id, counter.next);
      } else {
        counters_.set_durable_auto_increment(table_id, counter.next);
      }
    }
  }

 private:
  struct AutoIncrement {
    uint64_t next = 0;  // one to give
    bool restarted = false;
  };

  Status add_auto_increment(uint64_t table_id, const AutoIncrement& counter) {
    if (counter.restarted) {
      counters_.restart_auto_increment(table_id, counter.next);
    } else {
      COMMITD_RETURN_IF_ERROR(counters_.raise_auto_increment(table_id, counter.next));
      const auto durable = counters_.durable_auto_increment(table_id);
      if (!durable) return durable.error();
      if (counter.next <= *durable) return {};
    }
    batch_.Put(auto_increment_key(table_id), encode_counter(counter.next));
    return {};
  }

  Status load_row_id(uint64_t table_id) {
    if (row_ids_.contains(table_id)) return {};
    const auto next = counters_.next_row_id(table_id);
    if (!next) return next.error();
    row_ids_[table_id] = *next;
    return {};
  }

  Status add_entry(const WriteSet& writes, const std::string& key, const WriteSet::Entry& entry) {
    return apply_entry(
        writes, key, entry, [this](uint64_t table_id) { return row_ids_.at(table_id); },
        [&](std::string_view at, std::string_view value) {
          batch_.Put(slice(at), slice(value));
          history_.add(at, entry);
        },
        [&](std::string_view at) {
          batch_.Delete(slice(at));
          history_.add(at, entry);
        });
  }

  rocksdb::WriteBatch& batch_;
  BatchHistory& history_;
  Counters& counters_;
  const WritePart write_part_;
  std::map<uint64_t, uint64_t> row_ids_;  // next one to give
  std::map<uint64_t, AutoIncrement> auto_increments_;
};

std::string_view view(const rocksdb::Slice& bytes) {
  return {bytes.data(), bytes.size()};
}

// A larger batch empties the cache.
constexpr uint32_t kMostChangesOneByOne = 1 << 14;

// What a batch does to the keys of tables, in its order.
class TableChanges final : public rocksdb::WriteBatch::Handler {
 public:
  explicit TableChanges(size_t most) { changes_.reserve(most); }
  void Put(const rocksdb::Slice& key, const rocksdb::Slice& value) override { add({view(key), view(value)}); }
  void Delete(const rocksdb::Slice& key) override { add({view(key), std::nullopt}); }
  rocksdb::Status DeleteRangeCF(uint32_t, const rocksdb::Slice& begin, const rocksdb::Slice& end) override {
    add({view(begin), std::nullopt, view(end)});
    return rocksdb::Status::OK();
  }

  void add_everything() {
    static const std::string begin = first_table_key(), end(64, '\xFF');
    changes_.push_back({begin, std::nullopt, end});
  }
  std::span<const RowCache::Change> changes() const { return changes_; }

 private:
  void add(const RowCache::Change& change) {
    if (is_table_key(change.key)) changes_.push_back(change);
  }

  std::vector<RowCache::Change> changes_;
};

}  // namespace

RocksEngine::RocksEngine(std::shared_ptr<rocksdb::DB> db, std::shared_ptr<FlushTracker> flushes,
                         std::shared_ptr<RoomWatch> room, std::shared_ptr<History> history,
                         StoredCommitPoint found, uint64_t row_cache_bytes, uint64_t part_bytes)
    : db_(std::move(db)),
      cache_(std::make_shared<RowCache>(row_cache_bytes)),
      flushes_(std::move(flushes)),
      room_(std::move(room)),
      history_(std::move(history)),
      purger_(db_, history_),
      unnamed_(db_, [this] { return write_options(); }),
      counters_([this](const std::string& key) { return load_counter(*db_, key); }),
      point_(std::move(found)),
      executed_rows_(found.executed_rows),
      part_bytes_(part_bytes) {
  flushes_->start_at(point_.position);
  if (point_.incomplete_up_to > point_.position) copies_.become_incomplete();
  room_->begin(*db_, *db_->GetEnv()->GetFileSystem(), db_->GetName());
}

RocksEngine::~RocksEngine() {
  room_->end();
}

Status RocksEngine::open_own_log(OwnLog::Level level) {
  COMMITD_RETURN_IF_ERROR(prepared_.load(*db_));
  own_log_ = std::make_unique<OwnLog>(db_, std::move(level),
                                      [flushes = flushes_] { return flushes->sync_binlog(); });
  return {};
}

Status RocksEngine::erase_what_nobody_names() {
  auto left = unnamed_.all();
  if (!left) return std::move(left).error();
  for (const Gtid& gtid : prepared_.all()) {
    auto writes = prepared_writes(gtid);
    if (!writes) return std::move(writes).error();
    for (const uint32_t id : indexes_named_by(**writes)) std::erase(*left, id);
  }
  for (const uint32_t id : *left) COMMITD_RETURN_IF_ERROR(unnamed_.erase(id));
  return {};
}

rocksdb::WriteOptions RocksEngine::write_options() const {
  rocksdb::WriteOptions options;
  options.disableWAL = own_log_ == nullptr;
  return options;
}

SnapshotPtr RocksEngine::new_snapshot() {
  return std::make_shared<RocksSnapshot>(db_, cache_);
}

SnapshotPtr RocksEngine::snapshot() {
  return parts_.whole(
      [this](const SnapshotPtr& before) { return before != nullptr ? before : new_snapshot(); });
}

Result<bool> RocksEngine::get(const Snapshot* snapshot, std::string_view key, std::string& value) {
  if (snapshot != nullptr) return get_at(snapshot, key, value);
  return parts_.whole([&](const SnapshotPtr& before) { return get_at(before.get(), key, value); });
}

Result<bool> RocksEngine::get_at(const Snapshot* snapshot, std::string_view key, std::string& value) {
  if (snapshot != nullptr && is_table_key(key)) {
    const auto sequence = static_cast<const RocksSnapshot*>(snapshot)->sequence();
    if (const auto rows = cache_->find(key, sequence).rows) return rows->get(key, value);
  }
  do_not_count();
  rocksdb::ReadOptions options;
  options.snapshot = handle_of(snapshot);
  const rocksdb::Status status = db_->Get(options, slice(key), &value);
  if (status.IsNotFound()) return false;
  if (!status.ok()) return read_error(status);
  return true;
}

std::unique_ptr<Iterator> RocksEngine::iterate(SnapshotPtr snapshot, std::string lower, std::string upper) {
  if (snapshot != nullptr) return iterate_at(std::move(snapshot), std::move(lower), std::move(upper));
  return parts_.whole([&](const SnapshotPtr& before) { return iterate_at(before, lower, upper); });
}

std::unique_ptr<Iterator> RocksEngine::iterate_at(SnapshotPtr snapshot, std::string lower,
                                                  std::string upper) {
  const bool cached = snapshot != nullptr && !upper.empty() && is_table_key(lower);
  const ScanWatch watch = history_->scans_are_watched() ? ScanWatch::On : ScanWatch::Off;
  if (!cached)
    return make_rocks_iterator(db_, std::move(snapshot), std::move(lower), std::move(upper), watch);
  return make_cached_iterator(db_, cache_, std::move(snapshot), std::move(lower), std::move(upper), watch);
}

rocksdb::Status RocksEngine::write(rocksdb::WriteBatch& batch, BatchHistory& history) {
  written_bytes().add(batch.GetDataSize());
  TableChanges tables(std::min<size_t>(batch.Count(), kMostChangesOneByOne));
  if (batch.Count() > kMostChangesOneByOne || !batch.Iterate(&tables).ok()) tables.add_everything();
  cache_->before_write(tables.changes(), db_->GetLatestSequenceNumber());
  rocksdb::Status status = db_->Write(write_options(), &batch);
  cache_->after_write(db_->GetLatestSequenceNumber(), status.ok());
  if (status.ok()) history_->written(history);
  history.clear();
  return status;
}

void RocksEngine::incomplete_up_to(LogPosition position) {
  copies_.become_incomplete();
  std::lock_guard lock(point_mutex_);
  point_.incomplete_up_to = position;
}

// What lacks room goes on where it is: nobody sees a part of it meanwhile. An engine that failed stays as it
// is: nobody is to wait for it.
Status RocksEngine::commit_ordered(std::span<WriteSet* const> transactions, const CommitStep& step) {
  Status taken = take(transactions, step);
  if (!taken.ok() && taken.error().code == er::kDiskFull && in_parts_) {
    copies_.stall();
    return taken;
  }
  in_parts_.reset();
  if (!taken.ok() || step.incomplete_up_to <= step.position) copies_.become_whole();
  return taken;
}

void RocksEngine::begin_parts(LogPosition end) {
  if (!in_parts_) in_parts_.emplace(parts_, new_snapshot());
  incomplete_up_to(end);
}

Status RocksEngine::take(std::span<WriteSet* const> transactions, const CommitStep& step) {
  COMMITD_RETURN_IF_ERROR(room());
  COMMITD_CHECK(!in_parts_ || point_.incomplete_up_to <= step.position,
                "a transaction that is there in part is passed by");
  rocksdb::WriteBatch batch;
  BatchBuilder::WritePart write_part;
  if (transactions.size() == 1 && transactions.front()->spilled()) {
    begin_parts(step.position);
    batch.Put(incomplete_up_to_key(), encode_position(step.position));
    write_part = [this, &batch]() -> Status {
      if (batch.GetDataSize() < part_bytes_) return {};
      const rocksdb::Status written = write(batch, batch_history_);
      batch.Clear();
      if (!written.ok()) return write_error(written);
      return own_log_ == nullptr ? Status{} : own_log_->write_out();
    };
  }
  batch_history_.clear();
  BatchBuilder builder(batch, batch_history_, counters_, std::move(write_part));
  for (const WriteSet* writes : transactions) COMMITD_RETURN_IF_ERROR(builder.add(*writes));
  COMMITD_RETURN_IF_ERROR(builder.add_counters());
  batch.Put(commit_point_key(), encode_place(step));
  executed_rows_.add(batch, point_.executed, step, transactions.size());
  const bool whole = step.incomplete_up_to <= step.position;
  if (!whole) {
    incomplete_up_to(step.incomplete_up_to);
    batch.Put(incomplete_up_to_key(), encode_position(step.incomplete_up_to));
  } else if (point_.incomplete_up_to != LogPosition()) {
    batch.Delete(incomplete_up_to_key());
  }
  const std::vector<Gtid> prepared = prepared_.among(step.added);
  for (const Gtid& gtid : prepared) batch.Delete(prepared_key(gtid));

  const rocksdb::Status status = write(batch, batch_history_);
  if (!status.ok()) return write_error(status);
  for (const Gtid& gtid : prepared) prepared_.remove(gtid);
  builder.publish_counters();
  flushes_->committed(db_->GetLatestSequenceNumber(), step.position);
  moved(step);
  return {};
}

void RocksEngine::moved(const CommitStep& step) {
  std::lock_guard lock(point_mutex_);
  static_cast<EnginePlace&>(point_) = step;
  if (step.incomplete_up_to <= step.position) point_.incomplete_up_to = {};
  if (step.replaces) point_.executed = {};
  point_.executed.add(step.added);
  executed_rows_.written(point_.executed);
}

Result<Purging::Slice> RocksEngine::purge(uint64_t pages) {
  COMMITD_RETURN_IF_ERROR(room());
  return purger_.purge(pages);
}

void RocksEngine::before_persisting(const std::function<Status()>& sync) {
  flushes_->before_persisting(sync);
}

CommitPoint RocksEngine::commit_point() const {
  std::lock_guard lock(point_mutex_);
  return point_;
}

LogPosition RocksEngine::replay_position() const {
  std::lock_guard lock(point_mutex_);
  return point_.position;
}

bool RocksEngine::has_executed(const Gtid& gtid) const {
  std::lock_guard lock(point_mutex_);
  return point_.executed.contains(gtid);
}

Status RocksEngine::checkpoint() {
  rocksdb::FlushOptions options;
  options.wait = true;
  const rocksdb::Status status = db_->Flush(options);
  return status.ok() ? Status{} : Status{write_error(status)};
}

// RocksDB flushes the memtable and links the files of one version: some prefix that lies at or behind what
// was committed when this was called. The copy itself tells which.
Result<CommitPoint> RocksEngine::backup_to(const std::string& directory) {
  COMMITD_RETURN_IF_ERROR(room());
  const CopyGate::Copy copy_of_whole(copies_);
  if (!copy_of_whole.possible()) return make_error(er::kDiskFull, "A backup needs room");
  rocksdb::Checkpoint* created = nullptr;
  rocksdb::Status status = rocksdb::Checkpoint::Create(db_.get(), &created);
  const std::unique_ptr<rocksdb::Checkpoint> checkpoint(created);
  if (status.ok()) status = checkpoint->CreateCheckpoint(directory);
  if (!status.ok()) return write_error(status);

  rocksdb::Options options;
  options.env = db_->GetEnv();
  rocksdb::DB* opened = nullptr;
  status = rocksdb::DB::OpenForReadOnly(options, directory, &opened);
  const std::unique_ptr<rocksdb::DB> copy(opened);
  if (!status.ok()) return read_error(status);
  auto found = stored_commit_point(*copy);
  if (!found) return std::move(found).error();
  return CommitPoint(std::move(*found));
}

Result<uint64_t> RocksEngine::next_auto_increment(uint64_t table_id, uint64_t count, uint64_t at_least) {
  return counters_.reserve_auto_increment(table_id, count, at_least);
}

uint64_t RocksEngine::peek_auto_increment(uint64_t table_id) {
  const auto next = counters_.peek_auto_increment(table_id);
  return next ? *next : 0;
}

Engine::Sizes RocksEngine::sizes() const {
  Sizes sizes;
  db_->GetIntProperty(rocksdb::DB::Properties::kCurSizeAllMemTables, &sizes.memtable_bytes);
  db_->GetIntProperty(rocksdb::DB::Properties::kTotalSstFilesSize, &sizes.sst_bytes);
  return sizes;
}

Result<StoredCommitPoint> stored_commit_point(rocksdb::DB& db) {
  std::string bytes;
  rocksdb::Status status = db.Get(rocksdb::ReadOptions(), commit_point_key(), &bytes);
  if (!status.ok() && !status.IsNotFound()) return read_error(status);
  StoredCommitPoint point;
  if (status.ok()) {
    auto decoded = decode_commit_point(bytes);
    if (!decoded) return std::move(decoded).error();
    static_cast<CommitPoint&>(point) = std::move(*decoded);
    if (point.executed.empty()) {
      auto found = load_executed(db);
      if (!found) return std::move(found).error();
      point.executed = std::move(found->executed);
      point.executed_rows = found->rows;
    }
  }
  status = db.Get(rocksdb::ReadOptions(), incomplete_up_to_key(), &bytes);
  if (status.IsNotFound()) return point;
  if (!status.ok()) return read_error(status);
  point.incomplete_up_to = decode_position(bytes);
  return point;
}

}  // namespace commitd::storage
