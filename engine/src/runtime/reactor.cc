#include "runtime/reactor.h"

#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

#include "observe/metrics.h"
#include "runtime/parker.h"
#include "runtime/reactor_impl.h"

namespace commitd {

namespace {

thread_local Reactor* current_reactor = nullptr;

// The reactor of a thread for as long as this object lives; run_blocking() may nest one reactor in another's
// thread.
class CurrentReactor {
 public:
  explicit CurrentReactor(Reactor& reactor) : previous_(std::exchange(current_reactor, &reactor)) {}
  ~CurrentReactor() { current_reactor = previous_; }

 private:
  Reactor* previous_;
};

// Counts a thread among the visitors of a reactor.
class Visit {
 public:
  explicit Visit(std::atomic<int>& visitors) : visitors_(visitors) {
    visitors_.fetch_add(1, std::memory_order_relaxed);
  }
  ~Visit() { visitors_.fetch_sub(1, std::memory_order_release); }

 private:
  std::atomic<int>& visitors_;
};

class PostedHandle final : public Posted {
 public:
  explicit PostedHandle(std::coroutine_handle<> handle) : handle_(handle) {}
  void run() override {
    auto handle = handle_;
    delete this;
    handle.resume();
  }
  void discard() override { delete this; }

 private:
  std::coroutine_handle<> handle_;
};

class PostedFunction final : public Posted {
 public:
  explicit PostedFunction(std::function<void()> function) : function_(std::move(function)) {}
  void run() override {
    function_();
    delete this;
  }
  void discard() override { delete this; }

 private:
  std::function<void()> function_;
};

class PostedTask final : public Posted {
 public:
  PostedTask(Reactor::Impl& reactor, Task<void> task) : reactor_(reactor), task_(std::move(task)) {}
  void run() override {
    reactor_.start(std::move(task_));
    delete this;
  }
  void discard() override { delete this; }

 private:
  Reactor::Impl& reactor_;
  Task<void> task_;
};

// Without its descriptors a reactor cannot exist; there is nobody to hand the error to.
[[noreturn]] void die(const char* what) {
  std::fprintf(stderr, "%s: %s\n", what, std::strerror(errno));
  std::abort();
}

}  // namespace

// A driver that let others go first has waited long enough.
class Reactor::Impl::Return final : public Posted {
 public:
  explicit Return(Drivers& drivers) : drivers_(drivers) {}
  void run() override { drivers_.give_back(seat); }

  Drivers::Seat seat;

 private:
  Drivers& drivers_;
};

Reactor::Impl::Impl(Reactor& owner, std::string name)
    : owner_(owner), name_(std::move(name)), drivers_(name_, [this] { drive(); }) {
  epoll_fd_ = epoll_create1(EPOLL_CLOEXEC);
  if (epoll_fd_ < 0) die("epoll_create1");
  wake_fd_ = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (wake_fd_ < 0) die("eventfd");
  epoll_event event{};
  event.events = EPOLLIN | EPOLLET;
  event.data.ptr = nullptr;  // the wake-up itself
  if (epoll_ctl(epoll_fd_, EPOLL_CTL_ADD, wake_fd_, &event) != 0) die("epoll_ctl");
}

Reactor::Impl::~Impl() {
  CurrentReactor current(owner_);
  // First the queue, whose nodes may lie in the frames that go next. Work that those frames' destructors post
  // is dropped as well, and never looked at again.
  for (Posted* left = posted_.take_all(); left;) PostQueue::take_first(left).discard();
  roots_.destroy_all();
  while (visitors_.load(std::memory_order_acquire) != 0) std::this_thread::yield();
  close(wake_fd_);
  close(epoll_fd_);
}

void Reactor::Impl::run() {
  drive();
}

// Another driver may have left it, at any call of what waited, in the middle of its work.
void Reactor::Impl::drive() {
  CurrentReactor current(owner_);
  while (!is_over()) {
    run_posted();
    if (drivers_.ended()) return;
    timers.fire_due(Clock::now());
    dispatch();
    wait_for_events();
  }
}

// Plain code comes to its end first.
bool Reactor::Impl::is_over() {
  if (!stopping_.load(std::memory_order_acquire) || left_by_ != 0) return false;
  drivers_.end();
  return true;
}

void Reactor::Impl::let_others_go_first() {
  if (stopping_.load(std::memory_order_acquire) || !others_wait()) return;
  Return back(drivers_);
  ++left_by_;
  drivers_.leave(back.seat, [&] { posted_.push(back); });
  --left_by_;
}

bool Reactor::Impl::others_wait() {
  if (next_event_ == event_count_) received(poll(0));
  return next_event_ < event_count_ || batch_ != nullptr || !posted_.empty() || timers.next() <= Clock::now();
}

void Reactor::Impl::stop() {
  Visit visit(visitors_);
  stopping_.store(true, std::memory_order_release);
  write_wake_fd();
}

void Reactor::Impl::run_posted() {
  if (batch_ == nullptr) batch_ = posted_.take_all();
  while (batch_ != nullptr && !drivers_.ended()) PostQueue::take_first(batch_).run();
}

void Reactor::Impl::wait_for_events() {
  static auto& wakeups = observe::counter("commitd_reactor_wakeups_total",
                                          "Times a reactor thread went to sleep and was woken.");
  int timeout = milliseconds_to_wait();
  if (timeout == 0) {
    received(poll(0));
    return dispatch();
  }
  int count = 0;
  if (!idle_.look([&] { return (count = poll(0)) != 0 || !posted_.empty(); })) {
    // Pairs with post(): either it sees that we sleep and wakes us, or we see its work here.
    sleeping_.store(true, std::memory_order_seq_cst);
    if (!posted_.empty()) timeout = 0;
    count = poll(timeout);
    sleeping_.store(false, std::memory_order_relaxed);
    if (timeout != 0) wakeups.add();
  }
  idle_.over();
  received(count);
  dispatch();
}

int Reactor::Impl::poll(int timeout) {
  const int count = epoll_wait(epoll_fd_, events_.data(), static_cast<int>(events_.size()), timeout);
  if (count < 0 && errno != EINTR) die("epoll_wait");
  return std::max(count, 0);
}

int Reactor::Impl::milliseconds_to_wait() const {
  if (!posted_.empty() || stopping_.load(std::memory_order_acquire)) return 0;
  Deadline next = timers.next();
  if (next == kNoDeadline) return -1;
  auto left = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now()).count();
  constexpr int64_t kLongest = 60 * 60 * 1000;
  return static_cast<int>(std::clamp<int64_t>(left, 0, kLongest));
}

void Reactor::Impl::received(int count) {
  event_count_ = count;
  next_event_ = 0;
}

void Reactor::Impl::dispatch() {
  while (next_event_ < event_count_) {
    const epoll_event& event = events_[static_cast<size_t>(next_event_++)];
    if (event.data.ptr) static_cast<FdWatch*>(event.data.ptr)->on_events(event.events);
  }
}

// The eventfd is edge-triggered and never read: each write is an edge, and its counter does not overflow in a
// server's life.
void Reactor::Impl::write_wake_fd() {
  uint64_t one = 1;
  if (write(wake_fd_, &one, sizeof(one)) < 0 && errno != EAGAIN) die("write to eventfd");
}

void Reactor::Impl::post(Posted& work) {
  Visit visit(visitors_);
  posted_.push(work);
  if (sleeping_.load(std::memory_order_seq_cst) && sleeping_.exchange(false, std::memory_order_seq_cst)) {
    write_wake_fd();
  }
}

void Reactor::Impl::start(Task<void> task) {
  roots_.start(std::move(task));
}

void Reactor::Impl::watch(int fd, FdWatch& watch) {
  control(EPOLL_CTL_ADD, fd, watch, 0);
}

void Reactor::Impl::watch_output(int fd, FdWatch& watch, bool on) {
  control(EPOLL_CTL_MOD, fd, watch, on ? uint32_t{EPOLLOUT} : 0);
}

void Reactor::Impl::control(int operation, int fd, FdWatch& watch, uint32_t output) {
  epoll_event event{};
  event.events = EPOLLIN | output | EPOLLRDHUP | EPOLLET;
  event.data.ptr = &watch;
  if (epoll_ctl(epoll_fd_, operation, fd, &event) != 0) die("epoll_ctl");
}

void Reactor::Impl::unwatch(int fd) {
  epoll_ctl(epoll_fd_, EPOLL_CTL_DEL, fd, nullptr);
}

void Reactor::Impl::forget(FdWatch& watch) {
  for (int i = next_event_; i < event_count_; ++i) {
    epoll_event& pending = events_[static_cast<size_t>(i)];
    if (pending.data.ptr == &watch) pending.data.ptr = nullptr;
  }
}

Reactor::Reactor(std::string name) : impl_(std::make_unique<Impl>(*this, std::move(name))) {}
Reactor::~Reactor() = default;

Reactor* Reactor::current() {
  return current_reactor;
}

void Reactor::run() {
  impl_->run();
}
void Reactor::stop() {
  impl_->stop();
}
void Reactor::let_others_go_first() {
  impl_->let_others_go_first();
}
void Reactor::post(std::coroutine_handle<> handle) {
  impl_->post(*new PostedHandle(handle));
}
void Reactor::post(std::function<void()> function) {
  impl_->post(*new PostedFunction(std::move(function)));
}
void Reactor::post(Posted& work) {
  impl_->post(work);
}
void Reactor::spawn(Task<void> task) {
  impl_->post(*new PostedTask(*impl_, std::move(task)));
}
void Reactor::add_timer(Timer& timer, Deadline deadline) {
  impl_->timers.add(timer, deadline);
}
void Reactor::cancel_timer(Timer& timer) {
  impl_->timers.remove(timer);
}

Task<void> sleep_until(Deadline deadline) {
  Parker nobody;
  co_await nobody.park(deadline);
}

}  // namespace commitd
