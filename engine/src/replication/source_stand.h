// Where a replica stands in its source's log, by file and position.
#pragma once

#include <cstdint>
#include <string>

#include "base/log_position.h"

namespace commitd::replication {

struct SourceStand {
  std::string file;  // empty: the source's first one
  uint64_t position = 4;
  // Everything of the source up to there is in the own log in front of this.
  LogPosition as_of;
};

}  // namespace commitd::replication
