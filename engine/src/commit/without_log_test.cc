// Transactions that go into the engine without the log: it was left at a start, or because it failed; and
// what a start makes of that, wherever a crash came.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error_codes.h"
#include "commit/testing/pipeline_fixture.h"

namespace commitd::binlog {
namespace {

using namespace testing;
using commitd::testing::Loss;
using commitd::testing::RecordingFileSystem;

std::string key(uint64_t id) {
  return orders_image(orders_table(), id, "");
}

std::vector<std::string> keys(std::initializer_list<uint64_t> ids) {
  std::vector<std::string> all;
  for (const uint64_t id : ids) all.push_back(key(id));
  return all;
}

class WithoutLog : public ::testing::Test {
 protected:
  struct Moment {
    size_t step;
    FakeEngine::State state;
  };

  void start(CommitPipeline::Gate gate = CommitPipeline::Gate::Immediate) {
    open();
    server_.start();
    server_.pipeline->set_gate(gate);
  }
  void start_without_log() {
    open();
    ASSERT_TRUE(server_.pipeline->leave_log().ok());
    server_.start();
  }
  void open() {
    server_.engine.own_log = true;
    server_.engine.on_commit = [this](const FakeEngine::State& state) {
      moments_.push_back({fs_.steps(), state});
    };
    ASSERT_TRUE(server_.open().ok());
    ASSERT_TRUE(server_.pipeline->replay(server_.report.end).ok());
    server_.pipeline->on_log_left([this](const Error& why) { told_.push_back(why.message); });
  }
  std::shared_ptr<Pending<Committed>> begin(Commit what) {
    return server_.begin_commit(reactors_[what.id], std::move(what));
  }
  Committed commit(Commit what) { return begin(std::move(what))->get(); }
  std::string log_content() const { return fs_.content("d/binlog.000001"); }

  std::vector<Moment> moments_{{0, {}}};
  std::vector<std::string> told_;
  RecordingFileSystem fs_;
  const std::shared_ptr<CommitSettings> settings_ = std::make_shared<CommitSettings>();
  Server server_{fs_, {}, {.settings = settings_}};
  Reactors reactors_{2};
};

class FailingLog : public WithoutLog {
 protected:
  FailingLog() { settings_->ignore_log_errors = true; }
};

TEST_F(FailingLog, ASyncThatFailsTurnsItOff) {
  start();
  ASSERT_TRUE(commit({1}).status.ok());
  const LogPosition end = server_.pipeline->durable_end();
  fs_.fail_next_syncs(1);
  EXPECT_EQ(commit({2}).gtid.gno, 2u);
  EXPECT_FALSE(server_.pipeline->logging());
  EXPECT_EQ(told_.size(), 1u);
  const std::string logged = log_content();
  ASSERT_TRUE(commit({.id = 3, .ship = false}).status.ok());
  EXPECT_EQ(commit({4}).gtid.gno, 3u);
  EXPECT_EQ(log_content(), logged) << "something was written behind the failed sync";
  EXPECT_EQ(server_.pipeline->durable_end(), end) << "readers would get what is not durable";
  EXPECT_EQ(server_.engine.state().keys, keys({1, 2, 3, 4}));
  EXPECT_TRUE(server_.engine.recover().empty());
  EXPECT_EQ(server_.pipeline->gtid_executed().count(), 3u);
  EXPECT_EQ(server_.pipeline->unapplied_transactions(), 0u);
  EXPECT_FALSE(server_.pipeline->failure());
  EXPECT_EQ(told_.size(), 1u);
}

TEST_F(FailingLog, AFullDiskTurnsItOff) {
  open();
  ASSERT_TRUE(reserve_note_of_leaving(fs_, server_.pipeline->log().options()).ok());
  server_.start();
  ASSERT_TRUE(commit({1}).status.ok());
  fs_.fail_writes_beyond(0);
  EXPECT_TRUE(commit({2}).status.ok());
  EXPECT_TRUE(commit({3}).status.ok());
  EXPECT_FALSE(server_.pipeline->logging());
  EXPECT_EQ(server_.engine.state().keys, keys({1, 2, 3}));
}

TEST_F(FailingLog, StaysWhenThatCannotBeNoted) {
  start();
  ASSERT_TRUE(commit({1}).status.ok());
  fs_.fail_next_syncs(2);
  EXPECT_FALSE(commit({2}).status.ok());
  EXPECT_TRUE(server_.pipeline->failure());
}

TEST_F(FailingLog, StopsTheServerByDefault) {
  settings_->ignore_log_errors = false;
  start();
  ASSERT_TRUE(commit({1}).status.ok());
  fs_.fail_next_syncs(1);
  EXPECT_FALSE(commit({2}).status.ok());
  EXPECT_TRUE(server_.pipeline->failure());
}

TEST_F(FailingLog, IsNeededForAcknowledgements) {
  start(CommitPipeline::Gate::Gated);
  fs_.fail_next_syncs(1);
  EXPECT_FALSE(commit({1}).status.ok());
  EXPECT_TRUE(server_.pipeline->failure());
}

TEST_F(FailingLog, IsNeededByAMemberOfACluster) {
  start();
  ASSERT_TRUE(commit({.id = 1, .epoch = 3}).status.ok());
  fs_.fail_next_syncs(1);
  EXPECT_FALSE(commit({2}).status.ok());
  EXPECT_TRUE(server_.pipeline->failure());
}

TEST_F(FailingLog, IsNeededForWhatIsReceived) {
  start();
  server_.pipeline->close_to_local_commits(make_error(er::kServerShutdown, "closed"));
  fs_.fail_next_syncs(1);
  server_.pipeline->append_received(received_from(server_b(), 1, 1), {server_b(), 1}, {});
  eventually([&] { return server_.pipeline->failure().has_value(); });
  EXPECT_TRUE(server_.pipeline->logging());
}

// What was acknowledged and is in the log is still to be taken into the engine, in front of the others.
TEST_F(FailingLog, WhatIsInItGoesIntoTheEngineFirst) {
  start();
  server_.engine.block(true);
  auto first = begin({1});
  eventually([&] { return server_.pipeline->gtid_logged().count() == 1; });
  auto second = begin({2});
  eventually([&] { return server_.pipeline->gtid_logged().count() == 2; });
  fs_.fail_next_syncs(1);
  auto third = begin({3});
  eventually([&] { return server_.pipeline->gtid_logged().count() == 3; });
  server_.engine.block(false);
  EXPECT_TRUE(first->get().status.ok() && second->get().status.ok() && third->get().status.ok());
  EXPECT_EQ(server_.engine.state().keys, keys({1, 2, 3}));
}

// sync_binlog=0: it is the engine that wants the log durable, on a thread of its own.
TEST_F(FailingLog, TheEngineGoesOnWhenItIsItsSyncThatFails) {
  settings_->sync_binlog = 0;
  start();
  ASSERT_TRUE(commit({1}).status.ok());
  fs_.fail_next_syncs(1);
  const FakeEngine::State persisted = server_.engine.persist();
  EXPECT_FALSE(server_.pipeline->logging());
  ASSERT_TRUE(commit({2}).status.ok());
  // The machine goes down, and the log with it: the engine is ahead of what is there.
  for (const FakeEngine::State& state : {persisted, server_.engine.state()}) {
    const auto disk = fs_.after_crash(fs_.steps(), Loss::DropAll, 0);
    Server again(*disk, state);
    again.engine.own_log = true;
    ASSERT_TRUE(again.open().ok());
    ASSERT_TRUE(again.pipeline->replay(again.report.end).ok());
    ASSERT_TRUE(again.pipeline->return_to_log().ok());
    EXPECT_EQ(again.pipeline->gtid_executed(), state.point.executed);
    EXPECT_EQ(*again.pipeline->gtid_purged(), state.point.executed) << "nobody can read them here";
    EXPECT_EQ(again.engine.state().keys, state.keys);
  }
}

TEST_F(WithoutLog, ATransactionThatIsTakenInPartsIsRefused) {
  start_without_log();
  WriteSet writes;
  writes.spill_beyond(1, {&fs_, "d"});
  for (uint64_t id = 1; id < 100; ++id) writes.put(key(id), std::string(1000, 'x'));
  ASSERT_TRUE(writes.spilled());
  TransactionBuffer events = insert_order(orders_table(), 1, "");
  events.finish(1);
  CommitRequest request;
  request.events = &events;
  request.writes = &writes;
  EXPECT_EQ(run_on(reactors_[0], server_.pipeline->commit(request))->get().error().code, er::kTransCacheFull);
  EXPECT_TRUE(commit({1}).status.ok());
  EXPECT_EQ(server_.engine.state().keys, keys({1}));
}

TEST_F(WithoutLog, NothingIsWrittenAndTheLogCannotBeChanged) {
  start_without_log();
  const std::string logged = log_content();
  ASSERT_TRUE(commit({1}).status.ok());
  EXPECT_TRUE(run_on(reactors_[0], server_.pipeline->rotate())->get().ok());
  EXPECT_EQ(run_on(reactors_[0], server_.pipeline->purge_to(2))->get()->removed, 0u);
  EXPECT_EQ(run_on(reactors_[0], server_.pipeline->reset())->get().error().code, er::kNoBinaryLogging);
  EXPECT_EQ(log_content(), logged);
  EXPECT_FALSE(fs_.exists("d/binlog.000002"));
  EXPECT_EQ(*server_.pipeline->gtid_purged(), server_.pipeline->gtid_executed());
  GtidSet others;
  others.add(Gtid{server_b(), 5});
  EXPECT_TRUE(server_.pipeline->add_purged(others).ok());
  EXPECT_TRUE(server_.engine.state().point.executed.contains(others));
}

// --- a crash at every operation, in the life of a log that fails, is left, goes on and is left again ---

struct Answered {
  size_t step, moments;  // operations on files, changes of the engine until then
  uint64_t id;
  Gtid gtid;
};

// What a start finds, and how a log goes on behind it.
class CrashesAroundLeaving : public FailingLog {
 protected:
  void commit_some(Server& server, uint64_t first, uint64_t count) {
    for (uint64_t id = first; id < first + count; ++id) {
      Commit what{id};
      what.ship = id % 4 != 3;
      const Committed done = server.begin_commit(reactors_[id], what)->get();
      ASSERT_TRUE(done.status.ok()) << id;
      answered_.push_back({fs_.steps(), moments_.size(), id, done.gtid});
    }
  }

  // Everything that was answered is there once, in order, and at most one transaction more.
  void check(const FakeEngine::State& found, size_t step, size_t moments) const {
    const auto due = std::count_if(answered_.begin(), answered_.end(), [&](const Answered& one) {
      return one.step <= step && one.moments <= moments;
    });
    ASSERT_GE(found.keys.size(), static_cast<size_t>(due)) << "acknowledged and lost at step " << step;
    ASSERT_LE(found.keys.size(), std::min<size_t>(due + 1, answered_.size())) << "step " << step;
    for (size_t i = 0; i < found.keys.size(); ++i) {
      ASSERT_EQ(found.keys[i], key(answered_[i].id)) << "step " << step;
      const Gtid& gtid = answered_[i].gtid;
      ASSERT_TRUE(gtid.empty() || found.point.executed.contains(gtid)) << "step " << step;
    }
  }

  void check_start(RecordingFileSystem& disk, const FakeEngine::State& state, size_t step, size_t moments) {
    Server again(disk, state);
    again.engine.own_log = true;
    auto opened = again.open();
    ASSERT_TRUE(opened.ok()) << step << ": " << opened.error().message;
    ASSERT_TRUE(again.pipeline->replay(again.report.end).ok()) << step;
    if (again.was_left) {
      return_to_log(again, disk, step);
      if (HasFatalFailure()) return;
    }
    ASSERT_TRUE(again.engine.recover().empty()) << step;
    check(again.engine.state(), step, moments);
    const GtidSet executed = again.pipeline->gtid_executed();
    again.start();
    const Committed next = again.begin_commit(reactors_[0], {1000})->get();
    ASSERT_TRUE(next.status.ok()) << step;
    ASSERT_FALSE(executed.contains(next.gtid)) << "a number is given twice, step " << step;
    check_readers(again, executed, next.gtid, step);
    again.stop();
    check_second_start(disk, again.engine.state(), step);
  }

  // A crash behind each operation of the return: then it is done again, or has happened.
  void return_to_log(Server& again, RecordingFileSystem& disk, size_t step) {
    std::vector<Moment> moments{{disk.steps(), again.engine.state()}};
    again.engine.on_commit = [&](const FakeEngine::State& state) {
      moments.push_back({disk.steps(), state});
    };
    ASSERT_TRUE(again.pipeline->return_to_log().ok()) << step;
    again.engine.on_commit = nullptr;
    if (step % 3 != 0) return;  // enough of them
    for (size_t at = moments.front().step; at <= disk.steps(); ++at) {
      for (const Moment& moment : moments) {
        const bool is_past = &moment != &moments.back() && (&moment + 1)->step < at;
        if (moment.step > at || is_past) continue;
        const auto cut_short = disk.after_crash(at, Loss::Random, at);
        Server third(*cut_short, moment.state);
        third.engine.own_log = true;
        ASSERT_TRUE(third.open().ok()) << step << ", " << at;
        ASSERT_TRUE(third.pipeline->replay(third.report.end).ok()) << step << ", " << at;
        ASSERT_TRUE(third.was_left || third.report.logged.contains(moment.state.point.executed))
            << "the log went on as if nothing were missing in it, step " << step << ", " << at;
        ASSERT_TRUE(!third.was_left || third.pipeline->return_to_log().ok()) << step << ", " << at;
        ASSERT_EQ(third.engine.state().keys, again.engine.state().keys) << step << ", " << at;
        ASSERT_TRUE(third.pipeline->gtid_purged()->contains(*again.pipeline->gtid_purged())) << step;
      }
    }
  }

  // Whoever lacks what no file has is refused; whoever has it gets what comes.
  void check_readers(Server& again, const GtidSet& executed, const Gtid& next, size_t step) {
    const GtidSet purged = *again.pipeline->gtid_purged();
    again_left_ += again.was_left && !purged.empty();
    ASSERT_EQ(again.pipeline->log().start_for({}).ok(), purged.empty()) << step;
    ASSERT_TRUE(again.pipeline->log().start_for(executed).ok()) << step;
    GtidSet in_files = again.pipeline->gtid_logged();
    ASSERT_TRUE(in_files.contains(next));
    ASSERT_EQ(in_files.count(), executed.count() + 1);
  }

  void check_second_start(RecordingFileSystem& disk, const FakeEngine::State& state, size_t step) {
    const auto later = disk.after_crash(disk.steps(), Loss::DropAll, 0);
    Server third(*later, state);
    third.engine.own_log = true;
    ASSERT_TRUE(third.open().ok()) << step;
    ASSERT_FALSE(third.was_left) << "the note outlived the return, step " << step;
    ASSERT_TRUE(third.pipeline->replay(third.report.end).ok()) << step;
    ASSERT_EQ(third.engine.state().keys, state.keys) << "replayed over what is there, step " << step;
  }

  // With the engine in every state that it was in while the files stood at this operation.
  void crash_everywhere() {
    for (size_t step = 0; step <= fs_.steps(); ++step) {
      for (size_t i = 0; i < moments_.size() && moments_[i].step <= step; ++i) {
        const bool is_past = i + 1 < moments_.size() && moments_[i + 1].step < step;
        if (is_past) continue;
        for (unsigned seed = 0; seed < 5; ++seed) {
          const Loss loss = seed == 0 ? Loss::DropAll : seed == 1 ? Loss::KeepAll : Loss::Random;
          auto disk = fs_.after_crash(step, loss, step * 5 + seed);
          check_start(*disk, moments_[i].state, step, i + 1);
          if (HasFatalFailure()) return;
        }
      }
    }
  }

  std::vector<Answered> answered_;
  size_t again_left_ = 0;
};

TEST_F(CrashesAroundLeaving, NothingAcknowledgedIsLostWhenASyncFails) {
  start();
  commit_some(server_, 1, 6);
  fs_.fail_next_syncs(1);
  commit_some(server_, 7, 6);  // the seventh has no GTID by which it would be known
  ASSERT_FALSE(server_.pipeline->logging());
  server_.stop();
  crash_everywhere();
  EXPECT_GT(again_left_, 0u);
}

TEST_F(CrashesAroundLeaving, NothingAcknowledgedIsLostWhenAWriteFails) {
  open();
  ASSERT_TRUE(reserve_note_of_leaving(fs_, server_.pipeline->log().options()).ok());
  server_.start();
  commit_some(server_, 1, 4);
  fs_.fail_writes_beyond(0);
  commit_some(server_, 5, 6);
  ASSERT_FALSE(server_.pipeline->logging());
  server_.stop();
  crash_everywhere();
  EXPECT_GT(again_left_, 0u);
}

// Start-ups are part of the record: crashes come while the log is left, and while it goes on.
TEST_F(CrashesAroundLeaving, NothingAcknowledgedIsLostFromOneKindOfStartToTheOther) {
  start();
  commit_some(server_, 1, 3);
  server_.stop();
  FakeEngine::State state = server_.engine.state();
  for (const bool logging : {false, false, true, true, false, true}) {
    Server next(fs_, state);
    next.engine.own_log = true;
    next.engine.on_commit = server_.engine.on_commit;
    ASSERT_TRUE(next.open().ok());
    ASSERT_TRUE(next.pipeline->replay(next.report.end).ok());
    if (!logging) {
      ASSERT_TRUE(next.pipeline->leave_log().ok());
    } else if (next.was_left) {
      ASSERT_TRUE(next.pipeline->return_to_log().ok());
    }
    next.start();
    commit_some(next, answered_.back().id + 1, 3);
    next.stop();
    state = next.engine.state();
  }
  crash_everywhere();
  EXPECT_GT(again_left_, 0u);
}

}  // namespace
}  // namespace commitd::binlog
