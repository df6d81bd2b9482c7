#include "base/memory_budget.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace commitd {
namespace {

constexpr uint64_t kMiB = 1 << 20;

TEST(MemoryBudget, ReservesUpToTheLimitAndNotBeyond) {
  MemoryBudget budget;
  budget.set_limit(10 * kMiB);
  EXPECT_TRUE(budget.reserve(MemoryUse::Rows, 6 * kMiB));
  EXPECT_FALSE(budget.reserve(MemoryUse::Network, 5 * kMiB));
  EXPECT_TRUE(budget.reserve(MemoryUse::Network, 4 * kMiB));
  EXPECT_FALSE(budget.reserve(MemoryUse::Rows, 1));
  EXPECT_FALSE(budget.reserve(MemoryUse::Rows, UINT64_MAX));
  EXPECT_EQ(budget.used(MemoryUse::Rows), 6 * kMiB);
  EXPECT_EQ(budget.used(), 10 * kMiB);
  budget.release(MemoryUse::Rows, 6 * kMiB);
  EXPECT_TRUE(budget.reserve(MemoryUse::Rows, 1));
}

TEST(MemoryBudget, AReservationGivesEverythingBackAlsoWhenMoved) {
  MemoryBudget budget;
  budget.set_limit(kMiB);
  {
    MemoryReservation first(MemoryUse::Rows, budget);
    EXPECT_TRUE(first.cover(1000));
    EXPECT_EQ(budget.used(), 0u);  // too little to ask for
    EXPECT_TRUE(first.cover(500'000));
    EXPECT_GE(budget.used(), 500'000u - 16 * 1024);
    EXPECT_TRUE(first.cover(400'000));
    EXPECT_FALSE(first.cover(2 * kMiB));
    const uint64_t held = first.held();
    MemoryReservation second = std::move(first);
    EXPECT_EQ(second.held(), held);
    second = MemoryReservation(MemoryUse::Network, budget);
    EXPECT_EQ(budget.used(), 0u);
    EXPECT_TRUE(second.add(600'000));
    EXPECT_FALSE(second.add(600'000));
    second.clear();
    EXPECT_TRUE(second.add(600'000));
  }
  EXPECT_EQ(budget.used(), 0u);
}

TEST(MemoryBudget, WhatIsResidentBeyondTheLimitAndTheProgramCountsWhenNothingOfItCanBeGivenBack) {
  MemoryBudget budget;
  budget.set_limit(10 * kMiB);
  uint64_t resident = 0, unused = 0;
  budget.watch({[&] { return resident; }, [&] { resident -= std::exchange(unused, 0); }});
  ASSERT_TRUE(budget.reserve(MemoryUse::StorageCaches, 6 * kMiB));
  resident = 43 * kMiB;
  unused = 3 * kMiB;
  EXPECT_TRUE(budget.reserve(MemoryUse::Rows, kMiB));
  EXPECT_EQ(resident, 40 * kMiB);
  resident = 42 * kMiB;
  EXPECT_FALSE(budget.reserve(MemoryUse::Rows, kMiB));
  EXPECT_EQ(budget.used(), 7 * kMiB);
}

TEST(MemoryBudget, ManyThreadsNeverExceedIt) {
  MemoryBudget budget;
  budget.set_limit(8 * kMiB);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&budget] {
      for (int round = 0; round < 20'000; ++round) {
        if (!budget.reserve(MemoryUse::Rows, 3 * kMiB)) continue;
        if (budget.used() > budget.limit()) ADD_FAILURE() << budget.used();
        budget.release(MemoryUse::Rows, 3 * kMiB);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(budget.used(), 0u);
}

}  // namespace
}  // namespace commitd
