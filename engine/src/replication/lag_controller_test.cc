// A source and a replica of which only the pace is known, and the rate that lies between them.
#include "replication/lag_controller.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

namespace commitd::replication {
namespace {

constexpr double kLook = 0.1, kLimit = 1.0, kSpan = 0.5;  // seconds, as LagThrottle has them for that limit

// What is written waits until the replica has taken it, at its own pace. News of that is two looks old.
class World {
 public:
  std::optional<double> rate;
  double lag = 0, worst = 0;
  double written = 0, applied = 0;  // bytes, all in all

  // `wish` and `pace`: bytes per second, by the time.
  void run(double seconds, const std::function<double(double)>& wish,
           const std::function<double(double)>& pace) {
    for (double end = now_ + seconds; now_ < end; now_ += kLook) step(wish(now_), pace(now_));
  }

 private:
  void step(double wish, double pace) {
    const double writes = rate ? std::min(*rate, wish) : wish;
    written += writes * kLook;
    const double applies = std::min(written - applied, pace * kLook);
    applied += applies;
    written_by_.push_back(written);
    applied_by_.push_back(applied);
    const double known = applied_by_[applied_by_.size() - std::min<size_t>(3, applied_by_.size())];
    const auto lacks = std::upper_bound(written_by_.begin(), written_by_.end(), known + 1e-6);
    lag = static_cast<double>(written_by_.end() - lacks) * kLook;
    worst = std::max(worst, lag);
    LagReading reading;
    reading.lag = lag;
    reading.waiting = written - known;
    if (reading.waiting > 0) follow(pace_, (known - known_before_) / kLook);
    known_before_ = known;
    follow(writes_, writes);
    reading.applied = pace_;
    reading.written = writes_;
    rate = next_rate(rate, reading, kLimit, kLook);
  }
  static void follow(double& average, double latest) {
    average += (latest - average) * (1 - std::exp(-kLook / kSpan));
  }

  double now_ = 0, known_before_ = 0, pace_ = 0, writes_ = 0;
  std::vector<double> written_by_, applied_by_;
};

std::function<double(double)> always(double value) {
  return [value](double) { return value; };
}

TEST(LagController, AReplicaThatKeepsUpSlowsNobody) {
  World world;
  world.run(20, always(1e6), always(5e6));
  EXPECT_FALSE(world.rate);
  EXPECT_DOUBLE_EQ(world.written, 20e6);
  // Nor does a load that comes and goes, as long as it can take it.
  world.run(
      60, [](double now) { return std::fmod(now, 2) < 1 ? 4e6 : 1e4; }, always(5e6));
  EXPECT_FALSE(world.rate);
}

TEST(LagController, WritersThatAreFasterGoAsFastAsTheReplicaAndTheLagStaysWithinItsLimit) {
  for (const double times : {1.2, 2.0, 5.0, 20.0}) {
    World world;
    world.run(30, always(times * 1e6), always(1e6));
    const double written_at_first = world.written;
    world.worst = 0;
    world.run(60, always(times * 1e6), always(1e6));
    ASSERT_TRUE(world.rate) << times;
    EXPECT_LE(world.worst, 1.2 * kLimit) << times;
    EXPECT_NEAR((world.written - written_at_first) / 60, 1e6, 0.1e6) << times << ": nothing is given away";
  }
}

TEST(LagController, ABurstIsNoticedBeforeItsAgeTells) {
  World world;
  world.run(10, always(0.9e6), always(1e6));
  world.run(20, always(3e6), always(1e6));
  EXPECT_LE(world.worst, 2 * kLimit);
}

TEST(LagController, BesideAReplicaThatStandsWritersGoOnAtTheLeastRate) {
  World world;
  world.run(10, always(1e6), always(5e6));
  world.run(20, always(1e6), always(0));
  EXPECT_EQ(world.rate, kLeastRate);
  const double before = world.written;
  world.run(10, always(1e6), always(0));
  EXPECT_NEAR(world.written - before, 10 * kLeastRate, kLeastRate);
  // It goes on: writers are let go step by step, and soon.
  world.run(15, always(1e6), always(5e6));
  EXPECT_FALSE(world.rate);
}

TEST(LagController, HoweverFarAReplicaIsBehindWritersHaveHalfOfItsPace) {
  LagReading reading;
  reading.lag = 3600;
  reading.waiting = 1e12;
  reading.applied = 1e6;
  reading.written = 1e6;
  std::optional<double> rate;
  for (int i = 0; i < 100; ++i) rate = next_rate(rate, reading, kLimit, kLook);
  EXPECT_DOUBLE_EQ(*rate, 0.5e6);
}

TEST(LagController, NobodyIsSlowedWhoWouldNotReachTheRate) {
  World world;
  world.run(20, always(3e6), always(1e6));
  ASSERT_TRUE(world.rate);
  world.run(20, always(0), always(1e6));
  EXPECT_FALSE(world.rate);
}

TEST(LagController, APaceThatIsNotKnownYetLeavesTheAge) {
  LagReading reading;
  reading.waiting = 1e9;
  reading.lag = 0.3;
  EXPECT_DOUBLE_EQ(seconds_behind(reading, kLimit), 0.3);
  reading.applied = 1e9;
  EXPECT_DOUBLE_EQ(seconds_behind(reading, kLimit), 1.0);
  EXPECT_DOUBLE_EQ(seconds_behind(reading, 2 * kLimit), 0.3) << "so little that nothing is wrong yet";
  reading.lag = 2;
  EXPECT_DOUBLE_EQ(seconds_behind(reading, kLimit), 2.0);
}

}  // namespace
}  // namespace commitd::replication
