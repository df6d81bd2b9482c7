#include "txn/lock_metrics.h"

#include <atomic>

#include "observe/metrics.h"

namespace commitd::txn::lock_metrics {

namespace {

struct Metrics {
  observe::Counter& waits =
      observe::counter("commitd_row_lock_waits_total", "Waits for row and table locks.");
  observe::Counter& deadlocks =
      observe::counter("commitd_deadlocks_total", "Deadlocks found; each ended one transaction's wait.");
  observe::Counter& timeouts =
      observe::counter("commitd_row_lock_timeouts_total", "Lock waits that ran into their time limit.");
  observe::Gauge& waiting = observe::gauge("commitd_row_locks_waiting", "Sessions that wait for a lock now.");
  std::atomic<uint64_t> waited_ns{0};

  Metrics() {
    observe::callback(
        "counter", "commitd_row_lock_wait_seconds_total", "Time spent waiting for locks.", {},
        [this] { return static_cast<double>(waited_ns.load(std::memory_order_relaxed)) * 1e-9; });
  }
};

Metrics& metrics() {
  static Metrics instance;
  return instance;
}

}  // namespace

void wait_began() {
  metrics().waits.add();
  metrics().waiting.add(1);
}

void wait_ended(std::chrono::nanoseconds waited) {
  metrics().waiting.add(-1);
  metrics().waited_ns.fetch_add(static_cast<uint64_t>(waited.count()), std::memory_order_relaxed);
}

void deadlock() {
  metrics().deadlocks.add();
}
void timeout() {
  metrics().timeouts.add();
}

}  // namespace commitd::txn::lock_metrics
