#include "plugins/visitors.h"

#include <future>
#include <thread>

namespace commitd::plugins {
namespace {

TEST(VisitorsTest, WhoHasTakenSomethingAwayWaitsForThoseInside) {
  Visitors visitors;
  std::promise<void> leave;
  std::promise<void> inside;
  std::thread visitor([&] {
    const Visitors::Visit visit(visitors);
    inside.set_value();
    leave.get_future().wait();
  });
  inside.get_future().wait();
  auto gone = std::async(std::launch::async, [&] { visitors.wait_until_gone(); });
  EXPECT_EQ(gone.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
  leave.set_value();
  gone.get();
  visitor.join();
}

// One after the other is always inside: who came after the change is not waited for.
TEST(VisitorsTest, ThoseWhoComeLaterAreNotWaitedFor) {
  Visitors visitors;
  std::atomic<bool> stop{false};
  std::thread first, second;
  std::atomic<int> inside{0};
  const auto visit_again_and_again = [&] {
    while (!stop) {
      const Visitors::Visit visit(visitors);
      ++inside;
      while (inside < 2 && !stop) std::this_thread::yield();
      --inside;
    }
  };
  first = std::thread(visit_again_and_again);
  second = std::thread(visit_again_and_again);
  for (int i = 0; i < 5; ++i) visitors.wait_until_gone();
  stop = true;
  first.join();
  second.join();
}

// Each sees what is there when he comes in, and nothing is freed under him (the sanitizers look).
TEST(VisitorsTest, NothingGoesUnderThoseWhoLookAtIt) {
  Visitors visitors;
  std::atomic<const int*> shown{new int(0)};
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> looks{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      int last = 0;
      while (!stop) {
        const Visitors::Visit visit(visitors);
        const int seen = *shown.load(std::memory_order_seq_cst);
        EXPECT_GE(seen, last);
        last = seen;
        ++looks;
      }
    });
  }
  constexpr int kChanges = 300;
  for (int i = 1; i <= kChanges || looks < kChanges; ++i) {
    const int* former = shown.exchange(new int(i), std::memory_order_seq_cst);
    visitors.wait_until_gone();
    delete former;
  }
  stop = true;
  for (auto& thread : threads) thread.join();
  delete shown.load();
}

}  // namespace
}  // namespace commitd::plugins
