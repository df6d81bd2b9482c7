#include "commit/group_numbers.h"

#include <algorithm>

namespace commitd::binlog {

GroupNumbers::Verdict GroupNumbers::give(Gtid& gtid) {
  if (exhausted_) return Verdict::Exhausted;
  if (gtid.empty()) return give_next(gtid);
  if (is_known(gtid)) return Verdict::Known;
  if (gtid.sid == own_ && gtid.gno < next_) return Verdict::TooLow;
  if (gtid.sid == own_) next_ = gtid.gno + 1;
  in_group_.add(gtid);
  return Verdict::Given;
}

GroupNumbers::Verdict GroupNumbers::give_next(Gtid& gtid) {
  exhausted_ = next_ > kMaxGno;
  if (exhausted_) return Verdict::Exhausted;
  gtid = {own_, next_++};
  return Verdict::Given;
}

bool GroupNumbers::take(const Gtid& gtid) {
  if (is_known(gtid)) return false;
  in_group_.add(gtid);
  if (gtid.sid == own_) next_ = std::max(next_, gtid.gno + 1);
  return true;
}

}  // namespace commitd::binlog
