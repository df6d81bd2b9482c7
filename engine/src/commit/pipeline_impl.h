// What the parts of the commit pipeline share: log_stage.cc and group_filling.cc (the log thread),
// engine_thread.cc, commit_pipeline.cc (the public face), pipeline_control.cc (role changes), replay.cc
// (start-up). Each locks, takes a step of `order`, unlocks and does what is to be done.
#pragma once

#include <atomic>
#include <thread>

#include "binlog/group_builder.h"
#include "commit/commit_pipeline.h"
#include "commit/commit_queue.h"
#include "commit/commit_throttle.h"
#include "commit/engine_stage.h"
#include "commit/order.h"
#include "commit/progress_waits.h"
#include "commit/unordered_commits.h"
#include "observe/metrics.h"
#include "observe/mutex.h"

namespace commitd::binlog {

enum class Destination : uint8_t;  // commit_group.h

class CommitPipeline::Impl {
 public:
  Impl(std::unique_ptr<Log> the_log, const OpenReport& found, storage::Engine& the_engine,
       EventApplier& applier, PipelineOptions pipeline_options);

  ~Impl();

  // --- log thread (log_stage.cc) ---
  void run_log_thread();
  Status rotate_log(LogKind kind = LogKind::Binary);
  // Makes durable what is in the log and is not yet; from any thread.
  Status sync_log();

  // --- engine thread (engine_thread.cc) ---
  void run_engine_thread();
  // A session takes its own transaction into the engine.
  Status take_into_engine(const LocalCommit& commit);

  // For a wait that is listed.
  Task<bool> wait_for(ProgressWaits::Wait& wait, Deadline deadline);

  // --- role changes (pipeline_control.cc) ---
  Result<uint64_t> cut(const GtidSet& keep);
  void fail_waiters(const Error& why);
  Status add_purged(const GtidSet& gtids);
  Status settle_engine_position();
  Status reset();  // pipeline_reset.cc
  bool frozen();
  void thaw();
  void fail(const Error& error);
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
  CommitThrottle throttle;
  observe::Mutex log_lock{"wait/synch/mutex/sql/MYSQL_BIN_LOG::LOCK_log"};
  EngineStage engine_stage;
  UnorderedCommits unordered;
  std::thread log_thread, engine_thread;

  mutable observe::Mutex mutex{"wait/synch/mutex/sql/MYSQL_BIN_LOG::LOCK_commit"};
  observe::Condition engine_work{"wait/synch/cond/commitd/engine_work"};
  observe::Condition engine_idle{"wait/synch/cond/commitd/engine_thread_idle"};
  Order order ABSL_GUARDED_BY(mutex);
  ProgressWaits waits ABSL_GUARDED_BY(mutex){options.settings->wake_everybody};
  bool stopping ABSL_GUARDED_BY(mutex) = false;
  std::optional<ReceivedWaits> received_waits ABSL_GUARDED_BY(mutex);
  std::atomic<bool> any_received_waits{false};
  bool waits_its_turn ABSL_GUARDED_BY(mutex) = false;  // commitd_ack_wait=in_commit_stage
  std::function<void(const Error&)> on_log_left ABSL_GUARDED_BY(mutex);
  std::function<void(const Error&)> on_failure ABSL_GUARDED_BY(mutex);
  std::atomic<bool> logging{true};  // changes under `mutex`

  // Behind a step of `order`: who waits for what has moved is woken, the engine thread too.
  void tell_progress() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
  template <class Step>
  void take_step(Step step) {
    std::vector<LocalCommit*> answerable;
    {
      MutexLock lock(mutex);
      step(order);
      tell_progress();
      wake_engine_thread();
      answerable = order.take_answerable();
      if (!answerable.empty()) adjust_hold();
    }
    if (!answerable.empty()) answer_shown(answerable);
  }
  // AFTER_COMMIT: they were in the engine already.
  void answer_shown(std::span<LocalCommit* const> commits);
  void wait_for_work(MutexLock<observe::Mutex>& lock) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
  void wake_engine_thread() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
  void settle_ground() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
  void adjust_hold() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
  bool next_group_waits_its_turn() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
  // Received transactions find no room in the log, and are tried again; nullopt: they are there.
  void note_received_waits(const std::optional<Error>& why);
  // Until what is acknowledged is in the engine, or never will be.
  void wait_for_engine(MutexLock<observe::Mutex>& lock) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);

  WaitingRoom waiting_room;
  // Keeps the file that is written in its place while it is synced or exchanged for another.
  observe::Mutex sync_mutex{"wait/synch/mutex/sql/MYSQL_BIN_LOG::LOCK_sync"};

 private:
  struct Group;
  class Listed;
  struct Refused {
    LocalCommit* commit;
    Error why;
  };

  // log_stage.cc
  void write_batch(CommitQueue::Batch batch);
  void write_group(CommitQueue::Batch batch);
  LogKind kind_of(const CommitQueue::Batch& batch) const;
  Destination destination() const;
  // The log has failed under the group. True when that goes on without it.
  bool leave_failed_log(Group& group, const Error& why);
  bool fill(Group& group);
  bool prepare(Group& group);
  void roll_back_prepared(const Group& group);
  bool write_and_sync(Group& group);
  Status append(Group& group);
  Status append_spilled(const Group& group);
  bool next_group_is_synced() const;
  CommitQueue::Gathering gathering() const;
  void group_is_durable(Group& group);
  void take_durable(Group& group, Clock::time_point now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
  void report_received(Group& group, LogPosition end);
  void group_failed(Group& group, const Error& error);
  void refuse_group(Group& group, const Error& error);
  bool make_room(const CommitQueue::Batch& batch);

  // group_filling.cc
  std::vector<Refused> number(Group& group) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
  void fill_group(Group& group);
  void add_received(Group& group, GroupBuilder& builder, ReceivedTransaction& received);
  void add_local(Group& group, GroupBuilder& builder, LocalCommit& commit, uint64_t timestamp);
  static void fill_group_without_log(Group& group);
  static bool needs_log(const Group& group);

  // engine_thread.cc: what both threads do when they take transactions into the engine
  std::vector<PendingTransaction> wait_for_acknowledged();
  std::vector<PendingTransaction> take_acknowledged() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
  bool log_thread_may_apply() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
  void take_into_engine(const std::vector<PendingTransaction>& batch);
  void engine_failed(std::span<const PendingTransaction> batch, const Error& why);
  void go_on_with_room();
  Status let_sessions_take(std::span<const PendingTransaction> transactions);
  void taken_by_session(const CommitRequest& request, const storage::EnginePlace& place);
  void forget_ordered(std::span<const PendingTransaction> transactions);
  void taken_into_engine(std::span<const PendingTransaction> transactions, const storage::EnginePlace& place);

  // pipeline_without_log.cc
  bool may_leave_log() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);

  // pipeline_control.cc
  Status cut_log(LogPosition position);

  // pipeline_reset.cc
  Status restart();

  // replay.cc
  // Own transactions are not received: one that cannot be applied means that the data is damaged.
  bool came_from_a_source(const Gtid& gtid) const;
  Status find_transactions(LogPosition from, const std::function<Status(const PendingTransaction&)>& each);
  Status check_not_there(const PendingTransaction& transaction, const storage::CommitPoint& point) const;
  Status check_nothing_passed_over(const storage::CommitPoint& from) const;
  Status roll_back_lost_prepared(ReplayReport& report);
  Result<size_t> replay_batch(std::span<const PendingTransaction> batch);

  std::atomic<uint64_t> written_groups_{0}, synced_groups_{0};
  LogicalClock clock_;         // log thread
  uint64_t group_number_ = 0;  // log thread
  // The last that tell_progress() told.
  LogPosition told_durable_ ABSL_GUARDED_BY(mutex), told_acknowledged_ ABSL_GUARDED_BY(mutex);
};

// The stages' histograms.
observe::Histogram& stage_seconds(const char* stage);

}  // namespace commitd::binlog
