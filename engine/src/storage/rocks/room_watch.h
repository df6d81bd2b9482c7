// Knows whether RocksDB lacks room on its volume: its writes are refused then, and what it has in memory
// stays there. It looks for room by itself, every few seconds.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>

#include <rocksdb/listener.h>

#include "base/result.h"

namespace commitd::storage {

class RoomWatch final : public rocksdb::EventListener {
 public:
  // An error while there is no room.
  Status room() const;
  // Called from a thread of RocksDB's when there is room again; once this returns, the one before never more.
  void on_room(std::function<void()> callback);

  void OnBackgroundError(rocksdb::BackgroundErrorReason reason, rocksdb::Status* status) override;
  void OnErrorRecoveryEnd(const rocksdb::BackgroundErrorRecoveryInfo& info) override;

 private:
  std::atomic<bool> lacks_room_{false};
  mutable std::mutex mutex_;
  Error why_;

  std::mutex callback_mutex_;  // also while it runs
  std::function<void()> callback_;
};

}  // namespace commitd::storage
