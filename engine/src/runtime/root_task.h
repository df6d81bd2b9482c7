// Coroutines that nobody awaits: what Reactor::spawn starts. They end by themselves, or when their reactor
// goes away.
#pragma once

#include <coroutine>
#include <exception>
#include <utility>

#include "runtime/task.h"

namespace commitd {

class RootTasks {
 public:
  RootTasks() = default;
  RootTasks(const RootTasks&) = delete;
  ~RootTasks() { destroy_all(); }

  // Runs the task until it first waits.
  void start(Task<void> task) { run(*this, std::move(task)); }

  void destroy_all() {
    while (first_) {
      auto handle = std::coroutine_handle<Promise>::from_promise(*first_);
      handle.destroy();  // the promise's destructor takes it off the list
    }
  }

 private:
  struct Promise;
  struct Root {
    using promise_type = Promise;
  };

  struct Promise {
    explicit Promise(RootTasks& list, Task<void>&) : roots(list), next(list.first_) {
      if (next) next->previous = this;
      list.first_ = this;
    }
    ~Promise() {
      (previous ? previous->next : roots.first_) = next;
      if (next) next->previous = previous;
    }
    static void* operator new(std::size_t size) { return allocate_frame(size); }
    static void operator delete(void* frame, std::size_t size) noexcept { free_frame(frame, size); }

    Root get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }

    RootTasks& roots;
    Promise* previous = nullptr;
    Promise* next;
  };

  static Root run(RootTasks&, Task<void> task) { co_await task; }

  Promise* first_ = nullptr;
};

}  // namespace commitd
