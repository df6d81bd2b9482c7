// Knows whether RocksDB lacks room on its volume: its writes are refused then, and what it has in memory
// stays there. RocksDB looks for room by itself, every few seconds; after its log had none, this does.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include <rocksdb/db.h>
#include <rocksdb/listener.h>

#include "base/result.h"

namespace commitd::storage {

class RoomWatch final : public rocksdb::EventListener {
 public:
  // An error while there is no room.
  Status room() const;
  // Called from a thread of its own when there is room again; once this returns, the one before never more.
  void on_room(std::function<void()> callback);

  // Between the two it may use the database.
  void begin(rocksdb::DB& db, rocksdb::FileSystem& files, std::string directory);
  void end();

  void OnBackgroundError(rocksdb::BackgroundErrorReason reason, rocksdb::Status* status) override;
  // RocksDB tries at once to go on, and again every few seconds. Not so when its log had no room: before
  // anything else it writes out that log's buffer, and gives up for good when that fails once more.
  void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason reason, rocksdb::Status error,
                            bool* by_itself) override;
  void OnErrorRecoveryEnd(const rocksdb::BackgroundErrorRecoveryInfo& info) override;

 private:
  void look_for_room();
  bool is_there_room();
  void resume();
  void there_is_room(bool whole);

  rocksdb::DB* db_ = nullptr;
  rocksdb::FileSystem* files_ = nullptr;
  std::string directory_;

  std::atomic<bool> lacks_room_{false};
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Error why_;
  bool to_be_resumed_ = false;
  bool ended_ = false;
  std::thread thread_;

  std::mutex callback_mutex_;  // also while it runs
  std::function<void()> callback_;
};

}  // namespace commitd::storage
