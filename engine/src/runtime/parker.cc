#include "runtime/parker.h"

#include <cassert>

#include "observe/metrics.h"

namespace commitd {

// The state moves Empty → Parked → Woken | TimedOut, or Empty → Woken when the finisher is first. Only one
// side can move it out of Parked, and only that side resumes the waiter; so the waiter runs once, and a
// finisher that lost touches nothing afterwards.

void Parker::wake() {
  int state = state_.load(std::memory_order_acquire);
  while (state == Empty || state == Parked) {
    if (!state_.compare_exchange_weak(state, Woken, std::memory_order_acq_rel, std::memory_order_acquire))
      continue;
    if (state == Parked) home_->post(resumption_);
    return;
  }
}

void Parker::reset() {
  state_.store(Empty, std::memory_order_relaxed);
}

bool Parker::Awaiter::await_suspend(std::coroutine_handle<> waiter) {
  static auto& parks =
      observe::counter("commitd_session_parks_total", "Times a coroutine parked to wait for something.");
  parker_.home_ = Reactor::current();
  assert(parker_.home_ && "only a coroutine on a reactor can park");
  parker_.resumption_.waiter = waiter;
  if (deadline_ != kNoDeadline) parker_.home_->add_timer(*this, deadline_);
  int expected = Empty;
  if (!parker_.state_.compare_exchange_strong(expected, Parked, std::memory_order_acq_rel)) return false;
  parks.add();
  return true;
}

Wake Parker::Awaiter::await_resume() {
  if (armed()) parker_.home_->cancel_timer(*this);
  return parker_.state_.load(std::memory_order_acquire) == TimedOut ? Wake::TimedOut : Wake::Woken;
}

// A frame destroyed while it waits (its reactor is going away) leaves no timer behind.
Parker::Awaiter::~Awaiter() {
  if (armed()) parker_.home_->cancel_timer(*this);
}

void Parker::Awaiter::fire() {
  int expected = Parked;
  if (!parker_.state_.compare_exchange_strong(expected, TimedOut, std::memory_order_acq_rel)) return;
  parker_.resumption_.waiter.resume();
}

}  // namespace commitd
