// RESET BINARY LOGS AND GTIDS, crashed behind each operation on a recorded file system: it has happened as a
// whole or not at all, and no row depends on which.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/testing/recording_file_system.h"
#include "runtime/reactor.h"
#include "server/testing/bare_server.h"

namespace commitd::server {
namespace {

using namespace testing;
using commitd::testing::Loss;
using commitd::testing::RecordingFileSystem;

// A debug or sanitizer build takes a part of them.
#ifdef NDEBUG
constexpr unsigned kVariants = 4;
#else
constexpr unsigned kVariants = 2;
#endif

class ResetCrash : public ::testing::TestWithParam<bool /* xa */> {
 protected:
  static constexpr int kDefinitions = 2;  // transactions that are no rows

  void start(BareServer& server) {
    server.xa = GetParam();
    auto started = server.start();
    ASSERT_TRUE(started.ok()) << started.error().message;
  }
  void insert(BareServer& server) {
    ASSERT_EQ(server.run(fmt::format("INSERT INTO test.t VALUES ({})", ++rows_)), "");
  }
  // The files in front of the last one are gone: their transactions can be had from nowhere but the engine.
  void purge(BareServer& server) {
    ASSERT_EQ(server.run("FLUSH BINARY LOGS"), "");
    insert(server);
    ASSERT_TRUE(server.engine().checkpoint().ok());
    ASSERT_TRUE(run_blocking(server.pipeline().purge_to(2)).ok());
  }
  void run() {
    files_.appends_survive_in_order(std::string(kEngineDirectory));
    {
      BareServer server(files_);
      server.xa = GetParam();
      ASSERT_TRUE(server.create().ok());
    }
    BareServer server(files_);
    start(server);
    ASSERT_EQ(server.run("CREATE DATABASE test"), "");
    ASSERT_EQ(server.run("CREATE TABLE test.t (id INT PRIMARY KEY)"), "");
    for (int i = 0; i < 3; ++i) insert(server);
    purge(server);
    insert(server);
    files_.start_recording();
    insert(server);
    begun_ = files_.steps();
    rows_before_ = rows_;
    auto reset = run_blocking(server.pipeline().reset());
    ASSERT_TRUE(reset.ok()) << reset.error().message;
    done_ = files_.steps();
    insert(server);
    acknowledged_ = files_.steps();
    EXPECT_EQ(server.pipeline().gtid_executed().count(), 1u);
  }

  // `steps_of_start`: how many operations the start took.
  void judge(RecordingFileSystem& disk, size_t step, size_t& steps_of_start) {
    std::unique_ptr<RecordingFileSystem> later;
    uint64_t executed = 0;
    {
      BareServer server(disk);
      start(server);
      if (HasFatalFailure()) return;
      steps_of_start = disk.steps();
      const int rows = std::stoi(server.run("SELECT COUNT(*) FROM test.t"));
      EXPECT_GE(rows, step >= acknowledged_ ? rows_ : step >= begun_ ? rows_before_ : rows_before_ - 1);
      executed = server.pipeline().gtid_executed().count();
      const bool was_reset = executed < static_cast<uint64_t>(rows_before_ - 1);
      EXPECT_EQ(executed, was_reset ? rows - rows_before_ : rows + kDefinitions);
      if (step < begun_) {
        EXPECT_FALSE(was_reset);
      }
      if (step >= done_) {
        EXPECT_TRUE(was_reset);
      }
      if (was_reset) expect_new_log(server);
      EXPECT_EQ(server.run("INSERT INTO test.t VALUES (1000)"), "");
      later = disk.after_crash(disk.steps(), Loss::DropAll, 0);
    }
    BareServer server(*later);
    start(server);
    if (HasFatalFailure()) return;
    EXPECT_EQ(server.run("SELECT id FROM test.t WHERE id = 1000"), "1000");
    EXPECT_EQ(server.pipeline().gtid_executed().count(), executed + 1);
  }

  static void expect_new_log(BareServer& server) {
    auto files = server.pipeline().log().files();
    ASSERT_TRUE(files.ok());
    ASSERT_EQ(files->size(), 1u);
    EXPECT_EQ(files->front().number, 1u);
    auto purged = server.pipeline().log().purged();
    EXPECT_TRUE(purged.ok() && purged->empty());
  }

  RecordingFileSystem files_;
  int rows_ = 0, rows_before_ = 0;
  size_t begun_ = 0, done_ = 0, acknowledged_ = 0;
};

TEST_P(ResetCrash, HappensAsAWholeOrNotAtAll) {
  run();
  ASSERT_FALSE(HasFatalFailure());
  for (size_t step = 0; step <= files_.steps(); ++step) {
    for (unsigned variant = 0; variant < kVariants; ++variant) {
      const Loss loss = variant == 0 ? Loss::DropAll : variant == 2 ? Loss::KeepAll : Loss::Random;
      SCOPED_TRACE(fmt::format("crash behind operation {}, variant {}", step, variant));
      const auto disk = files_.after_crash(step, loss, static_cast<unsigned>(step * kVariants + variant));
      size_t steps_of_start = 0;
      judge(*disk, step, steps_of_start);
      if (HasFailure()) return;
      // And once more, with a second crash in the start that finishes it.
      const auto again =
          disk->after_crash((step * 7 + variant) % (steps_of_start + 1), Loss::Random, variant);
      judge(*again, step, steps_of_start);
      if (HasFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(SingleLogAndXa, ResetCrash, ::testing::Bool());

}  // namespace
}  // namespace commitd::server
