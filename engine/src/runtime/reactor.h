// A reactor: one thread, one epoll set, the coroutines that live on it. A coroutine runs only on its home reactor, so what
// belongs to one session needs no lock. Other threads reach a reactor through post().
#pragma once

#include <chrono>
#include <coroutine>
#include <functional>
#include <memory>

#include "runtime/task.h"

namespace commitd {

using Clock = std::chrono::steady_clock;
using Deadline = Clock::time_point;
inline constexpr Deadline kNoDeadline = Deadline::max();

enum class Wake { Woken, TimedOut };

class Reactor {
 public:
  explicit Reactor(std::string name);
  ~Reactor();
  Reactor(const Reactor&) = delete;

  // The reactor whose thread this is, or nullptr.
  static Reactor* current();

  void run();   // until stop(); call on the thread that shall be this reactor's
  void stop();  // any thread

  // Resume a coroutine of this reactor (any thread; wakes the reactor at most once per batch).
  void post(std::coroutine_handle<> handle);
  // Run a function on this reactor (any thread).
  void post(std::function<void()> function);
  // Start a coroutine on this reactor and own it until it ends (any thread).
  void spawn(Task<void> task);

  class Impl;
  Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

// co_await sleep_until(deadline): on the current reactor.
Task<void> sleep_until(Deadline deadline);

// Runs a coroutine to its end on a private reactor in the calling thread: for tests, start-up and tools.
template <class T>
T run_blocking(Task<T> task);

}  // namespace commitd

#include "runtime/run_blocking.h"
