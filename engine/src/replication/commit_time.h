// When a transaction was committed, by its GTID event.
#pragma once

#include <chrono>

#include "binlog/events.h"

namespace commitd::replication {

struct CommitTime {        // microseconds
  uint64_t immediate = 0;  // at the server that the event comes from
  uint64_t original = 0;   // where it began
};

inline uint64_t now_microseconds() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}

// An old server tells whole seconds only.
inline CommitTime commit_time_of(const binlog::EventView& event, bool checksummed) {
  const uint64_t event_time = uint64_t{event.header.timestamp} * 1000000;
  const auto gtid = binlog::parse_gtid_event(event, checksummed);
  if (!gtid || gtid->immediate_commit_timestamp == 0) return {event_time, event_time};
  return {gtid->immediate_commit_timestamp, gtid->original_commit_timestamp};
}

}  // namespace commitd::replication
