// A thread that has nothing to do looks for work a little longer before it sleeps, when its last waits were
// short and the process serves one client at a time: going to sleep and being woken, on a processor that has
// gone to sleep as well, takes longer than such a wait. With more clients the processors have better things
// to do, and when waits are long nobody looks.
#pragma once

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>

namespace commitd {

class IdleSpin {
 public:
  // For all threads of the process: nobody looks for longer than this, nor after a wait that was longer.
  // 0, which it is at first: everybody sleeps at once.
  static void set_limit(std::chrono::microseconds limit) { limit_.store(limit); }

  // A session is at work for as long as this lives.
  class AtWork {
   public:
    AtWork() { at_work_.fetch_add(1, std::memory_order_relaxed); }
    ~AtWork() { at_work_.fetch_sub(1, std::memory_order_relaxed); }
    AtWork(const AtWork&) = delete;
  };

  // A wait begins: `found` is called until it says true, which is the answer, or until it is time to sleep.
  template <class Found>
  bool look(Found found) {
    const std::chrono::nanoseconds limit = limit_.load(std::memory_order_relaxed);
    learning_ = limit.count() != 0;
    if (!learning_) return false;
    began_ = Clock::now();
    if (short_waits_ < kEnough) return false;
    while (at_work_.load(std::memory_order_relaxed) <= 1) {
      if (found()) return true;
      sched_yield();  // whoever has work goes first
      if (Clock::now() - began_ > limit) return false;
    }
    return false;
  }

  // The wait is over, slept or not.
  void over() {
    if (!learning_) return;
    const bool was_short = Clock::now() - began_ <= limit_.load(std::memory_order_relaxed);
    short_waits_ = was_short ? std::min(short_waits_ + 1, kEnough) : 0;
  }

 private:
  using Clock = std::chrono::steady_clock;
  // So many short waits in a row, and the next is expected to be short too.
  static constexpr int kEnough = 3;

  inline static std::atomic<std::chrono::microseconds> limit_{std::chrono::microseconds(0)};
  inline static std::atomic<int> at_work_{0};
  Clock::time_point began_;
  bool learning_ = false;
  int short_waits_ = 0;
};

}  // namespace commitd
