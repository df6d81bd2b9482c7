// How much garbage RocksDB holds, by index: what commits make of it, and what merging takes away again. A
// commit knows what it overwrites and erases; each table file carries the number of its entries by index, so
// that a merge tells by its files how many are gone.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <rocksdb/listener.h>
#include <rocksdb/table_properties.h>

#include "base/mutex.h"
#include "storage/purging.h"
#include "storage/write_set.h"

namespace commitd::storage {

// What a batch brings.
class BatchHistory {
 public:
  struct Changes {
    uint32_t index_id;
    uint64_t entries = 0, garbage = 0;
  };
  // `key`: as it is stored.
  void add(std::string_view key, const WriteSet::Entry& entry);
  std::span<const Changes> changes() const { return changes_; }
  void clear() { changes_.clear(); }

 private:
  Changes& of(uint32_t index_id);
  std::vector<Changes> changes_;
};

class History final : public rocksdb::EventListener {
 public:
  // RocksDB has the batch.
  void written(const BatchHistory& batch) ABSL_LOCKS_EXCLUDED(mutex_);

  uint64_t length() const { return length_.load(std::memory_order_relaxed); }
  // From this length on scans count what they step over.
  void watch_scans_from(uint64_t length) { watched_from_.store(length, std::memory_order_relaxed); }
  bool scans_are_watched() const { return length() >= watched_from_.load(std::memory_order_relaxed); }
  std::vector<Purging::Garbage> garbage() const ABSL_LOCKS_EXCLUDED(mutex_);

  // Writes into table files what this reads there.
  static std::shared_ptr<rocksdb::TablePropertiesCollectorFactory> entry_counter();

  // Files were merged. Of CompactFiles RocksDB does not tell its listeners.
  void merged(const rocksdb::CompactionJobInfo& info) ABSL_LOCKS_EXCLUDED(mutex_);

  void OnMemTableSealed(const rocksdb::MemTableInfo& info) override;
  void OnFlushCompleted(rocksdb::DB* db, const rocksdb::FlushJobInfo& info) override;
  void OnCompactionCompleted(rocksdb::DB*, const rocksdb::CompactionJobInfo& info) override { merged(info); }

 private:
  using ByIndex = std::map<uint32_t, uint64_t>;
  struct Sealed {
    rocksdb::SequenceNumber first;
    ByIndex entries;
  };
  void gone(const ByIndex& before, const ByIndex& after) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable Mutex mutex_;  // taken inside RocksDB's
  ByIndex memtable_ ABSL_GUARDED_BY(mutex_);
  std::deque<Sealed> sealed_ ABSL_GUARDED_BY(mutex_);
  ByIndex garbage_ ABSL_GUARDED_BY(mutex_);
  std::atomic<uint64_t> length_{0}, watched_from_{UINT64_MAX};
};

}  // namespace commitd::storage
