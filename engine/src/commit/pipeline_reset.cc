// RESET BINARY LOGS AND GTIDS. Nothing of the old log is needed when the engine has made everything durable
// that it says; from the note on there is no way back, and a start goes on where a crash stopped it.
#include "base/error_codes.h"
#include "commit/pipeline_impl.h"
#include "log/log_impl.h"

namespace commitd::binlog {

// On the log thread: nothing can become pending meanwhile, so the engine is nobody else's.
Status CommitPipeline::Impl::reset() {
  if (!logging) return no_binary_logging();
  {
    MutexLock lock(mutex);
    wait_for_engine(lock);
    if (order.failure()) return *order.failure();
    if (!order.is_idle() || order.has_shown()) {
      return make_error(
          er::kCantResetSource,
          "RESET BINARY LOGS AND GTIDS is not allowed because transactions are being committed");
    }
  }
  COMMITD_RETURN_IF_ERROR(log->check_unread());
  COMMITD_RETURN_IF_ERROR(engine.checkpoint());
  COMMITD_RETURN_IF_ERROR(note_reset(log->file_system(), log->options()));
  auto done = restart();
  if (!done.ok()) fail(done.error());
  return done;
}

Status CommitPipeline::Impl::restart() {
  COMMITD_RETURN_IF_ERROR(engine_stage.restart_at(reset_position()));
  {
    MutexLock lock(sync_mutex);
    COMMITD_RETURN_IF_ERROR(log->reset());
    synced_groups_ = written_groups_.load();
  }
  clock_ = {};
  MutexLock lock(mutex);
  order.restart(log->end());
  tell_progress();
  return {};
}

Task<Status> CommitPipeline::reset() {
  LogTask task;
  task.run = [this] { return impl_->reset(); };
  if (auto queued = impl_->queue.push(task); !queued.ok()) co_return queued;
  co_await task.parker.park();
  co_return std::move(task.result);
}

Status CommitPipeline::finish_reset(FileSystem& fs, const LogOptions& options, storage::Engine& engine) {
  if (!reset_is_noted(fs, options)) return {};
  COMMITD_RETURN_IF_ERROR(begin_anew_at(engine, reset_position()));
  return replace_log(fs, options);
}

}  // namespace commitd::binlog
