// A set of GTIDs as MySQL keeps one: for each UUID a list of intervals that every operation walks from its
// head. What seed 001 saw grow: its persister keeps one that nothing ever merges with what the log has.
#pragma once

#include <cstdint>
#include <forward_list>
#include <map>

#include "gtid/gtid_set.h"

namespace commitd {

class IntervalList {
 public:
  IntervalList() = default;
  explicit IntervalList(const GtidSet& set);
  // Takes in what of `written` is not there yet, by two walks as MySQL's update_prev_gtids(): one to find
  // out, one to add. Returns how many intervals these have passed.
  uint64_t persist(const GtidSet& written);
  size_t interval_count() const { return count_; }
  GtidSet to_set() const;

 private:
  struct Interval {
    uint64_t start, end;  // end exclusive
  };
  using List = std::forward_list<Interval>;
  static bool contains(const List& list, const Interval& wanted, uint64_t& walked);
  void add(List& list, Interval added, uint64_t& walked);

  std::map<Uuid, List> lists_;
  size_t count_ = 0;
};

}  // namespace commitd
