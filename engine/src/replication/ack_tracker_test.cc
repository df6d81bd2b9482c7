#include "replication/ack_tracker.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace commitd::replication {
namespace {

using Voters = AckTracker::Voters;

Uuid server(uint8_t number) {
  Uuid uuid;
  uuid.bytes[0] = number;
  return uuid;
}
LogPosition at(uint64_t offset) {
  return {1, offset};
}

class AckTrackerTest : public ::testing::Test {
 protected:
  LogPosition acknowledged_;
  AckTracker tracker_{[this](LogPosition up_to) {
    EXPECT_GT(up_to, acknowledged_);
    acknowledged_ = up_to;
  }};
};

TEST_F(AckTrackerTest, WaitsForAsManyMembersAsAsked) {
  tracker_.configure(Voters::Members, {0, 2, {server(1), server(2), server(3)}});
  const auto one = tracker_.attach(server(1), at(4));
  const auto two = tracker_.attach(server(2), at(4));
  tracker_.acknowledged(one, at(100));
  EXPECT_EQ(acknowledged_, at(4));
  tracker_.acknowledged(two, at(70));
  EXPECT_EQ(acknowledged_, at(70));
  tracker_.acknowledged(two, at(200));
  EXPECT_EQ(acknowledged_, at(100));
}

TEST_F(AckTrackerTest, StrangersDoNotCount) {
  tracker_.configure(Voters::Members, {0, 1, {server(1)}});
  const auto stranger = tracker_.attach(server(9), at(1000));
  tracker_.acknowledged(stranger, at(2000));
  EXPECT_EQ(acknowledged_, LogPosition{});
  tracker_.configure(Voters::Anybody, {0, 1, {}});
  EXPECT_EQ(acknowledged_, at(2000));
}

TEST_F(AckTrackerTest, WhatAReturningServerHoldsReplacesWhatItOnceHeld) {
  tracker_.configure(Voters::Members, {0, 1, {server(1)}});
  tracker_.attach(server(1), at(100));
  const auto rolled_back = tracker_.attach(server(1), at(10));
  EXPECT_EQ(acknowledged_, at(100));  // never taken back
  EXPECT_TRUE(tracker_.snapshot([] { return at(100); }).holders.empty());
  tracker_.acknowledged(rolled_back, at(100));
  EXPECT_EQ(tracker_.snapshot([] { return at(100); }).holders, std::vector<Uuid>{server(1)});
}

TEST_F(AckTrackerTest, ASupersededSessionIsIgnored) {
  tracker_.configure(Voters::Members, {0, 1, {server(1)}});
  const auto zombie = tracker_.attach(server(1), at(4));
  tracker_.attach(server(1), at(4));
  tracker_.acknowledged(zombie, at(500));
  EXPECT_EQ(acknowledged_, at(4));
  tracker_.detach(zombie);
  EXPECT_EQ(tracker_.snapshot([] { return LogPosition(); }).attached_voters.size(), 1u);
}

TEST_F(AckTrackerTest, NothingCountsWhileStopped) {
  tracker_.configure(Voters::Members, {0, 1, {server(1)}});
  const auto token = tracker_.attach(server(1), at(4));
  tracker_.stop();
  tracker_.acknowledged(token, at(100));
  EXPECT_EQ(acknowledged_, at(4));
  tracker_.configure(Voters::Members, {0, 1, {server(1)}});
  EXPECT_EQ(acknowledged_, at(4)) << "positions of an earlier role were places in another log";
}

TEST_F(AckTrackerTest, WhatAnEarlierEpochLeftCountsOnlyTogetherWithThisEpoch) {
  tracker_.configure(Voters::Members, {0, 1, {server(1)}});
  tracker_.announce_from(at(300));  // the epoch transaction ends there; the inherited tail lies before it
  const auto one = tracker_.attach(server(1), at(200));
  EXPECT_EQ(acknowledged_, LogPosition{});
  tracker_.acknowledged(one, at(299));
  EXPECT_EQ(acknowledged_, LogPosition{});
  tracker_.acknowledged(one, at(300));
  EXPECT_EQ(acknowledged_, at(300));
}

TEST_F(AckTrackerTest, AStricterQuorumTakesNothingBack) {
  tracker_.configure(Voters::Members, {0, 1, {server(1), server(2)}});
  tracker_.attach(server(1), at(100));
  const auto two = tracker_.attach(server(2), at(20));
  EXPECT_EQ(acknowledged_, at(100));
  tracker_.configure(Voters::Members, {1, 2, {server(1), server(2)}});
  tracker_.acknowledged(two, at(90));
  EXPECT_EQ(acknowledged_, at(100));
  tracker_.acknowledged(two, at(100));
  EXPECT_EQ(acknowledged_, at(100));
}

// Against the definition: the greatest position that at least W members hold, over everything seen so far.
TEST_F(AckTrackerTest, AgreesWithTheDefinitionOnRandomHistories) {
  std::mt19937 random(20240611);
  for (int round = 0; round < 200; ++round) {
    acknowledged_ = {};
    tracker_.stop();
    const uint32_t wait_count = 1 + random() % 3;
    const std::vector<Uuid> members = {server(1), server(2), server(3)};
    tracker_.configure(Voters::Members, {0, wait_count, members});
    std::array<uint64_t, 5> held{};
    std::array<AckTracker::Token, 5> tokens{};
    LogPosition expected;
    for (int step = 0; step < 100; ++step) {
      const size_t who = 1 + random() % 4;  // 4 is not a member
      if (tokens[who] == 0 || random() % 10 == 0) {
        held[who] = random() % 1000;
        tokens[who] = tracker_.attach(server(who), at(held[who]));
      } else {
        held[who] = std::max<uint64_t>(held[who], random() % 1000);
        tracker_.acknowledged(tokens[who], at(held[who]));
      }
      std::vector<uint64_t> of_members;
      for (size_t i = 1; i <= 3; ++i) {
        if (tokens[i] != 0) of_members.push_back(held[i]);
      }
      std::sort(of_members.rbegin(), of_members.rend());
      if (of_members.size() >= wait_count) expected = std::max(expected, at(of_members[wait_count - 1]));
      ASSERT_EQ(acknowledged_, expected) << "round " << round << " step " << step;
    }
  }
}

}  // namespace
}  // namespace commitd::replication
