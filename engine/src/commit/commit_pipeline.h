// The commit pipeline: queue → flush → sync → ship/acknowledge → engine commit → reply.
//
// Two threads. The log thread takes everything that is queued as one group, numbers it, patches positions and
// checksums, writes it with one pwritev and makes it durable with one fdatasync; while it syncs, the next
// group gathers. The engine thread takes groups that are acknowledged, in log order, into the storage engine
// with one batch, and wakes exactly the sessions they belong to. Acknowledgement holds up neither the next
// group's flush nor its sync.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/log_position.h"
#include "base/result.h"
#include "binlog/transaction_buffer.h"
#include "commit/ahead_worker.h"
#include "commit/commit_settings.h"
#include "commit/group_observer.h"
#include "commit/order.h"
#include "commit/ordered_writes.h"
#include "gtid/gtid_set.h"
#include "log/log.h"
#include "observe/mutex.h"
#include "runtime/parker.h"
#include "runtime/task.h"
#include "storage/engine.h"

namespace commitd::binlog {

class CommitThrottle;

// A local transaction on its way through the pipeline; lives in the committing coroutine.
struct CommitRequest {
  TransactionBuffer* events = nullptr;  // finished
  WriteSet* writes = nullptr;
  bool ship = true;    // false: sql_log_bin=0
  uint64_t epoch = 0;  // not 0: an epoch transaction
  std::function<void()>
      publish;     // called by the engine thread right behind the engine commit (a DDL's catalog change)
  SeenOrder seen;  // of ordered(): an error when that was lost
  std::optional<uint64_t> ground;  // of ordered(), when it began: an error when that is not firm
  // Called by commit() once the place in the log is fixed, if the transaction is let go early: then whoever
  // reads what it wrote must look into ordered() first. Its writes have their final keys.
  std::function<void()> release_locks;

  // SET gtid_next: the GTID to commit under; a transaction without events is then logged too. Otherwise
  // filled in by the pipeline.
  Gtid gtid;

  // Filled in by the pipeline.
  LogPosition end;
};

// Makes the writes of a transaction that is known only by its events: on replicas and at recovery.
class EventApplier {
 public:
  virtual ~EventApplier() = default;
  struct Outcome {
    std::function<void()> publish;
    bool exclusive = false;  // needs everything before it committed and visible first, and nothing behind it
                             // in the same batch (DDL)
    bool too_early = false;  // exclusive only because something before it is not
  };
  struct How {
    bool alone = false;    // everything in front is in the engine, and nothing comes behind in the same batch
    bool compare = false;  // an error when the rows are not here as the events say that they were
  };
  // `events`: the whole transaction from its GTID event on; of a session with sql_log_bin=0 it starts with
  // BEGIN (or its statement) instead. Called by the engine thread, at start-up by the thread that replays, in
  // log order. When the outcome would be exclusive and it is not `alone`, it returns {exclusive = true}; the
  // pipeline forgets `writes`, commits what it has and calls again with alone = true.
  virtual Result<Outcome> build(std::string_view events, How how, WriteSet& writes) = 0;
  // The same for one that is larger than memory: whole events, piece by piece; empty: there are no more.
  using Events = std::function<Result<std::string_view>()>;
  virtual Result<Outcome> build_from(const Events& next, How how, WriteSet& writes);
  // Everything that was built is in the engine, or will be built again, and what was made ahead no longer
  // holds.
  virtual void all_is_stored() {}

  // --- before its turn: what replica_parallel_workers do ---
  struct Ahead {
    WriteSet writes = WriteSet::without_undo();
    bool complete = false;  // false: it can only be built in its turn, or is not to be built at all
    bool compared = false;
    uint64_t stored = 0;                  // the turn up to which all was stored when it began
    std::vector<uint64_t> read, written;  // hashes of keys
  };
  // What build() would make of it, not alone, if nothing changed any more that it looks at: on any thread,
  // several at a time, while those in front are built and taken into the engine; not beside a change of
  // definitions.
  virtual void build_ahead(std::string_view /*events*/, bool /*compare*/, Ahead& /*into*/) const {}
  // In its turn. True: it counts as built. False: something in front of it has changed what it has looked at,
  // or may have; build() has to make it.
  virtual bool take(const Ahead& /*ahead*/) { return false; }
  // Of the latest that was built. The engine shows what was built up to that turn: told from any thread.
  virtual uint64_t turn() const { return 0; }
  virtual void stored_up_to(uint64_t /*turn*/) {}
};

struct ReplayProgress {
  uint64_t transactions = 0, rows = 0;
  uint64_t bytes = 0, total_bytes = 0;  // of log
};

// ER_NO_BINARY_LOGGING.
Error no_binary_logging();

struct PipelineOptions {
  uint32_t server_id = 1;
  Uuid server_uuid = {};
  std::shared_ptr<const CommitSettings> settings = std::make_shared<CommitSettings>();
  uint64_t gno_floor = 0;                                              // GTIDs of this server start above it
  std::function<void(const ReplayProgress&)> on_replay_progress = {};  // every few seconds
  uint64_t max_unacknowledged_bytes = 256ull << 20;  // commits wait at the queue beyond this
  TemporaryPlace temporary = {};                     // for transactions that are larger than memory
  GroupObserver* observer = nullptr;                 // outlives the pipeline
  bool log_replica_updates = true;                   // false: what is received goes into the relay log
};

class CommitPipeline {
 public:
  CommitPipeline(std::unique_ptr<Log> log, const OpenReport& found, storage::Engine& engine,
                 EventApplier& applier, PipelineOptions options);
  ~CommitPipeline();  // stop() must have been called

  // --- start-up: before start() ---
  // Replays the log from the engine's position up to `limit` into the engine; what is behind `limit` becomes
  // the unacknowledged tail.
  struct ReplayReport {
    uint64_t transactions = 0;
    uint64_t rows = 0;
    uint64_t committed_prepared = 0;    // of `transactions`: prepared, and found in the log
    uint64_t rolled_back_prepared = 0;  // prepared, and not in the log
  };
  Result<ReplayReport> replay(LogPosition limit);
  void start();
  void stop();  // finishes what is queued and durable-and-acknowledged; the rest stays in the log

  // --- local commits: from any reactor ---
  // Returns when the transaction is durable (as sync_binlog has it), acknowledged and visible in the engine;
  // which of the last two comes first, the gate says.
  // An error before the log
  // write means nothing happened; error 1053 from fail_waiters() means the outcome is not known.
  Task<Status> commit(CommitRequest& request);

  // What local transactions wrote that gave up their locks and are not in the engine yet.
  OrderedWrites& ordered();

  // Whoever commits for a client passes it first; it ends its waits where commit() would refuse them.
  CommitThrottle& throttle();

  // --- received transactions: from the receiver ---
  // `events`: whole transaction from its GTID event on, checksummed, as the source sent it: bodies are
  // copied, positions and checksums patched. `on_durable` is called on the log thread with the position
  // behind it in our log; also when the transaction was there already. It must not wait for the pipeline.
  // After a failure it is never called.
  void append_received(EventSpool events, Gtid gtid, std::function<void(LogPosition)> on_durable);
  void append_received(std::string events, Gtid gtid, std::function<void(LogPosition)> on_durable);

  // When this returns, what was handed over is either durable and reported or, though the log had no room for
  // it, forgotten: it is still at its source. Waits for one sync at most.
  void drop_received();

  // --- acknowledgement: from replication, any thread, monotonic ---
  // The gate stands at Immediate until set.
  using Gate = Order::Gate;
  void set_gate(Gate gate);
  void acknowledge(LogPosition up_to);
  void acknowledge_through(const Gtid& gtid);  // as soon as it is durable here

  // --- FLUSH TABLES WITH READ LOCK ---
  // From freeze() to thaw() local commits wait at the queue; once frozen() says true, nothing is on its way
  // into the engine and nothing enters it: received transactions are logged and acknowledged meanwhile, not
  // applied.
  void freeze();
  bool frozen();
  void thaw();
  // Nothing behind that place enters the engine, acknowledged or not; nullopt: no such place.
  void limit_apply(std::optional<LogPosition> end);
  // What is visible, and the place in the log that it goes with.
  struct Visible {
    LogPosition end;
    GtidSet executed;
  };
  Visible visible() const;

  // --- a received transaction that cannot be applied ---
  // Set: it and all behind it stay out of the engine; what is received is logged and acknowledged all the
  // same.
  std::optional<Error> apply_error() const;
  void retry_apply();
  // It counts as executed, and changes nothing.
  Status skip_unappliable(const Gtid& gtid);

  // replica_parallel_workers, and what each does.
  std::vector<AheadWorker> applier_workers() const;

  // --- role changes ---
  // While closed, commit() fails at once with `why`; only epoch transactions pass (nothing is queued any more
  // when this returns: this and the next two wait for the group that is being written, one sync at most).
  void close_to_local_commits(Error why);
  void open_to_local_commits();
  // Every waiting commit() returns `why`; its transaction stays in the log and is taken into the engine from
  // there if it is acknowledged later.
  void fail_waiters(const Error& why);
  // One of those is neither in the engine nor cut. Whoever began before it is does not commit (error 3101).
  bool has_unknown_outcomes() const;
  // Whoever began before does not commit either: others have written meanwhile, whom no lock kept waiting.
  void outdate_open_transactions();
  // Cuts the log behind the last transaction that is in `keep`, from the first unapplied one that is not.
  // Error 3002 when one that is not in `keep` has been applied. Returns the number of transactions cut. Local
  // commits must be closed and the receiver stopped.
  Result<uint64_t> cut_unacknowledged(const GtidSet& keep);
  void raise_gno_floor(uint64_t floor);

  // --- without the log: only with an engine that has one of its own ---
  // From then on transactions are in the engine alone. They get GTIDs all the same; large ones whose writes
  // are spilled are refused with error 1197. Only one that was never left can fail (ignore_log_errors).
  bool logging() const;
  // Behind replay(), before start().
  Status leave_log();
  // The same, of a log that was left: it goes on in a new file. What was committed without it counts as
  // purged.
  Status return_to_log();
  // Called when the log has failed and was left; on any thread, and must not wait for the pipeline.
  void on_log_left(std::function<void(const Error&)> callback);
  // gtid_purged: what no reader can get here. Without the log that is everything.
  Result<GtidSet> gtid_purged() const;

  // --- state, any thread ---
  // All of it at one moment.
  struct ReceivedWaits {
    Error why;
    uint64_t since = 0;  // microseconds
  };
  struct State {
    LogPosition acknowledged_end;
    GtidSet logged, executed;
    uint64_t last_log_epoch = 0;
    uint64_t unapplied = 0;
    uint64_t shown = 0;  // in the engine, and not acknowledged
    std::chrono::nanoseconds oldest_unacknowledged{0};
    std::optional<Error> failure, apply_error;
    std::optional<ReceivedWaits> received_waits = {};  // for room in the log
  };
  State state() const;
  LogPosition durable_end() const;
  LogPosition acknowledged_end() const;
  LogPosition applied_end() const;
  GtidSet gtid_logged() const;
  GtidSet gtid_executed() const;
  bool has_executed(const Gtid& gtid) const;  // without a copy of them all
  uint64_t last_log_epoch() const;
  uint64_t next_gno() const;
  uint64_t unapplied_transactions() const;
  Log& log();
  // LOCK_log: taken around writing a group, and by readers, with commitd_dump_lock=log_lock only.
  observe::Mutex& log_lock();
  const PipelineOptions& options() const;

  // Waits until the durable (or acknowledged) end passes `position`, or readers are woken; false at the
  // deadline or when stopped.
  enum class Bound { Durable, Acknowledged };
  Task<bool> wait_beyond(LogPosition position, Bound bound, Deadline deadline);
  // Whoever waits for a position looks again: it may be another one that it is to wait for.
  void wake_readers();
  // As wait_beyond for a GTID set being applied (WAIT_FOR_EXECUTED_GTID_SET).
  Task<bool> wait_executed(const GtidSet& set, Deadline deadline);
  Status sync();                // what is in the log is durable, whatever sync_binlog is
  Task<Status> rotate();        // FLUSH BINARY LOGS
  Task<Status> rotate_relay();  // FLUSH RELAY LOGS
  // Files of the relay log that are applied, up to the engine's flushed position and in front of
  // `first_kept`.
  Task<Status> purge_relay(uint32_t first_kept);
  // PURGE BINARY LOGS; never past the engine's flushed position.
  Task<Result<PurgeReport>> purge_to(uint32_t first_kept);
  // After a rotation the engine's position still names the old file until the next transaction. This moves it
  // to the end of what is visible, if everything is, so that a checkpoint frees the old file.
  Task<Status> settle_engine_position();
  // SET GLOBAL gtid_purged: these count as executed and are in no file. An error while commits are under way.
  Status add_purged(const GtidSet& gtids);

  // RESET BINARY LOGS AND GTIDS: log, gtid_executed and gtid_purged are empty afterwards; the data stays. An
  // error, and nothing changed, while commits or readers are under way.
  Task<Status> reset();
  // For a start, before the log is opened: finishes a reset that a crash interrupted.
  static Status finish_reset(FileSystem& fs, const LogOptions& options, storage::Engine& engine);

  // Set when the log or the engine failed for good: nothing is acknowledged any more. /healthz says why.
  std::optional<Error> failure() const;
  void on_failure(std::function<void(const Error&)> callback);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace commitd::binlog
