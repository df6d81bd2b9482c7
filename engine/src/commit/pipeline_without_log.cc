// Transactions that go into the engine alone: how the log is left, at start or when it fails, and how it goes
// on. Nothing that was acknowledged hangs on the log's tail then: left_log.h says why.
#include "base/error_codes.h"
#include "commit/left_log.h"
#include "commit/pipeline_impl.h"

namespace commitd::binlog {

// Of a server that stands alone. What replicas must acknowledge, or what is received, cannot do without.
bool CommitPipeline::Impl::may_leave_log() const {
  return options.settings->ignore_log_errors && engine.has_own_log() && !order.failure() &&
         order.gate() == Gate::Immediate && order.last_log_epoch() == 0 && queue.is_open();
}

// Under `mutex` until the note is durable: no group is counted as durable meanwhile. What is in front of
// durable_end was acknowledged from the log, and goes into the engine from there.
bool CommitPipeline::Impl::leave_failed_log(const Error& why) {
  std::function<void(const Error&)> tell;
  {
    MutexLock lock(mutex);
    if (!logging) return true;
    if (!may_leave_log()) return false;
    if (!note_leaving(log->file_system(), log->options(), order.durable_end()).ok()) return false;
    order.leave_log(order.durable_end());
    logging = false;
    tell = on_log_left;
  }
  if (tell) tell(why);
  return true;
}

// The engine may be ahead of a log that was left before and lost what was not synced.
Status CommitPipeline::Impl::leave_log() {
  MutexLock lock(mutex);
  const LogPosition end = std::max(order.durable_end(), order.applied_end());
  if (Log::exists(log->file_system(), log->options()))
    COMMITD_RETURN_IF_ERROR(note_leaving(log->file_system(), log->options(), end));
  order.leave_log(end);
  tell_progress();
  logging = false;
  return {};
}

// The note goes last: a start that still finds it, and the engine at its place, takes the new file away and
// does all of this again.
Status CommitPipeline::Impl::return_to_log() {
  GtidSet in_no_file;
  {
    MutexLock lock(mutex);
    in_no_file = order.executed();
  }
  in_no_file.subtract(found.logged);
  if (!in_no_file.empty()) COMMITD_RETURN_IF_ERROR(log->add_purged(in_no_file));
  const bool was_there = log->options().left_at != LogPosition();
  if (was_there) COMMITD_RETURN_IF_ERROR(rotate_log());
  COMMITD_RETURN_IF_ERROR(engine_stage.advance({log->end(), {}}));
  COMMITD_RETURN_IF_ERROR(engine.checkpoint());
  {
    MutexLock lock(mutex);
    order.return_to_log(log->end());
    tell_progress();
  }
  return note_return(log->file_system(), log->options());
}

Error no_binary_logging() {
  return make_error(er::kNoBinaryLogging, "You are not using binary logging");
}

bool CommitPipeline::logging() const {
  return impl_->logging;
}

Status CommitPipeline::leave_log() {
  return impl_->leave_log();
}

Status CommitPipeline::return_to_log() {
  return impl_->return_to_log();
}

void CommitPipeline::on_log_left(std::function<void(const Error&)> callback) {
  MutexLock lock(impl_->mutex);
  impl_->on_log_left = std::move(callback);
}

Result<GtidSet> CommitPipeline::gtid_purged() const {
  const GtidSet executed = gtid_executed();
  if (!impl_->logging) return executed;
  auto purged = impl_->log->purged();
  auto in_relay_log = impl_->log->in_relay_files(gtid_logged());
  if (!in_relay_log) return std::move(in_relay_log).error();
  if (!purged || in_relay_log->empty()) return purged;
  GtidSet not_yet = *in_relay_log;
  not_yet.subtract(executed);
  in_relay_log->subtract(not_yet);
  purged->add(*in_relay_log);
  return purged;
}

}  // namespace commitd::binlog
