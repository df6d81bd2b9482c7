// Knows which position would be found after a crash: without a write-ahead log, that is what the last
// memtable flush contained. And sees to it that a flush does not overtake the binlog.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>

#include <rocksdb/listener.h>

#include "storage/engine.h"

namespace commitd::storage {

class FlushTracker final : public rocksdb::EventListener {
 public:
  // What opening found is durable by definition.
  void start_at(LogPosition found);
  // A batch whose last sequence number is `sequence` brought `position`. Called in commit order.
  void committed(rocksdb::SequenceNumber sequence, LogPosition position);
  LogPosition flushed() const;

  // What Engine::before_persisting() gave: run before a memtable becomes a file, and by sync_binlog().
  void before_persisting(std::function<Status()> sync);
  Status sync_binlog();

  void OnFlushBegin(rocksdb::DB* db, const rocksdb::FlushJobInfo& info) override;
  void OnFlushCompleted(rocksdb::DB* db, const rocksdb::FlushJobInfo& info) override;

 private:
  // More pairs than this are thinned out: the answer may then lie behind the truth, never ahead of it.
  static constexpr size_t kMostPairs = 1024;
  struct Pair {
    rocksdb::SequenceNumber sequence;
    LogPosition position;
  };
  void thin_out();
  void advance_to_flushed_sequence();

  mutable std::mutex mutex_;
  rocksdb::SequenceNumber flushed_sequence_ = 0;
  LogPosition flushed_;
  std::deque<Pair> pending_;

  std::mutex sync_mutex_;  // sync_binlog_, also while it runs: who gave it may go away afterwards
  std::function<Status()> sync_binlog_;
};

}  // namespace commitd::storage
