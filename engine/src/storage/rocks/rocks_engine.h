// The storage engine over RocksDB with its write-ahead log off: the binlog is the only log. One column
// family, so that a memtable flush always writes a prefix of the commits; each batch carries the commit point
// it brings.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include <rocksdb/db.h>

#include "storage/engine.h"
#include "storage/rocks/counters.h"
#include "storage/rocks/flush_tracker.h"

namespace commitd::storage {

class RocksEngine final : public Engine {
 public:
  RocksEngine(std::shared_ptr<rocksdb::DB> db, std::shared_ptr<FlushTracker> flushes, CommitPoint found);
  ~RocksEngine() override;

  SnapshotPtr snapshot() override;
  Result<bool> get(const Snapshot* snapshot, std::string_view key, std::string& value) override;
  std::unique_ptr<Iterator> iterate(SnapshotPtr snapshot, std::string lower, std::string upper) override;

  Status commit_ordered(std::span<WriteSet* const> transactions, const CommitPoint& point) override;

  CommitPoint replay_position() const override;
  CommitPoint flushed_position() const override { return flushes_->flushed(); }
  Status checkpoint() override;
  Result<CommitPoint> backup_to(const std::string& directory) override;

  Result<uint64_t> next_auto_increment(uint64_t table_id, uint64_t count, uint64_t at_least) override;
  uint64_t peek_auto_increment(uint64_t table_id) override;
  Sizes sizes() const override;

 private:
  std::shared_ptr<rocksdb::DB> db_;
  std::shared_ptr<FlushTracker> flushes_;
  Counters counters_;
  mutable std::mutex point_mutex_;
  CommitPoint point_;
};

// Reads the commit point of an open database; a default one when it has none.
Result<CommitPoint> stored_commit_point(rocksdb::DB& db);

}  // namespace commitd::storage
