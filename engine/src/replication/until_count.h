// START REPLICA UNTIL, as received transactions are counted one after the other.
#pragma once

#include <string_view>

#include "gtid/gtid_set.h"
#include "sql/apply_until.h"

namespace commitd::replication {

// A transaction's place in its source's log. Without a file: not known, which lets it through.
struct PlaceAtSource {
  std::string_view file;
  uint64_t begin = 0, end = 0;
};

class UntilCount {
 public:
  // `executed`: of all in front of the first one that is asked, at least.
  UntilCount(const sql::ApplyUntil& until, const GtidSet& executed);

  // What is applied already ends there.
  void begins_at(std::string_view file, uint64_t position);
  // Asked once for each, in their order. After the first no it is over.
  bool lets_through(const Gtid& gtid, const PlaceAtSource& place = {});
  bool is_over() const { return is_over_; }

 private:
  using Kind = sql::ApplyUntil::Kind;

  bool is_at_or_behind(std::string_view file, uint64_t position) const;
  bool lets_through_to_place(const PlaceAtSource& place);

  sql::ApplyUntil until_;
  GtidSet left_;
  bool is_over_ = false;
};

// The number at the end of a log file's name. Names of more digits are later ones.
uint64_t log_file_number(std::string_view name);

}  // namespace commitd::replication
