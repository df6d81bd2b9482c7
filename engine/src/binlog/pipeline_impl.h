// What the parts of the commit pipeline share: log_stage.cc (the log thread), commit_pipeline.cc (the engine
// thread and the public face), pipeline_control.cc (role changes), replay.cc (start-up).
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <set>
#include <thread>

#include "binlog/commit_pipeline.h"
#include "binlog/commit_queue.h"
#include "binlog/engine_stage.h"
#include "binlog/group_builder.h"
#include "binlog/progress_waits.h"
#include "observe/metrics.h"

namespace commitd::binlog {

class CommitPipeline::Impl {
 public:
  Impl(std::unique_ptr<Log> the_log, const OpenReport& found, storage::Engine& the_engine,
       EventApplier& applier, PipelineOptions pipeline_options);

  // --- log thread (log_stage.cc) ---
  void run_log_thread();
  Status rotate_log();

  // --- engine thread (commit_pipeline.cc) ---
  void run_engine_thread();

  // --- role changes (pipeline_control.cc) ---
  Result<uint64_t> cut(const GtidSet& keep);
  void fail_waiters(const Error& why);
  void acknowledge(LogPosition up_to);
  void acknowledge_through(const Gtid& gtid);
  void set_gate(Gate gate);
  void fail(Error error);

  // --- start-up (replay.cc) ---
  Result<ReplayReport> replay(LogPosition limit);

  const PipelineOptions options;
  const OpenReport found;
  std::unique_ptr<Log> log;
  storage::Engine& engine;
  CommitQueue queue;
  EngineStage engine_stage;
  std::thread log_thread, engine_thread;

  // Everything below under `mutex`.
  mutable std::mutex mutex;
  std::condition_variable engine_work, engine_idle;
  std::deque<PendingTransaction> pending;  // in log order
  size_t pending_bytes = 0;
  size_t in_engine = 0;  // transactions the engine thread is working on
  Gate gate = Gate::Immediate;
  LogPosition durable_end, acknowledged_end, applied_end;
  GtidSet logged, executed;
  uint64_t last_log_epoch = 0, applied_epoch = 0;
  uint64_t next_gno = 1;
  std::set<Gtid> acknowledged_ahead;  // acknowledged by name before they were durable here
  ProgressWaits waits;
  std::optional<Error> failure;
  std::function<void(const Error&)> on_failure;
  bool stopping = false;

  // For callers that hold `mutex`.
  void move_acknowledged(LogPosition to);
  bool front_is_acknowledged() const;
  void adjust_hold();

 private:
  // log_stage.cc
  struct Group;
  void write_group(CommitQueue::Batch batch);
  void fill_group(Group& group);
  bool write_and_sync(Group& group);
  void group_is_durable(Group& group);
  void group_failed(Group& group, const Error& error);
  bool make_room(const CommitQueue::Batch& batch);

  // commit_pipeline.cc
  std::vector<PendingTransaction> take_acknowledged();
  void taken_into_engine(std::span<const PendingTransaction> transactions, const storage::CommitPoint& point);

  // replay.cc
  Status find_transactions(LogPosition from, const std::function<Status(const PendingTransaction&)>& each);

  LogicalClock clock_;         // log thread
  uint64_t group_number_ = 0;  // log thread
};

// The stages' histograms.
observe::Histogram& stage_seconds(const char* stage);

}  // namespace commitd::binlog
