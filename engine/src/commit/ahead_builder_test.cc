// replica_parallel_workers: whatever is made ahead, whenever, the engine gets everything once and in order.
#include <random>

#include "base/memory_budget.h"
#include "commit/testing/pipeline_test.h"

namespace commitd::binlog {
namespace {

using namespace testing;

class Ahead : public PipelineTest {
 protected:
  Ahead() {
    settings_->parallel_workers = 3;
    server_.applier.on_ahead = [] {
      thread_local std::minstd_rand random(std::random_device{}());
      if (random() % 4 == 0) std::this_thread::yield();
    };
  }
  // They are acknowledged together.
  void take(uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) receive(++received_);
    eventually([&] { return reported_ == static_cast<int>(received_); });
    pipeline().acknowledge_through({server_b(), received_});
  }
  // The engine thread may be quicker than they are awake.
  void take_until_some_were_ahead() {
    while (server_.applier.taken_ahead == 0) {
      take(300);
      expect_all_in_order();
      if (HasFatalFailure()) return;
    }
  }
  void expect_all_in_order() {
    eventually([&] { return pipeline().gtid_executed().count() == received_; });
    const auto keys = server_.engine.state().keys;
    ASSERT_EQ(keys.size(), received_);
    for (uint64_t gno = 1; gno <= received_; ++gno) ASSERT_EQ(keys[gno - 1], key(gno)) << gno;
  }
  uint64_t received_ = 0;
};

TEST_F(Ahead, EverythingEntersTheEngineInOrder) {
  start(CommitPipeline::Gate::Gated);
  for (const uint64_t count : {5, 300, 40, 1500, 16, 2}) take(count);
  expect_all_in_order();
  take_until_some_were_ahead();
}

TEST_F(Ahead, WhatIsMadeInVainIsMadeAgain) {
  server_.applier.spoils = [turn = 0]() mutable { return ++turn % 5 == 0; };
  start(CommitPipeline::Gate::Gated);
  take(1200);
  expect_all_in_order();
  take_until_some_were_ahead();
}

TEST_F(Ahead, WhoIsOfNoUseIsNotAskedForLong) {
  std::atomic<int> made{0};
  server_.applier.on_ahead = [&made] { ++made; };
  server_.applier.spoils = [] { return true; };
  start(CommitPipeline::Gate::Gated);
  take(1000);
  expect_all_in_order();
  EXPECT_LT(made, 700);
}

TEST_F(Ahead, TheirNumberChangesWhileTransactionsCome) {
  start(CommitPipeline::Gate::Gated);
  for (const uint64_t workers : {0, 5, 1, 0, 2}) {
    settings_->parallel_workers = workers;
    EXPECT_EQ(pipeline().applier_workers().size(), workers);
    take(200);
    expect_all_in_order();
  }
}

TEST_F(Ahead, WithoutWorkersNothingIsMadeAhead) {
  settings_->parallel_workers = 0;
  start(CommitPipeline::Gate::Gated);
  take(500);
  expect_all_in_order();
  EXPECT_EQ(server_.applier.taken_ahead, 0);
}

TEST_F(Ahead, ItEndsInFrontOfWhatCannotBeApplied) {
  start(CommitPipeline::Gate::Gated);
  server_.applier.refuse(key(150));
  take(400);
  eventually([&] { return pipeline().apply_error().has_value(); });
  EXPECT_EQ(pipeline().gtid_executed(), gnos(server_b(), 1, 149));
  server_.applier.refuse("");
  pipeline().retry_apply();
  expect_all_in_order();
}

TEST_F(Ahead, WhatSessionsCommitBetweenStandsWhereItWasLogged) {
  start(CommitPipeline::Gate::Gated);
  take(100);
  expect_all_in_order();
  for (uint64_t i = 0; i < 60; ++i) receive(++received_);
  eventually([&] { return reported_ == static_cast<int>(received_); });
  auto own = begin({10'000});
  eventually([&] { return pipeline().gtid_logged().count() == received_ + 1; });
  for (uint64_t i = 0; i < 60; ++i) receive(++received_);
  eventually([&] { return reported_ == static_cast<int>(received_); });
  pipeline().acknowledge_through({server_b(), received_});
  EXPECT_TRUE(own->get().status.ok());
  eventually([&] { return pipeline().gtid_executed().count() == received_ + 1; });
  const auto keys = server_.engine.state().keys;
  EXPECT_EQ(keys[160], key(10'000));
  EXPECT_EQ(keys[161], key(161));
}

TEST_F(Ahead, WithoutMemoryTheyWaitForTheirTurn) {
  start(CommitPipeline::Gate::Gated);
  MemoryBudget& budget = MemoryBudget::process();
  const uint64_t before = budget.limit();
  budget.set_limit(budget.used() + 1);
  take(600);
  expect_all_in_order();
  budget.set_limit(before);
  EXPECT_EQ(budget.used(MemoryUse::Transactions), 0u);
}

TEST_F(Ahead, AStartReplaysInTheSameWay) {
  start();
  for (uint64_t i = 0; i < 700; ++i) receive(++received_);
  expect_all_in_order();
  server_.stop();
  int taken_ahead = 0;
  while (taken_ahead == 0) {
    Server again(fs_, {}, {.settings = settings_});
    ASSERT_TRUE(again.open_and_start().ok());
    EXPECT_EQ(again.engine.state().keys, server_.engine.state().keys);
    taken_ahead = again.applier.taken_ahead;
  }
}

}  // namespace
}  // namespace commitd::binlog
