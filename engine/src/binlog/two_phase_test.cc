// commitd_durability=xa: prepared in the engine, then logged, then committed; what recovery does with those a
// crash caught in between.
#include <gtest/gtest.h>

#include <algorithm>

#include "binlog/testing/pipeline_fixture.h"

namespace commitd::binlog {
namespace {

using namespace testing;
using commitd::testing::Loss;
using commitd::testing::RecordingFileSystem;

class TwoPhase : public ::testing::Test {
 protected:
  struct Moment {
    size_t step;
    FakeEngine::State state;
  };
  struct Answered {
    size_t step;
    Gtid gtid;
    uint64_t id;
  };

  void start(CommitPipeline::Gate gate = CommitPipeline::Gate::Immediate) {
    server_.engine.own_log = true;
    server_.engine.on_commit = [this](const FakeEngine::State& state) {
      moments_.push_back({fs_.steps(), state});
    };
    ASSERT_TRUE(server_.open_and_start().ok());
    server_.pipeline->set_gate(gate);
  }
  std::shared_ptr<Pending<Committed>> begin(Commit what) {
    return server_.begin_commit(reactors_[what.id], std::move(what));
  }
  static std::string key(uint64_t id) { return orders_image(orders_table(), id, ""); }

  // The engine's states: its own log is synced before prepare and commit return.
  std::vector<Moment> moments_{{0, {}}};
  RecordingFileSystem fs_;
  Server server_{fs_};
  Reactors reactors_{2};
};

TEST_F(TwoPhase, TheEngineHasATransactionBeforeTheLogDoes) {
  start();
  const size_t before = fs_.steps();
  ASSERT_TRUE(begin({1})->get().status.ok());
  const auto prepared = std::find_if(moments_.begin(), moments_.end(),
                                     [](const Moment& one) { return !one.state.prepared.empty(); });
  ASSERT_NE(prepared, moments_.end());
  EXPECT_EQ(prepared->step, before) << "something was written to the log before the engine was asked";
  EXPECT_TRUE(prepared->state.keys.empty()) << "what is prepared is visible to nobody";
  EXPECT_EQ(server_.engine.state().keys, std::vector{key(1)});
  EXPECT_TRUE(server_.engine.state().prepared.empty());
}

TEST_F(TwoPhase, WhatDoesNotGetIntoTheLogIsRolledBack) {
  start();
  ASSERT_TRUE(begin({1})->get().status.ok());
  fs_.fail_writes_beyond(0);
  EXPECT_EQ(begin({2})->get().status.error().code, er::kDiskFull);
  EXPECT_TRUE(server_.engine.state().prepared.empty());
  fs_.fail_writes_beyond(UINT64_MAX);
  const Committed third = begin({3})->get();
  EXPECT_EQ(third.gtid.gno, 2u);
  EXPECT_EQ(server_.engine.state().keys, (std::vector{key(1), key(3)}));
}

TEST_F(TwoPhase, WhatIsCutOffTheLogIsRolledBack) {
  start(CommitPipeline::Gate::Gated);
  auto first = begin({1});
  eventually([&] { return server_.pipeline->gtid_logged().count() == 1; });
  EXPECT_EQ(server_.engine.recover().size(), 1u);
  server_.pipeline->close_to_local_commits(make_error(er::kServerShutdown, "closed"));
  EXPECT_EQ(*server_.pipeline->cut_unacknowledged({}), 1u);
  EXPECT_FALSE(first->get().status.ok());
  EXPECT_TRUE(server_.engine.recover().empty());
}

// A crash at every operation on the log, with the engine in the state it had made durable by then.
TEST_F(TwoPhase, RecoveryCommitsWhatTheLogHasAndRollsBackTheRest) {
  start();
  std::vector<Answered> answered;
  for (uint64_t id = 1; id <= 12; ++id) {
    Commit what{id};
    what.ship = id % 4 != 3;
    if (id == 6) what.statement = "CREATE TABLE six (i INT)";
    const Committed committed = begin(what)->get();
    ASSERT_TRUE(committed.status.ok());
    answered.push_back({fs_.steps(), committed.gtid, id});
  }
  server_.stop();
  const std::vector<std::string> keys = server_.engine.state().keys;
  size_t rolled_back = 0, committed_prepared = 0;
  for (size_t step = 0; step <= fs_.steps(); ++step) {
    // Every state the engine was in while the log stood at this step.
    for (const Moment& moment : moments_) {
      if (moment.step > step) break;
      const auto next = std::find_if(moments_.begin(), moments_.end(),
                                     [&](const Moment& one) { return one.step > moment.step; });
      if (next != moments_.end() && next->step <= step) continue;
      for (unsigned seed = 0; seed < 4; ++seed) {
        auto disk = fs_.after_crash(step, seed == 0 ? Loss::DropAll : Loss::Random, step * 4 + seed);
        Server again(*disk, moment.state);
        again.engine.own_log = true;
        ASSERT_TRUE(again.open().ok()) << step;
        auto report = again.pipeline->replay(again.report.end);
        ASSERT_TRUE(report.ok()) << step << ": " << report.error().message;
        rolled_back += report->rolled_back_prepared;
        committed_prepared += report->committed_prepared;
        ASSERT_TRUE(again.engine.recover().empty()) << step;
        ASSERT_EQ(again.pipeline->gtid_executed(), again.pipeline->gtid_logged()) << step;
        const auto found = again.engine.state().keys;
        ASSERT_LE(found.size(), keys.size());
        ASSERT_TRUE(std::equal(found.begin(), found.end(), keys.begin())) << step;
        const auto due = std::count_if(answered.begin(), answered.end(),
                                       [step](const Answered& one) { return one.step <= step; });
        ASSERT_GE(found.size(), static_cast<size_t>(due)) << "acknowledged and lost at step " << step;
      }
    }
  }
  EXPECT_GT(rolled_back, 0u);
  EXPECT_GT(committed_prepared, 0u);
}

}  // namespace
}  // namespace commitd::binlog
