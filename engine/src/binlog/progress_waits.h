// Who waits for the log or the engine to get somewhere. Each is woken when its own goal is reached, and only
// then.
#pragma once

#include <list>

#include "binlog/commit_pipeline.h"

namespace commitd::binlog {

// All under the pipeline's state lock.
class ProgressWaits {
 public:
  struct Wait {
    Parker parker;
    bool reached = false;
    bool listed = false;
    LogPosition beyond;  // position waits
    GtidSet executed;    // GTID waits
  };

  void add_position(Wait& wait, CommitPipeline::Bound bound);
  void add_executed(Wait& wait);
  void remove(Wait& wait);

  void moved(CommitPipeline::Bound bound, LogPosition to);
  void executed(const GtidSet& set);
  void stop();  // everybody goes, unreached

 private:
  using List = std::list<Wait*>;
  List& list_of(CommitPipeline::Bound bound) {
    return bound == CommitPipeline::Bound::Durable ? durable_ : acknowledged_;
  }
  template <class Reached>
  static void wake_where(List& waits, Reached reached);

  List durable_, acknowledged_, executed_;
};

}  // namespace commitd::binlog
