// A thread for what blocks (flushing the storage engine, copying files): reactors must not.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "base/result.h"
#include "runtime/parker.h"
#include "runtime/task.h"

namespace commitd {

class WorkerThread {
 public:
  explicit WorkerThread(std::string name);
  ~WorkerThread();  // everything that was given to run() must have returned

  // Runs `work` on the thread, one after the other in the order of the calls.
  Task<Status> run(std::function<Status()> work);

 private:
  struct Job {
    std::function<Status()> work;
    Parker parker;
    Status result;
  };
  void loop();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job*> jobs_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace commitd
