#include "txn/lock_metrics.h"

#include <ctime>

#include <atomic>

#include "observe/metrics.h"

namespace commitd::txn::lock_metrics {

namespace {

double seconds(const std::atomic<uint64_t>& nanoseconds) {
  return static_cast<double>(nanoseconds.load(std::memory_order_relaxed)) * 1e-9;
}

struct Metrics {
  observe::Counter& waits =
      observe::counter("commitd_row_lock_waits_total", "Waits for row and table locks.");
  observe::Counter& deadlocks =
      observe::counter("commitd_deadlocks_total", "Deadlocks found; each ended one transaction's wait.");
  observe::Counter& given_up = observe::counter("commitd_deadlock_searches_given_up_total",
                                                "Recursive searches that went too far: taken as deadlocks.");
  observe::Counter& searches = observe::counter("commitd_deadlock_searches_total", "Searches for deadlocks.");
  observe::Counter& steps = observe::counter("commitd_deadlock_search_steps_total",
                                             "Edges of the graph of waits that searches looked at.");
  observe::Counter& global_locks =
      observe::counter("commitd_deadlock_global_lock_acquisitions_total",
                       "Times the one lock of commitd_deadlock_detector=recursive was taken.");
  observe::Counter& timeouts =
      observe::counter("commitd_row_lock_timeouts_total", "Lock waits that ran into their time limit.");
  observe::Gauge& waiting = observe::gauge("commitd_row_locks_waiting", "Sessions that wait for a lock now.");
  std::atomic<uint64_t> waited_ns{0}, longest_ns{0}, search_ns{0};

  Metrics() {
    observe::callback("counter", "commitd_row_lock_wait_seconds_total", "Time spent waiting for locks.", {},
                      [this] { return seconds(waited_ns); });
    observe::callback("gauge", "commitd_row_lock_longest_wait_seconds", "The longest wait for a lock.", {},
                      [this] { return seconds(longest_ns); });
    observe::callback("counter", "commitd_deadlock_search_cpu_seconds_total",
                      "CPU time spent searching for deadlocks.", {}, [this] { return seconds(search_ns); });
  }
};

Metrics& metrics() {
  static Metrics* instance = new Metrics;  // the registry keeps calling it to the very end
  return *instance;
}

uint64_t thread_cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace

void wait_began() {
  metrics().waits.add();
  metrics().waiting.add(1);
}

void wait_ended(std::chrono::nanoseconds waited) {
  const auto ns = static_cast<uint64_t>(waited.count());
  metrics().waiting.add(-1);
  metrics().waited_ns.fetch_add(ns, std::memory_order_relaxed);
  auto& longest = metrics().longest_ns;
  uint64_t known = longest.load(std::memory_order_relaxed);
  while (known < ns && !longest.compare_exchange_weak(known, ns, std::memory_order_relaxed)) {
  }
}

void timeout() {
  metrics().timeouts.add();
}

void searched(uint64_t steps) {
  metrics().searches.add();
  metrics().steps.add(steps);
}

void deadlock(bool gave_up) {
  metrics().deadlocks.add();
  if (gave_up) metrics().given_up.add();
}

void global_lock_taken() {
  metrics().global_locks.add();
}

SearchTimer::SearchTimer() : began_ns_(thread_cpu_ns()) {}
SearchTimer::~SearchTimer() {
  metrics().search_ns.fetch_add(thread_cpu_ns() - began_ns_, std::memory_order_relaxed);
}

}  // namespace commitd::txn::lock_metrics
