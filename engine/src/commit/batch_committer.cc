#include "commit/batch_committer.h"

namespace commitd::binlog {

BatchCommitter::BatchCommitter() : thread_([this] { run(); }) {}

BatchCommitter::~BatchCommitter() {
  {
    std::lock_guard lock(mutex_);
    stopped_ = true;
    work_.notify_all();
  }
  thread_.join();
}

Status BatchCommitter::hand_over(Work work) {
  std::unique_lock lock(mutex_);
  progress_.wait(lock, [this] { return waiting_.size() < kMostWaiting || failed_; });
  if (failed_) return *failed_;
  waiting_.push_back(std::move(work));
  work_.notify_one();
  return {};
}

Status BatchCommitter::drain() {
  std::unique_lock lock(mutex_);
  progress_.wait(lock, [this] { return (waiting_.empty() && !busy_) || failed_; });
  if (failed_) return *failed_;
  return {};
}

void BatchCommitter::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    work_.wait(lock, [this] { return !waiting_.empty() || stopped_; });
    if (stopped_) return;
    busy_ = true;
    {
      Work work = std::move(waiting_.front());
      waiting_.pop_front();
      progress_.notify_all();
      lock.unlock();
      auto done = work();
      work = nullptr;  // what it holds is large: not freed under the lock
      lock.lock();
      if (!done.ok()) failed_ = std::move(done).error();
    }
    busy_ = false;
    progress_.notify_all();
    if (failed_) return;
  }
}

}  // namespace commitd::binlog
