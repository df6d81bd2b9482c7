// Puts a commit group together: one string that is written to the log as it stands and from then on is the
// page readers share.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "binlog/event_writer.h"
#include "binlog/transaction_buffer.h"

namespace commitd::binlog {

// MySQL's logical clock: transactions whose intervals (last_committed, sequence_number) overlap may be
// applied in parallel. Starts anew with every file. Local transactions of one group held all their locks at
// the same time, so they depend only on what was logged before the group, but for those that have seen what
// one of the group had let go early.
struct LogicalClock {
  int64_t sequence = 0;
  int64_t group_parent = 0;
};

class GroupBuilder {
 public:
  GroupBuilder(LogPosition start, EventOrigin origin, LogicalClock& clock, const GroupOpen& open);

  struct Placed {
    LogPosition start, end;
  };
  // A local transaction under its GTID. Its events must be finished.
  // A spilled one is the group's only one: its events stand behind take()'s bytes (SpilledEvents).
  // `behind`: sequence number of the last one in this group that it depends on; 0: none.
  Placed add_local(TransactionBuffer& events, const Gtid& gtid, uint64_t commit_timestamp,
                   int64_t behind = 0);
  // A local transaction of a session with sql_log_bin=0.
  Placed add_unshipped(TransactionBuffer& events);
  // A whole transaction as its source sent it, from its GTID event on, in front of which its place there may
  // stand (source_place.h): that does not count as the transaction's. Bodies stay; positions, logical clock
  // and checksums become ours.
  Result<Placed> add_received(std::string_view events);

  // The same for one that is spilled, the group's only one: all behind its GTID event stands behind
  // take()'s bytes.
  Result<Placed> add_received_spilled(const EventSpool& events);

  size_t size() const { return bytes_->size(); }
  std::shared_ptr<const std::string> take() { return std::move(bytes_); }

 private:
  Placed seal_from(size_t offset);
  Placed place_received(std::string_view events);

  const LogPosition start_;
  const EventOrigin origin_;
  LogicalClock& clock_;
  std::shared_ptr<std::string> bytes_ = std::make_shared<std::string>();
};

}  // namespace commitd::binlog
