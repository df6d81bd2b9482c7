#include "commit/commit_pipeline.h"

#include <algorithm>

#include "base/error_codes.h"
#include "commit/pipeline_impl.h"

namespace commitd::binlog {
namespace {

constexpr uint16_t kErrorDuringCommit = 1180;
// Larger ones could not be written: positions in a log file are 32 bits wide.
constexpr uint64_t kLargestTransaction = 3ull << 30;
// One engine batch takes at most so many transactions.
constexpr size_t kLargestEngineBatch = 1024;
// So many the log thread takes into the engine itself when nobody waits for it.
constexpr size_t kFewTransactions = 4;

void observe_since(observe::Histogram& histogram, Clock::time_point start, Clock::time_point end) {
  histogram.observe_ns(std::chrono::duration_cast<std::chrono::nanoseconds>(end - start).count());
}

// Final row ids are given in the log's order, and so are epochs; what is not prepared is known to recovery by
// its place in the log alone.
bool may_come_in_any_order(const PendingTransaction& transaction) {
  return transaction.local != nullptr && transaction.local->is_prepared && transaction.epoch == 0 &&
         transaction.local->request->writes->provisional_counts().empty();
}

// Those in front that go into the engine in the same way.
std::span<const PendingTransaction> first_alike(std::span<const PendingTransaction> transactions) {
  const bool any_order = may_come_in_any_order(transactions.front());
  const auto other = std::find_if(transactions.begin(), transactions.end(), [any_order](const auto& one) {
    return may_come_in_any_order(one) != any_order;
  });
  return transactions.first(other - transactions.begin());
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
      engine_stage(*log, engine, applier, {options.settings, options.temporary},
                   [this](std::span<const PendingTransaction> transactions,
                          const storage::CommitPoint& point) { taken_into_engine(transactions, point); }),
      unordered(engine, [this](const CommitRequest& request, const storage::CommitPoint& point) {
        taken_by_session(request, point);
      }) {
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
  engine.before_persisting([this] { return sync_log(); });
}

CommitPipeline::Impl::~Impl() {
  engine.before_persisting(nullptr);
}

bool CommitPipeline::Impl::front_is_acknowledged() const {
  if (pending.empty() || failure || apply_error || engine_frozen) return false;
  // A transaction that is never shipped can be acknowledged by nobody: it follows what stands in front of it.
  return pending.front().end <= acknowledged_end || pending.front().gtid.empty();
}

void CommitPipeline::Impl::advance_acknowledged(LogPosition to) {
  to = std::min(to, durable_end);
  if (to <= acknowledged_end) return;
  acknowledged_end = to;
  waits.moved(Bound::Acknowledged, acknowledged_end);
}

void CommitPipeline::Impl::move_acknowledged(LogPosition to) {
  advance_acknowledged(to);
  if (front_is_acknowledged()) engine_work.notify_one();
}

void CommitPipeline::Impl::adjust_hold() {
  const bool another_is_under_way = options.settings->one_at_a_time && (!pending.empty() || in_engine != 0);
  queue.hold_local(pending_bytes > options.max_unacknowledged_bytes || another_is_under_way);
}

void CommitPipeline::Impl::run_engine_thread() {
  for (;;) {
    const std::vector<PendingTransaction> batch = wait_for_acknowledged();
    if (batch.empty()) return;
    take_into_engine(batch);
  }
}

// One commit alone is answered sooner without a second thread being woken for it. Not so when others wait for
// the log, when the engine syncs a log of its own, when a DDL would publish what it changed, or when there is
// anything but local commits.
bool CommitPipeline::Impl::log_thread_may_apply() const {
  if (engine.has_own_log() || in_engine != 0 || pending.size() > kFewTransactions || !front_is_acknowledged())
    return false;
  const bool plain = std::all_of(pending.begin(), pending.end(), [](const PendingTransaction& transaction) {
    return transaction.local != nullptr && !transaction.local->request->publish;
  });
  return plain && queue.is_empty();
}

void CommitPipeline::Impl::take_into_engine(const std::vector<PendingTransaction>& batch) {
  const bool in_order = options.settings->order_commits;
  Status applied;
  for (std::span<const PendingTransaction> rest = batch; applied.ok() && !rest.empty();) {
    const auto next = in_order ? rest : first_alike(rest);
    const bool any_order = !in_order && may_come_in_any_order(next.front());
    rest = rest.subspan(next.size());
    applied = any_order ? let_sessions_take(next) : engine_stage.apply(next);
  }
  if (applied.ok()) return;
  // taken_into_engine() has counted those in front.
  if (const auto rest = std::span(batch).last(in_engine);
      engine_stage.unappliable() && rest.front().received) {
    return stop_applying(rest, applied.error());
  }
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
  refuse(unanswered, applied.error());
}

void CommitPipeline::Impl::stop_applying(std::span<const PendingTransaction> rest, Error why) {
  std::lock_guard lock(mutex);
  pending.insert(pending.begin(), rest.begin(), rest.end());
  in_engine = 0;
  apply_error = std::move(why);
  engine_idle.notify_all();
}

void CommitPipeline::Impl::retry_apply() {
  std::lock_guard lock(mutex);
  apply_error.reset();
  engine_work.notify_one();
}

Status CommitPipeline::Impl::skip_unappliable(const Gtid& gtid) {
  std::lock_guard lock(mutex);
  if (!apply_error || pending.empty() || pending.front().gtid != gtid) {
    return make_error(kErrorDuringCommit, "{} is not the transaction that the applier has stopped at",
                      gtid.to_string());
  }
  pending.front().skipped = true;
  apply_error.reset();
  engine_work.notify_one();
  return {};
}

// Whoever comes behind them, in the engine or with a question about it, finds them all there.
Status CommitPipeline::Impl::let_sessions_take(std::span<const PendingTransaction> transactions) {
  unordered.expect(transactions, engine_stage.point());
  WaitingRoom* room = nullptr;
  for (const PendingTransaction& transaction : transactions) {
    transaction.local->goes_itself = true;
    if (WaitingRoom* shared = transaction.local->answer_quietly({})) room = shared;
  }
  if (room != nullptr) room->wake_everybody();
  auto point = unordered.wait_for_all();
  if (point.ok()) engine_stage.continue_at(*point);
  std::lock_guard lock(mutex);
  for (const PendingTransaction& transaction : transactions)
    pending_bytes -= std::min<size_t>(pending_bytes, transaction.end.offset - transaction.start.offset);
  in_engine -= transactions.size();
  adjust_hold();
  engine_idle.notify_all();
  return point.ok() ? Status{} : Status{std::move(point).error()};
}

Status CommitPipeline::Impl::take_into_engine(const LocalCommit& commit) {
  COMMITD_RETURN_IF_ERROR(unordered.take(*commit.request));
  const auto now = Clock::now();
  observe_since(stage_seconds("ack"), commit.durable, commit.acknowledged);
  observe_since(stage_seconds("engine"), commit.acknowledged, now);
  observe_since(stage_seconds("total"), commit.queued, now);
  return {};
}

void CommitPipeline::Impl::taken_by_session(const CommitRequest& request, const storage::CommitPoint& point) {
  std::lock_guard lock(mutex);
  executed.add(request.gtid);
  applied_end = std::max(applied_end, point.position);
  waits.executed(executed);
}

std::vector<PendingTransaction> CommitPipeline::Impl::wait_for_acknowledged() {
  std::unique_lock lock(mutex);
  engine_work.wait(lock, [this] { return in_engine == 0 && (front_is_acknowledged() || stopping); });
  return take_acknowledged();
}

std::vector<PendingTransaction> CommitPipeline::Impl::take_acknowledged() {
  std::vector<PendingTransaction> batch;
  const auto now = Clock::now();
  while (front_is_acknowledged() && batch.size() < kLargestEngineBatch) {
    batch.push_back(pending.front());
    pending.pop_front();
    advance_acknowledged(batch.back().end);
    if (batch.back().local != nullptr) batch.back().local->acknowledged = now;
  }
  in_engine = batch.size();
  return batch;
}

// While nobody else takes anything into the engine: once a later version of a row is in there, an earlier one
// that still stood among the ordered writes would hide it.
void CommitPipeline::Impl::forget_ordered(std::span<const PendingTransaction> transactions) {
  std::vector<OrderedTransaction*> applied;
  for (const PendingTransaction& transaction : transactions) {
    if (transaction.local != nullptr) applied.push_back(&transaction.local->ordered);
  }
  ordered.applied(applied);
}

void CommitPipeline::Impl::taken_into_engine(std::span<const PendingTransaction> transactions,
                                             const storage::CommitPoint& point) {
  forget_ordered(transactions);
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
  const bool more = in_engine == 0 && front_is_acknowledged();
  lock.unlock();
  if (more) engine_work.notify_one();

  const auto now = Clock::now();
  WaitingRoom* room = nullptr;
  for (const PendingTransaction& transaction : transactions) {
    LocalCommit* commit = transaction.local;
    if (commit == nullptr) continue;
    observe_since(stage_seconds("ack"), commit->durable, commit->acknowledged);
    observe_since(stage_seconds("engine"), commit->acknowledged, now);
    observe_since(stage_seconds("total"), commit->queued, now);
    if (WaitingRoom* shared = commit->answer_quietly({})) room = shared;
  }
  if (room != nullptr) room->wake_everybody();
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
  (void)impl_->sync_log();  // a failure is in failure()
  {
    std::lock_guard lock(impl_->mutex);
    for (PendingTransaction& transaction : impl_->pending) {
      if (transaction.local != nullptr) unanswered.push_back(std::exchange(transaction.local, nullptr));
    }
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
  impl_->keep_number(gtid);
  impl_->queue.push(ReceivedTransaction{std::move(events), gtid, std::move(on_durable)});
}

void CommitPipeline::append_received(std::string events, Gtid gtid,
                                     std::function<void(LogPosition)> on_durable) {
  EventSpool spool;
  spool.tail() = std::move(events);
  append_received(std::move(spool), gtid, std::move(on_durable));
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

std::optional<Error> CommitPipeline::apply_error() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->apply_error;
}

void CommitPipeline::retry_apply() {
  impl_->retry_apply();
}

Status CommitPipeline::skip_unappliable(const Gtid& gtid) {
  return impl_->skip_unappliable(gtid);
}

std::chrono::nanoseconds CommitPipeline::Impl::oldest_unacknowledged_age() const {
  const auto oldest =
      std::partition_point(pending.begin(), pending.end(),
                           [this](const PendingTransaction& t) { return t.end <= acknowledged_end; });
  return oldest == pending.end() ? std::chrono::nanoseconds(0) : Clock::now() - oldest->durable_at;
}

CommitPipeline::State CommitPipeline::state() const {
  std::lock_guard lock(impl_->mutex);
  return {impl_->acknowledged_end,
          impl_->logged,
          impl_->executed,
          impl_->last_log_epoch,
          impl_->pending.size() + impl_->in_engine,
          impl_->oldest_unacknowledged_age(),
          impl_->failure,
          impl_->apply_error};
}

OrderedWrites& CommitPipeline::ordered() {
  return impl_->ordered;
}

const PipelineOptions& CommitPipeline::options() const {
  return impl_->options;
}

Log& CommitPipeline::log() {
  return *impl_->log;
}

Task<bool> CommitPipeline::wait_beyond(LogPosition position, Bound bound, Deadline deadline) {
  ProgressWaits::Wait wait;
  wait.bound = bound;
  wait.beyond = position;
  {
    std::lock_guard lock(impl_->mutex);
    if (position < (bound == Bound::Durable ? impl_->durable_end : impl_->acknowledged_end)) co_return true;
    if (impl_->stopping) co_return false;
    impl_->waits.add(wait);
  }
  static const observe::WaitEvent update("wait/synch/cond/sql/MYSQL_BIN_LOG::update_cond");
  const observe::WaitTimer timer(update);
  co_return co_await impl_->wait_for(wait, deadline);
}

Task<bool> CommitPipeline::wait_executed(const GtidSet& set, Deadline deadline) {
  ProgressWaits::Wait wait;
  wait.executed = set;
  {
    std::lock_guard lock(impl_->mutex);
    if (impl_->executed.contains(set)) co_return true;
    if (impl_->stopping) co_return false;
    impl_->waits.add(wait);
  }
  co_return co_await impl_->wait_for(wait, deadline);
}

Task<bool> CommitPipeline::Impl::wait_for(ProgressWaits::Wait& wait, Deadline deadline) {
  for (;;) {
    const Wake how = co_await wait.parker.park(deadline);
    std::lock_guard lock(mutex);
    waits.remove(wait);
    if (wait.reached || stopping || how == Wake::TimedOut) co_return wait.reached;
    wait.parker.reset();  // woken by another's progress (commitd_wakeup=broadcast)
    waits.add(wait);
  }
}

Status CommitPipeline::sync() {
  return impl_->sync_log();
}

Task<Status> CommitPipeline::rotate() {
  Errand errand;
  errand.run = [this] { return impl_->rotate_log(); };
  if (auto queued = impl_->queue.push(errand); !queued.ok()) co_return queued;
  co_await errand.parker.park();
  co_return std::move(errand.result);
}

Task<Status> CommitPipeline::settle_engine_position() {
  Errand errand;
  errand.run = [this] { return impl_->settle_engine_position(); };
  if (auto queued = impl_->queue.push(errand); !queued.ok()) co_return queued;
  co_await errand.parker.park();
  co_return std::move(errand.result);
}

Task<Result<PurgeReport>> CommitPipeline::purge_to(uint32_t first_kept) {
  Errand errand;
  PurgeReport report;
  errand.run = [this, first_kept, &report]() -> Status {
    if (!impl_->logging) return {};
    auto purged = impl_->log->purge(std::min(first_kept, impl_->engine.flushed_position().position.file));
    if (!purged) return std::move(purged).error();
    report = std::move(*purged);
    return {};
  };
  if (auto queued = impl_->queue.push(errand); !queued.ok()) co_return std::move(queued).error();
  co_await errand.parker.park();
  if (!errand.result.ok()) co_return std::move(errand.result).error();
  co_return report;
}

}  // namespace commitd::binlog
