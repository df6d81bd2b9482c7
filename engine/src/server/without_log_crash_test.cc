// The workload of crash_points_test without the binary log (--skip-log-bin): after a crash behind any
// operation everything that was answered is there, nothing is half there, and the server goes on, with the
// log or without.
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "server/testing/crash_oracle.h"
#include "server/testing/crash_workload.h"

namespace commitd::server {
namespace {

using namespace testing;
using commitd::testing::Loss;
using commitd::testing::RecordingFileSystem;
using Violation = std::optional<std::string>;

#ifdef NDEBUG
constexpr int kTransactions = 12;
#else
constexpr int kTransactions = 3;
#endif
constexpr unsigned kVariants = 3;  // of each crash: all kept, none kept, and a random part

Violation start(BareServer& server, bool log_bin) {
  server.xa = true;
  server.log_bin = log_bin;
  if (auto started = server.start(); !started.ok()) return "does not start: " + started.error().message;
  return std::nullopt;
}

std::set<int64_t> ledger_of(BareServer& server) {
  std::istringstream rows(server.run("SELECT id FROM test.ledger"));
  std::set<int64_t> ids;
  for (int64_t id = 0; rows >> id;) ids.insert(id);
  return ids;
}

Violation state_is_wrong(BareServer& server, const std::vector<Promise>& promises, size_t step) {
  const std::set<int64_t> ledger = ledger_of(server);
  const GtidSet executed = server.pipeline().gtid_executed();
  for (const Promise& promise : promises) {
    if (promise.step > step) break;
    if (promise.ledger >= 0 && !ledger.contains(promise.ledger))
      return fmt::format("acknowledged and lost: {}", promise.ledger);
    if (!executed.contains(promise.executed)) return "a GTID is lost";
  }
  const std::string sum = server.run("SELECT COUNT(*), SUM(balance) FROM test.account");
  if (sum != fmt::format("{}|{}", kAccounts, kAccounts * kBalance)) return "a transfer is half there: " + sum;
  if (const std::string wrong = disorder_in(server.engine(), server.catalog()); !wrong.empty()) return wrong;
  return std::nullopt;
}

Violation comes_up_wrong(RecordingFileSystem& disk, bool log_bin, const CrashWorkload& workload,
                         size_t step) {
  BareServer server(disk);
  if (auto wrong = start(server, log_bin)) return wrong;
  return state_is_wrong(server, workload.promises, step);
}

Violation violation(const CrashWorkload& workload, size_t step, Loss loss, unsigned seed) {
  const auto disk = workload.files.after_crash(step, loss, seed);
  const bool log_bin = seed % 2 == 0;
  std::set<int64_t> ledger;
  size_t steps_of_start = 0;
  {
    BareServer server(*disk);
    if (auto wrong = start(server, log_bin)) return wrong;
    steps_of_start = disk->steps();
    if (auto wrong = state_is_wrong(server, workload.promises, step)) return wrong;
    if (auto answer = server.run("INSERT INTO test.ledger VALUES (-7, 0, 'behind the crash')");
        !answer.empty())
      return "takes no new commit: " + answer;
    ledger = ledger_of(server);
  }
  const auto cut_short = disk->after_crash(seed % (steps_of_start + 1), Loss::Random, seed);
  if (auto wrong = comes_up_wrong(*cut_short, !log_bin, workload, step))
    return "after a crash while it started: " + *wrong;
  const auto later = disk->after_crash(disk->steps(), Loss::DropAll, seed);
  BareServer server(*later);
  if (auto wrong = start(server, !log_bin)) return "for the second time: " + *wrong;
  if (ledger_of(server) != ledger) return "another start makes something else of it";
  return std::nullopt;
}

Loss loss_of(unsigned variant) {
  return variant == 0 ? Loss::KeepAll : variant == 1 ? Loss::DropAll : Loss::Random;
}

TEST(CrashesWithoutLog, NothingAcknowledgedIsLostAndNothingIsHalfThere) {
  CrashWorkload workload;
  workload.run({.transactions = kTransactions, .seed = 7, .xa = true, .log_bin = false});
  ASSERT_EQ(workload.problems, std::vector<std::string>());
  const size_t steps = workload.files.steps();
  for (size_t step = 0; step <= steps; ++step) {
    for (unsigned variant = 0; variant < kVariants; ++variant) {
      const auto seed = static_cast<unsigned>(step * kVariants + variant);
      ASSERT_EQ(violation(workload, step, loss_of(variant), seed), std::nullopt)
          << "step " << step << " of " << steps << ", variant " << variant;
    }
  }
  std::cout << (steps + 1) * kVariants << " crashes in " << steps << " operations of "
            << workload.promises.size() << " answers\n";
}

TEST(CrashesWithoutLog, ADiskThatLiesAboutSyncsIsFoundOut) {
  CrashWorkload workload;
  workload.run({.transactions = 4, .xa = true, .log_bin = false, .lie_about_sync = true});
  EXPECT_NE(violation(workload, workload.files.steps(), Loss::DropAll, 0), std::nullopt);
}

}  // namespace
}  // namespace commitd::server
