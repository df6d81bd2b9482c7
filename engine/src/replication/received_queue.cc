#include "replication/received_queue.h"

#include <algorithm>

namespace commitd::replication {

LogPosition ReceivedQueue::remembered_end_locked() const {
  if (!waiting_.empty()) return waiting_.back().end;
  return applied_ ? applied_->end : LogPosition();
}

void ReceivedQueue::note(ReceivedEntry entry) {
  MutexLock lock(mutex_);
  if (entry.end <= (leaves_out() ? newest_->end : remembered_end_locked())) return;  // came twice
  if (!entry.source_file.empty()) stand_ = {entry.source_file, entry.source_position, entry.end};
  if (leaves_out() || waiting_.size() == most_) {
    newest_ = std::move(entry);
  } else {
    waiting_.push_back(std::move(entry));
  }
}

std::optional<LogPosition> ReceivedQueue::left_out_behind() const {
  MutexLock lock(mutex_);
  if (!leaves_out() || waiting_.size() > most_ / 2) return std::nullopt;
  return remembered_end_locked();
}

bool ReceivedQueue::note_left_out(ReceivedEntry entry) {
  MutexLock lock(mutex_);
  if (!leaves_out() || waiting_.size() == most_ || entry.end > newest_->end) return false;
  if (entry.end == newest_->end) {
    waiting_.push_back(newest_->gtid.empty() ? std::move(entry) : std::move(*newest_));
    newest_.reset();
  } else if (entry.end > remembered_end_locked()) {
    waiting_.push_back(std::move(entry));
  }
  return true;
}

void ReceivedQueue::trim(LogPosition applied_end) {
  MutexLock lock(mutex_);
  while (!waiting_.empty() && waiting_.front().end <= applied_end) {
    applied_ = std::move(waiting_.front());
    waiting_.pop_front();
  }
  if (waiting_.empty() && leaves_out() && newest_->end <= applied_end) {
    applied_ = std::move(*newest_);
    newest_.reset();
  }
}

void ReceivedQueue::cut(LogPosition end) {
  MutexLock lock(mutex_);
  // What is left out in front of the end is read again as far as the log goes.
  if (leaves_out() && newest_->end > end) {
    newest_ = ReceivedEntry{};
    newest_->end = end;
  }
  while (!waiting_.empty() && waiting_.back().end > end) waiting_.pop_back();
  if (leaves_out() && newest_->end <= remembered_end_locked()) newest_.reset();
}

void ReceivedQueue::clear() {
  MutexLock lock(mutex_);
  waiting_.clear();
  applied_.reset();
  newest_.reset();
  stand_ = {};
}

std::optional<ReceivedEntry> ReceivedQueue::last_applied() const {
  MutexLock lock(mutex_);
  return applied_;
}

std::optional<ReceivedEntry> ReceivedQueue::next() const {
  MutexLock lock(mutex_);
  return waiting_.empty() ? std::nullopt : std::optional(waiting_.front());
}

std::optional<ReceivedEntry> ReceivedQueue::newest() const {
  MutexLock lock(mutex_);
  if (leaves_out()) return newest_;
  return waiting_.empty() ? applied_ : std::optional(waiting_.back());
}

LogPosition ReceivedQueue::end_of_those(LogPosition begin,
                                        const std::function<bool(const ReceivedEntry&)>& let_through) const {
  MutexLock lock(mutex_);
  const auto behind = std::partition_point(waiting_.begin(), waiting_.end(),
                                           [&](const ReceivedEntry& entry) { return entry.end <= begin; });
  for (auto next = behind; next != waiting_.end() && let_through(*next); ++next) begin = next->end;
  return begin;
}

SourceStand ReceivedQueue::stand() const {
  MutexLock lock(mutex_);
  return stand_;
}

void ReceivedQueue::begin_at(SourceStand stand, LogPosition applied_end) {
  MutexLock lock(mutex_);
  if (waiting_.empty() && !leaves_out() && stand.as_of <= applied_end) {
    applied_ = ReceivedEntry{};
    applied_->end = stand.as_of;
    applied_->source_file = stand.file;
    applied_->source_position = stand.position;
  }
  stand_ = std::move(stand);
}

// The newest is what is asked for most.
std::optional<LogPosition> ReceivedQueue::find(const Gtid& gtid) const {
  MutexLock lock(mutex_);
  if (leaves_out() && newest_->gtid == gtid) return newest_->end;
  const auto found = std::find_if(waiting_.rbegin(), waiting_.rend(),
                                  [&](const ReceivedEntry& entry) { return entry.gtid == gtid; });
  return found == waiting_.rend() ? std::nullopt : std::optional(found->end);
}

std::optional<LogPosition> ReceivedQueue::remembered_end() const {
  MutexLock lock(mutex_);
  return leaves_out() ? std::optional(remembered_end_locked()) : std::nullopt;
}

}  // namespace commitd::replication
