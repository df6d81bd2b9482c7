#include "replication/until_count.h"

namespace commitd::replication {

UntilCount::UntilCount(const sql::ApplyUntil& until, const GtidSet& executed)
    : kind_(until.kind), left_(until.gtids) {
  left_.subtract(executed);
  is_over_ = kind_ == Kind::AfterGtids ? left_.empty() : left_ != until.gtids;
}

bool UntilCount::lets_through(const Gtid& gtid) {
  if (is_over_) return false;
  if (!left_.contains(gtid)) return true;
  if (kind_ == Kind::BeforeGtids) {
    is_over_ = true;
    return false;
  }
  left_.subtract_interval(gtid.sid, gtid.gno, gtid.gno + 1);
  is_over_ = left_.empty();
  return true;
}

}  // namespace commitd::replication
