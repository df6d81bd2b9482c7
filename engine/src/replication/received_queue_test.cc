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
  EXPECT_EQ(queue_.beyond({1, 100}).size(), 1u);
}

TEST_F(ReceivedQueueTest, ATransactionThatCameTwiceCountsOnce) {
  queue_.note(entry(3, {2, 50}, 20));
  EXPECT_EQ(queue_.beyond({}).size(), 3u);
}

}  // namespace
}  // namespace commitd::replication
