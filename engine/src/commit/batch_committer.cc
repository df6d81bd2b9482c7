#include "commit/batch_committer.h"

namespace commitd::binlog {

BatchCommitter::BatchCommitter() : thread_([this] { run(); }) {}

BatchCommitter::~BatchCommitter() {
  {
    MutexLock lock(mutex_);
    stopped_ = true;
    work_.notify_all();
  }
  thread_.join();
}

Status BatchCommitter::hand_over(Work work) {
  MutexLock lock(mutex_);
  while (waiting_.size() >= kMostWaiting && !failed_) progress_.wait(lock);
  if (failed_) return *failed_;
  waiting_.push_back(std::move(work));
  work_.notify_one();
  return {};
}

Status BatchCommitter::drain() {
  MutexLock lock(mutex_);
  while ((!waiting_.empty() || busy_) && !failed_) progress_.wait(lock);
  if (failed_) return *failed_;
  return {};
}

void BatchCommitter::run() {
  MutexLock lock(mutex_);
  for (;;) {
    while (waiting_.empty() && !stopped_) work_.wait(lock);
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
