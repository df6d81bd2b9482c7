// What one of replica_parallel_workers tells of itself.
#pragma once

#include <cstdint>

#include "binlog/events.h"

namespace commitd::binlog {

struct AheadWorker {
  GtidEvent latest;  // that it made and that was taken as it made it; an empty GTID: none yet
  uint64_t began_at = 0, ended_at = 0;  // microseconds: the making of that
  GtidEvent current;                    // an empty GTID: it waits
  uint64_t current_since = 0;
};

}  // namespace commitd::binlog
