#include "runtime/drivers.h"

#include <pthread.h>

#include <system_error>

namespace commitd {

namespace {

constexpr size_t kMostThreads = 256;  // beyond, plain code is not interrupted

}  // namespace

Drivers::~Drivers() {
  end();
  for (std::thread& thread : threads_) thread.join();
}

void Drivers::put_at_wheel(Seat& seat) {
  seat.drives = true;
  seat.changed.notify_one();
}

bool Drivers::leave(Seat& mine, const std::function<void()>& before) {
  std::unique_lock lock(mutex_);
  if (!have_one_resting(lock)) return false;
  before();
  Seat* next = resting_.back();
  resting_.pop_back();
  put_at_wheel(*next);
  mine.changed.wait(lock, [&] { return mine.drives; });
  return true;
}

void Drivers::give_back(Seat& to) {
  std::unique_lock lock(mutex_);
  put_at_wheel(to);
  Seat mine;
  rest(lock, mine);
}

void Drivers::rest(std::unique_lock<std::mutex>& lock, Seat& seat) {
  resting_.push_back(&seat);
  one_rests_.notify_one();
  seat.changed.wait(lock, [&] { return seat.drives || ended(); });
}

bool Drivers::have_one_resting(std::unique_lock<std::mutex>& lock) {
  if (!resting_.empty()) return true;
  if (threads_.size() == kMostThreads) return false;
  try {
    threads_.emplace_back([this] { stand_in(); });
  } catch (const std::system_error&) {
    return false;
  }
  one_rests_.wait(lock, [&] { return !resting_.empty(); });
  return true;
}

void Drivers::stand_in() {
  pthread_setname_np(pthread_self(), name_.c_str());
  {
    std::unique_lock lock(mutex_);
    Seat seat;
    rest(lock, seat);
  }
  if (!ended()) drive_();
}

void Drivers::end() {
  std::lock_guard lock(mutex_);
  ended_.store(true, std::memory_order_release);
  for (Seat* seat : resting_) seat->changed.notify_one();
  resting_.clear();
}

}  // namespace commitd
