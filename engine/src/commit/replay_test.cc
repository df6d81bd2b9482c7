// What a start finds in engine and log must fit together; where it does not, nothing is changed.
#include <gtest/gtest.h>

#include "commit/testing/pipeline_test.h"
#include "observe/metrics.h"

namespace commitd::binlog {
namespace {

using namespace testing;

class Replay : public PipelineTest {
 protected:
  // Three transactions, and where each ends.
  void SetUp() override {
    start();
    for (const uint64_t id : {1, 2, 3}) {
      const Committed committed = commit({id});
      ASSERT_TRUE(committed.status.ok());
      ends_.push_back(committed.end);
    }
    server_.stop();
    whole_ = server_.engine.state();
  }
  Status replay(FakeEngine::State state) {
    Server again(fs_, std::move(state));
    COMMITD_RETURN_IF_ERROR(again.open());
    auto replayed = again.pipeline->replay(again.report.end);
    return replayed.ok() ? Status{} : Status(std::move(replayed).error());
  }
  FakeEngine::State state_at(LogPosition position, const GtidSet& executed) {
    FakeEngine::State state = whole_;
    state.point.position = position;
    state.point.executed = executed;
    return state;
  }
  static std::string at(LogPosition position) {
    return fmt::format("offset {} of 'binlog.000001'", position.offset);
  }

  std::vector<LogPosition> ends_;
  FakeEngine::State whole_;
};

TEST_F(Replay, DataThatFitsTheLogIsTaken) {
  EXPECT_TRUE(replay(whole_).ok());
  EXPECT_TRUE(replay(state_at(ends_[0], gnos(server_a(), 1, 1))).ok());
  EXPECT_TRUE(replay(FakeEngine::State{}).ok());
}

TEST_F(Replay, DataThatLacksWhatStandsInFrontOfItsPositionIsRefused) {
  const Status refused = replay(state_at(ends_[1], gnos(server_a(), 1, 1)));
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find(at(ends_[1])), std::string::npos) << refused.error().message;
  EXPECT_NE(refused.error().message.find(server_a().to_string() + ":2"), std::string::npos)
      << refused.error().message;
}

TEST_F(Replay, DataThatHasWhatStandsBehindItsPositionIsRefused) {
  const FakeEngine::State state = state_at(ends_[0], gnos(server_a(), 1, 2));
  const Status refused = replay(state);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("already"), std::string::npos) << refused.error().message;
  EXPECT_NE(refused.error().message.find(at(ends_[0])), std::string::npos) << refused.error().message;
  // With binlog_order_commits=OFF it may, and says how far.
  FakeEngine::State in_any_order = state;
  in_any_order.point.incomplete_up_to = ends_[1];
  EXPECT_TRUE(replay(in_any_order).ok());
  const observe::Gauge& ahead = observe::gauge("commitd_recovery_ahead_transactions", "");
  EXPECT_EQ(ahead.value(), 1) << "seed 004: what a crash without an order leaves behind what is missing";
  EXPECT_TRUE(replay(state_at(ends_[0], gnos(server_a(), 1, 1))).ok());
  EXPECT_EQ(ahead.value(), 0);
}

using ReplayDeathTest = Replay;

// The replay starts a thread, which the thread sanitizer does not allow behind the fork of a process with
// threads.
TEST_F(ReplayDeathTest, NothingThatIsExecutedStaysPrepared) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  FakeEngine::State state = whole_;
  state.prepared[{server_a(), 2}] = encode_write_set({});
  EXPECT_DEATH((void)replay(state), "is prepared behind a start");
}

}  // namespace
}  // namespace commitd::binlog
