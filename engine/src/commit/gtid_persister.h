// MySQL's GTID persister as seed 001 met it, for commitd_gtid_persister=append_only: a thread adds what was
// committed to a list of intervals that nothing merges with what the log has, and committers wait behind it.
// Transactions that change nothing (a filter left them out) go past it, so gaps stay where they were, and
// each call walks them all. With `merged` there is nothing to do: the storage engine's set has them already.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <thread>

#include "gtid/gtid_set.h"
#include "gtid/interval_list.h"
#include "observe/mutex.h"
#include "storage/gtid_storage.h"

namespace commitd::binlog {

class GtidPersister {
 public:
  // `executed`: what the list begins with.
  GtidPersister(std::shared_ptr<const storage::GtidSettings> settings, std::function<GtidSet()> executed);
  ~GtidPersister();

  // They are in the engine, and have changed something there. By whoever took them, who waits while the list
  // is walked.
  void taken(const GtidSet& gtids);
  void forget();  // the list begins anew

 private:
  bool is_on();  // the setting counts from here on
  void begin();
  void run();
  void persist(const GtidSet& written);

  const std::shared_ptr<const storage::GtidSettings> settings_;
  const std::function<GtidSet()> executed_;

  observe::Mutex mutex_{"wait/synch/mutex/commitd/gtid_persister"};
  observe::Condition work_{"wait/synch/cond/commitd/gtid_persister"};
  GtidSet waiting_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_ ABSL_GUARDED_BY(mutex_);
  std::atomic<bool> has_list_{false};

  // MySQL's global_sid_lock, under its name.
  observe::SharedMutex set_lock_{"wait/synch/rwlock/sql/gtid_commit_rollback"};
  std::optional<IntervalList> list_ ABSL_GUARDED_BY(set_lock_);
};

}  // namespace commitd::binlog
