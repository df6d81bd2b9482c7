// Parker: the one way to wait. A coroutine parks on it; whoever finishes what it waits for wakes exactly that
// one.
//
//   Parker parker;                          // on the waiter's stack (its coroutine frame)
//   hand &parker to the finisher;
//   Wake how = co_await parker.park(deadline);
//
// wake() may come from any thread, before or after park(), once or often. After park() returned TimedOut the
// waiter must withdraw the parker from the finisher (under the finisher's lock) before it goes away.
#pragma once

#include <atomic>
#include <coroutine>

#include "runtime/reactor.h"

namespace commitd {

class Parker {
 public:
  Parker() = default;
  Parker(const Parker&) = delete;

  class Awaiter;
  Awaiter park(Deadline deadline = kNoDeadline);

  // After this call the finisher must not touch the parker again.
  void wake();

  // For a second wait with the same parker: only when nobody can call wake() any more.
  void reset();

 private:
  // What travels to the home reactor. It is posted once per wait, by whoever moved the state from Parked to
  // Woken.
  class Resumption final : public Posted {
   public:
    std::coroutine_handle<> waiter;
    void run() override { waiter.resume(); }
  };

  enum State : int { Empty, Parked, Woken, TimedOut };
  std::atomic<int> state_{Empty};
  Reactor* home_ = nullptr;
  Resumption resumption_;
};

}  // namespace commitd

#include "runtime/parker_awaiter.h"
