// The whole stack on one recorded file system – log, index and every file of RocksDB – under concurrent
// transactions, DDL, rotation, purge and flushes. Crashes at each operation of the record, with every kind of
// loss a disk may cause, starts a server on what is left and compares it with the oracle.
#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "server/testing/crash_oracle.h"
#include "server/testing/crash_workload.h"
#include "storage/testing/forwarding_engine.h"

namespace commitd::server {
namespace {

using namespace testing;
using commitd::testing::Loss;
using commitd::testing::RecordingFileSystem;
using Violation = std::optional<std::string>;

constexpr size_t kNotInTheLog = SIZE_MAX;

class CrashJudge {
 public:
  explicit CrashJudge(const CrashWorkload& workload)
      : workload_(workload), oracle_(workload.files, workload.shape().xa) {
    size_t required = 0;
    for (const Promise& promise : workload.promises) {
      required = std::max(required, prefix_with(promise));
      required_.emplace_back(promise.step, required);
    }
  }

  const CrashOracle& oracle() const { return oracle_; }

  // What is wrong with what comes up after this crash; nullopt: nothing.
  Violation violation(size_t step, Loss loss, unsigned seed) const {
    const auto disk = workload_.files.after_crash(step, loss, seed);
    const size_t required = required_at(step);
    size_t steps_of_start = 0;
    if (auto wrong = comes_up_wrong(*disk, required, steps_of_start)) return wrong;
    if (seed % 4 != 0) return std::nullopt;
    // Once more, with a second crash somewhere in that start.
    const auto again = disk->after_crash(seed % (steps_of_start + 1), Loss::Random, seed);
    if (auto wrong = comes_up_wrong(*again, required, steps_of_start))
      return "after a crash while it started: " + *wrong;
    return std::nullopt;
  }

 private:
  size_t prefix_with(const Promise& promise) const {
    const auto& prefixes = oracle_.prefixes;
    const auto executed = std::find_if(
        prefixes.begin(), prefixes.end(),
        [&](const CrashOracle::Prefix& prefix) { return prefix.executed.contains(promise.executed); });
    if (executed == prefixes.end()) return kNotInTheLog;
    if (promise.ledger < 0) return executed - prefixes.begin();
    const auto row = oracle_.ledger.find(promise.ledger);
    if (row == oracle_.ledger.end()) return kNotInTheLog;
    return std::max<size_t>(executed - prefixes.begin(), row->second);
  }

  size_t required_at(size_t step) const {
    const auto behind =
        std::upper_bound(required_.begin(), required_.end(), step,
                         [](size_t wanted, const auto& entry) { return wanted < entry.first; });
    return behind == required_.begin() ? 0 : std::prev(behind)->second;
  }

  Violation comes_up_wrong(RecordingFileSystem& disk, size_t required, size_t& steps_of_start) const {
    std::unique_ptr<RecordingFileSystem> later;
    size_t rows = 0;
    {
      BareServer server(disk);
      server.xa = workload_.shape().xa;
      if (auto started = server.start(); !started.ok()) return "does not start: " + started.error().message;
      steps_of_start = disk.steps();
      if (auto wrong = state_is_wrong(server, required, rows)) return wrong;
      if (auto answer = server.run("INSERT INTO test.ledger VALUES (-7, 0, 'behind the crash')");
          !answer.empty())
        return "takes no new commit: " + answer;
      later = disk.after_crash(disk.steps(), Loss::DropAll, 0);
    }
    BareServer server(*later);
    server.xa = workload_.shape().xa;
    if (auto started = server.start(); !started.ok())
      return "does not start again: " + started.error().message;
    const std::string found = server.run("SELECT COUNT(*) FROM test.ledger");
    if (found != std::to_string(rows + 1)) return "loses a commit made after the crash";
    return std::nullopt;
  }

  Violation state_is_wrong(BareServer& server, size_t required, size_t& rows) const {
    const size_t reached = oracle_.prefix_at(server.pipeline().applied_end());
    const CrashOracle::Prefix& expected = oracle_.prefixes[reached];
    rows = expected.ledger_rows;
    if (required == kNotInTheLog) return "acknowledged and never logged";
    if (reached < required)
      return fmt::format("acknowledged and lost: {} of {}", required - reached, required);
    if (server.pipeline().gtid_executed() != expected.executed) return "gtid_executed is wrong";
    if (server.pipeline().gtid_logged() != expected.executed) return "the log and the engine differ";
    if (digest_of(server.engine()) != expected.digest) return "the data is not what the log says";
    const std::string sum = server.run("SELECT COUNT(*), SUM(balance) FROM test.account");
    if (sum != fmt::format("{}|{}", kAccounts, kAccounts * kBalance))
      return "a transfer is half there: " + sum;
    const std::string ledger = server.run("SELECT COUNT(*) FROM test.ledger");
    if (ledger != std::to_string(rows)) return "rows of the ledger: " + ledger;
    return std::nullopt;
  }

  const CrashWorkload& workload_;
  CrashOracle oracle_;
  std::vector<std::pair<size_t, size_t>> required_;  // from this step on, this prefix
};

// Thousands of crashes where they are cheap; a debug or sanitizer build takes a part of them.
// `kVariants` of each crash: all kept, none kept, and random ones.
#ifdef NDEBUG
constexpr int kTransactions = 40;
constexpr unsigned kVariants = 5;
#else
constexpr int kTransactions = 12;
constexpr unsigned kVariants = 3;
#endif

Loss loss_of(unsigned variant) {
  return variant == 0 ? Loss::KeepAll : variant == 1 ? Loss::DropAll : Loss::Random;
}

struct Mode {
  unsigned seed;
  bool xa;
  bool order_commits = true;
};
class CrashPoints : public ::testing::TestWithParam<Mode> {};

TEST_P(CrashPoints, NothingAcknowledgedIsLostAndTheDataIsWhatTheLogSays) {
  CrashWorkload workload;
  workload.run({.transactions = kTransactions,
                .seed = GetParam().seed,
                .xa = GetParam().xa,
                .order_commits = GetParam().order_commits});
  ASSERT_EQ(workload.problems, std::vector<std::string>());
  const CrashJudge judge(workload);
  ASSERT_EQ(judge.oracle().problems, std::vector<std::string>());
  ASSERT_EQ(judge.oracle().prefixes.back().digest, workload.final_digest)
      << "replay makes something else of the log";

  const size_t steps = workload.files.steps();
  for (size_t step = 0; step <= steps; ++step) {
    for (unsigned variant = 0; variant < kVariants; ++variant) {
      const unsigned seed = GetParam().seed * 1'000'003 + step * kVariants + variant;
      ASSERT_EQ(judge.violation(step, loss_of(variant), seed), std::nullopt)
          << "step " << step << " of " << steps << ", variant " << variant << ", workload "
          << GetParam().seed;
    }
  }
  std::cout << (steps + 1) * kVariants << " crashes in " << steps << " operations of "
            << judge.oracle().prefixes.size() - 1 << " transactions\n";
}

INSTANTIATE_TEST_SUITE_P(SingleLog, CrashPoints, ::testing::Values(Mode{1, false}, Mode{2, false}));
INSTANTIATE_TEST_SUITE_P(Xa, CrashPoints, ::testing::Values(Mode{3, true}));
INSTANTIATE_TEST_SUITE_P(XaInAnyOrder, CrashPoints, ::testing::Values(Mode{4, true, false}));

// --- the tests above must be able to fail ---

size_t violations(const CrashWorkload::Shape& shape, std::string_view of_kind = "") {
  CrashWorkload workload;
  workload.run(shape);
  const CrashJudge judge(workload);
  size_t found = 0;
  for (size_t step = 0; step <= workload.files.steps(); ++step) {
    const Violation wrong = judge.violation(step, Loss::DropAll, 1);
    found += wrong && wrong->find(of_kind) != std::string::npos;
  }
  return found;
}

TEST(CrashPointsFindOut, ADiskThatLiesAboutSyncs) {
  EXPECT_GT(violations({.transactions = 4, .lie_about_sync = true}), 0u);
}

TEST(CrashPointsFindOut, ADiskThatLiesAboutDirectorySyncs) {
  EXPECT_GT(violations({.transactions = 4, .lie_about_directory_syncs = true}), 0u);
}

// Takes some groups' positions to the disk in front of their data: several, since one may hold nothing but
// what is not in the engine's files.
class HastyEngine final : public storage::testing::ForwardingEngine {
 public:
  using ForwardingEngine::ForwardingEngine;
  Status commit_ordered(std::span<WriteSet* const> transactions, const storage::CommitStep& step) override {
    if (++groups_ >= 10 && groups_ < 14) {
      COMMITD_RETURN_IF_ERROR(inner().commit_ordered({}, step));
      COMMITD_RETURN_IF_ERROR(inner().checkpoint());
    }
    return inner().commit_ordered(transactions, step);
  }

 private:
  int groups_ = 0;
};

TEST(CrashPointsFindOut, AnEngineThatIsNotCommittedInOrder) {
  const auto wrap = [](std::unique_ptr<storage::Engine> engine) -> std::unique_ptr<storage::Engine> {
    return std::make_unique<HastyEngine>(std::move(engine));
  };
  EXPECT_GT(violations({.transactions = 4, .wrap = wrap}, "the data is not what the log says"), 0u);
}

}  // namespace
}  // namespace commitd::server
