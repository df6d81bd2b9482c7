#include "replication/source_lease.h"

#include <gtest/gtest.h>

#include "replication/ack_tracker.h"

namespace commitd::replication {
namespace {

using std::chrono::milliseconds;

const Clock::time_point kStart{std::chrono::hours(1)};
Clock::time_point at(int milliseconds_later) {
  return kStart + milliseconds(milliseconds_later);
}

TEST(SourceLease, WithoutALengthItAlwaysHolds) {
  SourceLease lease;
  EXPECT_TRUE(lease.holds(at(0)));
  lease.begin(milliseconds(0));
  EXPECT_TRUE(lease.holds(at(1'000'000)));
  EXPECT_FALSE(lease.is_limited());
}

TEST(SourceLease, ItHoldsForItsLengthFromTheQuestionThatWasAnswered) {
  SourceLease lease;
  lease.begin(milliseconds(100));
  EXPECT_FALSE(lease.holds(at(0))) << "nobody has been heard";
  lease.heard(at(50));
  EXPECT_TRUE(lease.holds(at(149)));
  EXPECT_FALSE(lease.holds(at(150)));
  lease.heard(at(40));  // an older answer takes nothing back
  EXPECT_TRUE(lease.holds(at(149)));
  lease.heard(at(200));
  EXPECT_TRUE(lease.holds(at(299)));
  lease.end();
  EXPECT_TRUE(lease.holds(at(1'000)));
  lease.begin(milliseconds(100));
  EXPECT_FALSE(lease.holds(at(250))) << "a mastership has nothing of the one before";
}

TEST(SourceLease, AnotherQuorumOfTheSameMastershipKeepsWhatHoldsForNoLongerThanItsOwnLength) {
  SourceLease lease;
  lease.begin(milliseconds(0));
  lease.change(milliseconds(100), at(10));
  EXPECT_TRUE(lease.holds(at(109)));
  EXPECT_FALSE(lease.holds(at(110)));
  lease.change(milliseconds(200), at(15));
  EXPECT_TRUE(lease.holds(at(109)));
  EXPECT_FALSE(lease.holds(at(110))) << "nobody has been heard";
  lease.change(milliseconds(50), at(20));
  EXPECT_TRUE(lease.holds(at(69)));
  EXPECT_FALSE(lease.holds(at(70))) << "the former, longer one is not waited for any more";
  lease.heard(at(70));
  EXPECT_TRUE(lease.holds(at(119)));
  EXPECT_FALSE(lease.holds(at(120)));
  lease.change(milliseconds(0), at(130));
  EXPECT_TRUE(lease.holds(at(131)));
}

TEST(SourceLease, AsManyMembersAsAcknowledgeMustHaveAnswered) {
  AckTracker tracker([](LogPosition) {});
  const Uuid first = Uuid::random(), second = Uuid::random(), stranger = Uuid::random();
  tracker.configure(AckTracker::Voters::Members, {0, 2, sorted_uuids({first, second})});
  const auto a = tracker.attach(first, {}), b = tracker.attach(second, {}), c = tracker.attach(stranger, {});
  EXPECT_EQ(tracker.heard(a, at(10)), std::nullopt);
  EXPECT_EQ(tracker.heard(c, at(11)), std::nullopt) << "no member";
  EXPECT_EQ(tracker.heard(b, at(12)), at(10));
  EXPECT_EQ(tracker.heard(a, at(20)), at(12));
  tracker.attach(second, {});
  EXPECT_EQ(tracker.heard(b, at(30)), std::nullopt)
      << "another session has taken its place, and said nothing";
  tracker.configure(AckTracker::Voters::Members, {1, 1, sorted_uuids({first, second})});
  EXPECT_EQ(tracker.heard(a, at(40)), at(40));
  tracker.stop();
  EXPECT_EQ(tracker.heard(a, at(50)), std::nullopt);
}

}  // namespace
}  // namespace commitd::replication
