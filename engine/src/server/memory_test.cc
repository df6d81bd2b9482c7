#include "server/memory.h"

#include <gtest/gtest.h>

#include "base/memory_budget.h"
#include "server/testing/kernel_files.h"

namespace commitd::server {
namespace {

constexpr uint64_t kMiB = 1 << 20;

using MemoryLimit = testing::KernelFiles;

TEST_F(MemoryLimit, WithoutAGroupItIsWhatTheMachineHas) {
  EXPECT_EQ(memory_limit(root_), memory_limit("/nowhere/at/all"));
  EXPECT_GT(memory_limit(root_), 64 * kMiB);
}

TEST_F(MemoryLimit, TheNarrowestOfTheGroupsAboveCounts) {
  file("/proc/self/cgroup", "0::/pods/one\n");
  file("/sys/fs/cgroup/pods/one/memory.max", "max\n");
  file("/sys/fs/cgroup/pods/memory.max", "50331648\n");
  file("/sys/fs/cgroup/memory.max", "99999744\n");
  EXPECT_EQ(memory_limit(root_), 48 * kMiB);
}

TEST_F(MemoryLimit, InsideAContainerTheTopIsTheGroup) {
  file("/proc/self/cgroup", "0::/\n");
  file("/sys/fs/cgroup/memory.max", "50331648\n");
  EXPECT_EQ(memory_limit(root_), 48 * kMiB);
}

TEST_F(MemoryLimit, GroupsOfVersionOneCountAsWell) {
  file("/proc/self/cgroup", "5:cpu:/x\n4:memory:/docker/abc\n");
  file("/sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes", "50331648\n");
  file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(memory_limit(root_), 48 * kMiB);
}

TEST(MemoryDivision, CachesTakeAtMostHalfOfTheBudget) {
  Options options;
  options.memory_budget = 100 * kMiB;
  apply_memory_budget(options);
  auto& budget = MemoryBudget::process();
  EXPECT_EQ(budget.limit(), 100 * kMiB);
  EXPECT_LE(budget.used(MemoryUse::StorageCaches), 50 * kMiB);
  EXPECT_GE(budget.used(MemoryUse::StorageCaches), 49 * kMiB);
  EXPECT_EQ(options.block_cache_size, options.write_buffer_size * 2);  // as they were to each other
}

}  // namespace
}  // namespace commitd::server
