// RocksDB's write-ahead log as the engine's own one (commitd_durability=xa): when it is written and synced,
// with InnoDB's meanings of flush_log_at_trx_commit.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include <rocksdb/db.h>

#include "base/result.h"

namespace commitd::storage {

class OwnLog {
 public:
  using Level = std::shared_ptr<const std::atomic<uint64_t>>;
  // `sync_binlog` is run before the log is synced: it must not be ahead of the binlog.
  OwnLog(std::shared_ptr<rocksdb::DB> db, Level level, std::function<Status()> sync_binlog);
  ~OwnLog();

  // Behind a prepare or a commit. 1: written and synced; 2: written; 0: neither. With 0 and 2 it is synced
  // once a second.
  Status flush();
  // Written, not synced, whatever the level. RocksDB cannot go on when it finds no room for what waits to be
  // written where it changes to a new log.
  Status write_out();
  // Whatever the level.
  Status sync();

 private:
  void sync_every_second();

  std::shared_ptr<rocksdb::DB> db_;
  const Level level_;
  const std::function<Status()> sync_binlog_;
  std::mutex mutex_;
  std::condition_variable stop_;
  bool stopped_ = false;
  std::atomic<bool> unsynced_{false};
  std::thread every_second_;
};

}  // namespace commitd::storage
