// GTIDs as MySQL has them: UUID:number. A set is a map from UUID to disjoint, merged, half-open intervals.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <absl/container/btree_map.h>

#include "base/result.h"
#include "base/uuid.h"

namespace commitd {

// MySQL's bound: interval ends (exclusive) fit a signed 64-bit integer.
inline constexpr uint64_t kMaxGno = std::numeric_limits<int64_t>::max() - 1;

struct Gtid {
  Uuid sid;
  uint64_t gno = 0;  // 0 = none

  bool empty() const { return gno == 0; }
  std::string to_string() const;
  static Result<Gtid> parse(std::string_view text);
  auto operator<=>(const Gtid&) const = default;
};

struct GtidInterval {
  Uuid sid;
  uint64_t start = 0, end = 0;  // end exclusive
  auto operator<=>(const GtidInterval&) const = default;
};

class GtidSet {
 public:
  static Result<GtidSet> parse(std::string_view text);  // MySQL's text form, white space allowed
  static Result<GtidSet> decode(
      std::string_view binary);  // the form of PREVIOUS_GTIDS and COM_BINLOG_DUMP_GTID
  std::string to_string() const;
  std::string encode() const;

  void add(const Gtid& gtid) { add_interval(gtid.sid, gtid.gno, gtid.gno + 1); }
  void add_interval(const Uuid& sid, uint64_t start, uint64_t end);
  void add(const GtidSet& other);
  void subtract(const GtidSet& other);
  void subtract_interval(const Uuid& sid, uint64_t start, uint64_t end);

  // What add(other) would change, at a cost that depends on `other` alone but for a search: the intervals
  // that it makes, and those inside them that began elsewhere.
  struct Growth {
    std::vector<GtidInterval> made, swallowed;
  };
  Growth growth(const GtidSet& other) const;
  template <class Visit>
  void for_each_interval(Visit visit) const {
    for (const auto& [sid, intervals] : intervals_) {
      for (const auto& [start, end] : intervals) visit(GtidInterval{sid, start, end});
    }
  }
  size_t interval_count() const;

  bool contains(const Gtid& gtid) const;
  bool contains(const GtidSet& other) const;  // superset test
  bool contains_interval(const Uuid& sid, uint64_t start, uint64_t end) const;
  bool empty() const { return intervals_.empty(); }
  uint64_t count() const;
  uint64_t last(const Uuid& sid) const;  // greatest number of this UUID, 0 = none
  bool operator==(const GtidSet& other) const { return intervals_ == other.intervals_; }

 private:
  using Intervals = absl::btree_map<uint64_t, uint64_t>;  // start → end (exclusive)
  std::map<Uuid, Intervals> intervals_;
};

}  // namespace commitd
