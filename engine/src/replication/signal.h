// Waiting between coroutines: Signal for those of one reactor, Event, AsyncMutex and DrainGate across
// reactors.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "runtime/parker.h"
#include "runtime/task.h"

namespace commitd::replication {

// "Something has changed, look again": one waiter, any number of setters, all on the same reactor. A set()
// that nobody waited for is kept.
class Signal {
 public:
  void set();
  // Returns at the next set() or at the deadline.
  Task<void> wait(Deadline deadline = kNoDeadline);

 private:
  bool set_ = false;
  Parker* waiter_ = nullptr;
};

// The same for setters on any thread.
class Event {
 public:
  void set();
  Task<void> wait(Deadline deadline = kNoDeadline);

 private:
  class Waiting;

  Mutex mutex_;
  bool set_ ABSL_GUARDED_BY(mutex_) = false;
  Parker* waiter_ ABSL_GUARDED_BY(mutex_) = nullptr;
};

// One coroutine at a time, in the order of arrival.
class AsyncMutex {
 public:
  class [[nodiscard]] Guard {
   public:
    explicit Guard(AsyncMutex& mutex) : mutex_(&mutex) {}
    Guard(Guard&& other) noexcept : mutex_(std::exchange(other.mutex_, nullptr)) {}
    ~Guard() {
      if (mutex_ != nullptr) mutex_->unlock();
    }

   private:
    AsyncMutex* mutex_;
  };
  Task<Guard> lock();

 private:
  void unlock();

  Mutex mutex_;
  bool taken_ ABSL_GUARDED_BY(mutex_) = false;
  std::deque<Parker*> waiters_ ABSL_GUARDED_BY(mutex_);
};

// Counts activities that may be forbidden: after close() none begins, and drained() returns when the last has
// ended.
class DrainGate {
 public:
  // Inside for as long as it lives.
  class [[nodiscard]] Visit {
   public:
    explicit Visit(DrainGate& gate) : gate_(&gate) {}
    Visit(Visit&& other) noexcept : gate_(std::exchange(other.gate_, nullptr)) {}
    ~Visit() {
      if (gate_ != nullptr) gate_->leave();
    }

   private:
    DrainGate* gate_;
  };

  // While closed, enter() fails with `why`.
  void close(Error why);
  void open();
  Result<Visit> enter();
  Task<void> drained();

 private:
  void leave();

  Mutex mutex_;
  std::optional<Error> closed_ ABSL_GUARDED_BY(mutex_);
  uint64_t inside_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<Parker*> waiters_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace commitd::replication
