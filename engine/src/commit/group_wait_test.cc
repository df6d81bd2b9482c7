#include "commit/group_wait.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

namespace commitd::binlog {
namespace {

using Time = GroupWait::Time;
using std::chrono::microseconds;

// Clients that commit, are answered when their group's sync is over, and come again: the first of a group
// after `delay`, then one each `pace`. Some of them think first. One log, which takes whoever is there.
struct Load {
  int clients = 16;
  microseconds sync{1000}, delay{100}, pace{30};
  int thinking = 0;  // so many of them, each `thought` in its turn
  microseconds thought{0};
};

struct Outcome {
  size_t commits = 0, groups = 0;
  microseconds waited{0};  // while somebody was there
  double per_group() const { return static_cast<double>(commits) / static_cast<double>(groups); }
};

class Simulation {
 public:
  explicit Simulation(const Load& load) : load_(load) { change(load); }

  // From now on.
  void change(const Load& load) {
    load_ = load;
    coming_.clear();
    queued_ = 0;
    for (int i = 0; i < load.clients; ++i) coming_.emplace(now_ + load.pace * i, i);
  }

  Outcome run(microseconds time, bool may_wait = true) {
    Outcome outcome;
    const Time end = now_ + time;
    while (now_ < end) {
      bool waited = false;
      if (const auto wait = may_wait ? group_wait_.worth_waiting(queued_) : std::nullopt) {
        waited = true;
        const Time start = now_;
        while (queued_ < wait->commits && next() <= wait->until) let_in(next());
        if (queued_ < wait->commits) now_ = std::max(now_, wait->until);
        outcome.waited += std::chrono::duration_cast<microseconds>(now_ - start);
      }
      if (queued_ == 0) let_in(next());
      write_group(waited, outcome);
    }
    return outcome;
  }

 private:
  Time next() const { return coming_.begin()->first; }
  void let_in(Time until) {
    now_ = std::max(now_, until);
    while (!coming_.empty() && next() <= now_) {
      group_wait_.came(next());
      ids_.push_back(coming_.begin()->second);
      coming_.erase(coming_.begin());
      ++queued_;
    }
  }
  void write_group(bool waited, Outcome& outcome) {
    const std::vector<int> group = std::move(ids_);
    ids_.clear();
    queued_ = 0;
    group_wait_.taken(group.size(), waited, now_);
    let_in(now_ + load_.sync);
    group_wait_.durable(now_);
    Time back = now_ + load_.delay;
    for (const int id : group) {
      coming_.emplace(id < load_.thinking ? back + load_.thought : back, id);
      back += load_.pace;
    }
    outcome.commits += group.size();
    ++outcome.groups;
  }

  Load load_;
  GroupWait group_wait_;
  Time now_{std::chrono::hours(1)};
  std::multimap<Time, int> coming_;
  std::vector<int> ids_;
  size_t queued_ = 0;
};

constexpr microseconds kLong{1'000'000};
constexpr microseconds kHardly = kLong / 20;

TEST(GroupWait, ClientsThatTakeTurnsComeToShareTheirSyncs) {
  for (const int clients : {2, 4, 16}) {
    SCOPED_TRACE(clients);
    const Load load{.clients = clients};
    EXPECT_LT(Simulation(load).run(kLong, false).per_group(), 0.6 * clients);
    EXPECT_GT(Simulation(load).run(kLong).per_group(), 0.95 * clients);
  }
}

TEST(GroupWait, HardlyAnybodyWaitsWhereASyncIsQuickerThanTheClients) {
  EXPECT_LT(Simulation({.sync = microseconds(60)}).run(kLong).waited, kHardly);
}

TEST(GroupWait, NobodyWaitsForTheOnlyClient) {
  EXPECT_EQ(Simulation({.clients = 1}).run(kLong).waited.count(), 0);
}

TEST(GroupWait, HardlyAnybodyWaitsForClientsThatThink) {
  const Load load{.thinking = 16, .thought = microseconds(20'000)};
  EXPECT_LT(Simulation(load).run(kLong).waited, kHardly);
}

// Whoever thinks is not waited for; the others are.
TEST(GroupWait, AFewThatThinkDoNotSpoilIt) {
  const Load load{.thinking = 3, .thought = microseconds(50'000)};
  EXPECT_GT(static_cast<double>(Simulation(load).run(kLong).commits),
            1.3 * static_cast<double>(Simulation(load).run(kLong, false).commits));
}

TEST(GroupWait, ItIsNeverMuchWorseThanGoingAtOnce) {
  for (const int clients : {2, 3, 8, 24, 32, 48, 100, 300}) {
    for (const int sync : {50, 200, 1000, 6700}) {
      for (const int thinking : {0, clients / 2, clients - 1}) {
        SCOPED_TRACE(std::to_string(clients) + " clients, sync " + std::to_string(sync) + ", thinking " +
                     std::to_string(thinking));
        const Load load{.clients = clients,
                        .sync = microseconds(sync),
                        .thinking = thinking,
                        .thought = microseconds(3 * sync)};
        const size_t at_once = Simulation(load).run(kLong / 2, false).commits;
        EXPECT_GT(Simulation(load).run(kLong / 2).commits, at_once * 9 / 10);
      }
    }
  }
}

TEST(GroupWait, AWaitEndsAlthoughNobodyComesAgain) {
  GroupWait wait_for_more;
  Time now{std::chrono::hours(1)};
  for (int i = 0; i < 20; ++i) {
    wait_for_more.taken(2, false, now);
    now += microseconds(1000);
    wait_for_more.durable(now);
    for (const int back : {50, 100}) wait_for_more.came(now + microseconds(back));
    now += microseconds(100);
  }
  wait_for_more.taken(2, false, now);
  wait_for_more.durable(now + microseconds(1000));
  const auto wait = wait_for_more.worth_waiting(0);
  ASSERT_TRUE(wait);
  EXPECT_EQ(wait->commits, 2u);
  EXPECT_LE(wait->until - now, microseconds(1200));
}

TEST(GroupWait, WhatWasLearnedIsForgottenWhenTheClientsChange) {
  Simulation simulation({});
  simulation.run(kLong);
  simulation.change({.thinking = 16, .thought = microseconds(20'000)});
  simulation.run(kLong);
  EXPECT_LT(simulation.run(kLong).waited, kHardly);
  simulation.change({});
  simulation.run(kLong);
  EXPECT_GT(simulation.run(kLong).per_group(), 15);
}

}  // namespace
}  // namespace commitd::binlog
