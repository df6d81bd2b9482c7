// Mutexes whose rules the compiler checks: clang's -Wthread-safety, an error in the asan preset. The
// attributes are Abseil's (absl/base/thread_annotations.h).
//   Mutex mutex_;
//   int count_ ABSL_GUARDED_BY(mutex_) = 0;
//   void add() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);  // instead of "the caller holds the mutex"
//   void drain() ABSL_LOCKS_EXCLUDED(mutex_);          // takes it itself
//   MutexLock lock(mutex_);                            // also of an observe::Mutex
//   while (count_ == 0) changed_.wait(lock);           // no predicates: a lambda is a function that holds
//   nothing
// std::lock_guard and std::unique_lock are not seen by the check: what is guarded is reached by these only.
#pragma once

#include <absl/base/thread_annotations.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <shared_mutex>

namespace commitd {

class ABSL_LOCKABLE Mutex {
 public:
  void lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() { mutex_.lock(); }
  bool try_lock() ABSL_EXCLUSIVE_TRYLOCK_FUNCTION(true) { return mutex_.try_lock(); }
  void unlock() ABSL_UNLOCK_FUNCTION() { mutex_.unlock(); }
  // For what the check cannot follow, a callback for instance. It believes this; nothing is looked at.
  void assert_held() const ABSL_ASSERT_EXCLUSIVE_LOCK() {}

  std::mutex& plain() { return mutex_; }

 private:
  std::mutex mutex_;
};

// Held from its making to its end, but for what is between unlock() and lock().
template <class AnyMutex>
class ABSL_SCOPED_LOCKABLE MutexLock {
 public:
  explicit MutexLock(AnyMutex& mutex) ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex) : lock_(mutex) {}
  ~MutexLock() ABSL_UNLOCK_FUNCTION() = default;
  MutexLock(const MutexLock&) = delete;

  void lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() { lock_.lock(); }
  void unlock() ABSL_UNLOCK_FUNCTION() { lock_.unlock(); }

  std::unique_lock<AnyMutex>& standard() { return lock_; }

 private:
  std::unique_lock<AnyMutex> lock_;
};

template <class AnyMutex>
class ABSL_SCOPED_LOCKABLE SharedLock {
 public:
  explicit SharedLock(AnyMutex& mutex) ABSL_SHARED_LOCK_FUNCTION(mutex) : lock_(mutex) {}
  ~SharedLock() ABSL_UNLOCK_FUNCTION() = default;
  SharedLock(const SharedLock&) = delete;

 private:
  std::shared_lock<AnyMutex> lock_;
};

// The lock is given up while it waits, and held again behind it: for the check it was held all the time.
class CondVar {
 public:
  void notify_one() { condition_.notify_one(); }
  void notify_all() { condition_.notify_all(); }

  void wait(MutexLock<Mutex>& lock) {
    with_plain(lock, [this](auto& plain) { condition_.wait(plain); });
  }
  template <class Clock, class Duration>
  std::cv_status wait_until(MutexLock<Mutex>& lock,
                            const std::chrono::time_point<Clock, Duration>& deadline) {
    std::cv_status status{};
    with_plain(lock, [&](auto& plain) { status = condition_.wait_until(plain, deadline); });
    return status;
  }
  template <class Rep, class Period>
  std::cv_status wait_for(MutexLock<Mutex>& lock, const std::chrono::duration<Rep, Period>& time) {
    return wait_until(lock, std::chrono::steady_clock::now() + time);
  }

 private:
  template <class Wait>
  void with_plain(MutexLock<Mutex>& lock, Wait wait) {
    std::unique_lock plain(lock.standard().mutex()->plain(), std::adopt_lock);
    wait(plain);
    plain.release();
  }

  std::condition_variable condition_;
};

}  // namespace commitd
