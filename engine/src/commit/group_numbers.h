// The GTIDs of one group, given in the log's order. A value; Order::numbers() makes it.
#pragma once

#include "gtid/gtid_set.h"

namespace commitd::binlog {

class GroupNumbers {
 public:
  // `logged` must stay as it is while GTIDs are given.
  GroupNumbers(const Uuid& own, const GtidSet& logged, uint64_t next)
      : own_(own), logged_(&logged), next_(next) {}

  enum class Verdict : uint8_t {
    Given,
    Known,     // it names a transaction already
    TooLow,    // an own one below what has been given: it may have named a transaction that was cut
    Exhausted  // there is none left; the same for all that come behind, which may have seen this one
  };
  // Of a local transaction; empty: the next own one is filled in.
  Verdict give(Gtid& gtid);
  bool exhausted() const { return exhausted_; }
  // Of a received transaction; false: it names one already.
  bool take(const Gtid& gtid);
  uint64_t next() const { return next_; }

 private:
  Verdict give_next(Gtid& gtid);
  bool is_known(const Gtid& gtid) const { return logged_->contains(gtid) || in_group_.contains(gtid); }

  Uuid own_;
  const GtidSet* logged_;
  uint64_t next_;
  GtidSet in_group_;  // those that were brought
  bool exhausted_ = false;
};

}  // namespace commitd::binlog
