// What the source makes of what its replicas tell: places of its own log and its own clock, here the test's.
#include "replication/replica_progress.h"

#include <gtest/gtest.h>

namespace commitd::replication {
namespace {

using namespace std::chrono_literals;
using Token = ReplicaProgress::Token;

const Uuid kOne = *Uuid::parse("11111111-0000-0000-0000-000000000000");
const Uuid kOther = *Uuid::parse("22222222-0000-0000-0000-000000000000");

class Progress : public ::testing::Test {
 protected:
  void SetUp() override { progress.begin(100ms); }

  Clock::time_point at(std::chrono::milliseconds after) const { return Clock::time_point(1h) + after; }
  ReplicaProgress::Look look(uint64_t end, std::chrono::milliseconds after) {
    return progress.look({1, end}, 1.0, at(after));
  }
  double lag(uint64_t end, std::chrono::milliseconds after) {
    const auto seen = look(end, after);
    return seen.slowest ? seen.slowest->reading.lag : -1;
  }

  ReplicaProgress progress{
      [](LogPosition from, LogPosition to) { return to <= from ? 0 : to.offset - from.offset; }};
};

TEST_F(Progress, TheLagIsTheAgeOfTheOldestThatIsNotApplied) {
  const Token one = progress.attach(kOne, {1, 1000});
  look(1000, 0ms);
  progress.marked(one, 1, {1, 1000});
  progress.told(one, 1, true, at(10ms));
  EXPECT_EQ(lag(1000, 100ms), 0) << "it has all of it";
  look(2000, 200ms);
  progress.marked(one, 2, {1, 2000});
  look(3000, 300ms);
  progress.marked(one, 3, {1, 3000});
  progress.told(one, 1, true, at(350ms));
  EXPECT_DOUBLE_EQ(lag(3000, 500ms), 0.3);
  progress.told(one, 2, true, at(550ms));
  EXPECT_DOUBLE_EQ(lag(3000, 600ms), 0.3) << "what was found at 300 ms is the oldest now";
  progress.told(one, 3, true, at(650ms));
  EXPECT_EQ(lag(3000, 700ms), 0);
}

TEST_F(Progress, WhoDoesNotAnswerDoesNotCount) {
  const Token one = progress.attach(kOne, {1, 0});
  look(0, 0ms);
  EXPECT_EQ(look(1000, 100ms).counted, 0u) << "it has never answered";
  progress.told(one, 0, true, at(200ms));
  EXPECT_EQ(look(1000, 300ms).counted, 1u);
  EXPECT_EQ(look(1000, 200ms + ReplicaProgress::kSilence).counted, 0u) << "it stands";
  progress.told(one, 0, true, at(5s));
  EXPECT_EQ(look(1000, 5100ms).counted, 1u) << "it is back";
  progress.told(one, 0, false, at(5200ms));
  EXPECT_EQ(look(1000, 5300ms).counted, 0u) << "its applier is stopped";
  progress.told(one, 0, true, at(5400ms));
  EXPECT_EQ(look(1000, 5500ms).counted, 1u);
  progress.detach(one);
  EXPECT_EQ(look(1000, 5600ms).counted, 0u) << "it is gone";
  progress.told(one, 0, true, at(5700ms));
  EXPECT_EQ(look(1000, 5800ms).counted, 0u);
}

TEST_F(Progress, TheSlowestCounts) {
  const Token one = progress.attach(kOne, {1, 0}), other = progress.attach(kOther, {1, 0});
  for (int i = 1; i <= 10; ++i) {
    const uint64_t end = 1000 * static_cast<uint64_t>(i);
    for (const Token token : {one, other}) progress.marked(token, static_cast<uint64_t>(i), {1, end});
    look(end, i * 100ms);
    progress.told(one, static_cast<uint64_t>(i) - 1, true, at(i * 100ms));
    progress.told(other, static_cast<uint64_t>(i) / 3, true, at(i * 100ms));
  }
  const auto seen = look(10000, 1100ms);
  EXPECT_EQ(seen.counted, 2u);
  ASSERT_TRUE(seen.slowest);
  EXPECT_EQ(seen.slowest->server, kOther);
  EXPECT_DOUBLE_EQ(seen.slowest->reading.waiting, 7000);
  EXPECT_DOUBLE_EQ(seen.slowest->reading.lag, 0.7);
  EXPECT_NEAR(seen.slowest->reading.written, 10000, 1500);
  EXPECT_NEAR(seen.slowest->reading.applied, 3300, 1500);
}

TEST_F(Progress, APaceIsSeenOnlyWhileThereIsSomethingToApply) {
  const Token one = progress.attach(kOne, {1, 0});
  progress.marked(one, 1, {1, 900'000});  // passed over: it had that
  progress.told(one, 1, true, at(0ms));
  look(900'000, 0ms);
  for (int i = 1; i <= 20; ++i) {
    const uint64_t end = 900'000 + 1000 * static_cast<uint64_t>(i);
    progress.marked(one, 1 + static_cast<uint64_t>(i), {1, end});
    look(end, i * 100ms);
    progress.told(one, static_cast<uint64_t>(i), true, at(i * 100ms));
  }
  const auto seen = look(920'000, 2100ms);
  ASSERT_TRUE(seen.slowest);
  EXPECT_NEAR(seen.slowest->reading.applied, 10'000, 1000);
  progress.told(one, 21, true, at(2200ms));
  look(920'000, 2300ms);
  EXPECT_NEAR(look(920'000, 9900ms).slowest.value_or(ReplicaProgress::Replica{}).reading.applied, 0, 0)
      << "nobody counts who has been silent";
  progress.told(one, 21, true, at(9900ms));
  EXPECT_NEAR(look(920'000, 10s).slowest->reading.applied, 10'000, 1000) << "idle: the pace is as it was";
}

TEST_F(Progress, APaceThatComesInStepsIsTheSame) {
  const Token one = progress.attach(kOne, {1, 0});
  progress.marked(one, 1, {1, 0});
  progress.told(one, 1, true, at(0ms));
  for (uint64_t mark = 2; mark <= 12; ++mark) progress.marked(one, mark, {1, 4000 * (mark - 1)});
  look(44'000, 0ms);
  for (int i = 1; i <= 40; ++i) {
    if (i % 4 == 0) progress.told(one, 1 + static_cast<uint64_t>(i) / 4, true, at(i * 100ms));
    const auto seen = look(44'000, i * 100ms);
    if (i < 5) continue;
    ASSERT_TRUE(seen.slowest);
    EXPECT_NEAR(seen.slowest->reading.applied, 10'000, 1) << i;
  }
  // Then it stands.
  progress.told(one, 11, true, at(5900ms));
  EXPECT_NEAR(look(44'000, 6s).slowest->reading.applied, 2500, 1);
}

TEST_F(Progress, WhatWasThereBeforeTheFirstLookIsAsOldAsThat) {
  const Token one = progress.attach(kOne, {1, 0});
  look(5000, 1s);
  progress.told(one, 0, true, at(1100ms));
  EXPECT_DOUBLE_EQ(lag(5000, 1200ms), 0.2);
}

TEST_F(Progress, ALogThatBeginsAnewHasOtherPlaces) {
  const Token one = progress.attach(kOne, {1, 8000});
  look(9000, 0ms);
  progress.detach(one);
  const Token again = progress.attach(kOne, {1, 4});
  look(4, 100ms);
  progress.told(again, 0, true, at(150ms));
  EXPECT_EQ(lag(4, 200ms), 0);
  look(500, 300ms);
  EXPECT_DOUBLE_EQ(lag(500, 500ms), 0.2);
}

TEST_F(Progress, SwitchedOffNobodyCountsAndSwitchedOnAgainWhoeverAnswers) {
  const Token one = progress.attach(kOne, {1, 0});
  progress.marked(one, 1, {1, 100});
  progress.told(one, 0, true, at(0ms));
  EXPECT_EQ(look(1000, 100ms).counted, 1u);
  progress.end();
  EXPECT_FALSE(progress.is_on());
  progress.begin(100ms);
  EXPECT_EQ(look(1'000'000, 200ms).counted, 0u);
  progress.told(one, 0, true, at(300ms));
  EXPECT_EQ(look(1'000'000, 400ms).counted, 1u);
}

TEST_F(Progress, AReplicaThatStandsForLongCostsLittleMemoryAndItsLagGoesOn) {
  const Token one = progress.attach(kOne, {1, 0});
  look(0, 0ms);
  for (int i = 1; i <= 50'000; ++i) {
    progress.marked(one, static_cast<uint64_t>(i), {1, static_cast<uint64_t>(i)});
    look(static_cast<uint64_t>(i), i * 100ms);
  }
  progress.told(one, 0, true, at(5000s));
  EXPECT_NEAR(lag(50'000, 5000s), 5000, 10);
  progress.told(one, 25'000, true, at(5000s));
  EXPECT_NEAR(lag(50'000, 5000s), 2500, 30);
}

}  // namespace
}  // namespace commitd::replication
