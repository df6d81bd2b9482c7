#include "gtid/interval_list.h"

#include <random>

#include <gtest/gtest.h>

namespace commitd {
namespace {

const Uuid kA = *Uuid::parse("3e11fa47-71ca-11e1-9e33-c80aa9429562");
const Uuid kB = *Uuid::parse("4e11fa47-71ca-11e1-9e33-c80aa9429562");

TEST(IntervalList, HasWhatTheSetHas) {
  std::mt19937 random(3);
  GtidSet set;
  IntervalList list;
  for (int step = 0; step < 500; ++step) {
    GtidSet written;
    for (uint64_t i = 0; i <= random() % 3; ++i) {
      const uint64_t start = 1 + random() % 200;
      written.add_interval(random() % 2 == 0 ? kA : kB, start, start + 1 + random() % 3);
    }
    list.persist(written);
    set.add(written);
    ASSERT_EQ(list.to_set(), set);
    ASSERT_EQ(list.interval_count(), set.interval_count());
    ASSERT_EQ(IntervalList(set).to_set(), set);
  }
}

// What the seed saw: with a gap before each, the 25th thousand costs 25 times what the first does.
TEST(IntervalList, EachCallWalksTheWholeList) {
  IntervalList list;
  std::vector<uint64_t> walked(3);
  for (uint64_t i = 0; i < 3000; ++i) {
    GtidSet written;
    written.add({kA, 2 * i + 1});
    walked[i / 1000] += list.persist(written);
  }
  EXPECT_EQ(walked[0], 2u * (999 * 1000 / 2)) << "two walks over 0 to 999 intervals";
  EXPECT_EQ(walked[2], walked[0] + 2u * 2000 * 1000);
}

TEST(IntervalList, WithoutGapsItStaysShort) {
  IntervalList list;
  uint64_t walked = 0;
  for (uint64_t gno = 1; gno <= 1000; ++gno) {
    GtidSet written;
    written.add({kA, gno});
    walked += list.persist(written);
  }
  EXPECT_EQ(list.interval_count(), 1u);
  EXPECT_LE(walked, 2000u);
}

}  // namespace
}  // namespace commitd
