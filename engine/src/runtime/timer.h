// Timers of one reactor. A timer lives in the coroutine that waits; the heap only points to it.
#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

namespace commitd {

using Clock = std::chrono::steady_clock;
using Deadline = Clock::time_point;
inline constexpr Deadline kNoDeadline = Deadline::max();

class Timer {
 public:
  virtual ~Timer() = default;
  virtual void fire() = 0;  // on the reactor's thread; the timer is not in the heap any more
  bool armed() const { return place_ != kNowhere; }

 private:
  friend class TimerHeap;
  static constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);
  Deadline deadline_ = kNoDeadline;
  std::size_t place_ = kNowhere;
};

class TimerHeap {
 public:
  void add(Timer& timer, Deadline deadline);
  void remove(Timer& timer);  // nothing when it is not armed
  Deadline next() const { return heap_.empty() ? kNoDeadline : heap_.front()->deadline_; }
  void fire_due(Deadline now);

 private:
  void put(std::size_t place, Timer* timer);
  void sift_up(std::size_t place);
  void sift_down(std::size_t place);

  std::vector<Timer*> heap_;
};

}  // namespace commitd
