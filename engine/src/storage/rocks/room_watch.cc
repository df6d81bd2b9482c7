#include "storage/rocks/room_watch.h"

#include <spdlog/spdlog.h>

#include "storage/rocks/rocks_status.h"

namespace commitd::storage {

Status RoomWatch::room() const {
  if (!lacks_room_) return {};
  std::lock_guard lock(mutex_);
  return why_;
}

void RoomWatch::on_room(std::function<void()> callback) {
  std::lock_guard lock(callback_mutex_);
  callback_ = std::move(callback);
}

// A compaction that finds no room is tried again, and stops nobody.
void RoomWatch::OnBackgroundError(rocksdb::BackgroundErrorReason, rocksdb::Status* status) {
  if (!status->IsNoSpace() || status->severity() < rocksdb::Status::kHardError) return;
  spdlog::error("the storage engine finds no room: writes are refused until there is some ({})",
                status->ToString());
  std::lock_guard lock(mutex_);
  why_ = write_error(*status);
  lacks_room_ = true;
}

void RoomWatch::OnErrorRecoveryEnd(const rocksdb::BackgroundErrorRecoveryInfo& info) {
  if (!info.new_bg_error.ok() || !lacks_room_.exchange(false)) return;
  spdlog::info("the storage engine has room again: writes go on");
  std::lock_guard lock(callback_mutex_);
  if (callback_) callback_();
}

}  // namespace commitd::storage
