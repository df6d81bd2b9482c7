#include "replication/received_queue.h"

#include <gtest/gtest.h>

namespace commitd::replication {
namespace {

const Uuid kSource = Uuid::random();

ReceivedEntry entry(uint64_t gno, LogPosition end, uint64_t committed_at) {
  ReceivedEntry one;
  one.gtid = {kSource, gno};
  one.end = end;
  one.committed_at = committed_at;
  return one;
}

class ReceivedQueueTest : public ::testing::Test {
 protected:
  void SetUp() override {
    queue_.note(entry(1, {1, 100}, 10));
    queue_.note(entry(2, {1, 200}, 30));
    queue_.note(entry(3, {2, 50}, 20));
  }
  uint64_t next() const { return queue_.next() ? queue_.next()->gtid.gno : 0; }
  uint64_t last_applied() const { return queue_.last_applied() ? queue_.last_applied()->gtid.gno : 0; }

  ReceivedQueue queue_;
};

TEST_F(ReceivedQueueTest, KnowsWhatIsNextAndWhatWasLast) {
  EXPECT_EQ(next(), 1u);
  EXPECT_EQ(last_applied(), 0u);
  queue_.trim({1, 199});
  EXPECT_EQ(next(), 2u);
  EXPECT_EQ(last_applied(), 1u);
  queue_.trim({2, 50});
  EXPECT_EQ(next(), 0u);
  EXPECT_EQ(last_applied(), 3u);
  EXPECT_EQ(queue_.newest()->gtid.gno, 3u);
}

// In the log's order: one that was committed early waits for those in front.
TEST_F(ReceivedQueueTest, LetsThroughOnlyWhatStandsInFrontOfAllThatIsNotDue) {
  const auto end = [this](uint64_t time, LogPosition before) {
    return queue_.end_of_those(before, [time](const ReceivedEntry& one) { return one.committed_at <= time; });
  };
  EXPECT_EQ(end(9, {1, 4}), (LogPosition{1, 4}));
  EXPECT_EQ(end(29, {1, 4}), (LogPosition{1, 100}));
  EXPECT_EQ(end(30, {1, 4}), (LogPosition{2, 50}));
  EXPECT_EQ(end(20, {1, 200}), (LogPosition{2, 50})) << "what is applied is not asked";
}

TEST_F(ReceivedQueueTest, ForgetsWhatWasCut) {
  queue_.cut({1, 150});
  EXPECT_FALSE(queue_.find({kSource, 2}));
  EXPECT_EQ(queue_.find({kSource, 1}), (LogPosition{1, 100}));
  queue_.note(entry(9, {1, 180}, 40));
  EXPECT_EQ(queue_.newest()->gtid.gno, 9u);
  queue_.trim({1, 100});
  EXPECT_EQ(next(), 9u);
}

TEST_F(ReceivedQueueTest, ATransactionThatCameTwiceCountsOnce) {
  queue_.note(entry(3, {2, 50}, 20));
  queue_.trim({1, 200});
  EXPECT_EQ(next(), 3u);
  queue_.trim({2, 50});
  EXPECT_EQ(next(), 0u);
  queue_.note(entry(3, {2, 50}, 20));
  EXPECT_EQ(next(), 0u) << "though it is applied";
}

TEST_F(ReceivedQueueTest, StandsWhereTheNewestSaysThatItStands) {
  EXPECT_EQ(queue_.stand().file, "");
  ReceivedEntry placed = entry(4, {2, 90}, 40);
  placed.source_file = "binlog.000007";
  placed.source_begin = 300;
  placed.source_position = 400;
  queue_.note(placed);
  queue_.note(entry(5, {2, 120}, 40));  // one that does not say so
  EXPECT_EQ(queue_.stand().file, "binlog.000007");
  EXPECT_EQ(queue_.stand().position, 400u);
  EXPECT_EQ(queue_.stand().as_of, (LogPosition{2, 90}));
  queue_.trim({2, 120});
  EXPECT_EQ(queue_.stand().position, 400u);
  queue_.begin_at({"binlog.000001", 4, {2, 120}}, {2, 120});
  EXPECT_EQ(queue_.stand().file, "binlog.000001");
  EXPECT_EQ(queue_.last_applied()->source_file, "binlog.000001");
  EXPECT_TRUE(queue_.last_applied()->gtid.empty());
}

// Ten transactions, each of 10 bytes, in a queue for four.
class FullReceivedQueueTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (uint64_t gno = 1; gno <= 10; ++gno) queue_.note(of_log(gno));
  }
  static ReceivedEntry of_log(uint64_t gno) { return entry(gno, {1, 10 * gno}, gno); }
  // As whoever reads the log behind what is remembered.
  void read_again() {
    const auto begin = queue_.left_out_behind();
    if (!begin) return;
    for (uint64_t gno = begin->offset / 10 + 1; gno <= logged_ && queue_.note_left_out(of_log(gno)); ++gno) {
    }
  }
  uint64_t let_through() const {
    return queue_.end_of_those({1, 4}, [](const ReceivedEntry&) { return true; }).offset / 10;
  }

  ReceivedQueue queue_{4};
  uint64_t logged_ = 10;
};

TEST_F(FullReceivedQueueTest, RemembersTheFirstAndKnowsTheNewest) {
  EXPECT_EQ(let_through(), 4u);
  EXPECT_EQ(queue_.newest()->gtid.gno, 10u);
  EXPECT_EQ(queue_.find({kSource, 10}), (LogPosition{1, 100}));
  EXPECT_EQ(queue_.find({kSource, 3}), (LogPosition{1, 30}));
  EXPECT_FALSE(queue_.find({kSource, 7}));
  EXPECT_EQ(queue_.remembered_end(), (LogPosition{1, 40}));
  queue_.trim({1, 10});
  EXPECT_FALSE(queue_.left_out_behind()) << "not for one at a time";
}

TEST_F(FullReceivedQueueTest, TakesTheOthersInAsThereIsRoom) {
  queue_.trim({1, 20});
  EXPECT_EQ(queue_.left_out_behind(), (LogPosition{1, 40}));
  read_again();
  EXPECT_EQ(let_through(), 6u);
  queue_.trim({1, 60});
  EXPECT_EQ(queue_.last_applied()->gtid.gno, 6u);
  read_again();
  EXPECT_EQ(let_through(), 10u);
  EXPECT_FALSE(queue_.remembered_end());
  queue_.trim({1, 80});
  queue_.note(of_log(11));
  EXPECT_EQ(let_through(), 11u) << "nothing is left out any more";
}

TEST_F(FullReceivedQueueTest, MayBeEmptyBeforeTheOthersAreRead) {
  queue_.trim({1, 70});
  EXPECT_FALSE(queue_.next());
  EXPECT_EQ(queue_.left_out_behind(), (LogPosition{1, 40}));
  read_again();
  queue_.trim({1, 70});
  EXPECT_EQ(queue_.next()->gtid.gno, 8u);
  EXPECT_EQ(queue_.last_applied()->gtid.gno, 7u);
}

TEST_F(FullReceivedQueueTest, WhatIsCutIsNotReadAgain) {
  queue_.cut({1, 60});
  logged_ = 6;
  queue_.trim({1, 20});
  read_again();
  EXPECT_EQ(let_through(), 6u);
  EXPECT_EQ(queue_.newest()->gtid.gno, 6u);
  queue_.note(entry(20, {1, 65}, 20));
  EXPECT_EQ(queue_.newest()->gtid.gno, 20u);
  EXPECT_EQ(queue_.remembered_end(), (LogPosition{1, 60})) << "it is full again";
}

TEST_F(FullReceivedQueueTest, ACutWithinWhatIsRememberedLeavesNothingOut) {
  queue_.cut({1, 30});
  EXPECT_FALSE(queue_.remembered_end());
  queue_.note(entry(20, {1, 35}, 20));
  EXPECT_EQ(queue_.newest()->gtid.gno, 20u);
}

}  // namespace
}  // namespace commitd::replication
