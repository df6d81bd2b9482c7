#include "commit/commit_pipeline.h"

#include "commit/testing/pipeline_test.h"

namespace commitd::binlog {
namespace {

using namespace testing;

class ReceivedTail : public PipelineTest {};

TEST_F(ReceivedTail, ReceivedTransactionsKeepTheirGtidAndAreLoggedOnce) {
  start(CommitPipeline::Gate::Gated);
  for (const uint64_t gno : {1, 2, 2, 1, 3}) receive(gno);
  eventually([&] { return reported_ == 5; });
  EXPECT_EQ(pipeline().gtid_logged(), gnos(server_b(), 1, 3));
  EXPECT_EQ(pipeline().unapplied_transactions(), 3u);
  pipeline().acknowledge_through({server_b(), 2});
  eventually([&] { return pipeline().gtid_executed().count() == 2; });
  EXPECT_EQ(server_.engine.state().keys, (std::vector{key(1), key(2)}));

  pipeline().acknowledge_through({server_b(), 5});  // not here yet
  receive(4);
  receive(5);
  receive(6);
  eventually([&] { return reported_ == 8 && pipeline().gtid_executed().count() == 5; });
  EXPECT_EQ(pipeline().unapplied_transactions(), 1u);
}

TEST_F(ReceivedTail, ADamagedReceivedTransactionStopsThePipelineInsteadOfTheLog) {
  start();
  std::string events = received_from(server_b(), 1, 1);
  events.resize(events.size() - 1);
  pipeline().append_received(events, {server_b(), 1}, nullptr);
  eventually([&] { return pipeline().failure().has_value(); });
  server_.stop();
  Server again(fs_);
  EXPECT_TRUE(again.open_and_start().ok());
  EXPECT_TRUE(again.pipeline->gtid_logged().empty());
}

TEST_F(ReceivedTail, TheUnacknowledgedTailStaysOutUntilItIsDecided) {
  start();
  commit({1});
  const LogPosition limit = pipeline().durable_end();
  commit({2});
  commit({3});
  server_.stop();

  Server again(fs_);
  ASSERT_TRUE(again.open().ok());
  again.pipeline->set_gate(CommitPipeline::Gate::Gated);
  ASSERT_TRUE(again.pipeline->replay(limit).ok());
  again.start();
  EXPECT_EQ(again.pipeline->gtid_executed(), gnos(server_a(), 1, 1));
  EXPECT_EQ(again.pipeline->gtid_logged(), gnos(server_a(), 1, 3));
  EXPECT_EQ(again.pipeline->unapplied_transactions(), 2u);
  again.pipeline->acknowledge_through({server_a(), 3});
  eventually([&] { return again.pipeline->gtid_executed().count() == 3; });
  EXPECT_EQ(again.engine.state().keys, server_.engine.state().keys);
}

// Though nobody says that it was acknowledged: it was, or nothing of it would be there.
TEST_F(ReceivedTail, WhatTheEngineHasPartsOfIsReplayedToItsEndOrNotAtAll) {
  start();
  commit({1});
  const LogPosition acknowledged = pipeline().durable_end();
  commit({2});
  const LogPosition incomplete_up_to = pipeline().durable_end();
  commit({3});
  server_.stop();
  FakeEngine::State state;
  state.point.incomplete_up_to = incomplete_up_to;
  {
    Server again(fs_, state);
    ASSERT_TRUE(again.open().ok());
    ASSERT_TRUE(again.pipeline->replay(acknowledged).ok());
    EXPECT_EQ(again.engine.state().keys, (std::vector{key(1), key(2)}));
    EXPECT_EQ(again.pipeline->acknowledged_end(), incomplete_up_to);
  }
  state.point.incomplete_up_to.offset = server_.report.end.offset + 1'000'000;
  Server ahead(fs_, state);
  ASSERT_TRUE(ahead.open().ok());
  EXPECT_FALSE(ahead.pipeline->replay(acknowledged).ok()) << "the log has lost it";
  EXPECT_TRUE(ahead.engine.state().keys.empty());
}

TEST_F(ReceivedTail, CuttingKeepsWhatTheSourceHas) {
  start(CommitPipeline::Gate::Gated);
  std::vector<std::shared_ptr<Pending<Committed>>> commits;
  for (uint64_t id = 1; id <= 4; ++id) {
    commits.push_back(begin({id}));
    eventually([&] { return pipeline().gtid_logged().count() == id; });
  }
  pipeline().acknowledge_through({server_a(), 1});
  ASSERT_TRUE(commits[0]->get().status.ok());
  pipeline().close_to_local_commits(make_error(er::kOptionPreventsStatement, "read only"));
  pipeline().fail_waiters(make_error(er::kServerShutdown, "demoted"));
  for (int i = 1; i < 4; ++i) EXPECT_EQ(commits[i]->get().status.error().code, er::kServerShutdown);
  EXPECT_EQ(commit({9}).status.error().code, er::kOptionPreventsStatement);

  auto cut = pipeline().cut_unacknowledged(gnos(server_a(), 1, 2));
  ASSERT_TRUE(cut.ok());
  EXPECT_EQ(*cut, 2u);
  EXPECT_EQ(pipeline().gtid_logged(), gnos(server_a(), 1, 2));
  EXPECT_EQ(pipeline().next_gno(), 5u) << "a GTID never names two transactions";
  receive(1);
  pipeline().acknowledge_through({server_b(), 1});
  eventually([&] { return pipeline().gtid_executed().count() == 3; });
  EXPECT_EQ(server_.engine.state().keys, (std::vector{key(1), key(2), key(1)}));
  server_.stop();
  Server again(fs_);
  ASSERT_TRUE(again.open_and_start().ok());
  EXPECT_EQ(again.engine.state().keys, server_.engine.state().keys);
}

TEST_F(ReceivedTail, CuttingWhatWasAppliedIsDivergence) {
  start();
  commit({1});
  commit({2});
  auto cut = pipeline().cut_unacknowledged(gnos(server_a(), 1, 1));
  ASSERT_FALSE(cut.ok());
  EXPECT_EQ(cut.error().code, er::kDiverged);
  EXPECT_EQ(pipeline().gtid_logged(), gnos(server_a(), 1, 2));
}

TEST_F(ReceivedTail, CutsAcrossFiles) {
  start(CommitPipeline::Gate::Gated);
  receive(1);
  receive(2);
  eventually([&] { return reported_ == 2; });
  ASSERT_TRUE(run_on(reactors_[0], pipeline().rotate())->get().ok());
  receive(3);
  eventually([&] { return reported_ == 3; });
  EXPECT_EQ(pipeline().durable_end().file, 2u);
  EXPECT_EQ(*pipeline().cut_unacknowledged(gnos(server_b(), 1, 1)), 2u);
  EXPECT_EQ(pipeline().durable_end().file, 1u);
  receive(2);
  pipeline().acknowledge_through({server_b(), 2});
  eventually([&] { return pipeline().gtid_executed().count() == 2; });
}

TEST_F(ReceivedTail, GtidsStartAboveTheFloor) {
  PipelineOptions options;
  options.gno_floor = 100;
  Server floored(fs_, {}, options);
  ASSERT_TRUE(floored.open_and_start().ok());
  EXPECT_EQ(floored.begin_commit(reactors_[0], {1})->get().gtid.gno, 101u);
  floored.pipeline->raise_gno_floor(200);
  EXPECT_EQ(floored.begin_commit(reactors_[0], {2})->get().gtid.gno, 201u);
}

}  // namespace
}  // namespace commitd::binlog
