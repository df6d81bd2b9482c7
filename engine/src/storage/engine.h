// The storage-engine interface. An engine keeps no log of its own: it takes transactions in binlog order,
// each batch together with the binlog position behind it, atomically. After a crash it comes up as some
// earlier prefix and says which.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/log_position.h"
#include "base/result.h"
#include "gtid/gtid_set.h"
#include "storage/write_set.h"

namespace commitd::storage {

// The binlog state that corresponds to an engine state.
struct CommitPoint {
  LogPosition position;  // replay starts here
  GtidSet executed;      // gtid_executed
  uint64_t epoch = 0;    // epoch of the last epoch transaction at or before `position`
};

class Snapshot {
 public:
  virtual ~Snapshot() = default;
};
using SnapshotPtr = std::shared_ptr<const Snapshot>;

class Iterator {
 public:
  virtual ~Iterator() = default;
  virtual void seek(std::string_view key) = 0;           // first key >= key
  virtual void seek_for_prev(std::string_view key) = 0;  // last key <= key
  virtual void next() = 0;
  virtual void prev() = 0;
  virtual bool valid() const = 0;
  virtual std::string_view key() const = 0;
  virtual std::string_view value() const = 0;
  virtual Status status() const = 0;
};

class Engine {
 public:
  virtual ~Engine() = default;

  // Reads. A null snapshot reads the newest committed state.
  virtual SnapshotPtr snapshot() = 0;
  virtual Result<bool> get(const Snapshot* snapshot, std::string_view key, std::string& value) = 0;
  // Keys in [lower, upper); the iterator keeps its snapshot alive.
  virtual std::unique_ptr<Iterator> iterate(SnapshotPtr snapshot, std::string lower, std::string upper) = 0;

  // Takes transactions in binlog order: one atomic batch holds their data, counters and `point`. Called by
  // one thread at a time. Gives provisional row ids their final numbers (and keeps the counters of that in
  // the same batch).
  virtual Status commit_ordered(std::span<WriteSet* const> transactions, const CommitPoint& point) = 0;

  virtual CommitPoint replay_position()
      const = 0;  // what commit_ordered last took, or what was found at open
  virtual CommitPoint flushed_position()
      const = 0;  // what would be found after a crash now: the binlog may be purged up to here
  virtual Status checkpoint() = 0;  // make everything committed so far durable
  // A copy of the engine's files in `directory` (hard links where possible) that opens as of one commit
  // point, which is returned.
  virtual Result<CommitPoint> backup_to(const std::string& directory) = 0;

  // Counters that live beside the data. next_auto_increment reserves `count` values (from `at_least` on) in
  // memory; they become durable with the transaction that uses them (WriteSet::raise_auto_increment).
  virtual Result<uint64_t> next_auto_increment(uint64_t table_id, uint64_t count, uint64_t at_least) = 0;
  virtual uint64_t peek_auto_increment(uint64_t table_id) = 0;

  // For /metrics.
  struct Sizes {
    uint64_t memtable_bytes = 0;
    uint64_t sst_bytes = 0;
  };
  virtual Sizes sizes() const = 0;
};

// Keys below this index id belong to the server itself (catalog, accounts, counters, commit point).
inline constexpr uint32_t kFirstUserIndexId = 1000;
inline constexpr uint32_t kCatalogIndexId = 1;
inline constexpr uint32_t kCountersIndexId = 2;
inline constexpr uint32_t kCommitPointIndexId = 3;
inline constexpr uint32_t kAccountsIndexId = 4;

struct RocksOptions {
  std::string directory;
  uint64_t block_cache_bytes = 128ull << 20;
  uint64_t write_buffer_bytes = 64ull << 20;
};
Result<std::unique_ptr<Engine>> open_rocks(const RocksOptions& options);

}  // namespace commitd::storage
