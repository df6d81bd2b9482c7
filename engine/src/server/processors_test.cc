#include "server/processors.h"

#include <gtest/gtest.h>

#include "server/testing/kernel_files.h"

namespace commitd::server {
namespace {

using Processors = testing::KernelFiles;

TEST_F(Processors, WithoutAQuotaTheyAreThoseThatTheProcessMayRunOn) {
  file("/proc/self/cgroup", "0::/\n");
  file("/sys/fs/cgroup/cpu.max", "max 100000\n");
  EXPECT_EQ(usable_processors(root_), usable_processors("/nowhere/at/all"));
  EXPECT_GE(usable_processors(root_), 1);
}

TEST_F(Processors, TheSmallestQuotaOfTheGroupsAboveCounts) {
  file("/proc/self/cgroup", "0::/pods/one\n");
  file("/sys/fs/cgroup/pods/one/cpu.max", "max 100000\n");
  file("/sys/fs/cgroup/pods/cpu.max", "25000 100000\n");
  file("/sys/fs/cgroup/cpu.max", "90000 100000\n");
  EXPECT_EQ(usable_processors(root_), 0.25);
}

}  // namespace
}  // namespace commitd::server
