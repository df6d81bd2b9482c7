// Snapshots and iterators of the RocksDB engine.
#pragma once

#include <memory>
#include <string>

#include <rocksdb/db.h>
#include <rocksdb/perf_level.h>

#include "storage/engine.h"
#include "storage/rocks/row_cache.h"

namespace commitd::storage {

class RocksSnapshot final : public Snapshot {
 public:
  RocksSnapshot(std::shared_ptr<rocksdb::DB> db, std::shared_ptr<RowCache> cache)
      : db_(std::move(db)), cache_(std::move(cache)), snapshot_(db_->GetSnapshot()) {
    cache_->snapshot_taken(sequence());
  }
  ~RocksSnapshot() override {
    cache_->snapshot_released(sequence());
    db_->ReleaseSnapshot(snapshot_);
  }

  const rocksdb::Snapshot* handle() const { return snapshot_; }
  RowCache::Sequence sequence() const { return snapshot_->GetSequenceNumber(); }

 private:
  std::shared_ptr<rocksdb::DB> db_;
  std::shared_ptr<RowCache> cache_;
  const rocksdb::Snapshot* snapshot_;
};

// RocksDB counts every key that a thread compares or steps over, for a report that nobody asks for. Once for
// each thread would do, but to tell that costs as much.
inline void do_not_count() {
  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kDisable);
}

// Null for the newest committed state.
inline const rocksdb::Snapshot* handle_of(const Snapshot* snapshot) {
  return snapshot == nullptr ? nullptr : static_cast<const RocksSnapshot*>(snapshot)->handle();
}

// Whether a scan counts the garbage that it steps over.
enum class ScanWatch : bool { Off, On };

// An empty `upper` is no bound.
std::unique_ptr<Iterator> make_rocks_iterator(std::shared_ptr<rocksdb::DB> db, SnapshotPtr snapshot,
                                              std::string lower, std::string upper, ScanWatch watch);

}  // namespace commitd::storage
