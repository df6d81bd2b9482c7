// log_replica_updates=OFF: what is received stands in files of its own, in one order with the binary log.
#include <algorithm>
#include <map>
#include <random>

#include "base/error_codes.h"
#include "binlog/transaction_scanner.h"
#include "commit/testing/pipeline_test.h"

namespace commitd::binlog {
namespace {

using namespace testing;
using commitd::testing::Loss;
using commitd::testing::RecordingFileSystem;

constexpr const char* kRelayIndex = "d/commitd-relay-bin.index";

PipelineOptions without_replica_updates() {
  PipelineOptions options;
  options.log_replica_updates = false;
  return options;
}

// What a reader gets who reads the binary log from its first file on.
GtidSet readable(CommitPipeline& pipeline) {
  GtidSet found;
  TransactionScanner scanner;
  const LogPosition end = pipeline.durable_end();
  auto files = pipeline.log().files();
  EXPECT_TRUE(files.ok() && !files->empty());
  for (LogPosition at = {files->front().number, 4}; at < end;) {
    auto chunk = pipeline.log().read_binary(at, end, 300);
    EXPECT_TRUE(chunk.ok()) << chunk.error().message;
    if (!chunk.ok()) return found;
    at = chunk->start;
    for (std::string_view rest = chunk->bytes; !rest.empty();) {
      auto event = parse_event(rest);
      EXPECT_TRUE(event.ok());
      auto place = scanner.feed(*event, at.offset);
      EXPECT_TRUE(place.ok());
      if (TransactionScanner::completes(*place)) found.add(scanner.transaction().gtid);
      at.offset += event->bytes.size();
      rest.remove_prefix(event->bytes.size());
    }
    if (chunk->bytes.empty() && at != end) {
      ADD_FAILURE() << "nothing to read at " << at.file << ":" << at.offset;
      break;
    }
  }
  return found;
}

class RelayLog : public ::testing::Test {
 protected:
  Server& start(FakeEngine::State state = {}, bool recovery = false) {
    server_.reset();
    server_ = std::make_unique<Server>(fs_, std::move(state), without_replica_updates());
    server_->relay_log_recovery = recovery;
    server_->max_file_size = max_file_size;
    const Status started = server_->open_and_start();
    EXPECT_TRUE(started.ok()) << (started.ok() ? "" : started.error().message);
    return *server_;
  }
  CommitPipeline& pipeline() { return *server_->pipeline; }
  void commit(uint64_t id) {
    Commit what;
    what.id = id;
    EXPECT_TRUE(server_->begin_commit(reactors_[0], what)->get().status.ok());
  }
  // Numbers in the order in which they come.
  void receive(uint64_t count) {
    const int goal = reported_ + static_cast<int>(count);
    for (; count > 0; --count, ++gno_) {
      pipeline().append_received(received_from(server_b(), gno_, 1000 + gno_), {server_b(), gno_},
                                 [this](LogPosition) { ++reported_; });
    }
    eventually([&] { return reported_ == goal; });
  }
  void wait_until_applied() {
    eventually([&] { return pipeline().gtid_executed() == pipeline().gtid_logged(); });
  }
  // As the housekeeper does it.
  void purge_relay(uint32_t first_kept = UINT32_MAX) {
    EXPECT_TRUE(run_on(reactors_[0], pipeline().settle_engine_position())->get().ok());
    EXPECT_TRUE(run_on(reactors_[0], pipeline().purge_relay(first_kept))->get().ok());
  }
  std::vector<std::string> names(LogKind kind) {
    std::vector<std::string> all;
    const auto files = pipeline().log().files(kind);
    for (const LogFileInfo& file : *files) all.push_back(file.name);
    return all;
  }
  static GtidSet gnos(const Uuid& sid, uint64_t first, uint64_t last) {
    GtidSet set;
    set.add_interval(sid, first, last + 1);
    return set;
  }

  uint64_t max_file_size = 1 << 30;
  RecordingFileSystem fs_;
  std::unique_ptr<Server> server_;
  Reactors reactors_{1};
  std::atomic<int> reported_{0};
  uint64_t gno_ = 1;
};

TEST_F(RelayLog, WhatIsReceivedStandsInFilesOfItsOwn) {
  start();
  commit(1);
  receive(3);
  wait_until_applied();
  commit(2);
  EXPECT_EQ(names(LogKind::Binary), (std::vector<std::string>{"binlog.000001", "binlog.000003"}));
  EXPECT_EQ(names(LogKind::Relay), std::vector<std::string>{"commitd-relay-bin.000002"});
  EXPECT_EQ(fs_.content("d/binlog.index"), "./binlog.000001\n./binlog.000003\n");
  EXPECT_EQ(fs_.content(kRelayIndex), "./commitd-relay-bin.000002\n");
  EXPECT_EQ(readable(pipeline()), gnos(server_a(), 1, 2));
  EXPECT_EQ(*pipeline().gtid_purged(), gnos(server_b(), 1, 3));
  EXPECT_EQ(pipeline().log().file_name(2), "commitd-relay-bin.000002");
  EXPECT_FALSE(pipeline().log().file_number("binlog.000002").ok());
  EXPECT_FALSE(pipeline().log().file_number("commitd-relay-bin.000002").ok());
}

TEST_F(RelayLog, AReaderWithoutWhatWasReceivedIsRefusedAndOneWithItGoesOn) {
  start();
  commit(1);
  receive(2);
  commit(2);
  wait_until_applied();
  Log& log = pipeline().log();
  const GtidSet gone = *pipeline().gtid_purged();
  EXPECT_EQ(log.start_for(gnos(server_a(), 1, 1), gone).error().code, er::kSourceFatalReadingBinlog);
  GtidSet has = gnos(server_b(), 1, 2);
  EXPECT_EQ(log.start_for(has, gone)->file, 1u);
  has.add(gnos(server_a(), 1, 1));
  EXPECT_EQ(log.start_for(has, gone)->file, 3u);
}

TEST_F(RelayLog, AReaderAtTheEndOfTheBinaryLogStaysThereWhileItGrowsElsewhere) {
  start();
  commit(1);
  receive(1);
  const LogPosition end = pipeline().durable_end();
  LogPosition at = pipeline().log().binary_end(end);
  EXPECT_EQ(at.file, 1u);
  auto chunk = pipeline().log().read_binary(at, end, 1000);
  ASSERT_TRUE(chunk.ok());
  EXPECT_TRUE(chunk->bytes.empty());
  EXPECT_EQ(chunk->start, end);
  wait_until_applied();
  commit(2);
  // From a place in the relay log, whose file may be gone meanwhile.
  server_->engine.persist();
  purge_relay();
  chunk = pipeline().log().read_binary(end, pipeline().durable_end(), 1 << 20);
  ASSERT_TRUE(chunk.ok());
  EXPECT_EQ(chunk->start, (LogPosition{3, 4}));
  EXPECT_FALSE(chunk->bytes.empty());
}

TEST_F(RelayLog, AStartBringsTheEngineWhereBothLogsSayInTheirOrder) {
  start();
  commit(1);
  receive(2);
  wait_until_applied();
  commit(2);
  receive(1);
  wait_until_applied();
  server_->stop();
  const FakeEngine::State all = server_->engine.state();
  start(FakeEngine::State{});
  EXPECT_EQ(server_->engine.state().keys, all.keys);
  EXPECT_EQ(pipeline().gtid_executed(), all.point.executed);
  EXPECT_EQ(names(LogKind::Relay),
            (std::vector<std::string>{"commitd-relay-bin.000002", "commitd-relay-bin.000004"}));
  receive(1);
  EXPECT_EQ(names(LogKind::Relay).size(), 2u) << "it goes on in the same file";
}

TEST_F(RelayLog, AppliedFilesGoAndTheirTransactionsStayPurged) {
  max_file_size = 600;
  start();
  commit(1);
  for (int i = 0; i < 6; ++i) receive(1);
  wait_until_applied();
  ASSERT_GT(names(LogKind::Relay).size(), 2u);
  purge_relay(3);
  EXPECT_EQ(names(LogKind::Relay).front(), "commitd-relay-bin.000003") << "it is needed";
  purge_relay();
  EXPECT_EQ(names(LogKind::Relay).size(), 1u);
  EXPECT_EQ(*pipeline().gtid_purged(), gnos(server_b(), 1, 6));
  EXPECT_EQ(readable(pipeline()), gnos(server_a(), 1, 1));
  server_->stop();
  const FakeEngine::State state = server_->engine.state();
  start(state);
  EXPECT_EQ(*pipeline().gtid_purged(), gnos(server_b(), 1, 6));
  EXPECT_EQ(readable(pipeline()), gnos(server_a(), 1, 1));
  commit(2);
  purge_relay();
  EXPECT_TRUE(names(LogKind::Relay).empty());
  server_->stop();
  start(server_->engine.state());
  EXPECT_EQ(*pipeline().gtid_purged(), gnos(server_b(), 1, 6));
  EXPECT_EQ(readable(pipeline()), gnos(server_a(), 1, 2));
}

TEST_F(RelayLog, WhatIsNotAppliedIsNeitherPurgedNorTakenAway) {
  max_file_size = 600;
  start();
  pipeline().set_gate(CommitPipeline::Gate::Gated);
  for (int i = 0; i < 5; ++i) receive(1);
  purge_relay();
  EXPECT_EQ(names(LogKind::Relay).front(), "commitd-relay-bin.000002");
  EXPECT_TRUE(pipeline().gtid_purged()->empty());
  pipeline().acknowledge_through({server_b(), 2});
  eventually([&] { return pipeline().gtid_executed() == gnos(server_b(), 1, 2); });
  EXPECT_EQ(*pipeline().gtid_purged(), gnos(server_b(), 1, 2));
}

TEST_F(RelayLog, TheLastBinaryLogFileStaysWhileTheRelayLogIsWritten) {
  start();
  commit(1);
  receive(1);
  wait_until_applied();
  auto purged = run_on(reactors_[0], pipeline().purge_to(1000));
  ASSERT_TRUE(purged->get().ok());
  EXPECT_EQ(names(LogKind::Binary), std::vector<std::string>{"binlog.000001"});
  commit(2);
  purged = run_on(reactors_[0], pipeline().purge_to(1000));
  ASSERT_TRUE(purged->get().ok());
  EXPECT_EQ(names(LogKind::Binary), std::vector<std::string>{"binlog.000003"});
  GtidSet gone = gnos(server_a(), 1, 1);
  gone.add(gnos(server_b(), 1, 1));
  EXPECT_EQ(*pipeline().gtid_purged(), gone);
}

TEST_F(RelayLog, RecoveryThrowsAwayWhatTheEngineLacksAndNothingOfTheServersOwn) {
  start();
  commit(1);
  receive(2);
  wait_until_applied();
  const FakeEngine::State early = server_->engine.state();
  receive(3);
  wait_until_applied();
  server_->stop();
  start(early, true);
  EXPECT_EQ(pipeline().gtid_logged(), early.point.executed) << "the source has the rest";
  gno_ = 3;
  receive(3);
  wait_until_applied();
  commit(2);
  GtidSet all = gnos(server_a(), 1, 2);
  all.add(gnos(server_b(), 1, 5));
  EXPECT_EQ(pipeline().gtid_executed(), all);
  server_->stop();
  start(early, true);  // own transactions stand behind what was received
  EXPECT_EQ(pipeline().gtid_executed(), all);
}

TEST_F(RelayLog, RecoveryInFrontOfTheFirstReceivedTransaction) {
  start();
  commit(1);
  const FakeEngine::State early = server_->engine.state();
  receive(2);
  wait_until_applied();
  server_->stop();
  start(early, true);
  EXPECT_EQ(pipeline().gtid_logged(), gnos(server_a(), 1, 1));
  EXPECT_TRUE(names(LogKind::Relay).empty());
  commit(2);
  EXPECT_EQ(readable(pipeline()), gnos(server_a(), 1, 2));
}

TEST_F(RelayLog, OneThatIsSwitchedOffIsAppliedAndReplicaUpdatesAreLoggedAgain) {
  start();
  receive(2);
  server_->stop();
  Server again(fs_, {});
  ASSERT_TRUE(again.open_and_start().ok());
  std::atomic<bool> reported = false;
  again.pipeline->append_received(received_from(server_b(), 3, 3), {server_b(), 3},
                                  [&](LogPosition) { reported = true; });
  eventually([&] { return reported && again.pipeline->gtid_executed() == gnos(server_b(), 1, 3); });
  EXPECT_EQ(readable(*again.pipeline), gnos(server_b(), 3, 3));
  EXPECT_EQ(*again.pipeline->gtid_purged(), gnos(server_b(), 1, 2));
}

TEST_F(RelayLog, ACutGoesThroughBothKindsOfFiles) {
  start();
  commit(1);
  pipeline().set_gate(CommitPipeline::Gate::Gated);
  receive(2);
  ASSERT_TRUE(run_on(reactors_[0], pipeline().rotate())->get().ok());
  receive(2);
  EXPECT_EQ(names(LogKind::Binary).back(), "binlog.000003");
  EXPECT_EQ(names(LogKind::Relay).back(), "commitd-relay-bin.000004");
  pipeline().close_to_local_commits(make_error(er::kOptionPreventsStatement, "read only"));
  GtidSet keep = gnos(server_a(), 1, 1);
  keep.add(gnos(server_b(), 1, 1));
  EXPECT_EQ(*pipeline().cut_unacknowledged(keep), 3u);
  EXPECT_EQ(names(LogKind::Binary), std::vector<std::string>{"binlog.000001"});
  EXPECT_EQ(names(LogKind::Relay), std::vector<std::string>{"commitd-relay-bin.000002"});
  server_->stop();
  start();
  EXPECT_EQ(pipeline().gtid_logged(), keep);
}

TEST_F(RelayLog, AResetTakesItAway) {
  start();
  receive(2);
  wait_until_applied();
  ASSERT_TRUE(run_on(reactors_[0], pipeline().reset())->get().ok());
  EXPECT_TRUE(names(LogKind::Relay).empty());
  EXPECT_FALSE(fs_.exists(kRelayIndex));
  EXPECT_FALSE(fs_.exists("d/commitd-relay-bin.000002"));
  EXPECT_TRUE(pipeline().gtid_purged()->empty());
  gno_ = 1;
  receive(1);
  wait_until_applied();
  EXPECT_EQ(names(LogKind::Relay), std::vector<std::string>{"commitd-relay-bin.000002"});
}

// --- crashes ---

// What was promised, and when: `step` counts the file system's operations.
struct Promise {
  size_t step = 0;
  Gtid gtid;
};
struct Moment {
  size_t step = 0;
  FakeEngine::State state;
};

struct Workload {
  RecordingFileSystem fs;
  std::mutex mutex;
  std::vector<Promise> promises;
  std::vector<Moment> engine;
  std::vector<Moment> durable;  // the engine has at least this for good
  std::vector<std::string> keys;

  void promise(const Gtid& gtid) {
    std::lock_guard lock(mutex);
    promises.push_back({fs.steps(), gtid});
  }
};

constexpr uint64_t kSmallFile = 1500;

void run_workload(Workload& run) {
  Server server(run.fs, {}, without_replica_updates());
  server.max_file_size = kSmallFile;
  server.engine.on_commit = [&run](const FakeEngine::State& state) {
    std::lock_guard lock(run.mutex);
    run.engine.push_back({run.fs.steps(), state});
  };
  ASSERT_TRUE(server.open_and_start().ok());
  Reactors reactors(2);
  std::atomic<uint64_t> reported = 0;
  uint64_t gno = 0, id = 0;
  for (int round = 0; round < 8; ++round) {
    std::vector<std::shared_ptr<Pending<Committed>>> commits;
    for (int i = 0; i < 4; ++i) {
      ++gno;
      server.pipeline->append_received(received_from(server_b(), gno, 1000 + gno), {server_b(), gno},
                                       [&run, &reported, gno](LogPosition) {
                                         run.promise({server_b(), gno});
                                         ++reported;
                                       });
      // Some of them while it is received: what comes together is for two files.
      Commit what;
      what.id = ++id;
      if (round % 3 != 2 && i % 2 == 0) commits.push_back(server.begin_commit(reactors[i], what));
    }
    for (auto& one : commits) {
      ASSERT_TRUE(one->get().status.ok());
      run.promise(one->get().gtid);
    }
    eventually([&] { return reported == gno; });
    if (round == 4) {
      ASSERT_TRUE(run_on(reactors[0], server.pipeline->rotate())->get().ok());
    }
    if (round % 2 == 0) continue;
    eventually([&] { return server.pipeline->gtid_executed() == server.pipeline->gtid_logged(); });
    run.durable.push_back({run.fs.steps(), server.engine.persist()});
    ASSERT_TRUE(run_on(reactors[0], server.pipeline->purge_relay(UINT32_MAX))->get().ok());
  }
  server.stop();
  run.keys = server.engine.state().keys;
}

// Some prefix, but no shorter than what it has for good.
FakeEngine::State engine_after_crash(const Workload& run, size_t step, std::mt19937& random) {
  FakeEngine::State least;
  for (const Moment& one : run.durable) {
    if (one.step <= step) least = one.state;
  }
  std::vector<const FakeEngine::State*> choices{&least};
  for (const Moment& one : run.engine) {
    if (one.step <= step && one.state.keys.size() > least.keys.size()) choices.push_back(&one.state);
  }
  return *choices[random() % choices.size()];
}

std::optional<std::string> violation(const Workload& run, size_t step, Loss loss, unsigned seed) {
  std::mt19937 random(seed);
  auto disk = run.fs.after_crash(step, loss, seed);
  Server server(*disk, engine_after_crash(run, step, random), without_replica_updates());
  server.max_file_size = kSmallFile;
  if (auto started = server.open_and_start(); !started.ok())
    return "does not start: " + started.error().message;
  const GtidSet executed = server.pipeline->gtid_executed();
  if (executed != server.pipeline->gtid_logged()) return "the engine and the log differ";
  const std::vector<std::string> keys = server.engine.state().keys;
  if (keys.size() > run.keys.size() || !std::equal(keys.begin(), keys.end(), run.keys.begin()))
    return "not a prefix of what was committed";
  for (const Promise& one : run.promises) {
    if (one.step <= step && !executed.contains(one.gtid)) return "lost: " + one.gtid.to_string();
  }
  GtidSet both = *server.pipeline->gtid_purged();
  const uint64_t purged = both.count();
  const GtidSet in_log = readable(*server.pipeline);
  both.add(in_log);
  if (both != executed)
    return "neither purged nor in the log, of " + executed.to_string() + ": has " + both.to_string();
  if (both.count() != purged + in_log.count()) return "purged, and in the log";
  if (in_log.last(server_b()) != 0) return "the binary log has what was received";
  if (in_log.last(server_a()) != executed.last(server_a())) return "the binary log lacks an own transaction";
  const uint64_t next = executed.last(server_b()) + 1;
  std::atomic<bool> reported = false;
  server.pipeline->append_received(received_from(server_b(), next, 1000 + next), {server_b(), next},
                                   [&](LogPosition) { reported = true; });
  eventually([&] { return reported.load(); });
  Reactors reactors(1);
  Commit another;
  another.id = 9999;
  if (!server.begin_commit(reactors[0], another)->get().status.ok()) return "takes no new commit";
  const GtidSet all = server.pipeline->gtid_logged();
  server.stop();
  Server again(*disk, server.engine.state(), without_replica_updates());
  if (!again.open_and_start().ok()) return "does not start a second time";
  if (again.pipeline->gtid_executed() != all) return "loses something after recovery";
  return std::nullopt;
}

TEST(RelayLogCrashes, NothingIsLostOrTwiceAndEachTransactionIsPurgedOrReadable) {
  Workload run;
  run_workload(run);
  const size_t steps = run.fs.steps();
  ASSERT_GT(steps, 200u) << "too few crash points to mean anything";
  for (size_t step = 0; step <= steps; ++step) {
    ASSERT_EQ(violation(run, step, Loss::KeepAll, step), std::nullopt) << "step " << step;
    ASSERT_EQ(violation(run, step, Loss::DropAll, step), std::nullopt) << "step " << step;
    for (unsigned seed = 0; seed < 2; ++seed)
      ASSERT_EQ(violation(run, step, Loss::Random, step * 2 + seed), std::nullopt)
          << "step " << step << " seed " << seed;
  }
}

}  // namespace
}  // namespace commitd::binlog
