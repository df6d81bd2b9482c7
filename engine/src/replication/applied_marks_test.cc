#include "replication/applied_marks.h"

#include <gtest/gtest.h>

namespace commitd::replication {
namespace {

TEST(AppliedMarks, AMarkIsAppliedOnceEverythingInFrontOfItIs) {
  AppliedMarks marks;
  EXPECT_FALSE(marks.is_wanted());
  marks.came(1, 0);
  EXPECT_TRUE(marks.is_wanted());
  marks.came(2, 3);
  marks.came(3, 5);
  marks.durable(0, {1, 100});
  EXPECT_EQ(marks.applied({1, 50}, false), 0u)
      << "what was here before the stream began is in front of it, too";
  EXPECT_EQ(marks.applied({1, 100}, false), 1u);
  marks.durable(4, {1, 240});
  EXPECT_EQ(marks.applied({1, 239}, false), 1u);
  marks.durable(5, {1, 300});
  EXPECT_EQ(marks.applied({1, 240}, false), 2u) << "where the log ended then is enough";
  EXPECT_EQ(marks.applied({2, 0}, false), 3u);
  EXPECT_EQ(marks.applied({2, 0}, false), 3u);
}

TEST(AppliedMarks, WhereNothingIsLeftToApplyTheLogsEndDoesNotMatter) {
  AppliedMarks marks;
  marks.came(1, 2);
  marks.durable(2, {2, 150});  // a file that was just begun
  EXPECT_EQ(marks.applied({1, 900}, false), 0u);
  EXPECT_EQ(marks.applied({1, 900}, true), 1u);
  marks.came(2, 3);
  EXPECT_EQ(marks.applied({1, 900}, true), 1u) << "one is still on its way into the log";
}

TEST(AppliedMarks, ASourceThatWantsNoMoreIsForgotten) {
  AppliedMarks marks;
  marks.came(1, 0);
  marks.came(0, 0);
  EXPECT_FALSE(marks.is_wanted());
  marks.durable(0, {1, 1});
  EXPECT_EQ(marks.applied({9, 9}, true), 0u);
  marks.came(7, 0);
  marks.durable(0, {1, 1});
  EXPECT_EQ(marks.applied({9, 9}, true), 7u);
}

TEST(AppliedMarks, HoweverLongItLastsSomeAreRemembered) {
  AppliedMarks marks;
  for (uint64_t i = 1; i <= 100'000; ++i) {
    marks.came(i, i);
    marks.durable(i, {1, i});
  }
  const uint64_t half = marks.applied({1, 50'000}, false);
  EXPECT_LE(half, 50'000u);
  EXPECT_GE(half, 49'000u);
  EXPECT_EQ(marks.applied({1, 100'000}, false), 100'000u);
}

}  // namespace
}  // namespace commitd::replication
