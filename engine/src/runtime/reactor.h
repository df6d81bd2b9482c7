// A reactor: one thread, one epoll set, the coroutines that live on it. A coroutine runs only on its home
// reactor, so what belongs to one session needs no lock. Other threads reach a reactor through post().
#pragma once

#include <chrono>
#include <coroutine>
#include <functional>
#include <memory>
#include <string>

#include "runtime/post_queue.h"
#include "runtime/task.h"
#include "runtime/timer.h"

namespace commitd {

enum class Wake { Woken, TimedOut };

class FdWatch;

class Reactor {
 public:
  explicit Reactor(std::string name);
  // Ends what was spawned and has not ended: the coroutines' frames are destroyed where they wait. Only after
  // run() returned.
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
  // The same without an allocation: the caller keeps the node alive until it is run.
  void post(Posted& work);
  // Start a coroutine on this reactor and own it until it ends (any thread).
  void spawn(Task<void> task);

  // On this reactor's thread only.
  void add_timer(Timer& timer, Deadline deadline);
  void cancel_timer(Timer& timer);

  // From plain code on this reactor's thread, which cannot be suspended: what else waits here goes first,
  // driven by another thread meanwhile. The caller must hold no lock.
  void let_others_go_first();

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
