#include "commit/commit_pipeline.h"

#include <algorithm>
#include <map>
#include <thread>

#include "commit/testing/pipeline_test.h"
#include "observe/metrics.h"

namespace commitd::binlog {
namespace {

using namespace testing;

class Pipeline : public PipelineTest {};

Task<std::vector<Committed>> commit_many(CommitPipeline& pipeline, const TableDef& table, uint64_t first,
                                         int count) {
  std::vector<Committed> results;
  for (int i = 0; i < count; ++i) {
    Commit what;
    what.id = first + i;
    Committed one = co_await commit_order(pipeline, table, what);
    results.push_back(std::move(one));
  }
  co_return results;
}

TEST_F(Pipeline, ManySessionsGetConsecutiveGtidsAndTheEngineTakesThemInLogOrder) {
  start();
  constexpr int kSessions = 60, kEach = 30;
  std::vector<std::shared_ptr<Pending<std::vector<Committed>>>> sessions;
  for (int i = 0; i < kSessions; ++i) {
    sessions.push_back(run_on(reactors_[i], commit_many(pipeline(), server_.table, i * kEach + 1, kEach)));
  }
  std::map<LogPosition, uint64_t> by_position;  // end → id
  std::map<LogPosition, uint64_t> gnos_by_position;
  for (int i = 0; i < kSessions; ++i) {
    const std::vector<Committed>& results = sessions[i]->get();
    for (int j = 0; j < kEach; ++j) {
      ASSERT_TRUE(results[j].status.ok());
      by_position[results[j].end] = i * kEach + j + 1;
      gnos_by_position[results[j].end] = results[j].gtid.gno;
    }
  }
  ASSERT_EQ(by_position.size(), kSessions * kEach);
  uint64_t gno = 0;
  for (const auto& [end, of_position] : gnos_by_position) EXPECT_EQ(of_position, ++gno);
  std::vector<std::string> expected;
  for (const auto& [end, id] : by_position) expected.push_back(key(id));
  EXPECT_EQ(server_.engine.state().keys, expected);
  EXPECT_EQ(pipeline().gtid_executed(), gnos(server_a(), 1, kSessions * kEach));
  EXPECT_EQ(pipeline().gtid_logged(), pipeline().gtid_executed());
  EXPECT_EQ(server_.engine.replay_position(), pipeline().durable_end());
}

Task<bool> nothing() {
  co_return true;
}

TEST_F(Pipeline, GtidsThatClientsBringNeverNameTwoTransactionsOfAGroup) {
  start();
  pipeline().freeze();
  const auto begin_with = [this](uint64_t id, Gtid gtid) {
    Commit what{id};
    what.gtid = gtid;
    return server_.begin_commit(reactors_[0], std::move(what));
  };
  auto automatic = begin_with(1, {}), own = begin_with(2, {server_a(), 2}),
       late = begin_with(3, {server_a(), 1}), other = begin_with(4, {server_b(), 7}),
       again = begin_with(5, {server_b(), 7}), last = begin_with(6, {});
  run_on(reactors_[0], nothing())->get();  // behind it all of them are queued
  pipeline().thaw();
  EXPECT_EQ(automatic->get().gtid.gno, 1u);
  EXPECT_EQ(last->get().gtid.gno, 3u);
  for (const auto& accepted : {automatic, own, other, last}) EXPECT_TRUE(accepted->get().status.ok());
  for (const auto& refused : {late, again}) EXPECT_FALSE(refused->get().status.ok());
  GtidSet expected = gnos(server_a(), 1, 3);
  expected.add({server_b(), 7});
  EXPECT_EQ(pipeline().gtid_executed(), expected);
  EXPECT_EQ(server_.engine.state().keys, (std::vector<std::string>{key(1), key(2), key(4), key(6)}));
}

TEST_F(Pipeline, OneSyncPerGroup) {
  start();
  const auto count = [](const char* name) { return observe::counter(name, "").value(); };
  const size_t syncs = fs_.data_syncs();
  const uint64_t groups = count("commitd_commit_groups_total"),
                 transactions = count("commitd_commit_group_transactions_total");
  std::vector<std::shared_ptr<Pending<std::vector<Committed>>>> sessions;
  for (int i = 0; i < 20; ++i)
    sessions.push_back(run_on(reactors_[i], commit_many(pipeline(), server_.table, i * 100, 20)));
  for (auto& session : sessions) session->get();
  EXPECT_EQ(fs_.data_syncs() - syncs, count("commitd_commit_groups_total") - groups);
  EXPECT_EQ(count("commitd_commit_group_transactions_total") - transactions, 400u);
}

TEST_F(Pipeline, WaitsForTheAcknowledgementButGoesOnLogging) {
  start(CommitPipeline::Gate::Gated);
  auto first = begin({1});
  eventually([&] { return pipeline().gtid_logged().count() == 1; });
  const LogPosition after_first = pipeline().durable_end();
  auto second = begin({2});
  eventually([&] { return pipeline().gtid_logged().count() == 2; });
  EXPECT_FALSE(first->done());
  EXPECT_TRUE(pipeline().gtid_executed().empty());
  EXPECT_EQ(pipeline().unapplied_transactions(), 2u);
  EXPECT_GT(pipeline().state().oldest_unacknowledged.count(), 0);

  pipeline().acknowledge(after_first);
  EXPECT_TRUE(first->get().status.ok());
  EXPECT_FALSE(second->done());
  EXPECT_EQ(server_.engine.state().keys, std::vector{key(1)});
  pipeline().acknowledge(after_first);  // an old acknowledgement changes nothing
  pipeline().acknowledge_through({server_a(), 2});
  EXPECT_TRUE(second->get().status.ok());
  EXPECT_EQ(pipeline().state().oldest_unacknowledged.count(), 0);
}

// rpl_semi_sync_source_wait_point=AFTER_COMMIT.
TEST_F(Pipeline, ShownFirstOthersSeeItAndItsSessionWaits) {
  start(CommitPipeline::Gate::ShownFirst);
  auto first = begin({1});
  eventually([&] { return pipeline().gtid_executed().count() == 1; });
  const LogPosition after_first = pipeline().durable_end();
  auto second = begin({2});
  eventually([&] { return pipeline().gtid_executed().count() == 2; });
  EXPECT_EQ(server_.engine.state().keys, (std::vector{key(1), key(2)}));
  EXPECT_FALSE(first->done());
  EXPECT_LT(pipeline().acknowledged_end(), after_first);
  EXPECT_EQ(pipeline().state().shown, 2u);
  EXPECT_GT(pipeline().state().oldest_unacknowledged.count(), 0);
  EXPECT_EQ(pipeline().visible().end, pipeline().durable_end());
  EXPECT_FALSE(run_on(reactors_[0], pipeline().reset())->get().ok()) << "sessions wait";

  pipeline().acknowledge(after_first);
  EXPECT_TRUE(first->get().status.ok());
  EXPECT_FALSE(second->done());
  pipeline().acknowledge_through({server_a(), 2});
  EXPECT_TRUE(second->get().status.ok());
  EXPECT_EQ(pipeline().state().shown, 0u);
  EXPECT_EQ(pipeline().state().oldest_unacknowledged.count(), 0);
}

TEST_F(Pipeline, ShownFirstWhatIsNotShippedIsAnsweredBehindWhatStandsInFront) {
  start(CommitPipeline::Gate::ShownFirst);
  ASSERT_TRUE(commit({1, false}).status.ok()) << "nothing stands in front of it";
  auto shipped = begin({2});
  eventually([&] { return pipeline().gtid_executed().count() == 1; });
  auto behind = begin({3, false});
  eventually([&] { return server_.engine.state().keys.size() == 3; });
  EXPECT_FALSE(behind->done());
  pipeline().acknowledge_through({server_a(), 1});
  EXPECT_TRUE(shipped->get().status.ok());
  EXPECT_TRUE(behind->get().status.ok());
  EXPECT_EQ(pipeline().acknowledged_end(), pipeline().durable_end());
}

TEST_F(Pipeline, ShownFirstIsOnlyWhatASessionWaitsFor) {
  start(CommitPipeline::Gate::ShownFirst);
  auto epoch = begin({0, true, 7});
  eventually([&] { return pipeline().last_log_epoch() == 7; });
  auto behind = begin({1});
  eventually([&] { return pipeline().gtid_logged().count() == 2; });
  EXPECT_TRUE(pipeline().gtid_executed().empty()) << "the epoch is not acknowledged";
  pipeline().acknowledge_through({server_a(), 1});
  EXPECT_TRUE(epoch->get().status.ok());
  eventually([&] { return pipeline().gtid_executed().count() == 2; });
  EXPECT_FALSE(behind->done());
  receive(1);
  eventually([&] { return reported_ == 1; });
  EXPECT_EQ(pipeline().gtid_executed().count(), 2u) << "what is received waits";
  pipeline().acknowledge(pipeline().durable_end());
  EXPECT_TRUE(behind->get().status.ok());
}

TEST_F(Pipeline, ShownFirstWhoWaitsGoesOnWaitingWhenTheWaitPointChanges) {
  start(CommitPipeline::Gate::Gated);
  auto first = begin({1});
  eventually([&] { return pipeline().gtid_logged().count() == 1; });
  pipeline().set_gate(CommitPipeline::Gate::ShownFirst);
  eventually([&] { return pipeline().gtid_executed().count() == 1; });
  EXPECT_FALSE(first->done());
  pipeline().set_gate(CommitPipeline::Gate::Gated);
  auto second = begin({2});
  auto unshipped = begin({3, false});
  eventually([&] { return pipeline().unapplied_transactions() == 2; });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(server_.engine.state().keys, std::vector{key(1)});
  EXPECT_FALSE(first->done());
  pipeline().set_gate(CommitPipeline::Gate::Immediate);
  for (const auto& each : {first, second, unshipped}) EXPECT_TRUE(each->get().status.ok());
}

TEST_F(Pipeline, ShownFirstWhoWaitsIsToldThatNobodyKnows) {
  start(CommitPipeline::Gate::ShownFirst);
  auto waiting = begin({1});
  eventually([&] { return pipeline().gtid_executed().count() == 1; });
  pipeline().fail_waiters(make_error(er::kServerShutdown, "demoted"));
  EXPECT_EQ(waiting->get().status.error().code, er::kServerShutdown);
  EXPECT_FALSE(pipeline().has_unknown_outcomes()) << "it is in the engine: who begins now sees it";
  auto stopped = begin({2});
  eventually([&] { return pipeline().gtid_executed().count() == 2; });
  const auto cut = pipeline().cut_unacknowledged(gnos(server_a(), 1, 1));
  ASSERT_FALSE(cut.ok()) << "what was shown is not cut";
  EXPECT_EQ(cut.error().code, er::kDiverged);
  server_.stop();
  EXPECT_EQ(stopped->get().status.error().code, er::kServerShutdown);
}

TEST_F(Pipeline, ShownFirstAFailureAnswersWhoWaits) {
  start(CommitPipeline::Gate::ShownFirst);
  auto waiting = begin({1});
  eventually([&] { return pipeline().gtid_executed().count() == 1; });
  fs_.fail_next_syncs(1);
  EXPECT_FALSE(commit({2}).status.ok());
  EXPECT_FALSE(waiting->get().status.ok());
}

TEST_F(Pipeline, AFailedSyncAcknowledgesNothingAndStopsEverything) {
  start();
  ASSERT_TRUE(commit({1}).status.ok());
  const LogPosition end = pipeline().durable_end();
  std::atomic<int> calls{0};
  pipeline().on_failure([&](const Error&) { ++calls; });
  fs_.fail_next_syncs(1);
  EXPECT_FALSE(commit({2}).status.ok());
  EXPECT_FALSE(commit({3}).status.ok()) << "a later sync that succeeds proves nothing";
  EXPECT_EQ(pipeline().durable_end(), end);
  EXPECT_EQ(server_.engine.state().keys, std::vector{key(1)});
  EXPECT_TRUE(pipeline().failure().has_value());
  EXPECT_EQ(calls, 1);
}

TEST_F(Pipeline, AFullDiskFailsTheCommitAndNothingElse) {
  start();
  ASSERT_TRUE(commit({1}).status.ok());
  fs_.fail_writes_beyond(0);
  EXPECT_EQ(commit({2}).status.error().code, er::kDiskFull);
  fs_.fail_writes_beyond(UINT64_MAX);
  const Committed third = commit({3});
  ASSERT_TRUE(third.status.ok());
  EXPECT_EQ(third.gtid.gno, 2u) << "the failed one never had a GTID";
  EXPECT_EQ(server_.engine.state().keys, (std::vector{key(1), key(3)}));
}

// Held at the queue with its place in the order and its locks let go; what its successor has seen.
SeenOrder queued(CommitPipeline& pipeline, const std::string& key) {
  SeenOrder seen;
  eventually([&] { return (seen = pipeline.ordered().newest(key)).order != 0; });
  return seen;
}

TEST_F(Pipeline, WhoHasSeenWhatDoesNotFitOnTheDiskFailsWithIt) {
  start();
  pipeline().freeze();
  // Too large to share its group, and for the disk.
  const std::string large = "INSERT " + std::string(17 << 20, 'x');
  auto first = begin({.id = 1, .statement = large, .lets_go_early = true});
  const SeenOrder seen = queued(pipeline(), large);
  auto dependant = begin({.id = 2, .lets_go_early = true, .seen = seen});
  const SeenOrder seen_later = queued(pipeline(), key(2));
  auto its_dependant = begin({.id = 3, .lets_go_early = true, .seen = seen_later});
  queued(pipeline(), key(3));
  auto independent = begin({.id = 4, .lets_go_early = true});
  queued(pipeline(), key(4));
  fs_.fail_writes_beyond(12 << 20);
  pipeline().thaw();
  EXPECT_EQ(first->get().status.error().code, er::kDiskFull);
  EXPECT_EQ(dependant->get().status.error().code, er::kDiskFull);
  EXPECT_EQ(its_dependant->get().status.error().code, er::kDiskFull);
  EXPECT_TRUE(independent->get().status.ok());
  for (const SeenOrder& lost : {seen, seen_later})
    EXPECT_EQ(commit({.id = 5, .seen = lost}).status.error().code, er::kLockDeadlock) << "it was still open";
  EXPECT_EQ(server_.engine.state().keys, (std::vector{key(4)}));
  EXPECT_EQ(pipeline().gtid_executed(), gnos(server_a(), 1, 1));
  EXPECT_TRUE(pipeline().ordered().empty());
}

// Otherwise, of two threads that take transactions into the engine, the first could still be busy with its
// own when the second one's newer version of a row is there already; who locks the row next would find the
// older.
TEST_F(Pipeline, WhatTheEngineHasIsForgottenBeforeItTakesMore) {
  constexpr size_t kMoreKeys = 1000;
  enum class Step { None, FirstIsAcknowledged, SecondBegins, SecondIsThere };
  std::atomic<Step> step{Step::None};
  std::atomic<size_t> left_of_first{0};
  uint64_t id = 0;
  std::shared_ptr<Pending<Committed>> second;
  server_.engine.on_commit = [&](const FakeEngine::State&) {
    if (step == Step::FirstIsAcknowledged) {
      step = Step::SecondBegins;
      pipeline().acknowledge_through({server_a(), id + 1});
      second = begin({.id = id + 1});
    } else if (step == Step::SecondBegins) {
      for (size_t i = 0; i < kMoreKeys; ++i)
        left_of_first += pipeline().ordered().newest(more_key(i)).order != 0 ? 1 : 0;
      step = Step::SecondIsThere;
    }
  };
  start(CommitPipeline::Gate::Gated);
  for (id = 1; id < 100; id += 2) {
    auto first = begin({.id = id, .lets_go_early = true, .more_keys = kMoreKeys});
    eventually([&] { return pipeline().gtid_logged().contains(Gtid{server_a(), id}); });
    step = Step::FirstIsAcknowledged;
    pipeline().acknowledge_through({server_a(), id});
    eventually([&] { return step == Step::SecondIsThere; });
    ASSERT_TRUE(first->get().status.ok() && second->get().status.ok());
  }
  EXPECT_EQ(left_of_first, 0u);
}

TEST_F(Pipeline, TransactionsOfOneGroupThatDependOnEachOtherSaySoInTheLog) {
  start();
  pipeline().freeze();
  auto first = begin({.id = 1, .lets_go_early = true});
  const SeenOrder seen = queued(pipeline(), key(1));
  auto independent = begin({.id = 2, .lets_go_early = true});
  queued(pipeline(), key(2));
  auto dependant = begin({.id = 3, .lets_go_early = true, .seen = seen});
  queued(pipeline(), key(3));
  const LogPosition before = pipeline().durable_end();
  pipeline().thaw();
  ASSERT_TRUE(first->get().status.ok() && independent->get().status.ok() && dependant->get().status.ok());
  auto chunk = pipeline().log().read(before, pipeline().durable_end(), 1 << 20);
  ASSERT_TRUE(chunk.ok());
  std::string_view bytes = chunk->bytes;
  std::vector<std::pair<int64_t, int64_t>> clock;
  while (!bytes.empty()) {
    auto event = parse_event(bytes);
    ASSERT_TRUE(event.ok());
    if (event->header.type == EventType::Gtid) {
      const auto gtid = parse_gtid_event(*event, true);
      clock.emplace_back(gtid->last_committed, gtid->sequence_number);
    }
    bytes.remove_prefix(event->bytes.size());
  }
  EXPECT_EQ(clock, (std::vector<std::pair<int64_t, int64_t>>{{0, 1}, {0, 2}, {1, 3}}));
}

TEST_F(Pipeline, AnEngineFailureAnswersEverybody) {
  start();
  server_.engine.fail(true);
  EXPECT_FALSE(commit({1}).status.ok());
  EXPECT_FALSE(commit({2}).status.ok());
  EXPECT_TRUE(pipeline().failure().has_value());
}

TEST_F(Pipeline, UnshippedTransactionsHaveNoGtidAndSurvive) {
  start(CommitPipeline::Gate::Gated);
  const Committed local = commit({1, false});
  ASSERT_TRUE(local.status.ok()) << "nobody can acknowledge it";
  EXPECT_TRUE(local.gtid.empty());
  EXPECT_TRUE(pipeline().gtid_logged().empty());
  auto shipped = begin({2});
  eventually([&] { return pipeline().gtid_logged().count() == 1; });
  auto behind = begin({3, false});
  eventually([&] { return pipeline().unapplied_transactions() == 2; });
  EXPECT_FALSE(behind->done()) << "it must not overtake";
  pipeline().set_gate(CommitPipeline::Gate::Immediate);
  EXPECT_TRUE(shipped->get().status.ok());
  EXPECT_TRUE(behind->get().status.ok());
  server_.stop();

  Server again(fs_);  // an engine that lost everything
  ASSERT_TRUE(again.open_and_start().ok());
  EXPECT_EQ(again.engine.state().keys, (std::vector{key(1), key(2), key(3)}));
  EXPECT_EQ(again.pipeline->gtid_executed(), gnos(server_a(), 1, 1));
}

TEST_F(Pipeline, EpochTransactionsAreKnownFromTheLog) {
  start();
  ASSERT_TRUE(commit({0, true, 7}).status.ok());
  EXPECT_EQ(pipeline().last_log_epoch(), 7u);
  EXPECT_EQ(server_.engine.commit_point().epoch, 7u);
  pipeline().append_received(received_from(server_b(), 1, 1, 9), {server_b(), 1}, nullptr);
  eventually([&] { return pipeline().gtid_executed().count() == 2; });
  EXPECT_EQ(pipeline().last_log_epoch(), 9u);
  server_.stop();
  Server again(fs_);
  ASSERT_TRUE(again.open_and_start().ok());
  EXPECT_EQ(again.pipeline->last_log_epoch(), 9u);
  EXPECT_EQ(again.engine.commit_point().epoch, 9u);
}

TEST_F(Pipeline, AnEpochTransactionPassesWhileLocalCommitsAreClosed) {
  start();
  pipeline().close_to_local_commits(make_error(er::kOptionPreventsStatement, "read only"));
  EXPECT_FALSE(commit({1}).status.ok());
  EXPECT_TRUE(commit({0, true, 3}).status.ok());
  pipeline().open_to_local_commits();
  EXPECT_TRUE(commit({2}).status.ok());
}

TEST_F(Pipeline, StatementsAreAppliedAloneAtReplay) {
  start();
  commit({1});
  commit({0, true, 0, "CREATE TABLE a (i INT)"});
  commit({2});
  commit({3});
  server_.stop();
  Server again(fs_);
  ASSERT_TRUE(again.open().ok());
  auto replayed = again.pipeline->replay(again.report.end);
  ASSERT_TRUE(replayed.ok());
  EXPECT_EQ(replayed->transactions, 4u);
  EXPECT_EQ(again.engine.state().batch_sizes, (std::vector<size_t>{1, 1, 2}));
  EXPECT_EQ(again.engine.state().keys, server_.engine.state().keys);
}

TEST_F(Pipeline, CommitsWaitWhileTooMuchIsUnacknowledged) {
  PipelineOptions options;
  options.max_unacknowledged_bytes = 1;
  Server small(fs_, {}, options);
  ASSERT_TRUE(small.open_and_start().ok());
  small.pipeline->set_gate(CommitPipeline::Gate::Gated);
  auto first = small.begin_commit(reactors_[0], {1});
  eventually([&] { return small.pipeline->gtid_logged().count() == 1; });
  auto second = small.begin_commit(reactors_[0], {2});
  auto epoch = small.begin_commit(reactors_[0], {0, true, 3});
  eventually([&] { return small.pipeline->gtid_logged().count() == 2; });
  EXPECT_EQ(small.pipeline->last_log_epoch(), 3u) << "an epoch transaction is what ends the wait";
  small.pipeline->acknowledge_through({server_a(), 2});
  EXPECT_TRUE(epoch->get().status.ok());
  EXPECT_TRUE(first->get().status.ok());
  small.pipeline->acknowledge_through({server_a(), 3});
  EXPECT_TRUE(second->get().status.ok());
}

TEST_F(Pipeline, ReadersAreWokenWhenTheirPositionIsPassed) {
  start(CommitPipeline::Gate::Gated);
  using Bound = CommitPipeline::Bound;
  const LogPosition start = pipeline().durable_end();
  auto durable = run_on(reactors_[0], pipeline().wait_beyond(start, Bound::Durable, kNoDeadline));
  auto acknowledged = run_on(reactors_[1], pipeline().wait_beyond(start, Bound::Acknowledged, kNoDeadline));
  const GtidSet wanted = gnos(server_a(), 1, 1);
  auto executed = run_on(reactors_[1], pipeline().wait_executed(wanted, kNoDeadline));
  auto late = run_on(reactors_[0], pipeline().wait_beyond(start, Bound::Acknowledged, Clock::now()));
  EXPECT_FALSE(late->get());
  auto first = begin({1});
  EXPECT_TRUE(durable->get());
  EXPECT_FALSE(acknowledged->done());
  EXPECT_FALSE(executed->done());
  pipeline().acknowledge(pipeline().durable_end());
  EXPECT_TRUE(acknowledged->get());
  EXPECT_TRUE(executed->get());
  auto woken = run_on(reactors_[1], pipeline().wait_beyond({9, 9}, Bound::Acknowledged, kNoDeadline));
  while (!woken->done()) {  // it may not be listed yet
    pipeline().wake_readers();
    std::this_thread::yield();
  }
  EXPECT_TRUE(woken->get());
  auto never = run_on(reactors_[0], pipeline().wait_beyond({9, 9}, Bound::Durable, kNoDeadline));
  auto sync = run_on(reactors_[0], pipeline().wait_beyond({1, 4}, Bound::Durable, kNoDeadline));
  EXPECT_TRUE(sync->get());
  server_.stop();
  EXPECT_FALSE(never->get());
}

// As that of a reader's watcher, when the thread of its session has ended.
TEST_F(Pipeline, WhoWaitedOnAReactorThatHasGoneIsNotWoken) {
  start();
  {
    Reactor gone("gone");
    gone.spawn([](CommitPipeline& waited, Reactor& reactor) -> Task<void> {
      reactor.stop();
      (void)co_await waited.wait_beyond(waited.durable_end(), CommitPipeline::Bound::Durable, kNoDeadline);
    }(pipeline(), gone));
    gone.run();
  }
  const observe::Counter& wake_ups = observe::counter("commitd_wakeups_total", "");
  const uint64_t before = wake_ups.value();
  ASSERT_TRUE(commit({1}).status.ok());
  EXPECT_EQ(wake_ups.value(), before + 1) << "only the one who commits";
}

TEST_F(Pipeline, StoppingAnswersWhoWaits) {
  start(CommitPipeline::Gate::Gated);
  auto waiting = begin({1});
  eventually([&] { return pipeline().gtid_logged().count() == 1; });
  server_.stop();
  EXPECT_EQ(waiting->get().status.error().code, er::kServerShutdown);
  EXPECT_FALSE(commit({2}).status.ok());
}

TEST_F(Pipeline, FilesRotateAndPurgeStopsAtTheEngine) {
  server_.max_file_size = 2000;
  start();
  for (uint64_t id = 1; id <= 40; ++id) ASSERT_TRUE(commit({id}).status.ok());
  const uint32_t last = pipeline().durable_end().file;
  ASSERT_GT(last, 3u);
  ASSERT_TRUE(run_on(reactors_[0], pipeline().purge_to(99))->get().ok());
  EXPECT_EQ(pipeline().log().files()->front().number, server_.engine.flushed_position().file);
  server_.stop();
  Server again(fs_, server_.engine.state());
  ASSERT_TRUE(again.open_and_start().ok());
  EXPECT_EQ(again.pipeline->gtid_executed(), gnos(server_a(), 1, 40));
  Server empty(fs_);
  ASSERT_TRUE(empty.open().ok());
  EXPECT_FALSE(empty.pipeline->replay(empty.report.end).ok()) << "the purged transactions are missing";
}

TEST_F(Pipeline, FrozenItTakesNothingIntoTheEngineAndAnswersWhatWasUnderWay) {
  start(CommitPipeline::Gate::Gated);
  auto under_way = begin({1});
  eventually([&] { return pipeline().gtid_logged().count() == 1; });
  pipeline().freeze();
  EXPECT_FALSE(pipeline().frozen()) << "a session waits for its answer";
  pipeline().acknowledge(pipeline().durable_end());
  EXPECT_TRUE(under_way->get().status.ok());
  eventually([&] { return pipeline().frozen(); });
  const auto visible = pipeline().visible();
  EXPECT_EQ(visible.executed, gnos(server_a(), 1, 1));
  EXPECT_EQ(visible.end, pipeline().durable_end());

  pipeline().freeze();  // a second one
  auto held = begin({2});
  pipeline().thaw();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(pipeline().gtid_logged().count(), 1u);
  EXPECT_TRUE(pipeline().frozen());
  EXPECT_EQ(pipeline().visible().end, visible.end);
  pipeline().thaw();
  eventually([&] { return pipeline().gtid_logged().count() == 2; });
  pipeline().acknowledge(pipeline().durable_end());
  EXPECT_TRUE(held->get().status.ok());
}

TEST_F(Pipeline, AddedPurgedGtidsAreExecutedAlsoAfterARestart) {
  start();
  ASSERT_TRUE(commit({1}).status.ok());
  const GtidSet added = gnos(server_b(), 1, 9);
  ASSERT_TRUE(pipeline().add_purged(added).ok());
  ASSERT_TRUE(commit({2}).status.ok());
  GtidSet all = gnos(server_a(), 1, 2);
  all.add(added);
  EXPECT_EQ(pipeline().gtid_executed(), all);
  server_.stop();
  Server again(fs_, server_.engine.state());
  ASSERT_TRUE(again.open_and_start().ok());
  EXPECT_EQ(again.pipeline->gtid_executed(), all);
  EXPECT_EQ(again.pipeline->gtid_logged(), all);
  EXPECT_EQ(*again.pipeline->log().purged(), added);
}

TEST_F(Pipeline, ASettledEngineFreesTheFileBeforeARotation) {
  start();
  ASSERT_TRUE(commit({1}).status.ok());
  ASSERT_TRUE(run_on(reactors_[0], pipeline().rotate())->get().ok());
  EXPECT_EQ(server_.engine.replay_position().file, 1u);
  ASSERT_TRUE(run_on(reactors_[0], pipeline().settle_engine_position())->get().ok());
  EXPECT_EQ(server_.engine.replay_position(), pipeline().durable_end());
  auto report = run_on(reactors_[0], pipeline().purge_to(2))->get();
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->first_kept, 2u);
}

}  // namespace
}  // namespace commitd::binlog
