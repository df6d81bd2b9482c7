// Order's steps in every order, within small bounds, with what must hold looked at behind each.
#include <cstdio>
#include <deque>
#include <unordered_set>

#include <gtest/gtest.h>

#include "commit/testing/order_world.h"

namespace commitd::binlog {
namespace {

using testing::Mistake;
using testing::World;

size_t explore(const World::Config& config) {
  std::unordered_set<std::string> seen;
  std::deque<World> to_do{World(config)};
  seen.insert(to_do.front().key());
  while (!to_do.empty()) {
    const World world = std::move(to_do.front());
    to_do.pop_front();
    for (World& next : world.next()) {
      if (seen.insert(next.key()).second) to_do.push_back(std::move(next));
    }
  }
  return seen.size();
}

void explore_and_tell(const char* name, const World::Config& config) {
  size_t states = 0;
  ASSERT_NO_THROW(states = explore(config));
  std::printf("%s: %zu states\n", name, states);
  ::testing::Test::RecordProperty("states", static_cast<int>(states));
  EXPECT_GT(states, 1000u);
}

TEST(OrderExploration, AServerThatStandsAlone) {
  explore_and_tell("alone", {.alone = true, .role_changes = 0, .rotations = 1});
}

TEST(OrderExploration, ASyncedServerAndItsPeer) {
  explore_and_tell("synced", {});
}

TEST(OrderExploration, AServerThatLosesWhatItHasNotSynced) {
  explore_and_tell("not synced", {.synced = false});
}

TEST(OrderExploration, RotationsFreezesAndWhatCannotBeApplied) {
  explore_and_tell("two transactions", {.most_transactions = 2, .rotations = 1, .freezes = 1, .stops = 1});
}

TEST(OrderExploration, DisksThatAreFullForAWhile) {
  explore_and_tell("full disks", {.role_changes = 1, .full_disks = 2});
}

TEST(OrderExploration, AServerThatShowsCommitsBeforeTheyAreAcknowledged) {
  explore_and_tell("after commit", {.shown_first = true});
}

TEST(OrderExploration, TheSameWithFreezesAndFullDisks) {
  explore_and_tell(
      "after commit, two transactions",
      {.shown_first = true, .most_transactions = 2, .rotations = 1, .freezes = 1, .full_disks = 1});
}

class OrderMistake : public ::testing::TestWithParam<std::tuple<Mistake, bool, const char*>> {};

// Each is found by what the world looks at, or ends the process by Order's own checks.
TEST_P(OrderMistake, IsFound) {
  const auto& [mistake, synced, what] = GetParam();
  const bool shown_first = mistake == Mistake::AnswersWhatIsShown || mistake == Mistake::ShowsWhatItFinds;
  const World::Config config{
      .synced = synced, .shown_first = shown_first, .full_disks = 1, .mistake = mistake};
  const auto find = [&config] {
    try {
      explore(config);
    } catch (const std::runtime_error& broken) {
      std::fprintf(stderr, "%s\n", broken.what());
      std::abort();
    }
  };
  EXPECT_DEATH(find(), what);
}

INSTANTIATE_TEST_SUITE_P(
    All, OrderMistake,
    ::testing::Values(
        std::tuple(Mistake::ForgetsReceivedNumbers, false, "may be given again"),
        std::tuple(Mistake::ForgetsFloor, true, "names two transactions"),
        std::tuple(Mistake::AcknowledgesEverything, true, "in the engine, and only here"),
        std::tuple(Mistake::ShipsBeforeSync, true, "names two transactions|was answered, and is lost"),
        std::tuple(Mistake::CutsAcknowledged, true, "is cut, and acknowledged|answered, and is lost"),
        std::tuple(Mistake::AppliesTwice, true, "applied, .* taken"),
        std::tuple(Mistake::ReportsBehindTheWritten, true, "durable up to .* written up to"),
        std::tuple(Mistake::ReplaysTheTail, true, "in the engine, and only here"),
        std::tuple(Mistake::DropsWithoutRoom, true, "what is durable and not applied waits"),
        std::tuple(Mistake::SkipsWithoutRoom, true, "what only lacks room is skipped"),
        std::tuple(Mistake::FindsTwice, true, "a start meets .* and was at"),
        std::tuple(Mistake::FindsWhatIsThere, true, "a start meets .* and was at"),
        std::tuple(Mistake::AnswersWhatIsShown, true, "was answered, and is lost"),
        std::tuple(Mistake::ShowsWhatItFinds, true, "in the engine, and only here")));

}  // namespace
}  // namespace commitd::binlog
