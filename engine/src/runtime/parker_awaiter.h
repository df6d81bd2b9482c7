#pragma once

namespace commitd {

// What co_await parker.park() waits with. It is also the timer of the wait, so a wait with a deadline
// allocates nothing.
class Parker::Awaiter final : private Timer {
 public:
  Awaiter(Parker& parker, Deadline deadline) : parker_(parker), deadline_(deadline) {}
  Awaiter(const Awaiter&) = delete;
  ~Awaiter() override;

  bool await_ready() const noexcept { return parker_.state_.load(std::memory_order_acquire) == Woken; }
  bool await_suspend(std::coroutine_handle<> waiter);
  Wake await_resume();

 private:
  void fire() override;

  Parker& parker_;
  Deadline deadline_;
};

inline Parker::Awaiter Parker::park(Deadline deadline) {
  return Awaiter(*this, deadline);
}

}  // namespace commitd
