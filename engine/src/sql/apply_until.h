// START REPLICA UNTIL: in front of, or behind, which transactions the applier stops.
#pragma once

#include "gtid/gtid_set.h"

namespace commitd::sql {

struct ApplyUntil {
  enum class Kind : uint8_t { BeforeGtids, AfterGtids };

  Kind kind = Kind::BeforeGtids;
  GtidSet gtids;  // the first of them; all of them

  bool operator==(const ApplyUntil&) const = default;
};

}  // namespace commitd::sql
