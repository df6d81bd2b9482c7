// What the parts of the commit pipeline share: log_stage.cc (the log thread), commit_pipeline.cc (the engine
// thread and the public face), pipeline_control.cc (role changes), replay.cc (start-up).
#pragma once

#include <atomic>
#include <deque>
#include <set>
#include <thread>

#include "binlog/group_builder.h"
#include "commit/commit_pipeline.h"
#include "commit/commit_queue.h"
#include "commit/engine_stage.h"
#include "commit/progress_waits.h"
#include "commit/unordered_commits.h"
#include "observe/metrics.h"
#include "observe/mutex.h"

namespace commitd::binlog {

class CommitPipeline::Impl {
 public:
  Impl(std::unique_ptr<Log> the_log, const OpenReport& found, storage::Engine& the_engine,
       EventApplier& applier, PipelineOptions pipeline_options);

  ~Impl();

  // --- log thread (log_stage.cc) ---
  void run_log_thread();
  Status rotate_log();
  void keep_number(const Gtid& received);
  // Makes durable what is in the log and is not yet; from any thread.
  Status sync_log();

  // --- engine thread (commit_pipeline.cc) ---
  void run_engine_thread();
  // A session takes its own transaction into the engine.
  Status take_into_engine(const LocalCommit& commit);

  // For a wait that is listed.
  Task<bool> wait_for(ProgressWaits::Wait& wait, Deadline deadline);

  // --- role changes (pipeline_control.cc) ---
  Result<uint64_t> cut(const GtidSet& keep);
  void fail_waiters(const Error& why);
  void acknowledge(LogPosition up_to);
  void acknowledge_through(const Gtid& gtid);
  void set_gate(Gate gate);
  Status add_purged(const GtidSet& gtids);
  Status settle_engine_position();
  Status reset();  // pipeline_reset.cc
  void freeze();
  bool frozen();
  void thaw();
  Visible visible() const;
  void fail(Error error);
  void retry_apply();
  Status skip_unappliable(const Gtid& gtid);
  // Answers commits that will not be taken into the engine by their sessions, and those that depend on them.
  void refuse(std::span<LocalCommit* const> commits, const Error& why);

  // --- without the log (pipeline_without_log.cc) ---
  Status leave_log();
  Status return_to_log();
  // The log has failed. True when transactions go on without it.
  bool leave_failed_log(const Error& why);

  // --- start-up (replay.cc) ---
  Result<ReplayReport> replay(LogPosition limit);

  const PipelineOptions options;
  const OpenReport found;
  std::unique_ptr<Log> log;
  storage::Engine& engine;
  OrderedWrites ordered;
  CommitQueue queue{ordered};
  EngineStage engine_stage;
  UnorderedCommits unordered;
  std::thread log_thread, engine_thread;

  // Everything below under `mutex`.
  mutable observe::Mutex mutex{"wait/synch/mutex/sql/MYSQL_BIN_LOG::LOCK_commit"};
  observe::Condition engine_work{"wait/synch/cond/commitd/engine_work"};
  observe::Condition engine_idle{"wait/synch/cond/commitd/engine_thread_idle"};
  std::deque<PendingTransaction> pending;  // in log order
  size_t pending_bytes = 0;
  size_t in_engine = 0;  // transactions that are being taken into the engine; not 0: nobody else may
  Gate gate = Gate::Immediate;
  LogPosition durable_end, acknowledged_end, applied_end;
  GtidSet logged, executed;
  uint64_t last_log_epoch = 0, applied_epoch = 0;
  uint64_t next_gno = 1;
  std::set<Gtid> acknowledged_ahead;  // acknowledged by name before they were durable here
  ProgressWaits waits{options.settings->wake_everybody};
  std::optional<Error> failure;
  // Why the transaction in front of `pending`, which was received, does not go into the engine. The log and
  // its acknowledgements go on.
  std::optional<Error> apply_error;
  std::atomic<bool> logging{true};  // changes under `mutex`
  LogPosition left_at;              // where all transactions are when it is false
  std::function<void(const Error&)> on_log_left;
  std::function<void(const Error&)> on_failure;
  bool stopping = false;
  size_t freezes = 0;          // who wants nothing to enter the engine
  bool engine_frozen = false;  // what was under way when they came has arrived

  // For callers that hold `mutex`.
  void advance_acknowledged(LogPosition to);
  void move_acknowledged(LogPosition to);  // and wakes the engine thread
  bool front_is_acknowledged() const;
  // Of the oldest durable transaction that is not acknowledged; zero when there is none.
  std::chrono::nanoseconds oldest_unacknowledged_age() const;
  void adjust_hold();

  WaitingRoom waiting_room;
  // Keeps the file that is written in its place while it is synced or exchanged for another.
  observe::Mutex sync_mutex{"wait/synch/mutex/sql/MYSQL_BIN_LOG::LOCK_sync"};

 private:
  // log_stage.cc
  struct Group;
  void write_group(CommitQueue::Batch batch);
  void refuse_without_gtid(CommitQueue::Batch& batch);
  void fill_group(Group& group);
  bool prepare(const Group& group);
  void roll_back_prepared(const Group& group);
  bool write_and_sync(Group& group);
  Status append_spilled(const Group& group);
  bool next_group_is_synced() const;
  CommitQueue::Gathering gathering() const;
  void group_is_durable(Group& group);
  void group_failed(Group& group, const Error& error);
  void add_local(Group& group, GroupBuilder& builder, LocalCommit& commit, uint64_t timestamp);
  void give_gtid(Group& group, CommitRequest& request) const;
  void fill_group_without_log(Group& group);
  static bool needs_log(const Group& group);
  void move_out_of_log(Group& group) const;
  bool make_room(const CommitQueue::Batch& batch);

  // commit_pipeline.cc: what both threads do when they take transactions into the engine
  std::vector<PendingTransaction> wait_for_acknowledged();
  std::vector<PendingTransaction> take_acknowledged();  // the caller holds `mutex`
  bool log_thread_may_apply() const;                    // the caller holds `mutex`
  void take_into_engine(const std::vector<PendingTransaction>& batch);
  // Own transactions are not received: one that cannot be applied means that the data is damaged.
  bool came_from_a_source(const Gtid& gtid) const;
  void stop_applying(std::span<const PendingTransaction> rest, Error why);
  Status let_sessions_take(std::span<const PendingTransaction> transactions);
  void taken_by_session(const CommitRequest& request, const storage::CommitPoint& point);
  void forget_ordered(std::span<const PendingTransaction> transactions);
  void taken_into_engine(std::span<const PendingTransaction> transactions, const storage::CommitPoint& point);

  // pipeline_without_log.cc
  bool may_leave_log() const;  // the caller holds `mutex`

  // pipeline_control.cc
  Status cut_log(LogPosition position);

  // pipeline_reset.cc
  Status restart();

  // replay.cc
  Status find_transactions(LogPosition from, const std::function<Status(const PendingTransaction&)>& each);
  Status roll_back_lost_prepared(ReplayReport& report);
  std::span<const PendingTransaction> not_in_engine(std::span<const PendingTransaction> batch) const;

  std::atomic<uint64_t> written_groups_{0}, synced_groups_{0};
  LogicalClock clock_;         // log thread
  uint64_t group_number_ = 0;  // log thread
};

// The stages' histograms.
observe::Histogram& stage_seconds(const char* stage);

}  // namespace commitd::binlog
