// Crashes at every write, sync and directory change of a workload, with every kind of loss a disk may cause,
// and looks at what comes up.
#include <algorithm>
#include <random>

#include "commit/testing/pipeline_fixture.h"

namespace commitd::binlog {
namespace {

using namespace testing;
using commitd::testing::Loss;
using commitd::testing::RecordingFileSystem;

constexpr int kSessions = 4, kEach = 12;
constexpr uint64_t kSmallFile = 3000;

// What the workload saw, and when: `step` counts the file system's operations.
struct Acknowledged {
  size_t step = 0;
  Gtid gtid;  // empty: not shipped
  uint64_t id = 0;
};
struct EngineHistory {
  size_t step = 0;
  FakeEngine::State state;
};

struct Workload {
  uint64_t prefill_bytes = 0;
  RecordingFileSystem fs;
  std::mutex mutex;
  std::vector<Acknowledged> acknowledged;
  std::vector<EngineHistory> engine;
  std::vector<std::string> keys;  // of all transactions, in log order
};

Task<std::monostate> session(Workload& run, CommitPipeline& pipeline, const TableDef& table, uint64_t first) {
  for (int i = 0; i < kEach; ++i) {
    Commit what;
    what.id = first + i;
    what.two_rows = true;
    what.ship = i % 5 != 4;
    what.spilled = what.ship && i % 4 == 1;
    if (i == 7) what.statement = "CREATE TABLE t" + std::to_string(what.id) + " (i INT)";
    const Committed committed = co_await commit_order(pipeline, table, what);
    EXPECT_TRUE(committed.status.ok());
    std::lock_guard lock(run.mutex);
    run.acknowledged.push_back({run.fs.steps(), committed.gtid, what.id});
  }
  co_return std::monostate{};
}

void run_workload(Workload& run, bool disk_lies = false) {
  Server server(run.fs);
  server.max_file_size = kSmallFile;
  server.prefill_bytes = run.prefill_bytes;
  server.engine.on_commit = [&run](const FakeEngine::State& state) {
    std::lock_guard lock(run.mutex);
    run.engine.push_back({run.fs.steps(), state});
  };
  ASSERT_TRUE(server.open_and_start().ok());
  run.fs.lie_about_sync(disk_lies);
  Reactors reactors(2);
  std::vector<std::shared_ptr<Pending<std::monostate>>> sessions;
  for (int i = 0; i < kSessions; ++i) {
    sessions.push_back(run_on(reactors[i], session(run, *server.pipeline, server.table, 1 + i * kEach)));
  }
  for (auto& one : sessions) one->get();
  server.stop();
  run.keys = server.engine.state().keys;
}

// A state the engine may come up with: it keeps no log, so any earlier prefix.
FakeEngine::State engine_after_crash(const Workload& run, size_t step, std::mt19937& random) {
  const auto behind = std::find_if(run.engine.begin(), run.engine.end(),
                                   [step](const EngineHistory& h) { return h.step > step; });
  const size_t choices = behind - run.engine.begin() + 1;
  const size_t choice = random() % choices;
  return choice == 0 ? FakeEngine::State{} : run.engine[choice - 1].state;
}

// What is wrong with what comes up after this crash; nullopt = nothing.
std::optional<std::string> violation(const Workload& run, size_t step, Loss loss, unsigned seed) {
  std::mt19937 random(seed);
  auto disk = run.fs.after_crash(step, loss, seed);
  Server server(*disk, engine_after_crash(run, step, random));
  server.max_file_size = kSmallFile;
  server.prefill_bytes = run.prefill_bytes;
  if (auto started = server.open_and_start(); !started.ok())
    return "does not start: " + started.error().message;

  const GtidSet executed = server.pipeline->gtid_executed();
  if (executed != server.pipeline->gtid_logged()) return "the engine and the log differ";
  const std::vector<std::string> keys = server.engine.state().keys;
  if (keys.size() > run.keys.size() || !std::equal(keys.begin(), keys.end(), run.keys.begin()))
    return "not a prefix of what was committed";
  const std::set<std::string> present(keys.begin(), keys.end());
  for (const Acknowledged& one : run.acknowledged) {
    if (one.step > step) continue;
    if (!one.gtid.empty() && !executed.contains(one.gtid))
      return "acknowledged and lost: " + one.gtid.to_string();
    const bool is_statement = (one.id - 1) % kEach == 7;
    if (is_statement) continue;
    const bool first = present.contains(orders_image(server.table, one.id, ""));
    const bool second = present.contains(orders_image(server.table, one.id, "second"));
    if (!first || !second)
      return "acknowledged and " + std::string(first || second ? "half there" : "not there");
  }
  Reactors reactors(1);
  Commit another;
  another.id = 9999;
  auto committed = server.begin_commit(reactors[0], another);
  if (!committed->get().status.ok()) return "takes no new commit";
  server.stop();

  Server again(*disk, server.engine.state());
  if (!again.open_and_start().ok()) return "does not start a second time";
  if (!again.pipeline->gtid_executed().contains(committed->get().gtid))
    return "loses a commit after recovery";
  return std::nullopt;
}

class CrashPoints : public ::testing::TestWithParam<uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Prefill, CrashPoints, ::testing::Values(0, 700));

TEST_P(CrashPoints, NoAcknowledgedCommitIsLostAndNothingIsHalfThere) {
  Workload run;
  run.prefill_bytes = GetParam();
  run_workload(run);
  ASSERT_EQ(run.acknowledged.size(), size_t{kSessions * kEach});
  const size_t steps = run.fs.steps();
  ASSERT_GT(steps, 60u) << "too few crash points to mean anything";
  for (size_t step = 0; step <= steps; ++step) {
    ASSERT_EQ(violation(run, step, Loss::KeepAll, step), std::nullopt) << "step " << step;
    ASSERT_EQ(violation(run, step, Loss::DropAll, step), std::nullopt) << "step " << step;
    for (unsigned seed = 0; seed < 4; ++seed) {
      ASSERT_EQ(violation(run, step, Loss::Random, step * 4 + seed), std::nullopt)
          << "step " << step << " seed " << seed;
    }
  }
}

// The test above must be able to fail: on a disk whose syncs do nothing, it does.
TEST_P(CrashPoints, ADiskThatLiesAboutSyncIsFoundOut) {
  Workload run;
  run.prefill_bytes = GetParam();
  run_workload(run, true);
  size_t lost = 0;
  for (size_t step = 0; step <= run.fs.steps(); ++step) {
    lost += violation(run, step, Loss::DropAll, step).value_or("").starts_with("acknowledged and lost");
  }
  EXPECT_GT(lost, 0u);
}

GtidSet first_gnos(uint64_t last) {
  GtidSet set;
  set.add_interval(server_b(), 1, last + 1);
  return set;
}

TEST_P(CrashPoints, ACutThatIsInterruptedCanBeRepeated) {
  RecordingFileSystem fs;
  size_t cut_start = 0;
  FakeEngine::State state;
  {
    Server server(fs);
    server.max_file_size = 1000;
    server.prefill_bytes = GetParam();
    ASSERT_TRUE(server.open_and_start().ok());
    server.pipeline->set_gate(CommitPipeline::Gate::Gated);
    std::atomic<uint64_t> reported{0};
    for (uint64_t gno = 1; gno <= 12; ++gno) {
      server.pipeline->append_received(received_from(server_b(), gno, gno), {server_b(), gno},
                                       [&](LogPosition) { ++reported; });
      eventually([&] { return reported == gno; });
    }
    ASSERT_GT(server.pipeline->durable_end().file, 2u);
    server.pipeline->acknowledge_through({server_b(), 2});
    eventually([&] { return server.pipeline->gtid_executed() == first_gnos(2); });
    state = server.engine.state();
    cut_start = fs.steps();
    ASSERT_EQ(*server.pipeline->cut_unacknowledged(first_gnos(3)), 9u);
  }
  for (size_t step = cut_start; step <= fs.steps(); ++step) {
    for (unsigned seed = 0; seed < 20; ++seed) {
      auto disk = fs.after_crash(step, seed == 0 ? Loss::DropAll : Loss::Random, seed);
      Server server(*disk, state);
      server.prefill_bytes = GetParam();
      ASSERT_TRUE(server.open().ok()) << step << " " << seed;
      server.pipeline->set_gate(CommitPipeline::Gate::Gated);
      ASSERT_TRUE(server.pipeline->replay(state.point.position).ok());
      server.start();
      const GtidSet logged = server.pipeline->gtid_logged();
      EXPECT_EQ(logged, first_gnos(logged.last(server_b()))) << "a hole";
      EXPECT_TRUE(logged.contains(first_gnos(3)));
      ASSERT_TRUE(server.pipeline->cut_unacknowledged(first_gnos(3)).ok());
      EXPECT_EQ(server.pipeline->gtid_logged(), first_gnos(3));
    }
  }
}

}  // namespace
}  // namespace commitd::binlog
