#include "runtime/reactor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "runtime/parker.h"

namespace commitd {
namespace {

using namespace std::chrono_literals;

Task<int> answer() {
  co_return 42;
}

Task<int> sum_of_answers(int times) {
  int sum = 0;
  for (int i = 0; i < times; ++i) sum += co_await answer();
  co_return sum;
}

TEST(Task, AMillionAwaitsThatNeverSuspendNeedNoMoreStackThanOne) {
  EXPECT_EQ(run_blocking(sum_of_answers(1'000'000)), 42'000'000);
}

Task<int> sum_after_sleeping(int times) {
  int sum = 0;
  for (int i = 0; i < times; ++i) {
    co_await sleep_until(Clock::now());
    sum += co_await answer();
  }
  co_return sum;
}

TEST(Task, ManyAwaitsThatSuspendNeedNoMoreStackThanOne) {
  EXPECT_EQ(run_blocking(sum_after_sleeping(100'000)), 4'200'000);
}

Task<int> throwing() {
  throw std::runtime_error("from inside");
  co_return 0;
}

Task<bool> catches() {
  try {
    co_await throwing();
  } catch (const std::runtime_error&) {
    co_return true;
  }
  co_return false;
}

TEST(Task, AnExceptionReachesTheAwaitingCoroutine) {
  EXPECT_TRUE(run_blocking(catches()));
}

Task<void> append_after(Deadline deadline, int value, std::vector<int>& into) {
  co_await sleep_until(deadline);
  into.push_back(value);
}

Task<std::vector<int>> sleep_in_wrong_order() {
  std::vector<int> woken;
  Deadline now = Clock::now();
  for (int i : {5, 1, 4, 2, 3, 0}) Reactor::current()->spawn(append_after(now + i * 5ms, i, woken));
  co_await sleep_until(now + 60ms);
  co_return woken;
}

TEST(Reactor, SleepersWakeInTheOrderOfTheirDeadlines) {
  EXPECT_EQ(run_blocking(sleep_in_wrong_order()), (std::vector<int>{0, 1, 2, 3, 4, 5}));
}

// A reactor on a thread of its own.
class RunningReactor {
 public:
  RunningReactor() : reactor_(std::make_unique<Reactor>("test")), thread_([this] { reactor_->run(); }) {}
  ~RunningReactor() {
    reactor_->stop();
    thread_.join();
  }
  Reactor& operator*() { return *reactor_; }
  Reactor* operator->() { return reactor_.get(); }

 private:
  std::unique_ptr<Reactor> reactor_;
  std::thread thread_;
};

TEST(Reactor, WorkPostedFromManyThreadsRunsOnceAndInEachThreadsOrder) {
  constexpr int kThreads = 4, kEach = 20'000;
  std::vector<std::vector<int>> seen(kThreads);
  std::atomic<int> left{kThreads * kEach};
  {
    RunningReactor reactor;
    std::vector<std::thread> posters;
    for (int t = 0; t < kThreads; ++t) {
      posters.emplace_back([&, t] {
        for (int i = 0; i < kEach; ++i) {
          reactor->post([&, t, i] {
            seen[static_cast<size_t>(t)].push_back(i);
            left.fetch_sub(1);
          });
        }
      });
    }
    for (auto& poster : posters) poster.join();
    while (left.load() != 0) std::this_thread::yield();
  }
  for (const auto& of_one_thread : seen) {
    ASSERT_EQ(of_one_thread.size(), static_cast<size_t>(kEach));
    EXPECT_TRUE(std::is_sorted(of_one_thread.begin(), of_one_thread.end()));
  }
}

TEST(Reactor, AnIdleReactorIsWokenByEachLonelyPost) {
  RunningReactor reactor;
  for (int i = 0; i < 2'000; ++i) {
    std::atomic<bool> ran{false};
    reactor->post([&] {
      EXPECT_EQ(Reactor::current(), &*reactor);
      ran.store(true);
    });
    while (!ran.load()) std::this_thread::yield();
  }
}

struct SetsOnEnd {
  bool* flag;
  ~SetsOnEnd() { *flag = true; }
};

Task<void> wait_for_ever(std::unique_ptr<SetsOnEnd> held) {
  Parker nobody;
  co_await nobody.park(Clock::now() + 1h);
  (void)held;
}

TEST(Reactor, CoroutinesThatStillWaitAreDestroyedWithTheirReactor) {
  bool started = false, ended = false;
  {
    Reactor reactor("test");
    reactor.spawn(wait_for_ever(std::unique_ptr<SetsOnEnd>(new SetsOnEnd{&ended})));
    reactor.post([&] {
      started = true;
      reactor.stop();
    });
    reactor.run();
    EXPECT_FALSE(ended);
  }
  EXPECT_TRUE(started);
  EXPECT_TRUE(ended);
}

TEST(Reactor, ATaskThatNeverStartedIsDestroyedToo) {
  bool ended = false;
  {
    Reactor reactor("test");
    reactor.spawn(wait_for_ever(std::unique_ptr<SetsOnEnd>(new SetsOnEnd{&ended})));
  }
  EXPECT_TRUE(ended);
}

TEST(Reactor, RunBlockingNestsInsideAReactor) {
  Reactor reactor("outer");
  int result = 0;
  reactor.post([&] {
    result = run_blocking(sum_of_answers(2));
    EXPECT_EQ(Reactor::current(), &reactor);
    reactor.stop();
  });
  reactor.run();
  EXPECT_EQ(result, 84);
}

}  // namespace
}  // namespace commitd
