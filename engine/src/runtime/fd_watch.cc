#include "runtime/fd_watch.h"

#include <sys/epoll.h>

#include <cassert>
#include <utility>

#include "runtime/reactor_impl.h"

namespace commitd {

FdWatch::FdWatch(int fd, AtEnd at_end) : reactor_(*Reactor::current()), fd_(fd), at_end_(at_end) {
  reactor_.impl().watch(fd, *this);
}

FdWatch::~FdWatch() {
  // On any other thread the reactor could still be about to tell this watch of an event.
  assert(Reactor::current() == &reactor_ && "a watch ends on its reactor's thread");
  if (at_end_ == AtEnd::StaysOpen) reactor_.impl().unwatch(fd_);
  reactor_.impl().forget(*this);
  if (gone_) *gone_ = true;
}

void FdWatch::filled_output() {
  output_ready_ = output_ended_;
  if (!output_ended_) watch_output(true);
}

void FdWatch::watch_output(bool on) {
  if (watching_output_ == on) return;
  watching_output_ = on;
  reactor_.impl().watch_output(fd_, *this, on);
}

void FdWatch::on_events(uint32_t epoll_events) {
  // A peer that only stopped sending (RDHUP) may still take what we write.
  if (epoll_events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) input_ended_ = true;
  if (epoll_events & (EPOLLHUP | EPOLLERR)) output_ended_ = true;
  bool input = input_ended_ || (epoll_events & EPOLLIN);
  bool output = output_ended_ || (epoll_events & EPOLLOUT);
  if (input) input_ready_ = true;
  if (output) {
    output_ready_ = true;
    watch_output(false);
  }
  // The resumed writer may end this watch, and let others go first, who are told of other events.
  bool gone = false;
  bool* const around = std::exchange(gone_, &gone);
  if (output && writer_) writer_->resume(Wake::Woken);
  if (gone) {
    if (around != nullptr) *around = true;
    return;
  }
  gone_ = around;
  if (input && reader_) reader_->resume(Wake::Woken);
}

void FdWatch::Awaiter::await_suspend(std::coroutine_handle<> waiter) {
  assert(place() == nullptr && "one waiter for each direction");
  waiter_ = waiter;
  place() = this;
  if (deadline_ != kNoDeadline) watch_.reactor_.add_timer(*this, deadline_);
}

void FdWatch::Awaiter::resume(Wake how) {
  how_ = how;
  leave();
  waiter_.resume();
}

void FdWatch::Awaiter::leave() {
  if (armed()) watch_.reactor_.cancel_timer(*this);
  if (place() == this) place() = nullptr;
}

}  // namespace commitd
