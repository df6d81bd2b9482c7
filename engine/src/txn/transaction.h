// A transaction: snapshot, locks, write set and binlog events of one session, and the operations on tables
// that the executor needs. Reads merge the snapshot with the transaction's own writes. Writes lock, check
// uniqueness, then enter both the write set and the event buffer.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/value.h"
#include "binlog/transaction_buffer.h"
#include "commit/commit_pipeline.h"
#include "runtime/task.h"
#include "storage/engine.h"
#include "storage/record/row_image.h"
#include "storage/record/table_def.h"
#include "storage/write_set.h"
#include "txn/lock_manager.h"

namespace commitd::plugins {
class Observers;
}

namespace commitd::txn {

enum class Isolation : uint8_t { ReadUncommitted, ReadCommitted, RepeatableRead, Serializable };
// How rows are read: from the snapshot, or the newest committed version under a lock.
enum class ReadMode : uint8_t { Snapshot, LockShared, LockExclusive };
// What a locking read does about a version that is ordered and not acknowledged yet
// (binlog/ordered_writes.h): Use is for statements that answer with nothing of it before their transaction
// ends.
enum class Unacknowledged : uint8_t { Wait, Use };
// What a locking read does about a row that another has locked: NoWait is error 3572, Skip leaves it out.
enum class LockedRows : uint8_t { Wait, NoWait, Skip };

// Shared by all sessions; owned by server/.
struct Services {
  storage::Engine& engine;
  LockManager& locks;
  binlog::CommitPipeline& pipeline;
  plugins::Observers* observers = nullptr;  // none in tests
};

// One bound of an index range: values for the first columns of the index.
struct Bound {
  std::vector<Value> values;
  bool inclusive = true;
};
struct IndexRange {
  std::optional<Bound> lower, upper;  // not set = open
  static IndexRange equal(const std::vector<Value>& values) {
    return {Bound{values, true}, Bound{values, true}};
  }
};

// A row as read: decoded values, and what identifies it for update and erase.
struct FoundRow {
  Row values;
  std::string image;          // its row image, in the table's present version
  std::string clustered_key;  // whole key
  uint64_t row_id = 0;        // tables without a primary key
};

class Transaction;

// A scan of one index range in index order (or backwards). Not valid across commit.
class Cursor {
 public:
  virtual ~Cursor() = default;
  // Moves to the next row; false at the end. Only for ReadMode::Snapshot: never waits.
  virtual Result<bool> next(FoundRow& row) = 0;
  // The same for locking reads: locks each row before it reads its newest version. `unlock_last` gives the
  // last row's lock back when it was taken by this scan and the row turned out not to match (READ COMMITTED).
  virtual Task<Result<bool>> next_locked(FoundRow& row) = 0;
  virtual void unlock_last() = 0;
  // From here on a row that another has locked is not waited for: it is given as it was committed last, and
  // is_unlocked(). Whoever wants it asks lock_last(), which waits and reads it anew; false: it is not here
  // any more.
  virtual void read_past_locks() = 0;
  virtual bool is_unlocked() const = 0;
  virtual Task<Result<bool>> lock_last(FoundRow& row) = 0;
};

class Transaction {
 public:
  class Impl;  // txn/transaction_impl.h

  struct Options {
    Isolation isolation = Isolation::RepeatableRead;
    bool read_only = false;
    std::chrono::nanoseconds lock_wait_timeout = std::chrono::seconds(50);
    std::chrono::nanoseconds table_lock_wait_timeout = std::chrono::hours(24 * 365);  // metadata locks
    size_t max_bytes = 4ull << 30;                                                    // error 1197 beyond it
    bool ship = true;                                                                 // sql_log_bin
  };

  Transaction(Services& services, LockOwner& owner);
  ~Transaction();  // rolls back what was not committed

  void begin(const Options& options, const binlog::TransactionBuffer::Context& context);
  bool active() const;
  Isolation isolation() const;  // of the open transaction
  bool has_writes() const;
  // START TRANSACTION WITH CONSISTENT SNAPSHOT; otherwise the first consistent read takes it. READ COMMITTED
  // takes one per statement.
  void take_snapshot();

  // Around every statement: a failed one is undone as a whole (its locks stay, as in MySQL).
  void begin_statement();
  // For a statement that changes rows: to its end, consistent reads see what was committed when it began.
  // What it stores must not come from rows as they were once.
  void see_newest();
  void end_statement();
  void rollback_statement();

  // --- metadata locks: shared for DML, exclusive for DDL; held to the end of the transaction ---
  Task<Status> lock_table(std::string_view db, std::string_view table, LockMode mode);

  // --- reads ---
  // For the locking reads that follow, until set again.
  void set_locked_rows(LockedRows what);
  void set_unacknowledged(Unacknowledged what);
  // It has used such a version, and nobody may be told anything that follows from it yet.
  bool depends_on_unacknowledged();
  // Waits until that is acknowledged. Error 1213 when it never will be: the transaction must be rolled back.
  Task<Status> settle();
  Task<Result<bool>> get(const TablePtr& table, std::span<const Value> primary_key, ReadMode mode,
                         FoundRow& row);
  // The row a unique index (the primary key included) has for these values.
  Task<Result<bool>> get_by_unique(const TablePtr& table, const IndexDef& index,
                                   std::span<const Value> values, ReadMode mode, FoundRow& row);
  std::unique_ptr<Cursor> scan(const TablePtr& table, const IndexDef& index, const IndexRange& range,
                               ReadMode mode, bool backwards = false);

  // --- writes; rows have one value per column, already converted and checked ---
  // Which unique key a row collides with, and the row that is there (locked).
  struct Duplicate {
    const IndexDef* index = nullptr;
    FoundRow row;
  };
  // nullopt = inserted. A Duplicate is not an error here: INSERT turns it into 1062, REPLACE and ON DUPLICATE
  // KEY go on with it.
  Task<Result<std::optional<Duplicate>>> insert(const TablePtr& table, const Row& row);
  Task<Result<std::optional<Duplicate>>> update(const TablePtr& table, const FoundRow& old_row,
                                                const Row& new_row);
  Task<Status> erase(const TablePtr& table, const FoundRow& row);
  // Reserves AUTO_INCREMENT values; the first one.
  Result<uint64_t> next_auto_increment(const TableDef& table, uint64_t count, uint64_t at_least = 1);

  // --- savepoints ---
  void savepoint(std::string_view name);
  Status rollback_to_savepoint(std::string_view name);  // 1305 when there is none
  Status release_savepoint(std::string_view name);

  // --- end ---
  Task<Status> commit();
  void rollback();
  // A transaction that is one statement (DDL, accounts): logged as a query event, its writes given; commits
  // anything open first (implicit commit).
  Task<Status> commit_statement(std::string_view db, std::string_view sql, WriteSet writes,
                                std::function<void()> publish);

  // SET gtid_next: what is committed next gets this GTID, and is logged though it changes nothing. Forgotten
  // at the end of the transaction.
  void commit_under(const Gtid& gtid);
  // GTID of the last commit, for session_track_gtids and Last-GTID in tests.
  const Gtid& last_gtid() const;

 private:
  std::unique_ptr<Impl> impl_;
};

// Index entries of one row change, in terms of the row's images: the one place that knows which keys a row
// has. Used by Transaction and, on replicas and at recovery, by the event applier.
void put_row(WriteSet& writes, const TableDef& table, const Row& row, std::string_view image,
             uint64_t row_id);
void erase_row(WriteSet& writes, const TableDef& table, const Row& row, uint64_t row_id);
void replace_row(WriteSet& writes, const TableDef& table, const Row& old_row, const Row& new_row,
                 std::string_view new_image, uint64_t row_id);

}  // namespace commitd::txn
