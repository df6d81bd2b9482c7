#include "replication/signal.h"

#include "base/check.h"

namespace commitd::replication {

void Signal::set() {
  set_ = true;
  if (waiter_ != nullptr) waiter_->wake();
}

Task<void> Signal::wait(Deadline deadline) {
  if (!set_) {
    Parker parker;
    waiter_ = &parker;
    co_await parker.park(deadline);
    waiter_ = nullptr;
  }
  set_ = false;
}

// Takes the waiter off however the coroutine leaves, also when its frame is destroyed.
class Event::Waiting {
 public:
  Waiting(Event& event, Parker& parker) : event_(event) {
    MutexLock lock(event_.mutex_);
    event_.waiter_ = &parker;
    if (event_.set_) parker.wake();
  }
  ~Waiting() {
    MutexLock lock(event_.mutex_);
    event_.waiter_ = nullptr;
    event_.set_ = false;
  }

 private:
  Event& event_;
};

void Event::set() {
  MutexLock lock(mutex_);
  set_ = true;
  if (waiter_ != nullptr) waiter_->wake();
}

Task<void> Event::wait(Deadline deadline) {
  Parker parker;
  const Waiting waiting(*this, parker);
  co_await parker.park(deadline);
}

Task<AsyncMutex::Guard> AsyncMutex::lock() {
  Parker parker;
  bool must_wait = false;
  {
    MutexLock lock(mutex_);
    must_wait = taken_;
    taken_ = true;
    if (must_wait) waiters_.push_back(&parker);
  }
  if (must_wait) co_await parker.park();
  co_return Guard(*this);
}

// The mutex is handed to the next waiter without becoming free in between.
void AsyncMutex::unlock() {
  Parker* next = nullptr;
  {
    MutexLock lock(mutex_);
    if (waiters_.empty()) {
      taken_ = false;
      return;
    }
    next = waiters_.front();
    waiters_.pop_front();
  }
  next->wake();
}

void DrainGate::close(Error why) {
  MutexLock lock(mutex_);
  closed_ = std::move(why);
}

void DrainGate::open() {
  MutexLock lock(mutex_);
  closed_.reset();
}

Result<DrainGate::Visit> DrainGate::enter() {
  MutexLock lock(mutex_);
  if (closed_) return *closed_;
  ++inside_;
  return Visit(*this);
}

void DrainGate::leave() {
  std::vector<Parker*> ready;
  {
    MutexLock lock(mutex_);
    COMMITD_CHECK(inside_ != 0, "a gate is left more often than it was entered");
    if (--inside_ == 0) ready.swap(waiters_);
  }
  for (Parker* parker : ready) parker->wake();
}

Task<void> DrainGate::drained() {
  Parker parker;
  bool must_wait = false;
  {
    MutexLock lock(mutex_);
    must_wait = inside_ != 0;
    if (must_wait) waiters_.push_back(&parker);
  }
  if (must_wait) co_await parker.park();
}

}  // namespace commitd::replication
