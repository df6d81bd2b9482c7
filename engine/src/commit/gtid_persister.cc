#include "commit/gtid_persister.h"

#include <utility>

#include "observe/metrics.h"
#include "runtime/timer.h"

namespace commitd::binlog {
namespace {

struct Counters {
  observe::Counter& calls = observe::counter("commitd_gtid_persister_calls_total",
                                             "Times that GTIDs were added to a list that nothing merges.");
  observe::Counter& passed = observe::counter("commitd_gtid_persister_intervals_passed_total",
                                              "Intervals of that list that were walked over to add some.");
  observe::Gauge& intervals =
      observe::gauge("commitd_gtid_persister_intervals", "Intervals that are in that list.");
  observe::Histogram& seconds = observe::histogram("commitd_gtid_persister_seconds",
                                                   "Time that a call took, without the wait for its lock.");
};

Counters& counters() {
  static Counters all;
  return all;
}

}  // namespace

GtidPersister::GtidPersister(std::shared_ptr<const storage::GtidSettings> settings,
                             std::function<GtidSet()> executed)
    : settings_(std::move(settings)), executed_(std::move(executed)) {
  counters();
}

GtidPersister::~GtidPersister() {
  std::thread running;
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    work_.notify_one();
    running = std::move(thread_);
  }
  if (running.joinable()) running.join();
}

void GtidPersister::taken(const GtidSet& gtids) {
  if (!is_on()) return;
  if (!gtids.empty()) {
    MutexLock lock(mutex_);
    waiting_.add(gtids);
    work_.notify_one();
  }
  const SharedLock as_committers_do(set_lock_);
}

bool GtidPersister::is_on() {
  const bool on = settings_->persister_appends;
  if (on != has_list_) on ? begin() : forget();
  return on;
}

void GtidPersister::begin() {
  MutexLock lock(mutex_);
  if (has_list_) return;
  {
    MutexLock change(set_lock_);
    list_.emplace(executed_());
  }
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  has_list_ = true;
}

void GtidPersister::forget() {
  MutexLock lock(mutex_);
  waiting_ = {};
  has_list_ = false;
  MutexLock change(set_lock_);
  list_.reset();
  counters().intervals.set(0);
}

// What came while the list was walked is one call.
void GtidPersister::run() {
  for (;;) {
    GtidSet written;
    {
      MutexLock lock(mutex_);
      while (waiting_.empty() && !stopping_) work_.wait(lock);
      if (stopping_) return;
      written = std::exchange(waiting_, {});
    }
    persist(written);
  }
}

void GtidPersister::persist(const GtidSet& written) {
  MutexLock change(set_lock_);
  if (!list_) return;
  const auto start = Clock::now();
  counters().passed.add(list_->persist(written));
  counters().seconds.observe_ns(
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count());
  counters().calls.add();
  counters().intervals.set(static_cast<double>(list_->interval_count()));
}

}  // namespace commitd::binlog
