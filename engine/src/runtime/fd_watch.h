// Readiness of one file descriptor on one reactor, edge-triggered: the kernel tells each change once, the
// watch remembers it.
#pragma once

#include <coroutine>
#include <cstdint>

#include "runtime/reactor.h"

namespace commitd {

class FdWatch {
 public:
  // Closes: right behind the watch, before its reactor waits again, and there is no other descriptor for the
  // same file. That ends the kernel's part of the watch, without a call of its own.
  enum class AtEnd { StaysOpen, Closes };
  // On the reactor of the calling coroutine. The descriptor stays the caller's and must outlive the watch.
  explicit FdWatch(int fd, AtEnd at_end = AtEnd::StaysOpen);
  ~FdWatch();
  FdWatch(const FdWatch&) = delete;

  class Awaiter;
  // Until the descriptor may be read (written), at once when it may be already. One waiter for each
  // direction.
  Awaiter readable(Deadline deadline = kNoDeadline);
  Awaiter writable(Deadline deadline = kNoDeadline);

  // The caller met EAGAIN, or got less than it asked for: nothing to read (no room to write) until the next
  // event. A direction that has ended stays ready for good: trying it answers at once.
  bool input_ended() const { return input_ended_; }
  bool input_ready() const { return input_ready_; }
  bool output_ready() const { return output_ready_; }
  void drained_input() { input_ready_ = input_ended_; }
  void filled_output();

  void on_events(uint32_t epoll_events);  // for the reactor

 private:
  void watch_output(bool on);

  Reactor& reactor_;
  int fd_;
  AtEnd at_end_;
  // Whether a read or write may succeed. Of input that is there already the kernel tells when the watch
  // begins.
  bool input_ready_ = false, output_ready_ = true;
  bool input_ended_ = false, output_ended_ = false;
  // Only while somebody met a full buffer: on a unix socket every packet that the peer takes is an event.
  bool watching_output_ = false;
  Awaiter* reader_ = nullptr;
  Awaiter* writer_ = nullptr;
  bool* gone_ = nullptr;  // told when the watch ends while on_events() runs
};

class FdWatch::Awaiter final : private Timer {
 public:
  Awaiter(FdWatch& watch, bool input, Deadline deadline)
      : watch_(watch), input_(input), deadline_(deadline) {}
  Awaiter(const Awaiter&) = delete;
  ~Awaiter() override { leave(); }

  bool await_ready() const noexcept { return input_ ? watch_.input_ready_ : watch_.output_ready_; }
  void await_suspend(std::coroutine_handle<> waiter);
  Wake await_resume() const { return how_; }

 private:
  friend class FdWatch;
  void fire() override { resume(Wake::TimedOut); }
  void resume(Wake how);
  void leave();
  Awaiter*& place() { return input_ ? watch_.reader_ : watch_.writer_; }

  FdWatch& watch_;
  bool input_;
  Deadline deadline_;
  Wake how_ = Wake::Woken;
  std::coroutine_handle<> waiter_;
};

inline FdWatch::Awaiter FdWatch::readable(Deadline deadline) {
  return Awaiter(*this, true, deadline);
}
inline FdWatch::Awaiter FdWatch::writable(Deadline deadline) {
  return Awaiter(*this, false, deadline);
}

}  // namespace commitd
