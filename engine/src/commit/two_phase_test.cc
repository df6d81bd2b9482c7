// commitd_durability=xa: prepared in the engine, then logged, then committed; what recovery does with those a
// crash caught in between.
#include <gtest/gtest.h>

#include <algorithm>

#include "commit/testing/pipeline_fixture.h"

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
  const std::shared_ptr<CommitSettings> settings_ = std::make_shared<CommitSettings>();
  Server server_{fs_, {}, {.settings = settings_}};
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

TEST_F(TwoPhase, WhatFindsNoRoomToBePreparedIsRefusedAndItsNumberGivenAgain) {
  start();
  server_.engine.lack_room_for(FakeEngine::Step::Prepare);
  const size_t before = fs_.steps();
  EXPECT_EQ(begin({1})->get().status.error().code, er::kDiskFull);
  EXPECT_EQ(fs_.steps(), before) << "nothing of it is in the log";
  EXPECT_FALSE(server_.pipeline->failure().has_value());
  server_.engine.have_room();
  EXPECT_EQ(begin({2})->get().gtid.gno, 1u);
  EXPECT_EQ(server_.engine.state().keys, std::vector{key(2)});
}

TEST_F(TwoPhase, WhatIsReceivedWithoutRoomToPrepareIsTriedAgain) {
  start();
  server_.engine.lack_room_for(FakeEngine::Step::Prepare);
  std::atomic<int> durable = 0;
  server_.pipeline->append_received(received_from(server_b(), 1, 7), {server_b(), 1},
                                    [&durable](LogPosition) { ++durable; });
  eventually([&] { return server_.engine.steps_without_room() > 0; });
  EXPECT_EQ(durable, 0);
  server_.engine.have_room();
  eventually([&] { return durable == 1 && server_.engine.state().keys == std::vector{key(7)}; });
}

// Logged, so nothing is taken back; and taken into the engine once, however often it is tried.
TEST_F(TwoPhase, WhatIsLoggedWaitsForRoomInTheEngine) {
  for (const auto step : {FakeEngine::Step::Commit, FakeEngine::Step::MakeDurable}) {
    RecordingFileSystem fs;
    Server server(fs, {}, {.settings = settings_});
    server.engine.own_log = true;
    ASSERT_TRUE(server.open_and_start().ok());
    server.engine.lack_room_for(step);
    auto first = server.begin_commit(reactors_[0], {1});
    eventually([&] { return server.engine.steps_without_room() > 0; });
    auto second = server.begin_commit(reactors_[1], {2});
    eventually([&] { return server.pipeline->gtid_logged().count() == 2; });
    server.pipeline->retry_apply();
    eventually([&] { return server.engine.steps_without_room() > 1; });
    EXPECT_FALSE(first->done() || second->done());
    EXPECT_FALSE(server.pipeline->failure().has_value());
    EXPECT_TRUE(server.pipeline->gtid_executed().empty());
    server.engine.have_room();
    EXPECT_TRUE(first->get().status.ok());
    EXPECT_TRUE(second->get().status.ok());
    EXPECT_EQ(server.engine.state().keys, (std::vector{key(1), key(2)}));
    EXPECT_EQ(server.pipeline->gtid_executed().count(), 2u);
  }
}

// Then only a restart helps, which finds everything in the log.
TEST_F(TwoPhase, AnEngineThatDoesNotGoOnThoughThereIsRoomFailsForGood) {
  start();
  server_.engine.lack_room_for(FakeEngine::Step::Commit);
  auto waits = begin({1});
  eventually([&] { return server_.engine.steps_without_room() > 0; });
  server_.engine.is_stuck = true;
  EXPECT_EQ(waits->get().status.error().code, er::kErrorOnWrite);
  eventually([&] { return server_.pipeline->failure().has_value(); });
  EXPECT_FALSE(begin({2})->get().status.ok());
}

// A demotion answers who waits; what becomes of the transaction is the next role's business.
TEST_F(TwoPhase, WhoseSessionIsGoneIsFinishedAllTheSameOnceThereIsRoom) {
  for (const auto step : {FakeEngine::Step::Commit, FakeEngine::Step::MakeDurable}) {
    RecordingFileSystem fs;
    Server server(fs, {}, {.settings = settings_});
    server.engine.own_log = true;
    ASSERT_TRUE(server.open_and_start().ok());
    server.engine.lack_room_for(step);
    auto commit = server.begin_commit(reactors_[0], {1});
    eventually([&] { return server.engine.steps_without_room() > 0; });
    eventually([&] {
      server.pipeline->fail_waiters(make_error(er::kServerShutdown, "demoted"));
      return commit->done();
    });
    EXPECT_EQ(commit->get().status.error().code, er::kServerShutdown);
    server.engine.have_room();
    eventually([&] { return server.pipeline->gtid_executed().count() == 1; });
    EXPECT_EQ(server.engine.state().keys, std::vector{key(1)});
    server.stop();
  }
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

// Keeps a reactor's thread until it is let go.
Task<bool> occupy(std::latch& occupied, std::latch& until) {
  occupied.count_down();
  until.wait();
  co_return true;
}

class AnyOrder : public TwoPhase {
 protected:
  // Both are in one group, and the session of the first has no thread to go into the engine with.
  void the_second_goes_first() {
    settings_->order_commits = false;
    start(CommitPipeline::Gate::Gated);
    first_ = begin({1});
    eventually([&] { return server_.pipeline->gtid_logged().count() == 1; });
    end_of_first_ = server_.pipeline->durable_end();
    auto second = begin({2});
    eventually([&] { return server_.pipeline->gtid_logged().count() == 2; });
    occupied_ = run_on(reactors_[1], occupy(is_occupied_, let_go_));
    is_occupied_.wait();
    server_.pipeline->acknowledge(server_.pipeline->durable_end());
    EXPECT_TRUE(second->get().status.ok());
    EXPECT_FALSE(first_->done());
  }
  void let_the_first_go() {
    let_go_.count_down();
    EXPECT_TRUE(first_->get().status.ok());
  }

  LogPosition end_of_first_;
  std::shared_ptr<Pending<Committed>> first_;
  std::latch is_occupied_{1}, let_go_{1};
  std::shared_ptr<Pending<bool>> occupied_;
};

TEST_F(AnyOrder, APositionIsReachedWhenEverythingInFrontOfItIsInTheEngine) {
  the_second_goes_first();
  FakeEngine::State state = server_.engine.state();
  EXPECT_EQ(state.keys, std::vector{key(2)});
  EXPECT_LT(state.point.position, end_of_first_);
  EXPECT_EQ(state.point.incomplete_up_to, server_.pipeline->durable_end());
  EXPECT_EQ(server_.pipeline->applied_end(), state.point.position);
  EXPECT_EQ(server_.pipeline->gtid_executed().count(), 1u);
  server_.pipeline->freeze();
  EXPECT_FALSE(server_.pipeline->frozen()) << "the position is not that of what can be seen";
  let_the_first_go();
  eventually([&] { return server_.pipeline->frozen(); });
  EXPECT_EQ(server_.pipeline->visible().end, server_.pipeline->durable_end());
  server_.pipeline->thaw();
  state = server_.engine.state();
  EXPECT_EQ(state.keys, (std::vector{key(2), key(1)}));
  EXPECT_EQ(state.point.position, server_.pipeline->durable_end());
  EXPECT_EQ(state.batch_sizes, (std::vector<size_t>{1, 1})) << "each by itself";
}

// What knows its place in the log alone finds everything in front of it, and nothing behind it.
TEST_F(AnyOrder, WhatIsNotPreparedGoesInItsTurn) {
  the_second_goes_first();
  auto third = begin({.id = 3, .ship = false});
  auto fourth = begin({.id = 4});
  eventually([&] { return server_.pipeline->gtid_logged().count() == 3; });
  server_.pipeline->acknowledge(server_.pipeline->durable_end());
  EXPECT_EQ(server_.engine.state().keys, std::vector{key(2)});
  let_the_first_go();
  EXPECT_TRUE(third->get().status.ok());
  EXPECT_TRUE(fourth->get().status.ok());
  const auto keys = server_.engine.state().keys;
  ASSERT_EQ(keys.size(), 4u);
  EXPECT_EQ(keys[0], key(2));
  EXPECT_EQ(keys[1], key(1));
}

// Nobody had acknowledged anything that the log knows of: that the engine has the second says it of both.
TEST_F(AnyOrder, RecoveryTakesWhatIsMissingAndNothingTwice) {
  the_second_goes_first();
  const FakeEngine::State crashed = server_.engine.state();
  const auto disk = fs_.after_crash(fs_.steps(), Loss::DropAll, 0);
  let_the_first_go();
  Server again(*disk, crashed);
  again.engine.own_log = true;
  ASSERT_TRUE(again.open().ok());
  auto report = again.pipeline->replay({});
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(again.engine.state().keys, (std::vector{key(2), key(1)}));
  EXPECT_EQ(report->committed_prepared, 1u);
  EXPECT_TRUE(again.engine.recover().empty());
  EXPECT_EQ(again.pipeline->gtid_executed(), again.pipeline->gtid_logged());
  EXPECT_EQ(again.pipeline->unapplied_transactions(), 0u);
  EXPECT_EQ(again.engine.replay_position(), again.pipeline->durable_end());
}

TEST_F(AnyOrder, AnEngineThatFailsAnswersEverybody) {
  settings_->order_commits = false;
  start(CommitPipeline::Gate::Gated);
  auto first = begin({1});
  auto second = begin({2});
  eventually([&] { return server_.pipeline->gtid_logged().count() == 2; });
  server_.engine.fail(true);
  server_.pipeline->acknowledge(server_.pipeline->durable_end());
  EXPECT_FALSE(first->get().status.ok());
  EXPECT_FALSE(second->get().status.ok());
  eventually([&] { return server_.pipeline->failure().has_value(); });
  EXPECT_FALSE(begin({3})->get().status.ok());
}

}  // namespace
}  // namespace commitd::binlog
