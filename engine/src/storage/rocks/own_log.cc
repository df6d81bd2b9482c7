#include "storage/rocks/own_log.h"

#include <chrono>

#include "observe/metrics.h"
#include "storage/rocks/rocks_status.h"

namespace commitd::storage {
namespace {

constexpr auto kSyncInterval = std::chrono::seconds(1);

observe::Counter& fsyncs() {
  static auto& counter =
      observe::counter("commitd_engine_fsyncs_total", "Syncs of the storage engine's own log (xa only).");
  return counter;
}

Status to_status(const rocksdb::Status& status) {
  return status.ok() ? Status{} : Status{write_error(status)};
}

}  // namespace

OwnLog::OwnLog(std::shared_ptr<rocksdb::DB> db, Level level, std::function<Status()> sync_binlog)
    : db_(std::move(db)),
      level_(std::move(level)),
      sync_binlog_(std::move(sync_binlog)),
      every_second_([this] { sync_every_second(); }) {}

OwnLog::~OwnLog() {
  {
    std::lock_guard lock(mutex_);
    stopped_ = true;
    stop_.notify_all();
  }
  every_second_.join();
}

Status OwnLog::flush() {
  const uint64_t level = level_ == nullptr ? 1 : level_->load();
  if (level == 1) return sync();
  unsynced_ = true;
  return level == 2 ? to_status(db_->FlushWAL(false)) : Status{};
}

Status OwnLog::write_out() {
  return to_status(db_->FlushWAL(false));
}

Status OwnLog::sync() {
  unsynced_ = false;
  COMMITD_RETURN_IF_ERROR(sync_binlog_());
  fsyncs().add();
  return to_status(db_->FlushWAL(true));
}

void OwnLog::sync_every_second() {
  std::unique_lock lock(mutex_);
  while (!stop_.wait_for(lock, kSyncInterval, [this] { return stopped_; })) {
    // A sync that fails makes RocksDB refuse the next write: the pipeline hears of it there.
    if (unsynced_) (void)sync();
  }
}

}  // namespace commitd::storage
