// A rate for commits: who waits, for how long, and what ends a wait.
#include "commit/commit_throttle.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <thread>
#include <vector>

#include "base/error_codes.h"
#include "runtime/reactor.h"

namespace commitd::binlog {
namespace {

using namespace std::chrono_literals;

const TokenBucket::Time kStart{1h};

TEST(TokenBucket, WhoComesFirstPassesAndWhoComesNextPaysForHim) {
  TokenBucket bucket;
  bucket.set_rate(1000, kStart);
  EXPECT_EQ(bucket.free_at(kStart), kStart);
  EXPECT_TRUE(bucket.take(100, kStart));
  EXPECT_FALSE(bucket.take(1, kStart));
  const auto paid = bucket.free_at(kStart);
  EXPECT_GE(paid, kStart + 50ms) << "some may have been saved up";
  EXPECT_LE(paid, kStart + 100ms);
  EXPECT_FALSE(bucket.take(1, paid - 2ms));
  EXPECT_TRUE(bucket.take(1, paid));
}

TEST(TokenBucket, InTheLongRunAsMuchPassesAsTheRateSays) {
  TokenBucket bucket;
  bucket.set_rate(1'000'000, kStart);
  uint64_t passed = 0;
  auto now = kStart;
  for (; now < kStart + 10s; now = std::max(now + 10us, bucket.free_at(now))) {
    if (bucket.take(777, now)) passed += 777;
  }
  EXPECT_NEAR(static_cast<double>(passed), 10e6, 0.1e6);
}

TEST(TokenBucket, ALargeOneKeepsNobodyWaitingForMoreThanASecond) {
  TokenBucket bucket;
  bucket.set_rate(1000, kStart);
  EXPECT_TRUE(bucket.take(1ull << 40, kStart));
  EXPECT_EQ(bucket.free_at(kStart), kStart + 1s);
  bucket.set_rate(10, kStart + 500ms);
  EXPECT_LE(bucket.free_at(kStart + 500ms), kStart + 1500ms) << "at a lower rate, too";
  EXPECT_TRUE(bucket.take(1, kStart + 1500ms));
}

TEST(TokenBucket, LittleIsSavedUp) {
  TokenBucket bucket;
  bucket.set_rate(1000, kStart);
  EXPECT_TRUE(bucket.take(51, kStart + 1h));
  EXPECT_FALSE(bucket.take(1, kStart + 1h));
}

class Throttle : public ::testing::Test {
 public:
  struct Writer {
    std::atomic<bool> killed{false};
    std::string outcome = "waits";
  };
  static Task<void> write(CommitThrottle& throttle, Writer& writer, uint64_t bytes) {
    const Status passed = co_await throttle.pass(bytes, writer.killed);
    writer.outcome = passed.ok() ? "ok" : std::to_string(passed.error().code);
  }
  // On this test's own reactor: when it comes back, whoever was spawned has run until he waits.
  static Task<void> let_run() { co_await sleep_until(Clock::now() + 1ms); }
  static Task<void> until_it_passes(const Writer& writer) {
    while (writer.outcome == "waits") co_await sleep_until(Clock::now() + 1ms);
  }
  void spawn(Writer& writer, uint64_t bytes = 100) {
    Reactor::current()->spawn(write(throttle, writer, bytes));
  }
  // From here on whoever comes waits for a second at least.
  Task<void> owe() {
    throttle.set_rate(1000);
    std::atomic<bool> killed{false};
    EXPECT_TRUE((co_await throttle.pass(1'000'000, killed)).ok());
  }

  CommitThrottle throttle;
  Writer first, second, third;
};

TEST_F(Throttle, WithoutARateNobodyWaits) {
  EXPECT_FALSE(throttle.is_on());
  run_blocking([](Throttle* test) -> Task<void> {
    test->spawn(test->first, 1ull << 40);
    test->spawn(test->second, 1ull << 40);
    co_await let_run();
  }(this));
  EXPECT_EQ(first.outcome + second.outcome, "okok");
  EXPECT_EQ(throttle.waits(), 0u);
}

TEST_F(Throttle, TheyPassInTheOrderInWhichTheyCame) {
  run_blocking([](Throttle* test) -> Task<void> {
    const auto began = Clock::now();
    co_await test->owe();
    EXPECT_TRUE(test->throttle.is_on());
    for (Writer* writer : {&test->first, &test->second, &test->third}) test->spawn(*writer);
    co_await let_run();
    EXPECT_EQ(test->throttle.waiting(), 3u);
    co_await until_it_passes(test->first);
    EXPECT_EQ(test->second.outcome + test->third.outcome, "waitswaits");
    co_await until_it_passes(test->second);
    EXPECT_EQ(test->third.outcome, "waits");
    co_await until_it_passes(test->third);
    EXPECT_GE(Clock::now() - began, 1200ms);  // a second, and what the first two cost
    EXPECT_EQ(test->throttle.waits(), 3u);
    EXPECT_GE(test->throttle.waited_ns(), 3'000'000'000u);
    EXPECT_EQ(test->throttle.waiting(), 0u);
  }(this));
}

TEST_F(Throttle, NobodyOvertakes) {
  run_blocking([](Throttle* test) -> Task<void> {
    co_await test->owe();
    test->spawn(test->first);
    co_await let_run();
    std::this_thread::sleep_for(
        1100ms);  // nothing is owed any more, and its reactor has not told the first one
    std::atomic<bool> killed{false};
    EXPECT_TRUE((co_await test->throttle.pass(1, killed)).ok());
    EXPECT_EQ(test->first.outcome, "ok");
  }(this));
}

TEST_F(Throttle, WithoutARateAnyMoreAllGoOnAtOnce) {
  run_blocking([](Throttle* test) -> Task<void> {
    co_await test->owe();
    for (Writer* writer : {&test->first, &test->second, &test->third}) test->spawn(*writer);
    co_await let_run();
    EXPECT_EQ(test->throttle.waiting(), 3u);
    test->throttle.set_rate(std::nullopt);
    co_await let_run();
    EXPECT_EQ(test->first.outcome + test->second.outcome + test->third.outcome, "okokok");
  }(this));
}

TEST_F(Throttle, AHigherRateIsForThoseWhoWaitToo) {
  run_blocking([](Throttle* test) -> Task<void> {
    co_await test->owe();
    test->throttle.set_rate(10);
    for (Writer* writer : {&test->first, &test->second}) test->spawn(*writer, 36'000);  // an hour's worth
    co_await let_run();
    test->throttle.set_rate(1e9);
    co_await let_run();
    EXPECT_EQ(test->first.outcome, "ok");
    co_await until_it_passes(test->second);
  }(this));
}

TEST_F(Throttle, WhoIsKilledHasNotPassedAndTheNextOneIsFirst) {
  run_blocking([](Throttle* test) -> Task<void> {
    co_await test->owe();
    for (Writer* writer : {&test->first, &test->second, &test->third}) test->spawn(*writer);
    co_await let_run();
    test->third.killed = true;
    test->throttle.wake_killed();
    co_await let_run();
    EXPECT_EQ(test->third.outcome, std::to_string(er::kQueryInterrupted));
    EXPECT_EQ(test->first.outcome + test->second.outcome, "waitswaits");
    test->first.killed = true;
    test->throttle.wake_killed();
    co_await let_run();
    EXPECT_EQ(test->first.outcome, std::to_string(er::kQueryInterrupted));
    EXPECT_EQ(test->second.outcome, "waits");
    co_await until_it_passes(test->second);
    EXPECT_EQ(test->second.outcome, "ok");
  }(this));
}

TEST_F(Throttle, WhoIsKilledBeforeHeWaitsDoesNotWait) {
  run_blocking([](Throttle* test) -> Task<void> {
    co_await test->owe();
    test->first.killed = true;
    test->spawn(test->first);
    co_await let_run();
    EXPECT_EQ(test->first.outcome, std::to_string(er::kQueryInterrupted));
  }(this));
}

TEST_F(Throttle, WhereCommitsAreRefusedNobodyWaitsForThat) {
  run_blocking([](Throttle* test) -> Task<void> {
    co_await test->owe();
    for (Writer* writer : {&test->first, &test->second}) test->spawn(*writer);
    co_await let_run();
    test->throttle.close();
    co_await let_run();
    EXPECT_EQ(test->first.outcome + test->second.outcome, "okok");
    co_await test->owe();
    test->spawn(test->third);
    co_await let_run();
    EXPECT_EQ(test->third.outcome, "ok") << "nor whoever comes now";
    test->throttle.open();
    test->third.outcome = "waits";
    co_await test->owe();
    test->spawn(test->third);
    co_await let_run();
    EXPECT_EQ(test->third.outcome, "waits");
    co_await until_it_passes(test->third);
  }(this));
}

// Each on a thread with a reactor of its own, beside one who sets rates, closes, opens and kills: nobody is
// forgotten.
TEST_F(Throttle, FromManyThreadsWhileEverythingChanges) {
  constexpr int kWriters = 4, kPasses = 200;
  std::array<std::atomic<bool>, kWriters> killed{};
  std::atomic<int> passed{0}, refused{0};
  std::vector<std::thread> writers;
  for (int i = 0; i < kWriters; ++i) {
    writers.emplace_back([this, &flag = killed[static_cast<size_t>(i)], &passed, &refused] {
      for (int pass = 0; pass < kPasses; ++pass) {
        const Status status = run_blocking(throttle.pass(500, flag));
        ++(status.ok() ? passed : refused);
        flag = false;
      }
    });
  }
  for (int round = 0; passed + refused < kWriters * kPasses; ++round) {
    throttle.set_rate(round % 5 == 4 ? std::nullopt : std::optional(100'000.0 * (1 + round % 3)));
    if (round % 7 == 0) throttle.close();
    if (round % 7 == 1) throttle.open();
    killed[static_cast<size_t>(round % kWriters)] = round % 3 == 0;
    throttle.wake_killed();
    std::this_thread::sleep_for(1ms);
  }
  for (auto& writer : writers) writer.join();
  EXPECT_EQ(passed + refused, kWriters * kPasses);
  EXPECT_EQ(throttle.waiting(), 0u);
}

}  // namespace
}  // namespace commitd::binlog
