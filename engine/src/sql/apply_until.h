// START REPLICA UNTIL: in front of, or behind, which transactions the applier stops.
#pragma once

#include <cstdint>
#include <string>

#include "gtid/gtid_set.h"

namespace commitd::sql {

struct ApplyUntil {
  // AfterGaps: behind the transactions in front of which others were applied. There are none.
  enum class Kind : uint8_t { BeforeGtids, AfterGtids, SourcePlace, AfterGaps };

  Kind kind = Kind::BeforeGtids;
  GtidSet gtids;  // the first of them; all of them
  // In the source's log: what begins there, or behind, is not applied.
  std::string file = {};
  uint64_t position = 0;

  bool operator==(const ApplyUntil&) const = default;
};

}  // namespace commitd::sql
