#include "commit/commit_pipeline.h"

#include <algorithm>

#include "base/error_codes.h"
#include "commit/pipeline_impl.h"

namespace commitd::binlog {
namespace {

// Larger ones could not be written: positions in a log file are 32 bits wide.
constexpr uint64_t kLargestTransaction = 3ull << 30;
Error shutting_down() {
  return make_error(
      er::kServerShutdown,
      "Server shutdown in progress. Whether the transaction survives is known after the restart");
}

}  // namespace

CommitPipeline::Impl::Impl(std::unique_ptr<Log> the_log, const OpenReport& report,
                           storage::Engine& the_engine, EventApplier& applier,
                           PipelineOptions pipeline_options)
    : options(std::move(pipeline_options)),
      found(report),
      log(std::move(the_log)),
      engine(the_engine),
      engine_stage({*log, log_lock}, engine, applier, {options.settings, options.temporary},
                   [this](std::span<const PendingTransaction> transactions,
                          const storage::EnginePlace& place) { taken_into_engine(transactions, place); }),
      unordered(engine, [this](const CommitRequest& request,
                               const storage::EnginePlace& place) { taken_by_session(request, place); }),
      order({options.server_uuid, options.gno_floor, found.end, found.logged, found.last_epoch,
             engine.commit_point()}) {
  clock_.sequence = found.last_sequence_number;
  group_number_ = found.last_group;
  engine.before_persisting([this] { return sync_log(); });
  engine.on_room([this] { go_on_with_room(); });
}

CommitPipeline::Impl::~Impl() {
  engine.on_room(nullptr);
  engine.before_persisting(nullptr);
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
  impl_->throttle.close();
  if (impl_->log_thread.joinable()) impl_->log_thread.join();
  std::vector<LocalCommit*> unanswered = impl_->queue.remove_queued();
  {
    MutexLock lock(impl_->mutex);
    impl_->stopping = true;
    impl_->engine_work.notify_all();
  }
  if (impl_->engine_thread.joinable()) impl_->engine_thread.join();
  (void)impl_->sync_log();  // a failure is in failure()
  {
    MutexLock lock(impl_->mutex);
    const auto waiting = impl_->order.detach_waiters(), shown = impl_->order.detach_shown();
    unanswered.insert(unanswered.end(), waiting.begin(), waiting.end());
    unanswered.insert(unanswered.end(), shown.begin(), shown.end());
    impl_->waits.stop();
  }
  impl_->refuse(unanswered, shutting_down());
}

Task<Status> CommitPipeline::commit(CommitRequest& request) {
  if (request.events->empty()) co_return Status{};
  if (request.events->size() > kLargestTransaction) {
    co_return make_error(er::kTransCacheFull,
                         "The transaction needs {} bytes of binary log; {} are possible. Split it",
                         request.events->size(), kLargestTransaction);
  }
  if (!request.events->status().ok()) co_return request.events->status();
  // The log might have some, but nobody could be answered.
  if (auto room = impl_->engine.room(); !room.ok()) {
    if (room.error().code != er::kDiskFull) impl_->fail(room.error());
    co_return room;
  }
  LocalCommit commit;
  commit.request = &request;
  commit.queued = Clock::now();
  if (impl_->engine.has_own_log() && request.ship && request.writes != nullptr && !request.publish &&
      !request.events->spilled() && !request.writes->spilled())
    commit.prepared = impl_->engine.prepare(*request.writes);
  if (impl_->options.settings->wake_everybody) {
    commit.room = &impl_->waiting_room;
    commit.room->enter(commit.waiting);
  }
  // One that brings its GTID may be refused alone, out of the middle of a group.
  const bool early = request.release_locks && impl_->options.settings->early_lock_release &&
                     request.gtid.empty() && !impl_->engine.has_own_log();
  if (early) impl_->ordered.add(commit.ordered, *request.writes);
  if (auto queued = impl_->queue.push(commit); !queued.ok()) {
    impl_->ordered.remove(commit.ordered);  // its locks are still there: nobody has seen it
    commit.answer(queued);
    if (commit.room != nullptr) commit.room->leave(commit.waiting);
    co_return queued;
  }
  if (early) request.release_locks();
  static const observe::WaitEvent done("wait/synch/cond/sql/MYSQL_BIN_LOG::COND_done");
  const observe::WaitTimer timer(done);
  do {
    co_await commit.waiting.parker.park();
  } while (commit.room != nullptr && !commit.room->leave(commit.waiting));
  if (commit.goes_itself) co_return impl_->take_into_engine(commit);
  co_return std::move(commit.result);
}

void CommitPipeline::append_received(EventSpool events, Gtid gtid,
                                     std::function<void(LogPosition)> on_durable) {
  if (gtid.sid == impl_->options.server_uuid) {
    MutexLock lock(impl_->mutex);
    impl_->order.keep_number(gtid);
  }
  impl_->queue.push(ReceivedTransaction{std::move(events), gtid, std::move(on_durable)});
}

void CommitPipeline::append_received(std::string events, Gtid gtid,
                                     std::function<void(LogPosition)> on_durable) {
  EventSpool spool;
  spool.tail() = std::move(events);
  append_received(std::move(spool), gtid, std::move(on_durable));
}

LogPosition CommitPipeline::durable_end() const {
  MutexLock lock(impl_->mutex);
  return impl_->order.durable_end();
}
LogPosition CommitPipeline::acknowledged_end() const {
  MutexLock lock(impl_->mutex);
  return impl_->order.acknowledged_end();
}
std::vector<AheadWorker> CommitPipeline::applier_workers() const {
  return impl_->engine_stage.workers();
}
LogPosition CommitPipeline::applied_end() const {
  MutexLock lock(impl_->mutex);
  return impl_->order.applied_end();
}
GtidSet CommitPipeline::gtid_logged() const {
  MutexLock lock(impl_->mutex);
  return impl_->order.logged();
}
GtidSet CommitPipeline::gtid_executed() const {
  MutexLock lock(impl_->mutex);
  return impl_->order.executed();
}
bool CommitPipeline::has_executed(const Gtid& gtid) const {
  MutexLock lock(impl_->mutex);
  return impl_->order.executed().contains(gtid);
}
uint64_t CommitPipeline::last_log_epoch() const {
  MutexLock lock(impl_->mutex);
  return impl_->order.last_log_epoch();
}
uint64_t CommitPipeline::next_gno() const {
  MutexLock lock(impl_->mutex);
  return impl_->order.next_gno();
}
uint64_t CommitPipeline::unapplied_transactions() const {
  MutexLock lock(impl_->mutex);
  return impl_->order.unapplied();
}

std::optional<Error> CommitPipeline::apply_error() const {
  MutexLock lock(impl_->mutex);
  return impl_->order.apply_error();
}

void CommitPipeline::retry_apply() {
  impl_->take_step([](Order& order) { order.retry_apply(); });
}

Status CommitPipeline::skip_unappliable(const Gtid& gtid) {
  return impl_->skip_unappliable(gtid);
}

CommitPipeline::State CommitPipeline::state() const {
  MutexLock lock(impl_->mutex);
  const PendingTransaction* oldest = impl_->order.oldest_unacknowledged();
  return {impl_->order.acknowledged_end(),
          impl_->order.logged(),
          impl_->order.executed(),
          impl_->order.last_log_epoch(),
          impl_->order.unapplied(),
          impl_->order.shown(),
          oldest == nullptr ? std::chrono::nanoseconds(0) : Clock::now() - oldest->durable_at,
          impl_->order.failure(),
          impl_->order.apply_error(),
          impl_->received_waits};
}

OrderedWrites& CommitPipeline::ordered() {
  return impl_->ordered;
}

CommitThrottle& CommitPipeline::throttle() {
  return impl_->throttle;
}

const PipelineOptions& CommitPipeline::options() const {
  return impl_->options;
}

Log& CommitPipeline::log() {
  return *impl_->log;
}

observe::Mutex& CommitPipeline::log_lock() {
  return impl_->log_lock;
}

Task<bool> CommitPipeline::wait_beyond(LogPosition position, Bound bound, Deadline deadline) {
  ProgressWaits::Wait wait;
  wait.bound = bound;
  wait.beyond = position;
  {
    MutexLock lock(impl_->mutex);
    if (position < (bound == Bound::Durable ? impl_->order.durable_end() : impl_->order.acknowledged_end()))
      co_return true;
    if (impl_->stopping) co_return false;
    impl_->waits.add(wait);
  }
  static const observe::WaitEvent update("wait/synch/cond/sql/MYSQL_BIN_LOG::update_cond");
  const observe::WaitTimer timer(update);
  co_return co_await impl_->wait_for(wait, deadline);
}

void CommitPipeline::wake_readers() {
  MutexLock lock(impl_->mutex);
  impl_->waits.wake_readers();
}

Task<bool> CommitPipeline::wait_executed(const GtidSet& set, Deadline deadline) {
  ProgressWaits::Wait wait;
  wait.executed = set;
  {
    MutexLock lock(impl_->mutex);
    if (impl_->order.executed().contains(set)) co_return true;
    if (impl_->stopping) co_return false;
    // What is there already is not looked for again behind each batch.
    wait.executed.subtract(impl_->order.executed());
    impl_->waits.add(wait);
  }
  co_return co_await impl_->wait_for(wait, deadline);
}

// Takes it off the list also where the coroutine's frame is destroyed: a session's thread ends with what
// still waits on it (a reader's watchers).
class CommitPipeline::Impl::Listed {
 public:
  Listed(Impl& pipeline, ProgressWaits::Wait& wait) : pipeline_(pipeline), wait_(wait) {}
  ~Listed() {
    if (is_over_) return;
    MutexLock lock(pipeline_.mutex);
    pipeline_.waits.remove(wait_);
  }
  Listed(const Listed&) = delete;
  // It has left the list already.
  void is_over() { is_over_ = true; }

 private:
  Impl& pipeline_;
  ProgressWaits::Wait& wait_;
  bool is_over_ = false;
};

Task<bool> CommitPipeline::Impl::wait_for(ProgressWaits::Wait& wait, Deadline deadline) {
  Listed listed(*this, wait);
  for (;;) {
    const Wake how = co_await wait.parker.park(deadline);
    MutexLock lock(mutex);
    waits.remove(wait);
    if (wait.reached || stopping || how == Wake::TimedOut) {
      listed.is_over();
      co_return wait.reached;
    }
    wait.parker.reset();  // woken by another's progress (commitd_wakeup=broadcast)
    waits.add(wait);
  }
}

Status CommitPipeline::sync() {
  return impl_->sync_log();
}

Task<Status> CommitPipeline::rotate() {
  LogTask task;
  task.run = [this] { return impl_->rotate_log(); };
  if (auto queued = impl_->queue.push(task); !queued.ok()) co_return queued;
  co_await task.parker.park();
  co_return std::move(task.result);
}

Task<Status> CommitPipeline::rotate_relay() {
  LogTask task;
  task.run = [this]() -> Status {
    return impl_->log->kind() == LogKind::Relay ? impl_->rotate_log(LogKind::Relay) : Status{};
  };
  if (auto queued = impl_->queue.push(task); !queued.ok()) co_return queued;
  co_await task.parker.park();
  co_return std::move(task.result);
}

Task<Status> CommitPipeline::purge_relay(uint32_t first_kept) {
  LogTask task;
  task.run = [this, first_kept]() -> Status {
    if (!impl_->logging) return {};
    auto purged = impl_->log->purge_relay(std::min(first_kept, impl_->engine.flushed_position().file));
    return purged ? Status{} : Status(std::move(purged).error());
  };
  if (auto queued = impl_->queue.push(task); !queued.ok()) co_return queued;
  co_await task.parker.park();
  co_return std::move(task.result);
}

Task<Status> CommitPipeline::settle_engine_position() {
  LogTask task;
  task.run = [this] { return impl_->settle_engine_position(); };
  if (auto queued = impl_->queue.push(task); !queued.ok()) co_return queued;
  co_await task.parker.park();
  co_return std::move(task.result);
}

Task<Result<PurgeReport>> CommitPipeline::purge_to(uint32_t first_kept) {
  LogTask task;
  PurgeReport report;
  task.run = [this, first_kept, &report]() -> Status {
    if (!impl_->logging) return {};
    auto purged = impl_->log->purge(std::min(first_kept, impl_->engine.flushed_position().file));
    if (!purged) return std::move(purged).error();
    report = std::move(*purged);
    return {};
  };
  if (auto queued = impl_->queue.push(task); !queued.ok()) co_return std::move(queued).error();
  co_await task.parker.park();
  if (!task.result.ok()) co_return std::move(task.result).error();
  co_return report;
}

}  // namespace commitd::binlog
