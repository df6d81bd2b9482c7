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

// Of transactions that begin at 100, 200 … in file `name`.000009: how many are let through.
int let_through(const sql::ApplyUntil& until, const std::string& name = "binlog") {
  UntilCount count(until, {});
  int many = 0;
  for (uint64_t begin = 100; begin < 600; begin += 100)
    many += count.lets_through({kSource, begin}, {name + ".000009", begin, begin + 100}) ? 1 : 0;
  EXPECT_EQ(count.is_over(), many != 5);
  return many;
}

TEST(UntilCount, StopsInFrontOfWhatBeginsAtAPlace) {
  const auto until = [](const char* file, uint64_t position) {
    return sql::ApplyUntil{Kind::SourcePlace, {}, file, position};
  };
  EXPECT_EQ(let_through(until("binlog.000009", 300)), 2);
  EXPECT_EQ(let_through(until("binlog.000009", 301)), 3) << "one that it is inside of is taken as a whole";
  EXPECT_EQ(let_through(until("binlog.000009", 4)), 0);
  EXPECT_EQ(let_through(until("binlog.000008", 900)), 0);
  EXPECT_EQ(let_through(until("binlog.1000000", 4)), 5) << "later, though its name is less as a text";
}

TEST(UntilCount, IsOverBehindTheLastThatIsLetThrough) {
  UntilCount count({Kind::SourcePlace, {}, "binlog.000009", 200}, {});
  EXPECT_TRUE(count.lets_through({kSource, 1}, {"binlog.000009", 100, 200}));
  EXPECT_TRUE(count.is_over()) << "without the next one";
  UntilCount there({Kind::SourcePlace, {}, "binlog.000009", 200}, {});
  there.begins_at("binlog.000009", 199);
  EXPECT_FALSE(there.is_over());
  there.begins_at("binlog.000009", 200);
  EXPECT_TRUE(there.is_over());
}

TEST(UntilCount, ThereAreNoGaps) {
  EXPECT_EQ(let_through({Kind::AfterGaps, {}}), 0);
}

}  // namespace
}  // namespace commitd::replication
