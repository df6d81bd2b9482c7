// A source and two replicas, as users start them, each on a recorded disk: writers, a replica that is away, a
// master that is lost with a tail, its return, a handover. Crashes at every operation of any disk, power lost
// on any of them, one member out of reach; then the rest is brought up as an operator does it. Nothing
// acknowledged is lost, nothing is there twice, no GTID names two transactions.
#include <spdlog/spdlog.h>

#include <chrono>
#include <iostream>

#include <gtest/gtest.h>

#include "server/testing/cluster_judge.h"

namespace commitd::server {
namespace {

using namespace testing;

// Of all moments: those after which the whole cluster is brought up, and the variants of which the logs are
// read.
#ifdef NDEBUG
constexpr size_t kRevivals = 120;
constexpr unsigned kVariants = 6;
#else
constexpr size_t kRevivals = 12;
constexpr unsigned kVariants = 3;
#endif

class ReplicatedCrash : public ::testing::TestWithParam<unsigned> {
 protected:
  ReplicatedCrash() { spdlog::set_level(spdlog::level::off); }
};

TEST_P(ReplicatedCrash, NothingAcknowledgedIsLostOrTwice) {
  ClusterWorkload workload({});
  workload.run();
  const ClusterJudge judge(workload);
  const size_t moments = workload.ends() - workload.begins();
  const size_t stride = std::max<size_t>(1, moments / kRevivals);
  size_t logs = 0, revivals = 0;
  for (size_t time = workload.begins(); time <= workload.ends(); ++time) {
    for (unsigned variant = 0; variant < kVariants; ++variant, ++logs) {
      const unsigned seed = (GetParam() * 1'000'003 + time) * kVariants + variant;
      ASSERT_EQ(judge.lost_in_logs(ClusterJudge::crash_at(time, seed)), std::nullopt)
          << "time " << time << " of " << workload.ends() << ", seed " << seed;
    }
    if ((time + GetParam()) % stride != 0) continue;
    const unsigned seed = GetParam() * 7919 + time;
    ASSERT_EQ(judge.comes_up_wrong(ClusterJudge::crash_at(time, seed)), std::nullopt)
        << "time " << time << " of " << workload.ends() << ", seed " << seed;
    ++revivals;
  }
  std::cout << logs << " crashes judged by the logs and " << revivals << " by the revived cluster, in "
            << moments << " operations behind " << workload.promises().size() << " acknowledged commits\n";
}

INSTANTIATE_TEST_SUITE_P(Runs, ReplicatedCrash, ::testing::Values(1, 2, 3, 4));

// --- the test above must be able to fail ---

size_t losses(const ClusterWorkload::Shape& shape) {
  spdlog::set_level(spdlog::level::off);
  ClusterWorkload workload(shape);
  workload.run();
  const ClusterJudge judge(workload);
  size_t found = 0;
  for (size_t time = workload.begins(); time <= workload.ends(); ++time) {
    for (unsigned variant = 0; variant < 8; ++variant)
      found += judge.lost_in_logs(ClusterJudge::crash_at(time, time * 8 + variant)).has_value();
  }
  return found;
}

TEST(ReplicatedCrashFindsOut, AReplicaWhoseDiskLiesAboutSyncs) {
  EXPECT_GT(losses({.faulty = 1, .lies_about_syncs = true}), 0u);
}

TEST(ReplicatedCrashFindsOut, AReplicaThatAcknowledgesBeforeTheSync) {
  EXPECT_GT(losses({.faulty = 1, .syncs_late = true}), 0u);
}

}  // namespace
}  // namespace commitd::server
