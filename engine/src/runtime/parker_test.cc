#include "runtime/parker.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace commitd {
namespace {

using namespace std::chrono_literals;

Task<Wake> park_on(Parker& parker, Deadline deadline) {
  co_return co_await parker.park(deadline);
}

TEST(Parker, WokenBeforeItParksDoesNotWait) {
  Parker parker;
  parker.wake();
  parker.wake();
  EXPECT_EQ(run_blocking(park_on(parker, kNoDeadline)), Wake::Woken);
}

TEST(Parker, TimesOutWhenNobodyWakesIt) {
  Parker parker;
  EXPECT_EQ(run_blocking(park_on(parker, Clock::now() + 5ms)), Wake::TimedOut);
}

Task<Wake> park_twice(Parker& parker) {
  co_await parker.park();
  parker.reset();
  co_return co_await parker.park(Clock::now() + 5ms);
}

TEST(Parker, AfterAResetItWaitsAgain) {
  Parker parker;
  parker.wake();
  EXPECT_EQ(run_blocking(park_twice(parker)), Wake::TimedOut);
}

TEST(Parker, IsWokenFromAnotherThreadWhileItSleeps) {
  Parker parker;
  std::thread waker([&] {
    std::this_thread::sleep_for(10ms);
    parker.wake();
  });
  EXPECT_EQ(run_blocking(park_on(parker, kNoDeadline)), Wake::Woken);
  waker.join();
}

// A finisher in another thread wakes each parker as soon as it sees it, racing with park() and with the
// time-out. As waiters of the server do, the waiter withdraws its parker under the finisher's lock before it
// goes away.
class Finisher {
 public:
  Finisher() : thread_([this] { run(); }) {}
  ~Finisher() {
    stop_.store(true);
    thread_.join();
  }

  void hand(Parker* parker) {
    std::lock_guard lock(mutex_);
    waiting_ = parker;
  }
  // False when the finisher had taken it already.
  bool withdraw(Parker* parker) {
    std::lock_guard lock(mutex_);
    if (waiting_ != parker) return false;
    waiting_ = nullptr;
    return true;
  }

 private:
  void run() {
    while (!stop_.load()) {
      std::lock_guard lock(mutex_);
      if (!waiting_) continue;
      waiting_->wake();
      waiting_ = nullptr;
    }
  }

  std::mutex mutex_;
  Parker* waiting_ = nullptr;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

struct Outcome {
  int woken = 0, timed_out = 0;
};

Task<Outcome> race(Finisher& finisher, int rounds, std::chrono::nanoseconds patience) {
  Outcome outcome;
  for (int i = 0; i < rounds; ++i) {
    Parker parker;
    finisher.hand(&parker);
    Deadline deadline = patience == patience.max() ? kNoDeadline : Clock::now() + patience;
    Wake how = co_await parker.park(deadline);
    if (how == Wake::Woken) {
      ++outcome.woken;
      // A wake that came is never taken back; the finisher has let go of the parker.
      EXPECT_FALSE(finisher.withdraw(&parker));
    } else {
      ++outcome.timed_out;
      finisher.withdraw(&parker);
    }
  }
  co_return outcome;
}

TEST(Parker, NoWakeIsLostWhenParkAndWakeRace) {
  Finisher finisher;
  constexpr int kRounds = 100'000;
  Outcome outcome = run_blocking(race(finisher, kRounds, std::chrono::nanoseconds::max()));
  EXPECT_EQ(outcome.woken, kRounds);
}

TEST(Parker, WakeAndTimeOutRaceAndTheWaiterRunsOnceEachTime) {
  Finisher finisher;
  constexpr int kRounds = 100'000;
  Outcome outcome = run_blocking(race(finisher, kRounds, 0ns));
  EXPECT_EQ(outcome.woken + outcome.timed_out, kRounds);
}

Task<void> count_when_woken(Parker& parker, std::atomic<int>& count) {
  co_await parker.park();
  count.fetch_add(1);
}

TEST(Parker, OneFinisherWakesWaitersOnSeveralReactors) {
  constexpr int kReactors = 3, kWaiters = 1'000;
  std::vector<Parker> parkers(kReactors * kWaiters);
  std::atomic<int> woken{0};
  std::vector<std::unique_ptr<Reactor>> reactors;
  std::vector<std::thread> threads;
  for (int r = 0; r < kReactors; ++r) {
    reactors.push_back(std::make_unique<Reactor>("test"));
    for (int w = 0; w < kWaiters; ++w) {
      reactors.back()->spawn(count_when_woken(parkers[static_cast<size_t>(r * kWaiters + w)], woken));
    }
    threads.emplace_back([reactor = reactors.back().get()] { reactor->run(); });
  }
  for (auto& parker : parkers) parker.wake();
  while (woken.load() != kReactors * kWaiters) std::this_thread::yield();
  for (auto& reactor : reactors) reactor->stop();
  for (auto& thread : threads) thread.join();
}

}  // namespace
}  // namespace commitd
