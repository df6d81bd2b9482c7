#include "runtime/worker_thread.h"

#include <sys/prctl.h>

namespace commitd {

WorkerThread::WorkerThread(std::string name)
    : thread_([this, name = std::move(name)] {
        prctl(PR_SET_NAME, name.c_str());
        loop();
      }) {}

WorkerThread::~WorkerThread() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_one();
  }
  thread_.join();
}

Task<Status> WorkerThread::run(std::function<Status()> work) {
  Job job;
  job.work = std::move(work);
  {
    std::lock_guard lock(mutex_);
    jobs_.push_back(&job);
    changed_.notify_one();
  }
  co_await job.parker.park();
  co_return std::move(job.result);
}

void WorkerThread::loop() {
  for (;;) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !jobs_.empty() || stopping_; });
    if (jobs_.empty()) return;
    Job* job = jobs_.front();
    jobs_.pop_front();
    lock.unlock();
    job->result = job->work();
    job->parker.wake();
  }
}

}  // namespace commitd
