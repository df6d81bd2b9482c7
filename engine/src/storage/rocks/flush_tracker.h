// Knows which commit point would be found after a crash: without a write-ahead log, that is what the last
// memtable flush contained.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>

#include <rocksdb/listener.h>

#include "storage/engine.h"

namespace commitd::storage {

class FlushTracker final : public rocksdb::EventListener {
 public:
  // What opening found is durable by definition.
  void start_at(CommitPoint found);
  // A batch whose last sequence number is `sequence` brought `point`. Called in commit order.
  void committed(rocksdb::SequenceNumber sequence, const CommitPoint& point);
  CommitPoint flushed() const;

  void OnFlushCompleted(rocksdb::DB* db, const rocksdb::FlushJobInfo& info) override;

 private:
  // More pairs than this are thinned out: the answer may then lie behind the truth, never ahead of it.
  static constexpr size_t kMostPairs = 1024;
  struct Pair {
    rocksdb::SequenceNumber sequence;
    CommitPoint point;
  };
  void thin_out();
  void advance_to_flushed_sequence();

  mutable std::mutex mutex_;
  rocksdb::SequenceNumber flushed_sequence_ = 0;
  CommitPoint flushed_;
  std::deque<Pair> pending_;
};

}  // namespace commitd::storage
