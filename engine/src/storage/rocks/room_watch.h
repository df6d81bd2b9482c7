// Knows whether RocksDB lacks room on its volume: its writes are refused then, and what it has in memory
// stays there. Looks for room every second, and has RocksDB go on when there is some.
#pragma once

#include <atomic>
#include <chrono>
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
  // An error while there is no room; not 1021 when RocksDB does not go on though there is some.
  Status room() const;
  // Called from a thread of its own when there is room again; once this returns, the one before never more.
  void on_room(std::function<void()> callback);

  // Between the two it may use the database.
  void begin(rocksdb::DB& db, rocksdb::FileSystem& files, std::string directory);
  void end();

  void OnBackgroundError(rocksdb::BackgroundErrorReason reason, rocksdb::Status* status) override;
  // By itself RocksDB would try at once to go on, and again every five seconds, room or not. It gives up for
  // good when it cannot write out its log's buffer once more.
  void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason reason, rocksdb::Status error,
                            bool* by_itself) override;

 private:
  void look_for_room();
  bool is_there_room();
  void resume();

  rocksdb::DB* db_ = nullptr;
  rocksdb::FileSystem* files_ = nullptr;
  std::string directory_;

  std::atomic<bool> lacks_room_{false};
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Error why_;
  std::chrono::steady_clock::time_point last_error_{}, began_to_resume_{};
  std::atomic<bool> resuming_{false};
  bool ended_ = false;
  std::thread thread_;

  std::mutex callback_mutex_;  // also while it runs
  std::function<void()> callback_;
};

}  // namespace commitd::storage
