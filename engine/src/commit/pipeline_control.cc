// Acknowledgement and changes of role: what is taken into the engine, what is cut, who is answered early.
#include <algorithm>

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

std::vector<LocalCommit*> detach(std::deque<PendingTransaction>& pending) {
  std::vector<LocalCommit*> detached;
  for (PendingTransaction& transaction : pending) {
    if (transaction.local != nullptr) detached.push_back(std::exchange(transaction.local, nullptr));
  }
  return detached;
}

}  // namespace

void CommitPipeline::Impl::refuse(std::span<LocalCommit* const> commits, const Error& why) {
  const std::vector<LocalCommit*> dependants = queue.give_up(commits);
  for (LocalCommit* commit : commits) commit->answer(why);
  for (LocalCommit* commit : dependants) commit->answer(why);
}

void CommitPipeline::Impl::set_gate(Gate new_gate) {
  std::lock_guard lock(mutex);
  gate = new_gate;
  if (gate == Gate::Immediate) move_acknowledged(durable_end);
}

void CommitPipeline::Impl::acknowledge(LogPosition up_to) {
  std::lock_guard lock(mutex);
  move_acknowledged(up_to);
}

void CommitPipeline::Impl::acknowledge_through(const Gtid& gtid) {
  std::lock_guard lock(mutex);
  if (executed.contains(gtid)) return;
  if (!logged.contains(gtid)) {
    acknowledged_ahead.insert(gtid);
    return;
  }
  // The newest is what is asked for most.
  for (auto it = pending.rbegin(); it != pending.rend(); ++it) {
    if (it->gtid == gtid) return move_acknowledged(it->end);
  }
}

void CommitPipeline::Impl::fail_waiters(const Error& why) {
  std::vector<LocalCommit*> waiting;
  {
    LogThreadPause pause(queue);
    waiting = queue.remove_queued();
    std::lock_guard lock(mutex);
    const auto logged_ones = detach(pending);
    waiting.insert(waiting.end(), logged_ones.begin(), logged_ones.end());
  }
  refuse(waiting, why);
}

void CommitPipeline::Impl::fail(Error error) {
  std::vector<LocalCommit*> waiting = queue.fail(error);
  std::function<void(const Error&)> callback;
  {
    std::lock_guard lock(mutex);
    if (!failure) {
      failure = error;
      callback = on_failure;
    }
    const auto logged_ones = detach(pending);
    waiting.insert(waiting.end(), logged_ones.begin(), logged_ones.end());
    engine_idle.notify_all();
  }
  refuse(waiting, error);
  if (callback) callback(error);
}

Result<uint64_t> CommitPipeline::Impl::cut(const GtidSet& keep) {
  LogThreadPause pause(queue);
  std::unique_lock lock(mutex);
  // What is acknowledged goes into the engine first: whether it may be there is then the next question.
  engine_idle.wait(lock,
                   [this] { return (in_engine == 0 && !front_is_acknowledged()) || failure || stopping; });
  if (failure) return *failure;
  if (!keep.contains(executed)) {
    GtidSet surplus = executed;
    surplus.subtract(keep);
    return make_error(er::kDiverged, "This server has applied transactions that its source does not have: {}",
                      surplus.to_string());
  }
  const auto first =
      std::find_if(pending.begin(), pending.end(), [&keep](const PendingTransaction& transaction) {
        return !transaction.gtid.empty() && !keep.contains(transaction.gtid);
      });
  if (first == pending.end()) return uint64_t{0};
  // What is acknowledged may wait for the engine for long: the applier may have stopped, or be frozen.
  if (first->end <= acknowledged_end) {
    return make_error(
        er::kDiverged,
        "This server knows that transaction {} was acknowledged, and its source does not have it",
        first->gtid.to_string());
  }

  const LogPosition before = first == pending.begin() ? applied_end : std::prev(first)->end;
  const LogPosition position = before.file == first->start.file ? before : first->start;
  const uint32_t last_file = log->end().file;
  if (auto cut = cut_log(position); !cut.ok()) {
    lock.unlock();
    fail(cut.error());
    return std::move(cut).error();
  }
  std::vector<LocalCommit*> waiting;
  std::vector<Gtid> gone;
  for (auto it = first; it != pending.end(); ++it) {
    if (!it->gtid.empty()) gone.push_back(it->gtid);
    if (!it->gtid.empty()) logged.subtract_interval(it->gtid.sid, it->gtid.gno, it->gtid.gno + 1);
    pending_bytes -= std::min<size_t>(pending_bytes, it->end.offset - it->start.offset);
    if (it->local != nullptr) waiting.push_back(it->local);
  }
  const uint64_t count = pending.end() - first;
  pending.erase(first, pending.end());
  durable_end = log->end();
  // The clock knows the last file only. In an earlier one there are fewer transactions than bytes, and
  // readers allow for gaps between sequence numbers.
  if (durable_end.file != last_file) clock_.sequence = static_cast<int64_t>(durable_end.offset);
  acknowledged_end = std::min(acknowledged_end, durable_end);
  acknowledged_ahead.clear();
  last_log_epoch = applied_epoch;
  for (const PendingTransaction& transaction : pending)
    last_log_epoch = std::max(last_log_epoch, transaction.epoch);
  adjust_hold();
  lock.unlock();
  refuse(waiting,
         make_error(er::kServerShutdown, "The transaction was rolled back: a new source does not have it"));
  if (auto rolled_back = engine.rollback(gone); !rolled_back.ok()) {
    fail(rolled_back.error());
    return std::move(rolled_back).error();
  }
  return count;
}

// The engine first: a log that lacks transactions which the data has not either would refuse to start.
Status CommitPipeline::Impl::add_purged(const GtidSet& gtids) {
  LogThreadPause pause(queue);
  LogPosition end;
  {
    std::lock_guard lock(mutex);
    if (failure) return *failure;
    if (!pending.empty() || in_engine != 0) {
      return make_error(er::kCantSetGtidPurged,
                        "@@GLOBAL.GTID_PURGED cannot be changed: transactions are being committed");
    }
    end = applied_end;
  }
  COMMITD_RETURN_IF_ERROR(engine_stage.advance({end, gtids}));
  {
    std::lock_guard lock(mutex);
    executed.add(gtids);
    logged.add(gtids);
    next_gno = std::max(next_gno, logged.last(options.server_uuid) + 1);
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
    std::lock_guard lock(mutex);
    if (!pending.empty() || in_engine != 0 || acknowledged_end <= applied_end) return {};
    end = acknowledged_end;
  }
  COMMITD_RETURN_IF_ERROR(engine_stage.advance({end, {}}));
  std::lock_guard lock(mutex);
  applied_end = end;
  return {};
}

void CommitPipeline::Impl::freeze() {
  queue.freeze_local();
  std::lock_guard lock(mutex);
  ++freezes;
}

// A local commit that was under way is waited for: its session holds locks, and counts on an answer.
bool CommitPipeline::Impl::frozen() {
  if (!queue.is_between_groups()) return false;
  std::lock_guard lock(mutex);
  const auto is_local = [](const PendingTransaction& transaction) { return transaction.local != nullptr; };
  if (failure || stopping) return true;
  if (!engine_frozen && std::any_of(pending.begin(), pending.end(), is_local)) return false;
  engine_frozen = true;
  return in_engine == 0;
}

void CommitPipeline::Impl::thaw() {
  {
    std::lock_guard lock(mutex);
    if (--freezes == 0) engine_frozen = false;
    engine_work.notify_one();
  }
  queue.thaw_local();
}

CommitPipeline::Visible CommitPipeline::Impl::visible() const {
  std::lock_guard lock(mutex);
  const bool all = pending.empty() && in_engine == 0;
  return {all ? std::max(applied_end, acknowledged_end) : applied_end, executed};
}

void CommitPipeline::freeze() {
  impl_->freeze();
}
bool CommitPipeline::frozen() {
  return impl_->frozen();
}
void CommitPipeline::thaw() {
  impl_->thaw();
}
CommitPipeline::Visible CommitPipeline::visible() const {
  return impl_->visible();
}

Status CommitPipeline::add_purged(const GtidSet& gtids) {
  return impl_->add_purged(gtids);
}

Status CommitPipeline::Impl::cut_log(LogPosition position) {
  std::lock_guard lock(sync_mutex);
  auto cut = log->cut(position);
  if (cut.ok()) synced_groups_ = written_groups_.load();  // cutting syncs
  return cut;
}

void CommitPipeline::set_gate(Gate gate) {
  impl_->set_gate(gate);
}
void CommitPipeline::acknowledge(LogPosition up_to) {
  impl_->acknowledge(up_to);
}
void CommitPipeline::acknowledge_through(const Gtid& gtid) {
  impl_->acknowledge_through(gtid);
}

void CommitPipeline::close_to_local_commits(Error why) {
  std::vector<LocalCommit*> queued = impl_->queue.close(why);
  { LogThreadPause the_last_group(impl_->queue); }
  impl_->refuse(queued, why);
}

void CommitPipeline::open_to_local_commits() {
  impl_->queue.open();
}

void CommitPipeline::fail_waiters(const Error& why) {
  impl_->fail_waiters(why);
}
Result<uint64_t> CommitPipeline::cut_unacknowledged(const GtidSet& keep) {
  return impl_->cut(keep);
}

void CommitPipeline::drop_received() {
  LogThreadPause pause(impl_->queue);
  impl_->queue.drop_received();
}

void CommitPipeline::raise_gno_floor(uint64_t floor) {
  std::lock_guard lock(impl_->mutex);
  impl_->next_gno = std::max(impl_->next_gno, floor + 1);
}

std::optional<Error> CommitPipeline::failure() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->failure;
}

void CommitPipeline::on_failure(std::function<void(const Error&)> callback) {
  std::lock_guard lock(impl_->mutex);
  impl_->on_failure = std::move(callback);
}

}  // namespace commitd::binlog
