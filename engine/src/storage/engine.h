// The storage-engine interface. An engine takes transactions in binlog order, each batch together with the
// binlog position behind it, atomically. After a crash it comes up as some earlier prefix and says which.
//
// The way of a transaction, by who calls what:
//   single_log   commit_ordered, commit                      the binlog is durable before; nothing is
//   prepared xa           prepare, prepare_ordered | binlog | commit_ordered, commit
// and `rollback` for what was prepared and did not get into the binlog. An engine without a log of its own
// has nothing to do for prepare, commit and rollback, and inherits that.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/log_position.h"
#include "base/result.h"
#include "gtid/gtid_set.h"
#include "runtime/task.h"
#include "storage/connection_data.h"
#include "storage/unnamed_indexes.h"
#include "storage/write_set.h"

namespace commitd::storage {

// Where in the binlog an engine stands.
struct EnginePlace {
  LogPosition position;  // replay starts here
  uint64_t epoch = 0;    // epoch of the last epoch transaction at or before `position`
  // Behind `position`: the last transaction ends here of which something is there while something in front of
  // that is missing. What is replayed must reach at least so far.
  LogPosition incomplete_up_to = {};
};

// The binlog state that corresponds to an engine state.
struct CommitPoint : EnginePlace {
  GtidSet executed;  // gtid_executed
};

// How a batch moves it. Only what is new is told: a set may have a million gaps.
struct CommitStep : EnginePlace {
  GtidSet added;          // to gtid_executed; some of it may be there
  bool replaces = false;  // from now on `added` is all that counts as executed
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

// A transaction on its way from prepare to commit. Only those with a GTID are prepared: by it recovery finds
// them in the binlog.
struct PreparedTransaction {
  Gtid gtid;
  std::string record;  // what prepare() made
};

class Engine {
 public:
  virtual ~Engine() = default;

  // Reads. A null snapshot reads the newest committed state.
  virtual SnapshotPtr snapshot() = 0;
  virtual Result<bool> get(const Snapshot* snapshot, std::string_view key, std::string& value) = 0;
  // Keys in [lower, upper); the iterator keeps its snapshot alive.
  virtual std::unique_ptr<Iterator> iterate(SnapshotPtr snapshot, std::string lower, std::string upper) = 0;

  // Takes transactions in binlog order: one atomic batch holds their data, counters and `step`. Called by
  // one thread at a time. Gives provisional row ids their final numbers (and keeps the counters of that in
  // the same batch). With binlog_order_commits=OFF prepared ones that have no such ids come in any order.
  // One that is spilled comes alone, and may be taken in parts, with its counters and `step` in the last.
  // Nobody sees it before that. A crash may leave some of the parts: `incomplete_up_to`.
  virtual Status commit_ordered(std::span<WriteSet* const> transactions, const CommitStep& step) = 0;

  // Null: new indexes are filled by the transactions that name them.
  virtual UnnamedIndexes* unnamed_indexes() { return nullptr; }

  // --- for engines that may find no room on their volume ---
  // An error while that is so; any other than 1021 is final. commit_ordered() then fails with the same one:
  // nobody sees anything of its transactions, and it is called with them again, before any others. commit()
  // too: what commit_ordered took stays, and is made durable by a later one.
  virtual Status room() const { return {}; }
  // Called from some thread when there is room again.
  virtual void on_room(const std::function<void()>&) {}

  // --- for engines with a log of their own ---
  virtual bool has_own_log() const { return false; }
  // What of preparing does not depend on the order: by the committing session, beside all others.
  virtual std::string prepare(const WriteSet&) { return {}; }
  // A group whose order is decided, before the binlog has it: as durable as flush_log_at_trx_commit says when
  // this returns, by one sync. Visible to nobody. Without room for it nothing of the group is prepared.
  virtual Status prepare_ordered(std::span<const PreparedTransaction>) { return {}; }
  // Behind commit_ordered, before anybody is answered: what it took becomes as durable as
  // flush_log_at_trx_commit says.
  virtual Status commit() { return {}; }
  // Prepared transactions that the binlog does not have are forgotten, durably; without room for that, before
  // the next prepare_ordered() has anything to do, since their numbers may be given again.
  virtual Status rollback(std::span<const Gtid>) { return {}; }
  // The prepared transactions that are neither committed nor rolled back.
  virtual std::vector<Gtid> recover() { return {}; }
  // What one of them will write; nullopt when it is not prepared.
  virtual Result<std::optional<WriteSet>> prepared_writes(const Gtid&) { return std::optional<WriteSet>(); }

  // `sync` makes the binlog durable up to everything commit_ordered was given. An engine calls it, from any
  // thread, before something of that gets to the disk; it does nothing when that is so already.
  virtual void before_persisting(const std::function<Status()>& sync) { (void)sync; }

  // What commit_ordered last took, or what was found at open. The first copies the whole of gtid_executed.
  virtual CommitPoint commit_point() const = 0;
  virtual LogPosition replay_position() const = 0;
  virtual bool has_executed(const Gtid& gtid) const = 0;
  // What would be found after a crash now: the binlog may be purged up to here.
  virtual LogPosition flushed_position() const = 0;
  virtual Status checkpoint() = 0;  // make everything committed so far durable
  // A copy of the engine's files in `directory` (hard links where possible) that opens as of one commit
  // point, which is returned.
  virtual Result<CommitPoint> backup_to(const std::string& directory) = 0;

  // Counters that live beside the data. next_auto_increment reserves `count` values (from `at_least` on) in
  // memory; they become durable with the transaction that uses them (WriteSet::raise_auto_increment).
  virtual Result<uint64_t> next_auto_increment(uint64_t table_id, uint64_t count, uint64_t at_least) = 0;
  virtual uint64_t peek_auto_increment(uint64_t table_id) = 0;

  // A client's connection ends: what engines keep for it is given back, which may take an exchange with
  // another server. Called on the connection's own reactor, outside every lock.
  virtual Task<void> close_connection(ConnectionData&) { co_return; }

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
inline constexpr uint32_t kPreparedIndexId = 5;
inline constexpr uint32_t kUnnamedIndexId = 6;
inline constexpr uint32_t kExecutedIndexId = 7;

struct RocksOptions {
  // One takes what comes, the others wait to become files.
  static constexpr uint32_t kMostMemtables = 4;

  std::string directory;
  uint64_t block_cache_bytes = 128ull << 20;
  uint64_t write_buffer_bytes = 64ull << 20;  // of each
  // A transaction that is larger than memory is taken in parts of this size.
  uint64_t part_bytes = 1 << 20;
  // RocksDB's write-ahead log on: for commitd_durability=xa.
  bool own_log = false;
  std::shared_ptr<const std::atomic<uint64_t>> flush_log_at_trx_commit = nullptr;  // null: 1
};
Result<std::unique_ptr<Engine>> open_rocks(const RocksOptions& options);

}  // namespace commitd::storage
