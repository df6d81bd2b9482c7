// What of the commit path can be changed while it runs: how groups form, when they are synced, who is woken.
#include <gtest/gtest.h>

#include "commit/testing/pipeline_test.h"
#include "observe/metrics.h"

namespace commitd::binlog {
namespace {

using namespace testing;
using commitd::testing::Loss;
using commitd::testing::RecordingFileSystem;

constexpr uint64_t kForEver = 3600'000'000;

uint64_t count_of(const char* name) {
  return observe::counter(name, "").value();
}
uint64_t groups() {
  return count_of("commitd_commit_groups_total");
}
uint64_t wakeups() {
  return count_of("commitd_wakeups_total");
}

class Settings : public PipelineTest {
 protected:
  std::shared_ptr<Pending<Committed>> begin(uint64_t id) { return PipelineTest::begin(Commit{id}); }
  void commit(uint64_t id) { ASSERT_TRUE(begin(id)->get().status.ok()); }
  // All at once; returns when all are committed.
  void commit_together(uint64_t count) {
    std::vector<std::shared_ptr<Pending<Committed>>> commits;
    for (uint64_t id = 1; id <= count; ++id) commits.push_back(begin(id));
    for (auto& commit : commits) ASSERT_TRUE(commit->get().status.ok());
  }
  // Logged one behind the other, none acknowledged.
  std::vector<std::shared_ptr<Pending<Committed>>> log_unacknowledged(uint64_t count) {
    std::vector<std::shared_ptr<Pending<Committed>>> commits;
    for (uint64_t id = 1; id <= count; ++id) {
      commits.push_back(begin(id));
      eventually([&] { return pipeline().gtid_logged().count() == id; });
    }
    return commits;
  }
  void acknowledge(uint64_t gno) { pipeline().acknowledge_through({server_a(), gno}); }
};

TEST_F(Settings, ADelayedGroupIsClosedByTheCountThatIsEnough) {
  settings_->sync_delay_microseconds = kForEver;
  settings_->sync_no_delay_count = 8;
  start();
  const uint64_t before = groups();
  commit_together(8);
  EXPECT_EQ(groups() - before, 1u);
}

TEST_F(Settings, ADelayMakesGroupsFewerThanTransactions) {
  settings_->sync_delay_microseconds = 300'000;
  start();
  const uint64_t before = groups();
  commit_together(20);
  EXPECT_LT(groups() - before, 20u);
}

TEST_F(Settings, NobodyWaitsForADelayWhoIsNotATransaction) {
  settings_->sync_delay_microseconds = kForEver;
  start();
  auto delayed = begin(1);
  EXPECT_TRUE(run_on(reactors_[0], pipeline().rotate())->get().ok());
  auto also_delayed = begin(2);
  pipeline().close_to_local_commits(make_error(er::kServerShutdown, "closed"));
  EXPECT_EQ(also_delayed->get().status.error().message, "closed");
  delayed->get();  // with the rotation, or closed as well
}

TEST_F(Settings, ShutdownDoesNotWaitForADelay) {
  settings_->sync_delay_microseconds = kForEver;
  start();
  auto delayed = begin(1);
  server_.stop();
  delayed->get();
}

TEST_F(Settings, TheLogIsSyncedEveryNthGroup) {
  start();
  settings_->sync_binlog = 3;
  size_t before = fs_.data_syncs();
  for (uint64_t id = 1; id <= 9; ++id) commit(id);
  EXPECT_EQ(fs_.data_syncs() - before, 3u);

  settings_->sync_binlog = 0;
  before = fs_.data_syncs();
  for (uint64_t id = 10; id <= 20; ++id) commit(id);
  EXPECT_EQ(fs_.data_syncs() - before, 0u);

  settings_->sync_binlog = 1;
  for (uint64_t id = 21; id <= 25; ++id) commit(id);
  EXPECT_EQ(fs_.data_syncs() - before, 5u);
}

TEST_F(Settings, TheDelayIsForGroupsThatAreSynced) {
  settings_->sync_binlog = 100;
  settings_->sync_delay_microseconds = kForEver;
  start();
  for (uint64_t id = 1; id <= 5; ++id) commit(id);
}

TEST_F(Settings, AnEngineThatPersistsSyncsTheLogOnceAndOnlyWhenItMust) {
  start();
  settings_->sync_binlog = 0;
  commit(1);
  const size_t before = fs_.data_syncs();
  server_.engine.persist();
  EXPECT_EQ(fs_.data_syncs() - before, 1u);
  server_.engine.persist();
  EXPECT_EQ(fs_.data_syncs() - before, 1u);

  settings_->sync_binlog = 1;
  commit(2);
  server_.engine.persist();
  EXPECT_EQ(fs_.data_syncs() - before, 2u) << "the group's own";
}

TEST_F(Settings, ALogThatCannotBeSyncedForTheEngineEndsEverything) {
  start();
  settings_->sync_binlog = 0;
  commit(1);
  std::atomic<int> calls{0};
  pipeline().on_failure([&](const Error&) { ++calls; });
  fs_.fail_next_syncs(1);
  settings_->sync_binlog = 1;
  EXPECT_FALSE(begin(2)->get().status.ok());
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(pipeline().failure().has_value());
}

// The engine's prefix may be old, but it is never ahead of the log: then no position would be right.
TEST_F(Settings, AfterACrashTheEngineIsNeverAheadOfALogThatIsRarelySynced) {
  start();
  settings_->sync_binlog = 4;
  struct Persisted {
    size_t step;
    FakeEngine::State state;
  };
  std::vector<Persisted> persisted{{fs_.steps(), {}}};
  for (uint64_t id = 1; id <= 30; ++id) {
    commit(id);
    if (id % 5 != 0) continue;
    FakeEngine::State state = server_.engine.persist();
    persisted.push_back({fs_.steps(), std::move(state)});
  }
  server_.stop();
  for (size_t step = persisted.front().step; step <= fs_.steps(); ++step) {
    const auto behind = std::find_if(persisted.begin(), persisted.end(),
                                     [step](const Persisted& one) { return one.step > step; });
    const FakeEngine::State& state = std::prev(behind)->state;
    for (unsigned seed = 0; seed < 8; ++seed) {
      auto disk = fs_.after_crash(step, seed == 0 ? Loss::DropAll : Loss::Random, step * 8 + seed);
      Server again(*disk, state);
      auto started = again.open_and_start();
      ASSERT_TRUE(started.ok()) << step << ": " << started.error().message;
      ASSERT_TRUE(again.pipeline->gtid_executed().contains(state.point.executed));
      ASSERT_EQ(again.pipeline->gtid_executed(), again.pipeline->gtid_logged());
    }
  }
}

TEST_F(Settings, ByDefaultACommitWakesOneSession) {
  start(CommitPipeline::Gate::Gated);
  auto commits = log_unacknowledged(6);
  const uint64_t before = wakeups();
  acknowledge(1);
  EXPECT_TRUE(commits[0]->get().status.ok());
  EXPECT_EQ(wakeups() - before, 1u);
  acknowledge(6);
  for (auto& commit : commits) EXPECT_TRUE(commit->get().status.ok());
  EXPECT_EQ(wakeups() - before, 6u);
}

TEST_F(Settings, ABroadcastWakesAllWhoWaitAndOnlyTheRightOnesGoOn) {
  settings_->wake_everybody = true;
  start(CommitPipeline::Gate::Gated);
  auto commits = log_unacknowledged(6);
  const uint64_t before = wakeups();
  for (uint64_t gno = 1; gno <= 6; ++gno) {
    acknowledge(gno);
    EXPECT_TRUE(commits[gno - 1]->get().status.ok());
    for (uint64_t later = gno; later < 6; ++later) EXPECT_FALSE(commits[later]->done());
  }
  EXPECT_EQ(wakeups() - before, 6u + 5 + 4 + 3 + 2 + 1);
}

TEST_F(Settings, ABroadcastWakesReadersOfTheLogBeforeTheirGoalIsReached) {
  settings_->wake_everybody = true;
  start();
  commit(1);
  const LogPosition far{pipeline().durable_end().file + 1, 0};
  auto reader =
      run_on(reactors_[0], pipeline().wait_beyond(far, CommitPipeline::Bound::Durable, kNoDeadline));
  const uint64_t before = wakeups();
  for (uint64_t id = 2; wakeups() - before < 5; ++id) commit(id);
  EXPECT_FALSE(reader->done());
  ASSERT_TRUE(run_on(reactors_[1], pipeline().rotate())->get().ok());
  EXPECT_TRUE(reader->get());
}

TEST_F(Settings, OneAtATimeEachIsInTheEngineBeforeTheNextIsLogged) {
  settings_->one_at_a_time = true;
  start();
  server_.engine.block(true);
  auto first = begin(1);
  eventually([&] { return pipeline().gtid_logged().count() == 1; });
  auto second = begin(2);
  const uint64_t before = groups();
  server_.engine.block(false);
  EXPECT_TRUE(first->get().status.ok());
  EXPECT_TRUE(second->get().status.ok());
  commit_together(20);
  EXPECT_EQ(groups() - before, 21u);
  for (const size_t size : server_.engine.state().batch_sizes) EXPECT_EQ(size, 1u);
}

TEST_F(Settings, AcknowledgedInTurnTheNextGroupWaitsForTheAcknowledgementOfTheOneBefore) {
  settings_->acknowledged_in_turn = true;
  start();
  pipeline().set_gate(CommitPipeline::Gate::Gated);
  auto first = begin(1);
  eventually([&] { return pipeline().gtid_logged().count() == 1; });
  auto second = begin(2);
  auto third = begin(3);
  // Tasks are done between groups: one that was asked for behind a commit has passed it.
  for (const size_t behind : {2, 3}) ASSERT_TRUE(run_on(reactors_[behind], pipeline().rotate())->get().ok());
  EXPECT_EQ(pipeline().gtid_logged().count(), 1u);
  const uint64_t before = groups();
  pipeline().acknowledge(pipeline().durable_end());
  EXPECT_TRUE(first->get().status.ok());
  eventually([&] { return pipeline().gtid_logged().count() == 3; });
  EXPECT_EQ(groups() - before, 1u) << "what has waited goes together";
  pipeline().set_gate(CommitPipeline::Gate::Immediate);
  EXPECT_TRUE(second->get().status.ok());
  EXPECT_TRUE(third->get().status.ok());
}

}  // namespace
}  // namespace commitd::binlog
