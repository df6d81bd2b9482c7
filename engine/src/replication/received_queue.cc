#include "replication/received_queue.h"

#include <algorithm>

namespace commitd::replication {

void ReceivedQueue::note(ReceivedEntry entry) {
  MutexLock lock(mutex_);
  if (!waiting_.empty() && entry.end <= waiting_.back().end) return;  // came twice
  waiting_.push_back(std::move(entry));
}

void ReceivedQueue::trim(LogPosition applied_end) {
  MutexLock lock(mutex_);
  while (!waiting_.empty() && waiting_.front().end <= applied_end) {
    applied_ = std::move(waiting_.front());
    waiting_.pop_front();
  }
}

void ReceivedQueue::cut(LogPosition end) {
  MutexLock lock(mutex_);
  while (!waiting_.empty() && waiting_.back().end > end) waiting_.pop_back();
}

void ReceivedQueue::clear() {
  MutexLock lock(mutex_);
  waiting_.clear();
  applied_.reset();
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

std::vector<ReceivedEntry> ReceivedQueue::beyond(LogPosition end) const {
  MutexLock lock(mutex_);
  const auto first = std::partition_point(waiting_.begin(), waiting_.end(),
                                          [&](const ReceivedEntry& entry) { return entry.end <= end; });
  return {first, waiting_.end()};
}

// The newest is what is asked for most.
std::optional<LogPosition> ReceivedQueue::find(const Gtid& gtid) const {
  MutexLock lock(mutex_);
  const auto found = std::find_if(waiting_.rbegin(), waiting_.rend(),
                                  [&](const ReceivedEntry& entry) { return entry.gtid == gtid; });
  return found == waiting_.rend() ? std::nullopt : std::optional(found->end);
}

}  // namespace commitd::replication
