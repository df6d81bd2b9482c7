#include "storage/rocks/room_watch.h"

#include <rocksdb/file_system.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "storage/rocks/rocks_status.h"

namespace commitd::storage {
namespace {

constexpr std::chrono::milliseconds kFirstLook{20}, kBetweenLooks{1000};
// The log's buffer, the head of a new log, and the description of a file.
constexpr uint64_t kRoomToGoOn = 4 << 20;

}  // namespace

Status RoomWatch::room() const {
  if (!lacks_room_) return {};
  std::lock_guard lock(mutex_);
  return why_;
}

void RoomWatch::on_room(std::function<void()> callback) {
  std::lock_guard lock(callback_mutex_);
  callback_ = std::move(callback);
}

void RoomWatch::begin(rocksdb::DB& db, rocksdb::FileSystem& files, std::string directory) {
  db_ = &db;
  files_ = &files;
  directory_ = std::move(directory);
  thread_ = std::thread([this] { look_for_room(); });
}

void RoomWatch::end() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

// A compaction that finds no room is tried again, and stops nobody. An error that RocksDB cannot go on from
// is no want of room.
void RoomWatch::OnBackgroundError(rocksdb::BackgroundErrorReason, rocksdb::Status* status) {
  if (!status->IsNoSpace() || status->severity() != rocksdb::Status::kHardError) return;
  std::lock_guard lock(mutex_);
  why_ = write_error(*status);
  if (lacks_room_.exchange(true)) return;
  spdlog::error("the storage engine finds no room: writes are refused until there is some ({})",
                status->ToString());
}

void RoomWatch::OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason reason, rocksdb::Status error,
                                     bool* by_itself) {
  if (reason != rocksdb::BackgroundErrorReason::kWriteCallback || !error.IsNoSpace()) return;
  *by_itself = false;
  std::lock_guard lock(mutex_);
  to_be_resumed_ = true;
  changed_.notify_all();
}

void RoomWatch::OnErrorRecoveryEnd(const rocksdb::BackgroundErrorRecoveryInfo& info) {
  if (info.new_bg_error.ok()) there_is_room(true);
}

void RoomWatch::look_for_room() {
  auto pause = kFirstLook;
  std::unique_lock lock(mutex_);
  while (!ended_) {
    if (!to_be_resumed_) {
      pause = kFirstLook;
      changed_.wait(lock);
      continue;
    }
    changed_.wait_for(lock, pause);
    pause = std::min(pause * 2, kBetweenLooks);
    if (ended_) return;
    lock.unlock();
    if (is_there_room()) resume();
    lock.lock();
  }
}

// For what is to be written out, too.
bool RoomWatch::is_there_room() {
  uint64_t free = 0, in_memory = 0;
  db_->GetIntProperty(rocksdb::DB::Properties::kCurSizeAllMemTables, &in_memory);
  const auto asked = files_->GetFreeSpace(directory_, rocksdb::IOOptions(), &free, nullptr);
  return asked.ok() && free >= kRoomToGoOn + in_memory;
}

// What RocksDB cannot go on from is told to whoever commits next. Whatever else there was, it goes on with by
// itself.
void RoomWatch::resume() {
  {
    std::lock_guard lock(mutex_);
    to_be_resumed_ = false;
  }
  const rocksdb::Status resumed = db_->Resume();
  if (resumed.ok() || resumed.severity() >= rocksdb::Status::kFatalError) return there_is_room(resumed.ok());
  std::lock_guard lock(mutex_);
  to_be_resumed_ = true;
}

void RoomWatch::there_is_room(bool whole) {
  if (!lacks_room_.exchange(false)) return;
  if (whole) spdlog::info("the storage engine has room again: writes go on");
  std::lock_guard lock(callback_mutex_);
  if (callback_) callback_();
}

}  // namespace commitd::storage
