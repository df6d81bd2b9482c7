// Who waits for the log or the engine to get somewhere. Each is woken when its own goal is reached, and only
// then; with commitd_wakeup=broadcast by every move of what it waits for, to look again.
#pragma once

#include <atomic>
#include <list>

#include "commit/commit_pipeline.h"

namespace commitd::binlog {

// All under the pipeline's state lock.
class ProgressWaits {
 public:
  struct Wait {
    Parker parker;
    bool reached = false;
    bool listed = false;
    std::optional<CommitPipeline::Bound> bound;  // position waits
    LogPosition beyond;
    GtidSet executed;  // the others
  };
  explicit ProgressWaits(const std::atomic<bool>& wake_everybody) : wake_everybody_(wake_everybody) {}

  void add(Wait& wait);
  void remove(Wait& wait);

  void moved(CommitPipeline::Bound bound, LogPosition to);
  void executed(const GtidSet& set);
  void wake_readers();  // as if their positions had been passed
  void stop();          // everybody goes, unreached

 private:
  using List = std::list<Wait*>;
  List& list_of(std::optional<CommitPipeline::Bound> bound) {
    if (!bound) return executed_;
    return *bound == CommitPipeline::Bound::Durable ? durable_ : acknowledged_;
  }
  template <class Reached>
  void wake_where(List& waits, Reached reached);

  const std::atomic<bool>& wake_everybody_;
  List durable_, acknowledged_, executed_;
};

}  // namespace commitd::binlog
