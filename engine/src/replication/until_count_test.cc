#include "replication/until_count.h"

#include <gtest/gtest.h>

namespace commitd::replication {
namespace {

using Kind = sql::ApplyUntil::Kind;

const Uuid kSource = *Uuid::parse("11111111-0000-0000-0000-000000000000");

GtidSet numbers(const std::string& intervals) {
  return *GtidSet::parse(kSource.to_string() + ":" + intervals);
}

// The last of the numbers 5 to 9 that is let through; 4 if none.
uint64_t last_of(Kind kind, const std::string& until, const GtidSet& executed = numbers("1-4")) {
  UntilCount count({kind, numbers(until)}, executed);
  uint64_t last = 4;
  for (uint64_t gno = 5; gno < 10 && count.lets_through({kSource, gno}); ++gno) last = gno;
  EXPECT_EQ(count.is_over(), last != 9) << until;
  return last;
}

TEST(UntilCount, StopsInFrontOfTheFirstOfASet) {
  EXPECT_EQ(last_of(Kind::BeforeGtids, "7-8"), 6u);
  EXPECT_EQ(last_of(Kind::BeforeGtids, "20"), 9u);
  EXPECT_EQ(last_of(Kind::BeforeGtids, "3:8"), 4u) << "one of them is executed already";
}

TEST(UntilCount, StopsBehindTheLastOfASet) {
  EXPECT_EQ(last_of(Kind::AfterGtids, "7"), 7u);
  EXPECT_EQ(last_of(Kind::AfterGtids, "2:8:6"), 8u);
  EXPECT_EQ(last_of(Kind::AfterGtids, "8:20"), 9u) << "one of them has not come yet";
  EXPECT_EQ(last_of(Kind::AfterGtids, "2-3"), 4u) << "all of them are executed already";
}

// What is executed may be ahead of what is asked next.
TEST(UntilCount, TakesWhatIsExecutedAheadForLetThrough) {
  EXPECT_EQ(last_of(Kind::AfterGtids, "6:8", numbers("1-6")), 8u);
}

}  // namespace
}  // namespace commitd::replication
