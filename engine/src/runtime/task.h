// Task<T>: a lazily started coroutine that is awaited exactly once, and runs on one thread from its start to
// its end (its reactor's). Frames come from a per-thread free list.
#pragma once

#include <coroutine>
#include <cstddef>
#include <exception>
#include <optional>
#include <utility>

namespace commitd {

// A coroutine frame is freed on the thread that finishes it; both calls are cheap and never block
// (frame_allocator.cc).
void* allocate_frame(std::size_t size);
void free_frame(void* frame, std::size_t size) noexcept;

template <class T>
class Task;

namespace detail {

class TaskPromiseBase {
 public:
  static void* operator new(std::size_t size) { return allocate_frame(size); }
  static void operator delete(void* frame, std::size_t size) noexcept { free_frame(frame, size); }

  std::suspend_always initial_suspend() noexcept { return {}; }

  struct FinalAwaiter {
    bool await_ready() noexcept { return false; }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> finished) noexcept {
      auto& promise = finished.promise();
      if (promise.in_first_run_ || !promise.continuation_) return std::noop_coroutine();
      return promise.continuation_;
    }
    void await_resume() noexcept {}
  };
  FinalAwaiter final_suspend() noexcept { return {}; }
  void unhandled_exception() { exception_ = std::current_exception(); }

  std::coroutine_handle<> continuation_;
  std::exception_ptr exception_;
  bool in_first_run_ = false;
};

template <class T>
class TaskPromise : public TaskPromiseBase {
 public:
  Task<T> get_return_object();
  template <class U>
  void return_value(U&& value) {
    value_.emplace(std::forward<U>(value));
  }
  T take() {
    if (exception_) std::rethrow_exception(exception_);
    return std::move(*value_);
  }

 private:
  std::optional<T> value_;
};

template <>
class TaskPromise<void> : public TaskPromiseBase {
 public:
  Task<void> get_return_object();
  void return_void() {}
  void take() {
    if (exception_) std::rethrow_exception(exception_);
  }
};

}  // namespace detail

template <class T = void>
class [[nodiscard]] Task {
 public:
  using promise_type = detail::TaskPromise<T>;
  using Handle = std::coroutine_handle<promise_type>;

  explicit Task(Handle handle) : handle_(handle) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Task& operator=(Task&& other) noexcept {
    if (this != &other) {
      if (handle_) handle_.destroy();
      handle_ = std::exchange(other.handle_, {});
    }
    return *this;
  }
  ~Task() {
    if (handle_) handle_.destroy();
  }

  bool await_ready() const noexcept { return false; }
  // A task that ends without suspending lets the awaiting coroutine go on in place: loops over such tasks
  // need no more stack with every round, whether or not the compiler turns symmetric transfers into jumps
  // (g++ does not below -O2).
  bool await_suspend(std::coroutine_handle<> awaiting) noexcept {
    auto& promise = handle_.promise();
    promise.continuation_ = awaiting;
    promise.in_first_run_ = true;
    handle_.resume();
    promise.in_first_run_ = false;
    return !handle_.done();
  }
  T await_resume() { return handle_.promise().take(); }

 private:
  Handle handle_;
};

namespace detail {
template <class T>
Task<T> TaskPromise<T>::get_return_object() {
  return Task<T>(std::coroutine_handle<TaskPromise<T>>::from_promise(*this));
}
inline Task<void> TaskPromise<void>::get_return_object() {
  return Task<void>(std::coroutine_handle<TaskPromise<void>>::from_promise(*this));
}
}  // namespace detail

}  // namespace commitd
