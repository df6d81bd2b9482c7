#include "runtime/reactor.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "runtime/fd_watch.h"
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

// Plain code of one task beside others on the same reactor.
Task<void> compute(int rounds, int& mistakes, int& left) {
  for (int i = 0; i < rounds; ++i) {
    Reactor* const reactor = Reactor::current();
    if (i % 3 == 0) co_await sleep_until(Clock::now());
    const auto thread = std::this_thread::get_id();
    reactor->let_others_go_first();
    mistakes += std::this_thread::get_id() != thread || Reactor::current() != reactor;
  }
  --left;
}

Task<int> compute_beside_each_other(int count, int rounds) {
  int mistakes = 0, left = count;
  for (int i = 0; i < count; ++i) Reactor::current()->spawn(compute(rounds, mistakes, left));
  while (left > 0) co_await sleep_until(Clock::now() + 100us);
  co_return mistakes;
}

TEST(PlainCode, StaysOnItsThreadWhileOthersGoFirst) {
  EXPECT_EQ(run_blocking(compute_beside_each_other(20, 200)), 0);
}

// Two that throw a byte to each other, as long as there is somebody who computes.
Task<void> throw_back(int fd, int& thrown, const bool& over) {
  FdWatch watch(fd);
  char byte = 0;
  while (!over) {
    if (co_await watch.readable(Clock::now() + 10s) == Wake::TimedOut) co_return;
    if (read(fd, &byte, 1) != 1) {
      watch.drained_input();
      continue;
    }
    thrown += send(fd, &byte, 1, MSG_NOSIGNAL) == 1;
  }
}

Task<int> throw_beside_plain_code(int rounds) {
  int ends[2] = {-1, -1}, thrown = 0;
  bool over = false;
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
  Reactor* const reactor = Reactor::current();
  for (const int end : ends) reactor->spawn(throw_back(end, thrown, over));
  EXPECT_EQ(write(ends[0], "x", 1), 1);
  const Deadline patience = Clock::now() + 20s;
  while (thrown < rounds && Clock::now() < patience) reactor->let_others_go_first();
  over = true;
  for (const int end : ends) shutdown(end, SHUT_RDWR);
  co_await sleep_until(Clock::now() + 1ms);
  for (const int end : ends) close(end);
  co_return thrown;
}

TEST(PlainCode, LosesNoEvents) {
  EXPECT_GE(run_blocking(throw_beside_plain_code(1000)), 1000);
}

Task<void> note_the_wake(Parker& parker, std::string& order) {
  co_await parker.park();
  order += "woken ";
}

Task<std::string> note_who_goes_first() {
  std::string order;
  Reactor* const reactor = Reactor::current();
  Parker parker;
  reactor->spawn(note_the_wake(parker, order));
  co_await sleep_until(Clock::now());
  reactor->post([&] { order += "posted "; });
  parker.wake();
  reactor->let_others_go_first();
  order += "back";
  co_return order;
}

TEST(PlainCode, LetsAllOthersGoFirst) {
  EXPECT_EQ(run_blocking(note_who_goes_first()), "woken posted back");
}

Task<void> stop_in_the_middle(bool& came_to_its_end) {
  Reactor* const reactor = Reactor::current();
  bool stopped = false;
  reactor->post([&] {
    reactor->stop();
    stopped = true;
  });
  reactor->let_others_go_first();
  EXPECT_TRUE(stopped);
  reactor->let_others_go_first();
  came_to_its_end = true;
  co_return;
}

// It is not cut off: what it has on its stack would be lost.
TEST(PlainCode, ComesToItsEndBeforeItsReactor) {
  int mistakes = 0, left = 3;
  bool came_to_its_end = false;
  {
    Reactor reactor("stopped");
    for (int i = 0; i < 3; ++i) reactor.spawn(compute(1'000'000, mistakes, left));
    reactor.spawn(stop_in_the_middle(came_to_its_end));
    reactor.run();
  }
  EXPECT_TRUE(came_to_its_end);
  EXPECT_EQ(mistakes, 0);
}

}  // namespace
}  // namespace commitd
