#include "binlog/commit_pipeline.h"

#include <algorithm>

#include "base/error_codes.h"
#include "binlog/pipeline_impl.h"

namespace commitd::binlog {
namespace {

// Larger ones could not be written: positions in a log file are 32 bits wide.
constexpr uint64_t kLargestTransaction = 3ull << 30;
// One engine batch takes at most so many transactions.
constexpr size_t kLargestEngineBatch = 1024;

void observe_since(observe::Histogram& histogram, Clock::time_point start, Clock::time_point end) {
  histogram.observe_ns(std::chrono::duration_cast<std::chrono::nanoseconds>(end - start).count());
}

Error shutting_down() {
  return make_error(
      er::kServerShutdown,
      "Server shutdown in progress. Whether the transaction survives is known after the restart");
}

}  // namespace

observe::Histogram& stage_seconds(const char* stage) {
  const auto make = [](const char* name) -> observe::Histogram& {
    return observe::histogram("commitd_commit_stage_seconds",
                              "Time transactions spend in the stages of the commit.", {{"stage", name}});
  };
  static auto& queue = make("queue");
  static auto& flush = make("flush");
  static auto& sync = make("sync");
  static auto& ack = make("ack");
  static auto& engine = make("engine");
  static auto& total = make("total");
  const std::string_view name = stage;
  return name == "queue"    ? queue
         : name == "flush"  ? flush
         : name == "sync"   ? sync
         : name == "ack"    ? ack
         : name == "engine" ? engine
                            : total;
}

CommitPipeline::Impl::Impl(std::unique_ptr<Log> the_log, const OpenReport& report,
                           storage::Engine& the_engine, EventApplier& applier,
                           PipelineOptions pipeline_options)
    : options(std::move(pipeline_options)),
      found(report),
      log(std::move(the_log)),
      engine(the_engine),
      engine_stage(*log, engine, applier,
                   [this](std::span<const PendingTransaction> transactions,
                          const storage::CommitPoint& point) { taken_into_engine(transactions, point); }) {
  const storage::CommitPoint& point = engine_stage.point();
  durable_end = found.end;
  acknowledged_end = applied_end = point.position;
  executed = point.executed;
  logged = found.logged;
  logged.add(executed);
  applied_epoch = point.epoch;
  last_log_epoch = std::max(found.last_epoch, point.epoch);
  next_gno = std::max(options.gno_floor, logged.last(options.server_uuid)) + 1;
  clock_.sequence = found.last_sequence_number;
  group_number_ = found.last_group;
}

bool CommitPipeline::Impl::front_is_acknowledged() const {
  if (pending.empty() || failure) return false;
  // A transaction that is never shipped can be acknowledged by nobody: it follows what stands in front of it.
  return pending.front().end <= acknowledged_end || pending.front().gtid.empty();
}

void CommitPipeline::Impl::move_acknowledged(LogPosition to) {
  to = std::min(to, durable_end);
  if (to <= acknowledged_end) return;
  acknowledged_end = to;
  waits.moved(Bound::Acknowledged, acknowledged_end);
  if (front_is_acknowledged()) engine_work.notify_one();
}

void CommitPipeline::Impl::adjust_hold() {
  queue.hold_local(pending_bytes > options.max_unacknowledged_bytes);
}

void CommitPipeline::Impl::run_engine_thread() {
  for (;;) {
    const std::vector<PendingTransaction> batch = take_acknowledged();
    if (batch.empty()) return;
    if (auto applied = engine_stage.apply(batch); !applied.ok()) {
      fail(applied.error());
      std::vector<LocalCommit*> unanswered;
      {
        std::lock_guard lock(mutex);
        for (size_t i = batch.size() - in_engine; i < batch.size(); ++i) {
          if (batch[i].local != nullptr) unanswered.push_back(batch[i].local);
        }
        in_engine = 0;
        engine_idle.notify_all();
      }
      for (LocalCommit* commit : unanswered) commit->answer(applied.error());
    }
  }
}

std::vector<PendingTransaction> CommitPipeline::Impl::take_acknowledged() {
  std::unique_lock lock(mutex);
  engine_work.wait(lock, [this] { return front_is_acknowledged() || stopping; });
  std::vector<PendingTransaction> batch;
  const auto now = Clock::now();
  while (front_is_acknowledged() && batch.size() < kLargestEngineBatch) {
    batch.push_back(pending.front());
    pending.pop_front();
    move_acknowledged(batch.back().end);
    if (batch.back().local != nullptr) batch.back().local->acknowledged = now;
  }
  in_engine = batch.size();
  return batch;
}

void CommitPipeline::Impl::taken_into_engine(std::span<const PendingTransaction> transactions,
                                             const storage::CommitPoint& point) {
  std::unique_lock lock(mutex);
  for (const PendingTransaction& transaction : transactions) {
    if (!transaction.gtid.empty()) executed.add(transaction.gtid);
    pending_bytes -= std::min<size_t>(pending_bytes, transaction.end.offset - transaction.start.offset);
  }
  applied_end = point.position;
  applied_epoch = point.epoch;
  in_engine -= std::min(in_engine, transactions.size());
  waits.executed(executed);
  adjust_hold();
  engine_idle.notify_all();
  lock.unlock();

  const auto now = Clock::now();
  for (const PendingTransaction& transaction : transactions) {
    LocalCommit* commit = transaction.local;
    if (commit == nullptr) continue;
    observe_since(stage_seconds("ack"), commit->durable, commit->acknowledged);
    observe_since(stage_seconds("engine"), commit->acknowledged, now);
    observe_since(stage_seconds("total"), commit->queued, now);
    commit->answer({});
  }
}

CommitPipeline::CommitPipeline(std::unique_ptr<Log> log, const OpenReport& found, storage::Engine& engine,
                               EventApplier& applier, PipelineOptions options)
    : impl_(std::make_unique<Impl>(std::move(log), found, engine, applier, std::move(options))) {}

CommitPipeline::~CommitPipeline() = default;

Result<CommitPipeline::ReplayReport> CommitPipeline::replay(LogPosition limit) {
  return impl_->replay(limit);
}

void CommitPipeline::start() {
  impl_->log_thread = std::thread([this] { impl_->run_log_thread(); });
  impl_->engine_thread = std::thread([this] { impl_->run_engine_thread(); });
}

void CommitPipeline::stop() {
  impl_->queue.stop();
  if (impl_->log_thread.joinable()) impl_->log_thread.join();
  std::vector<LocalCommit*> unanswered = impl_->queue.remove_queued();
  {
    std::lock_guard lock(impl_->mutex);
    impl_->stopping = true;
    impl_->engine_work.notify_all();
  }
  if (impl_->engine_thread.joinable()) impl_->engine_thread.join();
  {
    std::lock_guard lock(impl_->mutex);
    for (PendingTransaction& transaction : impl_->pending) {
      if (transaction.local != nullptr) unanswered.push_back(std::exchange(transaction.local, nullptr));
    }
    impl_->waits.stop();
  }
  for (LocalCommit* commit : unanswered) commit->answer(shutting_down());
}

Task<Status> CommitPipeline::commit(CommitRequest& request) {
  if (request.events->empty()) co_return Status{};
  if (request.events->size() > kLargestTransaction) {
    co_return make_error(er::kTransCacheFull,
                         "The transaction needs {} bytes of binary log; {} are possible. Split it",
                         request.events->size(), kLargestTransaction);
  }
  LocalCommit commit;
  commit.request = &request;
  commit.queued = Clock::now();
  if (auto queued = impl_->queue.push(commit); !queued.ok()) co_return queued;
  co_await commit.parker.park();
  co_return std::move(commit.result);
}

void CommitPipeline::append_received(std::string events, Gtid gtid,
                                     std::function<void(LogPosition)> on_durable) {
  impl_->queue.push(ReceivedTransaction{std::move(events), gtid, std::move(on_durable)});
}

LogPosition CommitPipeline::durable_end() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->durable_end;
}
LogPosition CommitPipeline::acknowledged_end() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->acknowledged_end;
}
LogPosition CommitPipeline::applied_end() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->applied_end;
}
GtidSet CommitPipeline::gtid_logged() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->logged;
}
GtidSet CommitPipeline::gtid_executed() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->executed;
}
uint64_t CommitPipeline::last_log_epoch() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->last_log_epoch;
}
uint64_t CommitPipeline::next_gno() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->next_gno;
}
uint64_t CommitPipeline::unapplied_transactions() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->pending.size() + impl_->in_engine;
}

std::chrono::nanoseconds CommitPipeline::oldest_unacknowledged_age() const {
  std::lock_guard lock(impl_->mutex);
  const auto oldest =
      std::partition_point(impl_->pending.begin(), impl_->pending.end(),
                           [this](const PendingTransaction& t) { return t.end <= impl_->acknowledged_end; });
  return oldest == impl_->pending.end() ? std::chrono::nanoseconds(0) : Clock::now() - oldest->durable_at;
}

Log& CommitPipeline::log() {
  return *impl_->log;
}

Task<bool> CommitPipeline::wait_beyond(LogPosition position, Bound bound, Deadline deadline) {
  ProgressWaits::Wait wait;
  wait.beyond = position;
  {
    std::lock_guard lock(impl_->mutex);
    if (position < (bound == Bound::Durable ? impl_->durable_end : impl_->acknowledged_end)) co_return true;
    if (impl_->stopping) co_return false;
    impl_->waits.add_position(wait, bound);
  }
  co_await wait.parker.park(deadline);
  std::lock_guard lock(impl_->mutex);
  impl_->waits.remove(wait);
  co_return wait.reached;
}

Task<bool> CommitPipeline::wait_executed(const GtidSet& set, Deadline deadline) {
  ProgressWaits::Wait wait;
  wait.executed = set;
  {
    std::lock_guard lock(impl_->mutex);
    if (impl_->executed.contains(set)) co_return true;
    if (impl_->stopping) co_return false;
    impl_->waits.add_executed(wait);
  }
  co_await wait.parker.park(deadline);
  std::lock_guard lock(impl_->mutex);
  impl_->waits.remove(wait);
  co_return wait.reached;
}

Task<Status> CommitPipeline::rotate() {
  Errand errand;
  errand.run = [this] { return impl_->rotate_log(); };
  if (auto queued = impl_->queue.push(errand); !queued.ok()) co_return queued;
  co_await errand.parker.park();
  co_return std::move(errand.result);
}

Task<Status> CommitPipeline::purge_to(uint32_t first_kept) {
  Errand errand;
  errand.run = [this, first_kept] {
    return impl_->log->purge(std::min(first_kept, impl_->engine.flushed_position().position.file));
  };
  if (auto queued = impl_->queue.push(errand); !queued.ok()) co_return queued;
  co_await errand.parker.park();
  co_return std::move(errand.result);
}

}  // namespace commitd::binlog
