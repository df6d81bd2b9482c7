// std::mutex, std::shared_mutex and std::condition_variable that count what they make threads wait: drop-in
// types with a name.
//   observe::Mutex mutex{"wait/synch/mutex/sql/MYSQL_BIN_LOG::LOCK_commit"};
// An acquisition that finds the mutex free is counted without a look at the clock. Those who guard data with
// ABSL_GUARDED_BY take them by MutexLock and SharedLock (base/mutex.h).
#pragma once

#include <condition_variable>
#include <mutex>
#include <shared_mutex>

#include "base/mutex.h"
#include "observe/wait_events.h"

namespace commitd::observe {

class ABSL_LOCKABLE Mutex {
 public:
  explicit Mutex(std::string_view event_name) : event_(event_name) {}
  // For many mutexes of one kind, made often.
  explicit Mutex(const WaitEvent& event) : event_(event) {}
  Mutex(const Mutex&) = delete;

  void lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() {
    if (!wait_events_on()) return mutex_.lock();
    if (mutex_.try_lock()) return event_.passed();
    const WaitTimer timer(event_);
    mutex_.lock();
  }
  bool try_lock() ABSL_EXCLUSIVE_TRYLOCK_FUNCTION(true) {
    const bool locked = mutex_.try_lock();
    if (locked && wait_events_on()) event_.passed();
    return locked;
  }
  void unlock() ABSL_UNLOCK_FUNCTION() { mutex_.unlock(); }

  void assert_held() const ABSL_ASSERT_EXCLUSIVE_LOCK() {}  // as commitd::Mutex::assert_held()

  std::mutex& plain() { return mutex_; }

 private:
  std::mutex mutex_;
  const WaitEvent event_;
};

class ABSL_LOCKABLE SharedMutex {
 public:
  explicit SharedMutex(std::string_view event_name) : event_(event_name) {}
  SharedMutex(const SharedMutex&) = delete;

  void lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() {
    if (!wait_events_on()) return mutex_.lock();
    if (mutex_.try_lock()) return event_.passed();
    const WaitTimer timer(event_);
    mutex_.lock();
  }
  void unlock() ABSL_UNLOCK_FUNCTION() { mutex_.unlock(); }
  void lock_shared() ABSL_SHARED_LOCK_FUNCTION() {
    if (!wait_events_on()) return mutex_.lock_shared();
    if (mutex_.try_lock_shared()) return event_.passed();
    const WaitTimer timer(event_);
    mutex_.lock_shared();
  }
  void unlock_shared() ABSL_UNLOCK_FUNCTION() { mutex_.unlock_shared(); }

 private:
  std::shared_mutex mutex_;
  const WaitEvent event_;
};

// For threads that wait for work as well as for those that wait for each other: every wait is counted and
// timed.
class Condition {
 public:
  explicit Condition(std::string_view event_name) : event_(event_name) {}

  void notify_one() { condition_.notify_one(); }
  void notify_all() { condition_.notify_all(); }

  void wait(std::unique_lock<Mutex>& lock) {
    with_plain(lock, [this](auto& plain) { condition_.wait(plain); });
  }
  void wait(MutexLock<Mutex>& lock) { wait(lock.standard()); }
  template <class Time>
  std::cv_status wait_until(MutexLock<Mutex>& lock, const Time& deadline) {
    return wait_until(lock.standard(), deadline);
  }
  template <class Duration>
  std::cv_status wait_for(MutexLock<Mutex>& lock, const Duration& time) {
    return wait_for(lock.standard(), time);
  }
  template <class Predicate>
  void wait(std::unique_lock<Mutex>& lock, Predicate ready) {
    while (!ready()) wait(lock);
  }
  template <class Clock, class Duration>
  std::cv_status wait_until(std::unique_lock<Mutex>& lock,
                            const std::chrono::time_point<Clock, Duration>& deadline) {
    std::cv_status status{};
    with_plain(lock, [&](auto& plain) { status = condition_.wait_until(plain, deadline); });
    return status;
  }
  template <class Clock, class Duration, class Predicate>
  bool wait_until(std::unique_lock<Mutex>& lock, const std::chrono::time_point<Clock, Duration>& deadline,
                  Predicate ready) {
    while (!ready()) {
      if (wait_until(lock, deadline) == std::cv_status::timeout) return ready();
    }
    return true;
  }
  template <class Rep, class Period>
  std::cv_status wait_for(std::unique_lock<Mutex>& lock, const std::chrono::duration<Rep, Period>& time) {
    return wait_until(lock, std::chrono::steady_clock::now() + time);
  }
  template <class Rep, class Period, class Predicate>
  bool wait_for(std::unique_lock<Mutex>& lock, const std::chrono::duration<Rep, Period>& time,
                Predicate ready) {
    return wait_until(lock, std::chrono::steady_clock::now() + time, std::move(ready));
  }

 private:
  template <class Wait>
  void with_plain(std::unique_lock<Mutex>& lock, Wait wait) {
    const WaitTimer timer(event_);
    std::unique_lock plain(lock.mutex()->plain(), std::adopt_lock);
    wait(plain);
    plain.release();
  }

  std::condition_variable condition_;
  const WaitEvent event_;
};

}  // namespace commitd::observe
