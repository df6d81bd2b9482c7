#include "observe/wait_events.h"

#include <algorithm>
#include <filesystem>
#include <thread>

#include <gtest/gtest.h>
#include <unistd.h>

#include "observe/instrumented_files.h"
#include "observe/metrics.h"
#include "observe/mutex.h"

namespace commitd::observe {
namespace {

using namespace std::chrono_literals;

WaitSummary summary(std::string_view name) {
  for (WaitSummary& one : wait_summaries()) {
    if (one.name == name) return one;
  }
  return {};
}

TEST(WaitEvents, CountsSumsAndExtremes) {
  const WaitEvent event("wait/test/plain");
  event.waited(30ns);
  event.waited(10ns);
  event.waited(20ns);
  const WaitTotals total = summary("wait/test/plain").total;
  EXPECT_EQ(total.count, 3u);
  EXPECT_EQ(total.sum_ns, 60u);
  EXPECT_EQ(total.min_ns, 10u);
  EXPECT_EQ(total.max_ns, 30u);
  EXPECT_EQ(summary("wait/test/plain").is_io, false);
}

TEST(WaitEvents, AreThereBeforeTheyHappenAndOncePerName) {
  const WaitEvent one("wait/test/twice"), two("wait/test/twice");
  EXPECT_EQ(summary("wait/test/twice").total.count, 0u);
  EXPECT_EQ(summary("wait/test/twice").total.min_ns, 0u);
  one.waited(1ns);
  two.waited(1ns);
  EXPECT_EQ(summary("wait/test/twice").total.count, 2u);
}

TEST(WaitEvents, NothingIsLostWhenThreadsComeAndGo) {
  const WaitEvent event("wait/test/threads");
  for (int round = 0; round < 5; ++round) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&event] {
        for (int n = 0; n < 1000; ++n) event.waited(2ns);
      });
    }
    for (auto& thread : threads) thread.join();
  }
  EXPECT_EQ(summary("wait/test/threads").total.count, 20'000u);
  EXPECT_EQ(summary("wait/test/threads").total.sum_ns, 40'000u);
}

TEST(WaitEvents, AResetForgetsEverythingInEveryThread) {
  const WaitEvent event("wait/test/reset");
  event.waited(50ns);
  std::thread([&event] { event.waited(70ns); }).join();
  reset_wait_events();
  EXPECT_EQ(summary("wait/test/reset").total.count, 0u);
  event.waited(5ns);
  const WaitTotals total = summary("wait/test/reset").total;
  EXPECT_EQ(total.count, 1u);
  EXPECT_EQ(total.min_ns, 5u);
  EXPECT_EQ(total.max_ns, 5u) << "the longest wait before the reset is gone";
}

TEST(WaitEvents, AWaitOfNoTimeIsOneAmongTheOthersAndForgottenLikeThem) {
  const WaitEvent event("wait/test/passed");
  event.passed();
  event.passed();
  event.waited(30ns);
  WaitTotals total = summary("wait/test/passed").total;
  EXPECT_EQ(total.count, 3u);
  EXPECT_EQ(total.sum_ns, 30u);
  EXPECT_EQ(total.min_ns, 0u);
  EXPECT_EQ(total.max_ns, 30u);
  std::thread([&event] { event.passed(); }).join();
  reset_wait_events();
  EXPECT_EQ(summary("wait/test/passed").total.count, 0u);
  event.waited(5ns);
  EXPECT_EQ(summary("wait/test/passed").total.min_ns, 5u);
  event.passed();
  total = summary("wait/test/passed").total;
  EXPECT_EQ(total.count, 2u);
  EXPECT_EQ(total.min_ns, 0u);
}

TEST(WaitEvents, SwitchedOffNothingIsCounted) {
  const WaitEvent event("wait/test/off");
  Mutex mutex("wait/test/off");
  switch_wait_events(false);
  { const std::lock_guard lock(mutex); }
  { const WaitTimer timer(event); }
  switch_wait_events(true);
  EXPECT_EQ(summary("wait/test/off").total.count, 0u);
  { const std::lock_guard lock(mutex); }
  { const WaitTimer timer(event); }
  EXPECT_EQ(summary("wait/test/off").total.count, 2u);
}

TEST(WaitEvents, AMutexCountsEveryAcquisitionAndTimesThoseThatWait) {
  Mutex mutex("wait/test/mutex");
  { const std::lock_guard lock(mutex); }
  EXPECT_EQ(summary("wait/test/mutex").total.count, 1u);
  EXPECT_EQ(summary("wait/test/mutex").total.sum_ns, 0u);
  std::thread waiter;
  {
    const std::lock_guard lock(mutex);
    std::atomic<bool> tries{false};
    waiter = std::thread([&] {
      tries = true;
      const std::lock_guard inner(mutex);
    });
    while (!tries) std::this_thread::yield();
    std::this_thread::sleep_for(5ms);
  }
  waiter.join();
  EXPECT_EQ(summary("wait/test/mutex").total.count, 3u);
  EXPECT_GT(summary("wait/test/mutex").total.max_ns, 0u);
}

TEST(WaitEvents, ReadersOfASharedMutexDoNotWaitForEachOther) {
  SharedMutex mutex("wait/test/shared");
  const std::shared_lock one(mutex);
  std::thread([&mutex] { const std::shared_lock two(mutex); }).join();
  EXPECT_EQ(summary("wait/test/shared").total.count, 2u);
  EXPECT_EQ(summary("wait/test/shared").total.sum_ns, 0u);
}

TEST(WaitEvents, AConditionHandsTheMutexOver) {
  Mutex mutex("wait/test/condition_mutex");
  Condition condition("wait/test/condition");
  bool ready = false;
  std::thread waker;
  {
    std::unique_lock lock(mutex);
    waker = std::thread([&] {
      const std::lock_guard inner(mutex);
      ready = true;
      condition.notify_one();
    });
    condition.wait(lock, [&] { return ready; });
    EXPECT_TRUE(lock.owns_lock());
    EXPECT_FALSE(condition.wait_for(lock, 1ms, [] { return false; }));
  }
  waker.join();
  EXPECT_GE(summary("wait/test/condition").total.count, 2u);
  ASSERT_TRUE(std::unique_lock(mutex, std::try_to_lock).owns_lock()) << "nobody holds it any more";
}

TEST(WaitEvents, FilesOfTheLogAreCountedByKindWithTheirBytes) {
  const auto directory = std::filesystem::temp_directory_path() / ("wait-events-" + std::to_string(getpid()));
  std::filesystem::create_directories(directory);
  const WaitSummary before = summary("wait/io/file/sql/binlog");
  const auto files = instrumented_log_files(FileSystem::posix());
  auto file = files->open((directory / "binlog.000001").string(), FileSystem::Open::Create);
  ASSERT_TRUE(file.ok());
  const std::string_view pieces[] = {"abc", "de"};
  ASSERT_TRUE((*file)->write_at(0, pieces).ok());
  ASSERT_TRUE((*file)->sync_data().ok());
  char buffer[16];
  ASSERT_TRUE((*file)->read_at(0, buffer).ok());
  const WaitSummary after = summary("wait/io/file/sql/binlog");
  const auto added = [&](IoKind kind) {
    const auto i = static_cast<size_t>(kind);
    return std::pair(after.by_kind[i].count - before.by_kind[i].count,
                     after.by_kind[i].bytes - before.by_kind[i].bytes);
  };
  EXPECT_EQ(added(IoKind::Read), std::pair(uint64_t{1}, uint64_t{5}));
  EXPECT_EQ(added(IoKind::Write), std::pair(uint64_t{1}, uint64_t{5}));
  EXPECT_EQ(added(IoKind::Other), std::pair(uint64_t{1}, uint64_t{0}));
  EXPECT_EQ(after.total.count - before.total.count, 3u);
  EXPECT_TRUE(after.is_io);
  file->reset();
  std::filesystem::remove_all(directory);
}

TEST(WaitEvents, AreMetrics) {
  const WaitEvent event("wait/test/metric");
  event.waited(2s);
  const std::string text = prometheus_text();
  EXPECT_NE(text.find("commitd_wait_events_total{event_name=\"wait/test/metric\"} 1\n"), std::string::npos);
  EXPECT_NE(text.find("commitd_wait_event_seconds_total{event_name=\"wait/test/metric\"} 2\n"),
            std::string::npos);
}

}  // namespace
}  // namespace commitd::observe
