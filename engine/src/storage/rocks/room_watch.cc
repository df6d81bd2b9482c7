#include "storage/rocks/room_watch.h"

#include <rocksdb/convenience.h>
#include <rocksdb/file_system.h>
#include <spdlog/spdlog.h>

#include "storage/rocks/rocks_status.h"

namespace commitd::storage {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{200};
// RocksDB rests for a second behind a flush that failed.
constexpr std::chrono::milliseconds kRestAfterError{1500};
// RocksDB may wait for a flush that its log's error kept from beginning, and that nobody begins any more:
// then only a restart helps.
constexpr std::chrono::seconds kLongestResume{30};
// The log's buffer, the head of a new log, and the description of a file.
constexpr uint64_t kRoomToGoOn = 4 << 20;

}  // namespace

Status RoomWatch::room() const {
  if (!lacks_room_) return {};
  std::lock_guard lock(mutex_);
  if (resuming_ && std::chrono::steady_clock::now() > began_to_resume_ + kLongestResume)
    return make_error(er::kErrorOnWrite, "The storage engine has room again and does not go on");
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

// A compaction that finds no room is tried again, and stops nobody. An error that RocksDB cannot go on from
// is no want of room.
void RoomWatch::OnBackgroundError(rocksdb::BackgroundErrorReason, rocksdb::Status* status) {
  if (!status->IsNoSpace() || status->severity() != rocksdb::Status::kHardError) return;
  std::lock_guard lock(mutex_);
  why_ = write_error(*status);
  last_error_ = std::chrono::steady_clock::now();
  if (lacks_room_.exchange(true)) return;
  spdlog::error("the storage engine finds no room: writes are refused until there is some ({})",
                status->ToString());
  changed_.notify_all();
}

void RoomWatch::OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason, rocksdb::Status error, bool* by_itself) {
  if (error.IsNoSpace() && error.severity() == rocksdb::Status::kHardError) *by_itself = false;
}

void RoomWatch::end() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }
  if (resuming_) rocksdb::CancelAllBackgroundWork(db_, false);
  thread_.join();
}

void RoomWatch::look_for_room() {
  std::unique_lock lock(mutex_);
  while (!ended_) {
    if (!lacks_room_) {
      changed_.wait(lock);
      continue;
    }
    changed_.wait_for(lock, kBetweenLooks);
    if (ended_ || std::chrono::steady_clock::now() < last_error_ + kRestAfterError) continue;
    began_to_resume_ = std::chrono::steady_clock::now();
    resuming_ = true;
    lock.unlock();
    if (is_there_room()) resume();
    lock.lock();
    resuming_ = false;
  }
}

// For what is to be written out, too, which compression makes smaller.
bool RoomWatch::is_there_room() {
  uint64_t free = 0, in_memory = 0;
  db_->GetIntProperty(rocksdb::DB::Properties::kCurSizeAllMemTables, &in_memory);
  const auto asked = files_->GetFreeSpace(directory_, rocksdb::IOOptions(), &free, nullptr);
  return asked.ok() && free >= kRoomToGoOn + in_memory / 2;
}

// What RocksDB cannot go on from is told to whoever commits next.
void RoomWatch::resume() {
  const auto began = std::chrono::steady_clock::now();
  const rocksdb::Status resumed = db_->Resume();
  if (!resumed.ok() && resumed.severity() < rocksdb::Status::kFatalError) return;
  {
    std::lock_guard lock(mutex_);
    if (ended_ || last_error_ >= began) return;
    lacks_room_ = false;
  }
  if (resumed.ok()) spdlog::info("the storage engine has room again: writes go on");
  std::lock_guard lock(callback_mutex_);
  if (callback_) callback_();
}

}  // namespace commitd::storage
