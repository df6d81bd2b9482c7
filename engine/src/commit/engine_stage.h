// Takes transactions into the storage engine in log order: local ones with the writes their session made, all
// others by their events.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <span>
#include <vector>

#include "commit/ahead_builder.h"
#include "commit/batch_committer.h"
#include "commit/commit_pipeline.h"
#include "commit/commit_queue.h"
#include "commit/gtid_persister.h"
#include "commit/pending_transaction.h"
#include "log/log.h"
#include "observe/mutex.h"
#include "storage/engine.h"

namespace commitd::binlog {

// The engine stands there, and nothing counts as executed; durable when it returns, with all data.
Status begin_anew_at(storage::Engine& engine, LogPosition position);

class EngineStage {
 public:
  // `taken`: called behind each engine batch, with the transactions that are visible now.
  using Taken = std::function<void(std::span<const PendingTransaction>, const storage::EnginePlace&)>;
  // `large`: how to deal with transactions that are larger than memory.
  struct Large {
    std::shared_ptr<const CommitSettings> settings;
    TemporaryPlace temporary;
  };
  struct Source {
    Log& log;
    observe::Mutex& lock;  // taken with commitd_relay_lock=log_lock only
  };
  EngineStage(Source source, storage::Engine& engine, EventApplier& applier, Large large, Taken taken);

  // An error is final: some of the transactions may be in the engine. Not so when unappliable() or
  // lacked_room() says so: then all in front of that one are in there, and nothing of it.
  Status apply(std::span<const PendingTransaction> transactions);
  // The last apply() ended at a transaction that cannot be made from its events: one of its rows is not
  // there, or there already, or a statement fails.
  bool unappliable() const { return unappliable_; }
  // The last apply() ended at a batch that the engine had no room for, or at a transaction that was to be put
  // together in a temporary file and found none: all in front of it are in there. The next apply() begins
  // with the same ones.
  bool lacked_room() const { return lacked_room_; }
  // Without transactions: the position to go on from, and GTIDs that count as executed though they never
  // come. Only while nothing is applied.
  struct Advance {
    LogPosition position;
    GtidSet executed;
  };
  Status advance(const Advance& to);
  // RESET BINARY LOGS AND GTIDS: nothing counts as executed, and the position is where the new log starts.
  // The engine's data is durable when it returns. Only while nothing is applied.
  Status restart_at(LogPosition position);

  // From here to finish_overlapping() batches are taken into the engine while the next ones are put together:
  // apply() returns before. No local transactions meanwhile.
  void overlap() { committer_ = std::make_unique<BatchCommitter>(); }
  Status finish_overlapping();

  // A session has taken its own transaction, in no order.
  void persist(const Gtid& gtid);

  const storage::EnginePlace& place() const { return place_; }
  // Others have taken what stands in front of `place`. Only while nothing is applied.
  void continue_at(const storage::EnginePlace& place) { place_ = place; }
  uint64_t keys_written() const { return keys_written_; }
  uint64_t committed_prepared() const { return committed_prepared_; }
  std::vector<AheadWorker> workers() const { return ahead_.workers(); }  // from any thread

 private:
  Status add_all(std::span<const PendingTransaction> transactions);
  bool batch_is_full(size_t built_bytes) const;
  Status add(const PendingTransaction& transaction, LogPosition readable_to);
  Result<bool> add_prepared(const PendingTransaction& transaction);
  Status add_by_events(const PendingTransaction& transaction, LogPosition readable_to,
                       EventApplier::Ahead* ahead);
  Status add_large_by_events(const PendingTransaction& transaction, EventApplier::How how);
  Result<EventApplier::Outcome> build_large(const PendingTransaction& transaction, EventApplier::How how);
  bool is_large(const PendingTransaction& transaction) const;
  Result<EventApplier::How> how_to_build(const PendingTransaction& transaction);
  Status cannot_apply(const PendingTransaction& transaction, const Error& why);
  void take_built(EventApplier::Outcome outcome);
  Status flush();
  Status flush_and_wait();
  struct Batch;
  Status commit(Batch& batch);
  Status not_taken(Error why);
  Status not_made_durable(const Batch& batch, Error why);
  Status make_durable();
  void publish_all();
  // The events of one transaction, valid until the next call.
  Result<std::string_view> events_of(const PendingTransaction& transaction, LogPosition readable_to);
  Result<LogChunk> read_next(LogPosition from, LogPosition readable_to);

  Log& log_;
  observe::Mutex& log_lock_;
  storage::Engine& engine_;
  EventApplier& applier_;
  const Large large_;
  Taken taken_;
  GtidPersister gtid_persister_;
  AheadBuilder ahead_;
  storage::EnginePlace place_;
  uint64_t keys_written_ = 0, committed_prepared_ = 0;

  // The batch that is being put together.
  std::span<const PendingTransaction> rest_;  // not flushed yet, the added ones in front
  std::vector<WriteSet*> batch_;
  std::list<WriteSet> built_;  // writes made from events; unlike a deque it costs nothing while it is empty
  std::vector<std::function<void()>> publish_;

  std::unique_ptr<BatchCommitter> committer_;  // null: this thread commits
  bool unappliable_ = false, lacked_room_ = false;
  size_t not_durable_ = 0;   // so many are in the engine, whose own log found no room for them
  bool uncompared_ = false;  // the applier has not compared something that may not be in the engine yet

  LogChunk chunk_;      // what was read last
  std::string joined_;  // a transaction that spans several chunks
};

}  // namespace commitd::binlog
