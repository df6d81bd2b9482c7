#include "commit/commit_pipeline.h"

#include "base/error_codes.h"
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

TEST_F(ReceivedTail, WhatFindsNoRoomInTheLogSaysSoUntilItIsThere) {
  start();
  fs_.fail_writes_beyond(0);
  receive(1);
  eventually([&] { return pipeline().state().received_waits.has_value(); });
  EXPECT_EQ(pipeline().state().received_waits->why.code, er::kDiskFull);
  EXPECT_EQ(reported_, 0);
  fs_.fail_writes_beyond(UINT64_MAX);
  eventually([&] { return reported_ == 1; });
  EXPECT_FALSE(pipeline().state().received_waits.has_value());
  EXPECT_EQ(pipeline().gtid_logged(), gnos(server_b(), 1, 1));
  fs_.fail_writes_beyond(0);
  receive(2);
  eventually([&] { return pipeline().state().received_waits.has_value(); });
  pipeline().drop_received();
  EXPECT_FALSE(pipeline().state().received_waits.has_value()) << "its source has it";
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

// What a log holds of its transactions, in order: GTID and sequence number.
std::vector<std::pair<Gtid, int64_t>> sequence_of(Log& log, uint32_t file, LogPosition end) {
  std::vector<std::pair<Gtid, int64_t>> found;
  LogPosition at{file, 4};
  while (at.file == file && at < end) {
    auto chunk = log.read(at, end, 1 << 20);
    EXPECT_TRUE(chunk.ok());
    if (!chunk.ok() || chunk->bytes.empty() || chunk->start.file != file) break;
    at.offset += chunk->bytes.size();
    for (std::string_view rest = chunk->bytes; !rest.empty();) {
      auto event = parse_event(rest);
      rest.remove_prefix(event->bytes.size());
      if (event->header.type != EventType::Gtid) continue;
      auto gtid = parse_gtid_event(*event, true);
      found.emplace_back(gtid->gtid, gtid->sequence_number);
    }
  }
  return found;
}

TEST_F(ReceivedTail, SequenceNumbersOfAFileGrowBehindACutIntoIt) {
  start(CommitPipeline::Gate::Gated);
  for (const uint64_t gno : {1, 2, 3, 4}) receive(gno);
  eventually([&] { return reported_ == 4; });
  ASSERT_TRUE(run_on(reactors_[0], pipeline().rotate())->get().ok());
  receive(5);
  eventually([&] { return reported_ == 5; });
  EXPECT_EQ(*pipeline().cut_unacknowledged(gnos(server_b(), 1, 3)), 2u);
  ASSERT_EQ(pipeline().durable_end().file, 1u);
  for (const uint64_t gno : {4, 5}) receive(gno);
  eventually([&] { return reported_ == 7; });
  const auto sequence = sequence_of(pipeline().log(), 1, pipeline().durable_end());
  ASSERT_EQ(sequence.size(), 5u);
  for (size_t i = 1; i < sequence.size(); ++i) {
    EXPECT_EQ(sequence[i].first.gno, i + 1);
    EXPECT_GT(sequence[i].second, sequence[i - 1].second) << "transaction " << i + 1;
  }
}

// A copy of the server that was made before its last transactions: its replicas have numbers of its own that
// it has never given.
TEST_F(ReceivedTail, OwnNumbersThatComeBackAreNotGivenAgain) {
  start();
  commit({1});
  pipeline().append_received(received_from(server_a(), 7, 7), {server_a(), 7},
                             [this](LogPosition) { ++reported_; });
  eventually([&] { return reported_ == 1; });
  EXPECT_EQ(commit({8}).gtid.gno, 8u);
  EXPECT_EQ(pipeline().next_gno(), 9u);
  EXPECT_FALSE(commit({.id = 9, .gtid = {server_a(), 5}}).status.ok()) << "below what has been given";
}

TEST_F(ReceivedTail, OwnNumbersThatComeBackInTheSameGroupAreNotGivenAgain) {
  start(CommitPipeline::Gate::Gated);
  pipeline().freeze();  // both wait for the same group
  auto local = begin({1});
  eventually([&] { return !pipeline().frozen() || true; });
  for (const uint64_t gno : {1, 2, 3}) {
    pipeline().append_received(received_from(server_a(), gno, gno), {server_a(), gno},
                               [this](LogPosition) { ++reported_; });
  }
  eventually([&] { return reported_ == 3; });
  pipeline().thaw();
  eventually([&] { return pipeline().gtid_logged().count() == 4; });
  EXPECT_EQ(pipeline().gtid_logged(), gnos(server_a(), 1, 4));
  pipeline().set_gate(CommitPipeline::Gate::Immediate);
  EXPECT_EQ(local->get().gtid.gno, 4u);
}

Task<int> nothing() {
  co_return 0;
}

// A large one is a group of its own, so a local commit overtakes it.
TEST_F(ReceivedTail, OwnNumbersThatWaitForTheirTurnAreNotGivenToOthers) {
  start();
  std::latch busy{1}, go_on{1};
  pipeline().append_received(received_from(server_b(), 1, 1), {server_b(), 1}, [&](LogPosition) {
    busy.count_down();
    go_on.wait();
  });
  busy.wait();
  const auto count = [this](LogPosition) { ++reported_; };
  pipeline().append_received(received_from(server_a(), 1, 2), {server_a(), 1}, count);
  EventSpool large;
  large.tail() = received_from(server_a(), 2, 3);
  ASSERT_TRUE(large.spill({&fs_, "d"}, large.size()).ok());
  pipeline().append_received(std::move(large), {server_a(), 2}, count);
  auto local = begin({4});
  run_on(reactors_[4], nothing())->get();  // it is queued
  go_on.count_down();
  EXPECT_EQ(local->get().gtid.gno, 3u);
  eventually([&] { return reported_ == 2 && pipeline().unapplied_transactions() == 0; });
  EXPECT_EQ(server_.engine.state().keys, (std::vector{key(1), key(2), key(4), key(3)}));
}

TEST_F(ReceivedTail, WithoutNumbersLeftCommitsAreRefusedAndTheLogStaysReadable) {
  start();
  EXPECT_TRUE(commit({.id = 1, .gtid = {server_a(), kMaxGno}}).status.ok());
  EXPECT_EQ(commit({2}).status.error().code, er::kGnoExhausted);
  EXPECT_TRUE(commit({.id = 3, .gtid = {server_b(), kMaxGno}}).status.ok()) << "others have theirs";
  EXPECT_EQ(commit({.id = 4, .lets_go_early = true}).status.error().code, er::kGnoExhausted);
  ASSERT_TRUE(run_on(reactors_[0], pipeline().rotate())->get().ok());
  server_.stop();
  Server again(fs_);
  ASSERT_TRUE(again.open_and_start().ok());
  EXPECT_EQ(again.engine.state().keys, (std::vector{key(1), key(3)}));
  EXPECT_EQ(again.begin_commit(reactors_[0], {5})->get().status.error().code, er::kGnoExhausted);
}

TEST_F(ReceivedTail, WhatAFullDiskKeepsOutIsForgottenWhenTheReceiverEnds) {
  start(CommitPipeline::Gate::Gated);
  receive(1);
  eventually([&] { return reported_ == 1; });
  fs_.fail_writes_beyond(0);
  for (const uint64_t gno : {2, 3}) receive(gno);
  EXPECT_EQ(commit({9}).status.error().code, er::kDiskFull);
  pipeline().drop_received();  // returns, though there is still no room
  auto cut = pipeline().cut_unacknowledged(gnos(server_b(), 1, 1));
  ASSERT_TRUE(cut.ok()) << "nor do role changes wait for it";
  fs_.fail_writes_beyond(UINT64_MAX);
  receive(2);
  eventually([&] { return reported_ == 2; });
  EXPECT_EQ(pipeline().gtid_logged(), gnos(server_b(), 1, 2)) << "transaction 3 is still at its source";
}

class UnappliableTransaction : public PipelineTest {
 protected:
  void SetUp() override {
    server_.applier.refuse(key(3));
    start(CommitPipeline::Gate::Immediate);
    for (const uint64_t gno : {1, 2, 3, 4}) receive(gno);
    eventually([&] { return reported_ == 4 && pipeline().apply_error().has_value(); });
  }
  std::vector<std::string> keys() const { return server_.engine.state().keys; }
};

TEST_F(UnappliableTransaction, StopsTheApplierAndNothingElse) {
  EXPECT_EQ(pipeline().apply_error()->code, er::kDupEntry);
  EXPECT_EQ(keys(), (std::vector{key(1), key(2)}));
  receive(5);
  eventually([&] { return reported_ == 5; });
  EXPECT_EQ(pipeline().unapplied_transactions(), 3u);
  EXPECT_FALSE(pipeline().failure().has_value());
}

TEST_F(UnappliableTransaction, IsTakenWhenItsCauseIsGone) {
  server_.applier.refuse("");
  pipeline().retry_apply();
  eventually([&] { return pipeline().gtid_executed().count() == 4; });
  EXPECT_EQ(keys(), (std::vector{key(1), key(2), key(3), key(4)}));
}

TEST_F(UnappliableTransaction, CanBeSkippedByItsName) {
  EXPECT_FALSE(pipeline().skip_unappliable({server_b(), 4}).ok());
  ASSERT_TRUE(pipeline().skip_unappliable({server_b(), 3}).ok());
  eventually([&] { return pipeline().gtid_executed().count() == 4; });
  EXPECT_EQ(keys(), (std::vector{key(1), key(2), key(4)}));
}

TEST_F(UnappliableTransaction, DoesNotKeepTheServerFromStarting) {
  server_.stop();
  Server again(fs_);
  again.applier.refuse(key(3));
  ASSERT_TRUE(again.open_and_start().ok());
  EXPECT_EQ(again.engine.state().keys, (std::vector{key(1), key(2)}));
  EXPECT_EQ(again.pipeline->unapplied_transactions(), 2u);
  ASSERT_TRUE(again.pipeline->apply_error().has_value());
  again.applier.refuse("");
  again.pipeline->retry_apply();
  eventually([&] { return again.pipeline->gtid_executed().count() == 4; });
}

// The last of what was acknowledged cannot be applied, and more follows.
TEST_F(UnappliableTransaction, StaysInFrontOfTheUnacknowledgedTailAtAStart) {
  pipeline().set_gate(CommitPipeline::Gate::Gated);
  const LogPosition acknowledged = pipeline().durable_end();
  receive(5);
  eventually([&] { return reported_ == 5; });
  server_.stop();
  Server again(fs_);
  again.applier.refuse(key(3));
  ASSERT_TRUE(again.open().ok());
  again.pipeline->set_gate(CommitPipeline::Gate::Gated);
  ASSERT_TRUE(again.pipeline->replay(acknowledged).ok());
  again.start();
  EXPECT_EQ(again.pipeline->unapplied_transactions(), 3u);
  again.applier.refuse("");
  again.pipeline->retry_apply();
  eventually([&] { return again.pipeline->gtid_executed().count() == 4; });
  again.pipeline->acknowledge_through({server_b(), 5});
  eventually([&] { return again.pipeline->gtid_executed().count() == 5; });
  EXPECT_EQ(again.engine.state().keys, (std::vector{key(1), key(2), key(3), key(4), key(5)}));
}

TEST_F(UnappliableTransaction, IsNotCutThoughItsSourceHasLostIt) {
  pipeline().close_to_local_commits(make_error(er::kOptionPreventsStatement, "read only"));
  EXPECT_EQ(pipeline().cut_unacknowledged(gnos(server_b(), 1, 2)).error().code, er::kDiverged);
}

// Its own log says what the data must be: there is no source to ask again.
TEST_F(ReceivedTail, AnOwnTransactionThatCannotBeAppliedRefusesTheStart) {
  start();
  commit({1});
  server_.stop();
  Server again(fs_);
  again.applier.refuse(key(1));
  EXPECT_FALSE(again.open_and_start().ok());
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
