// Acknowledgement and changes of role: what is taken into the engine, what is cut, who is answered early.
#include "base/error_codes.h"
#include "commit/pipeline_impl.h"

namespace commitd::binlog {
namespace {

// Keeps the log thread between two groups.
class LogThreadPause {
 public:
  explicit LogThreadPause(CommitQueue& queue) : queue_(queue) { queue_.pause(); }
  ~LogThreadPause() { queue_.resume(); }
  LogThreadPause(const LogThreadPause&) = delete;

 private:
  CommitQueue& queue_;
};

}  // namespace

void CommitPipeline::Impl::refuse(std::span<LocalCommit* const> commits, const Error& why) {
  const std::vector<LocalCommit*> dependants = queue.give_up(commits);
  for (LocalCommit* commit : commits) commit->answer(why);
  for (LocalCommit* commit : dependants) commit->answer(why);
}

// What is on its way into the engine unacknowledged arrives first: then its session waits like the others.
void CommitPipeline::Impl::fail_waiters(const Error& why) {
  std::vector<LocalCommit*> waiting;
  {
    LogThreadPause pause(queue);
    waiting = queue.remove_queued();
    MutexLock lock(mutex);
    const auto logged_ones = order.detach_waiters();
    if (!logged_ones.empty()) ordered.outcome_is_unknown();
    waiting.insert(waiting.end(), logged_ones.begin(), logged_ones.end());
    while (order.takes_early() && !order.failure() && !stopping) engine_idle.wait(lock);
    if (!order.takes_early()) {
      const auto shown_ones = order.detach_shown();
      waiting.insert(waiting.end(), shown_ones.begin(), shown_ones.end());
    }
    adjust_hold();
  }
  refuse(waiting, why);
}

void CommitPipeline::Impl::fail(const Error& error) {
  std::vector<LocalCommit*> waiting = queue.fail(error);
  throttle.close();
  std::function<void(const Error&)> callback;
  {
    MutexLock lock(mutex);
    if (order.fail(error)) callback = on_failure;
    const auto logged_ones = order.detach_waiters();
    waiting.insert(waiting.end(), logged_ones.begin(), logged_ones.end());
    if (!order.takes_early()) {  // else they are answered when they have arrived
      const auto shown_ones = order.detach_shown();
      waiting.insert(waiting.end(), shown_ones.begin(), shown_ones.end());
    }
    engine_idle.notify_all();
  }
  refuse(waiting, error);
  if (callback) callback(error);
}

Result<uint64_t> CommitPipeline::Impl::cut(const GtidSet& keep) {
  LogThreadPause pause(queue);
  std::vector<PendingTransaction> gone;
  Status done;
  {
    MutexLock lock(mutex);
    // What is acknowledged goes into the engine first: whether it may be there is then the next question.
    wait_for_engine(lock);
    if (order.failure()) return *order.failure();
    auto position = order.plan_cut(keep);
    if (!position) return std::move(position).error();
    if (!*position) return uint64_t{0};
    // Under `mutex`: nothing of it is acknowledged meanwhile.
    done = cut_log(**position);
    if (done.ok()) gone = order.cut(**position, log->end());
    settle_ground();
    tell_progress();
    adjust_hold();
  }
  std::vector<LocalCommit*> waiting;
  std::vector<Gtid> prepared;
  for (const PendingTransaction& transaction : gone) {
    if (!transaction.gtid.empty()) prepared.push_back(transaction.gtid);
    if (transaction.local != nullptr) waiting.push_back(transaction.local);
  }
  refuse(waiting,
         make_error(er::kServerShutdown, "The transaction was rolled back: a new source does not have it"));
  if (done.ok()) done = engine.rollback(prepared);
  if (!done.ok()) {
    fail(done.error());
    return std::move(done).error();
  }
  return gone.size();
}

// The engine first: a log that lacks transactions which the data has not either would refuse to start.
Status CommitPipeline::Impl::add_purged(const GtidSet& gtids) {
  LogThreadPause pause(queue);
  LogPosition end;
  {
    MutexLock lock(mutex);
    if (order.failure()) return *order.failure();
    if (!order.is_idle()) {
      return make_error(er::kCantSetGtidPurged,
                        "@@GLOBAL.GTID_PURGED cannot be changed: transactions are being committed");
    }
    end = order.applied_end();
  }
  COMMITD_RETURN_IF_ERROR(engine_stage.advance({end, gtids}));
  {
    MutexLock lock(mutex);
    order.add_purged(gtids);
  }
  COMMITD_RETURN_IF_ERROR(engine.checkpoint());
  if (!logging) return {};
  COMMITD_RETURN_IF_ERROR(log->add_purged(gtids));
  return rotate_log();
}

// On the log thread: nothing can become pending meanwhile, so the engine is nobody else's. Not under `mutex`:
// an engine that persists something may call back for a sync of the log.
Status CommitPipeline::Impl::settle_engine_position() {
  LogPosition end;
  {
    MutexLock lock(mutex);
    if (!order.is_idle() || order.acknowledged_end() <= order.applied_end()) return {};
    end = order.acknowledged_end();
  }
  COMMITD_RETURN_IF_ERROR(engine_stage.advance({end, {}}));
  MutexLock lock(mutex);
  order.engine_is_at(end);
  return {};
}

bool CommitPipeline::Impl::frozen() {
  if (!queue.is_between_groups()) return false;
  MutexLock lock(mutex);
  return stopping || order.try_frozen();
}

void CommitPipeline::Impl::thaw() {
  {
    MutexLock lock(mutex);
    order.thaw();
    wake_engine_thread();
  }
  queue.thaw_local();
}

Status CommitPipeline::Impl::skip_unappliable(const Gtid& gtid) {
  MutexLock lock(mutex);
  if (!order.skip_unappliable(gtid)) {
    return make_error(er::kErrorDuringCommit, "{} is not the transaction that the applier has stopped at",
                      gtid.to_string());
  }
  wake_engine_thread();
  return {};
}

void CommitPipeline::freeze() {
  impl_->queue.freeze_local();
  MutexLock lock(impl_->mutex);
  impl_->order.freeze();
}
bool CommitPipeline::frozen() {
  return impl_->frozen();
}
void CommitPipeline::thaw() {
  impl_->thaw();
}
void CommitPipeline::limit_apply(std::optional<LogPosition> end) {
  MutexLock lock(impl_->mutex);
  impl_->order.limit_apply(end);
  impl_->wake_engine_thread();
}
CommitPipeline::Visible CommitPipeline::visible() const {
  MutexLock lock(impl_->mutex);
  return {impl_->order.visible_end(), impl_->order.executed()};
}

Status CommitPipeline::add_purged(const GtidSet& gtids) {
  return impl_->add_purged(gtids);
}

Status CommitPipeline::Impl::cut_log(LogPosition position) {
  MutexLock lock(sync_mutex);
  const uint32_t last_file = log->end().file;
  auto cut = log->cut(position);
  if (cut.ok()) synced_groups_ = written_groups_.load();  // cutting syncs
  // The clock knows the last file only. In an earlier one there are fewer transactions than bytes, and
  // readers allow for gaps between sequence numbers.
  if (log->end().file != last_file) clock_.sequence = static_cast<int64_t>(log->end().offset);
  return cut;
}

void CommitPipeline::set_gate(Gate gate) {
  impl_->take_step([gate](Order& order) { order.set_gate(gate); });
}
void CommitPipeline::acknowledge(LogPosition up_to) {
  impl_->take_step([up_to](Order& order) { order.acknowledge(up_to); });
}
void CommitPipeline::acknowledge_through(const Gtid& gtid) {
  impl_->take_step([&gtid](Order& order) { order.acknowledge_through(gtid); });
}

void CommitPipeline::close_to_local_commits(Error why) {
  const Error told = why;
  const std::vector<LocalCommit*> queued = impl_->queue.close(std::move(why));
  impl_->throttle.close();
  { LogThreadPause the_last_group(impl_->queue); }
  impl_->refuse(queued, told);
}

void CommitPipeline::open_to_local_commits() {
  impl_->queue.open();
  impl_->throttle.open();
}

void CommitPipeline::fail_waiters(const Error& why) {
  impl_->fail_waiters(why);
}

void CommitPipeline::outdate_open_transactions() {
  MutexLock lock(impl_->mutex);
  impl_->ordered.outcome_is_unknown();
  impl_->settle_ground();
}

bool CommitPipeline::has_unknown_outcomes() const {
  MutexLock lock(impl_->mutex);
  return impl_->order.has_detached();
}
Result<uint64_t> CommitPipeline::cut_unacknowledged(const GtidSet& keep) {
  return impl_->cut(keep);
}

void CommitPipeline::drop_received() {
  LogThreadPause pause(impl_->queue);
  impl_->queue.drop_received();
  impl_->note_received_waits(std::nullopt);
}

void CommitPipeline::raise_gno_floor(uint64_t floor) {
  MutexLock lock(impl_->mutex);
  impl_->order.raise_gno_floor(floor);
}

std::optional<Error> CommitPipeline::failure() const {
  MutexLock lock(impl_->mutex);
  return impl_->order.failure();
}

void CommitPipeline::on_failure(std::function<void(const Error&)> callback) {
  MutexLock lock(impl_->mutex);
  impl_->on_failure = std::move(callback);
}

}  // namespace commitd::binlog
