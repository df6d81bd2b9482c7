// START REPLICA UNTIL, as received transactions are counted one after the other.
#pragma once

#include "gtid/gtid_set.h"
#include "sql/apply_until.h"

namespace commitd::replication {

class UntilCount {
 public:
  // `executed`: of all in front of the first one that is asked, at least.
  UntilCount(const sql::ApplyUntil& until, const GtidSet& executed);

  // Asked once for each, in their order. After the first no it is over.
  bool lets_through(const Gtid& gtid);
  bool is_over() const { return is_over_; }

 private:
  using Kind = sql::ApplyUntil::Kind;

  Kind kind_;
  GtidSet left_;
  bool is_over_;
};

}  // namespace commitd::replication
