// commitd_gtid_persister: what is walked with append_only, and that nothing is with merged.
#include "commit/gtid_persister.h"

#include <chrono>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "observe/metrics.h"

namespace commitd::binlog {
namespace {

const Uuid kServer = *Uuid::parse("11111111-1111-1111-1111-111111111111");

class GtidPersisterTest : public ::testing::Test {
 protected:
  static uint64_t count_of(const char* name) { return observe::counter(name, "").value(); }
  static uint64_t calls() { return count_of("commitd_gtid_persister_calls_total"); }
  static uint64_t passed() { return count_of("commitd_gtid_persister_intervals_passed_total"); }
  static double intervals() { return observe::gauge("commitd_gtid_persister_intervals", "").value(); }

  void take(uint64_t gno, bool changes_nothing = false) {
    GtidSet changing;
    if (!changes_nothing) changing.add({kServer, gno});
    executed_.add({kServer, gno});
    persister_.taken(changing);
  }
  // One by one: what comes during a call shares the next one.
  void take_and_wait(uint64_t gno) {
    const uint64_t before = calls();
    take(gno);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (calls() == before && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    ASSERT_EQ(calls(), before + 1);
  }

  GtidSet executed_;
  const std::shared_ptr<storage::GtidSettings> settings_ = std::make_shared<storage::GtidSettings>();
  GtidPersister persister_{settings_, [this] { return executed_; }};
};

TEST_F(GtidPersisterTest, MergedItDoesNothing) {
  const uint64_t before = passed();
  for (uint64_t gno = 1; gno < 1000; gno += 2) take(gno);
  settings_->persister_appends = true;
  take_and_wait(1001);  // behind any other call, and with a list that has it by now
  EXPECT_EQ(passed() - before, 501u);
}

TEST_F(GtidPersisterTest, EachCallWalksOverAllGaps) {
  settings_->persister_appends = true;
  take_and_wait(1);  // what is executed by now is there
  uint64_t before = passed(), gno = 3;
  const auto passed_by_100 = [&] {
    for (int i = 0; i < 100; ++i, gno += 2) take_and_wait(gno);
    return passed() - std::exchange(before, passed());
  };
  const uint64_t first = passed_by_100();
  const uint64_t second = passed_by_100();
  EXPECT_GE(first, 100u * 100);  // 50 intervals on average, twice
  EXPECT_GE(second, 100u * 300);
}

TEST_F(GtidPersisterTest, WhatChangesNothingLeavesItsGap) {
  settings_->persister_appends = true;
  take_and_wait(1);
  for (uint64_t gno = 2; gno <= 21; ++gno) {
    if (gno % 2 == 0) {
      take(gno, true);
    } else {
      take_and_wait(gno);
    }
  }
  EXPECT_EQ(executed_.interval_count(), 1u);
  EXPECT_EQ(intervals(), 11);
}

TEST_F(GtidPersisterTest, BackAndForthItBeginsWithWhatIsExecuted) {
  settings_->persister_appends = true;
  take_and_wait(1);
  for (uint64_t gno = 3; gno < 41; gno += 2) take_and_wait(gno);
  settings_->persister_appends = false;
  const uint64_t before = calls();
  for (uint64_t gno = 2; gno < 41; gno += 2) take(gno);
  EXPECT_EQ(calls(), before);
  EXPECT_EQ(intervals(), 0);
  settings_->persister_appends = true;
  take_and_wait(41);
  take_and_wait(43);
  EXPECT_EQ(intervals(), 2);
}

}  // namespace
}  // namespace commitd::binlog
