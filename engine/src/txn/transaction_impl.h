// The state of a transaction and the steps its operations share. Split over transaction.cc (life),
// transaction_read.cc, transaction_write.cc, uniqueness.cc and cursor.cc.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/memory_budget.h"
#include "txn/lock_owner.h"
#include "txn/transaction.h"

namespace commitd::txn {

class Transaction::Impl {
 public:
  Impl(Services& services_in, LockOwner& owner_in) : services(services_in), owner(owner_in) {}

  struct Savepoint {
    std::string name;
    WriteSet::Mark writes;
    binlog::TransactionBuffer::Mark events;
  };

  // The snapshot consistent reads use; taken when first needed.
  const storage::SnapshotPtr& read_view();
  // Error 1412 when that snapshot does not hold the definition by which `table` is about to be read.
  Status check_definition(const TableDef& table);
  // Value of an engine key as this transaction sees it: its own writes, else `snapshot` (null: the newest
  // committed state).
  Result<bool> read(const storage::Snapshot* snapshot, std::string_view key, std::string& value);
  // The row under a clustered key; false when there is none.
  Result<bool> read_row(const TableDef& table, const storage::Snapshot* snapshot,
                        std::string_view clustered_key, FoundRow& row);

  // Holding the lock of `key`, in a statement that does not use unacknowledged versions: its newest version
  // is to be waited for before it is read.
  bool must_wait_for(std::string_view key) const {
    return unacknowledged == Unacknowledged::Wait && services.pipeline.ordered().newest(key).order != 0;
  }
  Task<Status> wait_for_engine(std::string_view key);

  // Takes the lock without a coroutine if it is free. Rows with a provisional id are this transaction's own
  // and need none.
  bool lock_now(const TableDef& table, std::string_view clustered_key, LockMode mode);
  Task<Status> lock_row(const TableDef& table, std::string_view clustered_key, LockMode mode);
  Task<Status> lock_key(std::string_view key, LockMode mode);
  Task<Status> lock_name(std::string_view key, LockMode mode);  // a metadata lock
  // True when `status` says that a row is another's and is to be left out.
  bool skips(const Status& status) const;
  // The same for reading what it guards.
  Task<Status> lock_row_to_read(const TableDef& table, std::string_view clustered_key, LockMode mode);
  Task<Status> lock_key_to_read(std::string_view key, LockMode mode);
  // Locks the row under `clustered_key`, then reads its newest version.
  Task<Result<bool>> lock_and_read(const TableDef& table, std::string clustered_key, LockMode mode,
                                   FoundRow& row);

  // Locks the key that `row` takes in a unique index and looks who has it. `self` (a clustered key) does not
  // count.
  Task<Result<std::optional<Duplicate>>> check_unique(const TablePtr& table, const IndexDef& index,
                                                      const Row& row, std::string_view self);

  // SERIALIZABLE: nothing appears in [lower, upper) of an index any more before this transaction ends, and
  // what was about to is there.
  Task<Status> lock_range(std::string lower, std::string upper);
  // Waits until nobody else has read a range into which `changes` puts a new key.
  Task<Status> wait_for_ranges(const WriteSet& changes);
  std::optional<std::string> range_in_the_way(const WriteSet& changes) const;
  bool is_known(std::string_view key) const;

  bool may_let_go_early() const;
  // Sends what there is through the pipeline. Metadata locks and state stay as they are.
  Task<Status> log_and_apply(std::function<void()> publish);
  Task<Status> wait_for_replicas();  // commitd_max_replica_lag
  void end_own_view();
  // That of the transaction's consistent reads; null: it has none yet.
  const storage::Snapshot* snapshot_between_statements() const {
    return (view_between_statements ? *view_between_statements : view).snapshot.get();
  }
  // Those who observe transactions are told how it ended.
  void tell_committed(const binlog::CommitRequest& request);
  void tell_rolled_back();
  void forget();  // locks, snapshot, writes: no transaction any more
  Status check_size();
  // By an index's entry, of a snapshot: not when this transaction has given the row another key there.
  Result<bool> read_row_of(const TableDef& table, const IndexDef& index, const storage::Snapshot* at,
                           std::string_view entry, std::string_view clustered_key, FoundRow& row);
  // Before the first change of a row.
  Result<bool> snapshot_shows_other(const TableDef& table, const FoundRow& row) const;
  void arrange_spilling(bool ship, bool minimal_images);

  Services& services;
  LockOwner& owner;
  Options options;
  uint32_t session = 0;  // CONNECTION_ID(), for observers
  WriteSet writes;
  binlog::TransactionBuffer events{binlog::TransactionBuffer::Context{}};
  struct Spilling {
    bool events = false, values = false;
    uint64_t beyond = 0;
    bool operator==(const Spilling&) const = default;
  };
  std::optional<Spilling> spilling;  // what `events` and `writes` were told last
  struct View {
    storage::SnapshotPtr snapshot;
    std::optional<uint64_t> definitions;  // the definition gate when it was taken; nullopt: it was closed
    std::vector<std::pair<uint64_t, uint32_t>> checked_definitions;  // id and version of those that it holds
  };
  View view;
  std::optional<View> view_between_statements;  // while a statement has another
  // The definition gate when the statement began: before it looked at any definition.
  std::optional<uint64_t> definitions_at_statement;
  std::vector<Savepoint> savepoints;
  Savepoint statement{};
  Gtid last_gtid;
  Gtid next_gtid;  // empty: the pipeline gives one
  LockedRows locked_rows = LockedRows::Wait;
  Unacknowledged unacknowledged = Unacknowledged::Wait;
  uint64_t ground = 0;     // ordered()'s, when it began
  binlog::SeenOrder seen;  // outlives the transaction until what it has seen is settled
  bool active = false;
  MemoryReservation memory{MemoryUse::Transactions};
};

inline LockMode lock_mode(ReadMode mode) {
  return mode == ReadMode::LockExclusive ? LockMode::Exclusive : LockMode::Shared;
}

// Decodes what is stored under a clustered key.
Status fill_row(const TableDef& table, std::string_view clustered_key, std::string_view stored,
                FoundRow& row);

std::unique_ptr<Cursor> open_cursor(Transaction::Impl& transaction, const TablePtr& table,
                                    const IndexDef& index, const IndexRange& range, ReadMode mode,
                                    bool backwards);

}  // namespace commitd::txn
