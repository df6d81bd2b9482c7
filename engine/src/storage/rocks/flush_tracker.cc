#include "storage/rocks/flush_tracker.h"

#include <algorithm>

namespace commitd::storage {

void FlushTracker::start_at(LogPosition found) {
  std::lock_guard lock(mutex_);
  flushed_ = found;
}

void FlushTracker::committed(rocksdb::SequenceNumber sequence, LogPosition position) {
  std::lock_guard lock(mutex_);
  pending_.push_back({sequence, position});
  if (pending_.size() > kMostPairs) thin_out();
  advance_to_flushed_sequence();  // the flush may have been faster than its writer
}

LogPosition FlushTracker::flushed() const {
  std::lock_guard lock(mutex_);
  return flushed_;
}

void FlushTracker::before_persisting(std::function<Status()> sync) {
  std::lock_guard lock(sync_mutex_);
  sync_binlog_ = std::move(sync);
}

Status FlushTracker::sync_binlog() {
  std::lock_guard lock(sync_mutex_);
  return sync_binlog_ ? sync_binlog_() : Status{};
}

// The memtables are chosen by now, so everything in them is in the log already. A flush cannot be refused
// here; but a log that cannot be synced ends the server before this returns.
void FlushTracker::OnFlushBegin(rocksdb::DB*, const rocksdb::FlushJobInfo&) {
  (void)sync_binlog();
}

// A batch never straddles two memtables, and the only column family is flushed in order: everything up to
// largest_seqno is in files.
void FlushTracker::OnFlushCompleted(rocksdb::DB*, const rocksdb::FlushJobInfo& info) {
  std::lock_guard lock(mutex_);
  flushed_sequence_ = std::max(flushed_sequence_, info.largest_seqno);
  advance_to_flushed_sequence();
}

void FlushTracker::advance_to_flushed_sequence() {
  while (!pending_.empty() && pending_.front().sequence <= flushed_sequence_) {
    flushed_ = pending_.front().position;
    pending_.pop_front();
  }
}

// Drops every other pair but keeps the newest one, which a flush of everything must be able to name.
void FlushTracker::thin_out() {
  std::deque<Pair> kept;
  for (size_t i = pending_.size(); i-- > 0;) {
    if ((pending_.size() - 1 - i) % 2 == 0) kept.push_front(pending_[i]);
  }
  pending_ = std::move(kept);
}

}  // namespace commitd::storage
