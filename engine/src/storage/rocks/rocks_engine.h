// The storage engine over RocksDB, in single_log with its write-ahead log off: the binlog is the only log.
// One column family, so that a memtable flush always writes a prefix of the commits; each batch carries the
// commit point it brings.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include <rocksdb/db.h>

#include "storage/engine.h"
#include "storage/gtid_storage.h"
#include "storage/rocks/commit_in_parts.h"
#include "storage/rocks/copy_gate.h"
#include "storage/rocks/counters.h"
#include "storage/rocks/executed_rows.h"
#include "storage/rocks/flush_tracker.h"
#include "storage/rocks/history.h"
#include "storage/rocks/own_log.h"
#include "storage/rocks/prepared_table.h"
#include "storage/rocks/purger.h"
#include "storage/rocks/rocks_unnamed_indexes.h"
#include "storage/rocks/room_watch.h"
#include "storage/rocks/row_cache.h"

namespace commitd::storage {

struct StoredCommitPoint : CommitPoint {
  uint64_t executed_rows = 0;  // in which gtid_executed is stored
};

class RocksEngine final : public Engine, public Purging, public GtidStorage {
 public:
  RocksEngine(std::shared_ptr<rocksdb::DB> db, std::shared_ptr<FlushTracker> flushes,
              std::shared_ptr<RoomWatch> room, std::shared_ptr<History> history, StoredCommitPoint found,
              uint64_t row_cache_bytes, uint64_t part_bytes);
  // For commitd_durability=xa; before use.
  Status open_own_log(OwnLog::Level level);
  // Unnamed indexes that nobody will name any more; before use.
  Status erase_what_nobody_names();
  ~RocksEngine() override;

  SnapshotPtr snapshot() override;
  Result<bool> get(const Snapshot* snapshot, std::string_view key, std::string& value) override;
  std::unique_ptr<Iterator> iterate(SnapshotPtr snapshot, std::string lower, std::string upper) override;

  Status commit_ordered(std::span<WriteSet* const> transactions, const CommitStep& step) override;

  UnnamedIndexes* unnamed_indexes() override { return &unnamed_; }

  Status room() const override { return room_->room(); }
  void on_room(const std::function<void()>& callback) override { room_->on_room(callback); }

  bool has_own_log() const override { return own_log_ != nullptr; }
  std::string prepare(const WriteSet& writes) override;
  Status prepare_ordered(std::span<const PreparedTransaction> group) override;
  Status commit() override;
  Status rollback(std::span<const Gtid> transactions) override;
  std::vector<Gtid> recover() override { return prepared_.all(); }
  Result<std::optional<WriteSet>> prepared_writes(const Gtid& gtid) override;
  void before_persisting(const std::function<Status()>& sync) override;

  CommitPoint commit_point() const override;
  LogPosition replay_position() const override;
  bool has_executed(const Gtid& gtid) const override;
  LogPosition flushed_position() const override { return flushes_->flushed(); }
  Status checkpoint() override;
  Result<CommitPoint> backup_to(const std::string& directory) override;

  Result<uint64_t> next_auto_increment(uint64_t table_id, uint64_t count, uint64_t at_least) override;
  uint64_t peek_auto_increment(uint64_t table_id) override;
  Sizes sizes() const override;

  std::vector<Garbage> garbage() const override { return history_->garbage(); }
  uint64_t history_length() const override { return history_->length(); }
  void watch_scans_from(uint64_t history_length) override { history_->watch_scans_from(history_length); }
  Result<Slice> purge(uint64_t pages) override;
  void stop_purging() override { purger_.stop(); }

  void keep_gtids_by(std::shared_ptr<const GtidSettings> settings) override {
    executed_rows_.keep_by(std::move(settings));
  }
  std::shared_ptr<const GtidSettings> gtid_settings() const override { return executed_rows_.settings(); }

 private:
  SnapshotPtr new_snapshot();
  // As they are, whether a transaction is being taken in parts or not.
  Result<bool> get_at(const Snapshot* snapshot, std::string_view key, std::string& value);
  std::unique_ptr<Iterator> iterate_at(SnapshotPtr snapshot, std::string lower, std::string upper);
  rocksdb::WriteOptions write_options() const;
  // The cache with it. `history`: what the batch brings, which begins anew then.
  rocksdb::Status write(rocksdb::WriteBatch& batch, BatchHistory& history);
  Status erase_indexes_named_by(const Gtid& prepared);
  Status take(std::span<WriteSet* const> transactions, const CommitStep& step);
  void moved(const CommitStep& step);
  void begin_parts(LogPosition end);
  Status forget_prepared(std::span<const Gtid> transactions);
  // They are forgotten before anything else is prepared.
  Status flush_own_log();
  void forget_later(std::span<const Gtid> transactions);
  Status forget_those_that_had_to_wait();
  void incomplete_up_to(LogPosition position);  // from the next batch on

  std::shared_ptr<rocksdb::DB> db_;
  std::shared_ptr<RowCache> cache_;
  std::shared_ptr<FlushTracker> flushes_;
  std::shared_ptr<RoomWatch> room_;
  std::shared_ptr<History> history_;
  Purger purger_;
  BatchHistory batch_history_;       // of take()
  std::unique_ptr<OwnLog> own_log_;  // null in single_log
  RocksUnnamedIndexes unnamed_;
  PreparedTable prepared_;
  std::vector<Gtid> to_be_forgotten_;  // log thread, and who pauses it
  Counters counters_;
  PartsGate parts_;
  std::optional<PartsGate::Commit> in_parts_;  // also between two calls for one that found no room
  CopyGate copies_;
  mutable std::mutex point_mutex_;
  CommitPoint point_;
  ExecutedRows executed_rows_;  // of take()
  const uint64_t part_bytes_;
};

// open_rocks on another file system than the machine's. `env` must outlive the engine.
Result<std::unique_ptr<Engine>> open_rocks_on(rocksdb::Env& env, const RocksOptions& options);

// Reads the commit point of an open database; a default one when it has none.
Result<StoredCommitPoint> stored_commit_point(rocksdb::DB& db);

}  // namespace commitd::storage
