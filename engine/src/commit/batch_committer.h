// Takes batches into the engine on a thread of its own, one behind the other, while the next one is put
// together: at start-up both halves of the work are long.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <thread>

#include "base/mutex.h"
#include "base/result.h"

namespace commitd::binlog {

class BatchCommitter {
 public:
  using Work = std::function<Status()>;

  BatchCommitter();
  ~BatchCommitter();  // what was handed over and not begun is dropped
  BatchCommitter(const BatchCommitter&) = delete;

  // Waits while too much is under way. After an error nothing more is done, and every call returns it.
  Status hand_over(Work work);
  // Waits until everything is done.
  Status drain();

 private:
  // One that is being committed and one that is ready: more would only cost memory.
  static constexpr size_t kMostWaiting = 1;

  void run();

  Mutex mutex_;
  CondVar work_, progress_;
  std::deque<Work> waiting_ ABSL_GUARDED_BY(mutex_);
  bool busy_ ABSL_GUARDED_BY(mutex_) = false, stopped_ ABSL_GUARDED_BY(mutex_) = false;
  std::optional<Error> failed_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace commitd::binlog
